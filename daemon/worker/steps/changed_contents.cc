// Other inputs at the same addresses, and workspaces as the call before left them: a result that is
// kept by address is seen. Then inputs of which few elements have changed since the call before: so
// is one that is kept by a sample of the contents.
#include <cstring>
#include <iterator>
#include <memory>
#include <random>
#include <string>

#include "worker/steps/step.h"

namespace cupilot::worker {
namespace {

// One in so many elements changes from round to round, and one for certain; 0: no other. A sample
// of a few elements sees hardly any of the later rounds. One of a share s of all elements sees the
// first for certain, but each of the last with probability s only, and both with its square.
constexpr std::size_t kOneIn[] = {32, 1024, 0, 0};

// `inputs`, but at random places of its floating regions what `from` has there.
CaseInputs WithFewOf(const CaseInputs& from, CaseInputs inputs, const Layout& layout,
                     std::size_t one_in, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t r = 0; r < layout.regions.size(); ++r) {
    const device::ElementType& type = layout.regions[r].type;
    std::vector<std::byte>& bytes = inputs.regions[r];
    if (!type.floating() || bytes.size() != from.regions[r].size()) continue;
    // Half of one and half of the other are in no order.
    const auto& fill = layout.regions[r].fill;
    if (fill && fill->kind == device::FillKind::kSorted) continue;
    const auto size = static_cast<std::size_t>(type.size());
    if (bytes.size() < size) continue;
    const std::size_t certain = random() % (bytes.size() / size) * size;
    for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
      const bool changes = at == certain || (one_in != 0 && random() % one_in == 0);
      if (changes) std::memcpy(&bytes[at], &from.regions[r][at], size);
    }
  }
  inputs.changed = true;
  return inputs;
}

// From the workload's inputs, which ran last, to the other ones, few elements at a time.
base::Result<Finding> ChangeFew(Trial& trial, const CaseInputs& workload, const CaseInputs& other) {
  std::shared_ptr<const OriginalResult> reference;
  for (std::size_t round = 0; round < std::size(kOneIn); ++round) {
    const CaseInputs& before_it = reference == nullptr ? workload : *reference->inputs;
    const std::string label =
        "of the workload with some elements changed, round " + std::to_string(round);
    TRY_ASSIGN(reference, trial.references().FindOf(label, [&] {
      return WithFewOf(other, before_it, trial.scene().original.layout, kOneIn[round],
                       trial.set().seed + round);
    }));
    if (!reference->dropped.empty()) return Finding{};
    Before before;
    before.keep_workspaces = true;
    TRY_ASSIGN(Finding finding, trial.Judge({*reference, label}, before));
    if (!finding.reason.empty()) return Because(std::move(finding), "stateful");
  }
  return Finding{};
}

}  // namespace

base::Result<Finding> StepChangedContents(Trial& trial) {
  TRY_ASSIGN(const auto workload, trial.Workload());
  TRY_ASSIGN(const GateFill* fill, trial.AnotherFill());
  if (fill == nullptr) {
    trial.Note("changed_contents", "not asked: no other inputs are known to be legal");
    return Finding{};
  }
  TRY_ASSIGN(const auto other, trial.references().Find(fill));
  TRY_ASSIGN(Finding first, trial.Judge({*workload, "of the workload"}));
  if (!first.reason.empty()) return Because(std::move(first), "stateful");
  Before before;
  before.keep_workspaces = true;
  const std::string label =
      std::string(fill->name) + ", after the workload's fill at the same addresses";
  TRY_ASSIGN(Finding finding, trial.Judge({*other, label, IsDense(fill, *other), fill}, before));
  if (!finding.reason.empty()) return Because(std::move(finding), "stateful");
  TRY_ASSIGN(Finding again, trial.Judge({*workload, "of the workload"}, before));
  if (!again.reason.empty()) return Because(std::move(again), "stateful");
  return ChangeFew(trial, *workload->inputs, *other->inputs);
}

}  // namespace cupilot::worker
