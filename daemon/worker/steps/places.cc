// The buffers at other addresses.
#include "worker/placement.h"
#include "worker/steps/step.h"

namespace cupilot::worker {
namespace {

// Bytes behind a place that all types are aligned to; the first that the guard admits is asked.
constexpr std::int64_t kShifts[] = {1, 16, 32, 64, 128};

base::Result<Finding> JudgePlaced(Trial& trial, const char* step, const Trial::Scene& scene,
                                  const std::string& how) {
  TRY_ASSIGN(const auto reference, trial.Workload());
  TRY_ASSIGN(const std::string why_not, trial.references().WhyNotAt(scene.original));
  if (!why_not.empty()) {
    trial.Note(step, "dropped: " + why_not);
    return Finding{};
  }
  TRY_ASSIGN(Finding finding, trial.JudgeAt(scene, {*reference, "of the workload, " + how}));
  return Because(std::move(finding), "stateful");
}

}  // namespace

std::optional<Trial::Scene> MakeShiftedScene(const Trial& trial, std::string* how) {
  for (const std::int64_t shift : kShifts) {
    auto scene = trial.MakeScene(Shifted(trial.scene().original, shift));
    if (!scene) continue;
    const std::string bytes = shift == 1 ? "one element" : std::to_string(shift) + " bytes";
    *how = "buffers " + bytes + " behind aligned addresses";
    return std::move(*scene);
  }
  return std::nullopt;
}

base::Result<Finding> StepAlignment(Trial& trial) {
  std::string how;
  const auto scene = MakeShiftedScene(trial, &how);
  if (scene) return JudgePlaced(trial, "alignment", *scene, how);
  trial.Note("alignment", "not asked: the variant's guard demands it");
  return Finding{};
}

base::Result<Finding> StepPlaces(Trial& trial) {
  const auto scene = trial.MakeScene(Reversed(trial.scene().original));
  if (!scene) {
    trial.Note("places", "not asked: the variant's guard demands other places");
    return Finding{};
  }
  return JudgePlaced(trial, "places", *scene, "buffers in the reverse order");
}

}  // namespace cupilot::worker
