// Outputs and workspaces hold the right results of other inputs: what leaves elements alone, trusts
// them, or acts only where it sees a poison is seen.
#include <algorithm>

#include "worker/steps/step.h"

namespace cupilot::worker {
namespace {

// By region of the candidate's layout, from the results of another fill.
std::vector<std::vector<std::byte>> ResultsOf(const OriginalResult& other, const Layout& layout) {
  std::vector<std::vector<std::byte>> contents(layout.regions.size());
  std::vector<std::byte> all;
  for (std::size_t r = 0; r < other.outputs.size(); ++r) {
    contents[r] = other.outputs[r].bytes;
    all.insert(all.end(), contents[r].begin(), contents[r].end());
  }
  for (std::size_t r = other.outputs.size(); r < layout.regions.size() && !all.empty(); ++r) {
    contents[r].resize(static_cast<std::size_t>(layout.regions[r].bytes()));
    for (std::size_t i = 0; i < contents[r].size(); ++i) contents[r][i] = all[i % all.size()];
  }
  return contents;
}

}  // namespace

base::Result<Finding> StepStaleOutputs(Trial& trial) {
  TRY_ASSIGN(const auto workload, trial.Workload());
  TRY_ASSIGN(const GateFill* fill, trial.AnotherFill());
  if (fill == nullptr) {
    trial.Note("stale_outputs", "not asked: no other inputs are known to be legal");
    return Finding{};
  }
  TRY_ASSIGN(const auto reference, trial.references().Find(fill));
  const auto contents = ResultsOf(*workload, trial.scene().plan.layout);
  Before before;
  before.contents = &contents;
  const std::string label =
      std::string(fill->name) + ", memory full of the results of the workload's fill";
  TRY_ASSIGN(Finding finding,
             trial.Judge({*reference, label, IsDense(fill, *reference), fill}, before));
  return Because(std::move(finding), "stateful");
}

}  // namespace cupilot::worker
