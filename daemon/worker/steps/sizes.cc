// Other sizes and other floating scalars, as far as the variant's own guard admits them and the
// original is legal there: it runs without a fault, and neither its neighbours in memory nor what
// lies between them matter.
#include "worker/sizes.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "device/describe.h"
#include "worker/literals.h"
#include "worker/placement.h"
#include "worker/steps/step.h"

namespace cupilot::worker {
namespace {

// Of the twin, the original and the candidate together, at most so long for one size.
constexpr double kMostSizeUs = 1e6;
constexpr double kRunsOfASize = 12;

// Nothing where this size says nothing.
// `also`: further questions on it.
base::Result<std::optional<Finding>> JudgeSize(
    Trial& trial, const records::Case& one, const device::Properties& properties,
    const OriginalResult& workload, const std::function<base::Result<Finding>(Trial&)>& also) {
  const auto plan = PlanCase(trial.set().kernel, one, properties, nullptr);
  if (!plan) return std::nullopt;
  const bool slow = kRunsOfASize * workload.original_us > kMostSizeUs;
  if (slow && 4 * plan->layout.bytes > trial.scene().original.layout.bytes) return std::nullopt;
  Trial sized(trial.request(), one, *plan);
  sized.quick_workload = true;
  if (!sized.MakeScene(*plan)) return std::nullopt;  // the guard does not admit it
  TRY_ASSIGN(const bool legal, IsLegalSize(sized, *plan, workload));
  if (!legal) return std::nullopt;
  TRY_ASSIGN(Finding finding, sized.Start());
  if (finding.reason.empty()) {
    TRY_ASSIGN(const auto reference, sized.Workload());
    TRY_ASSIGN(finding, sized.Judge({*reference, "of the workload"}));
  }
  if (finding.reason.empty() && also) {
    TRY_ASSIGN(finding, also(sized));
  }
  trial.CountLaunches(sized.launches());
  return finding;
}

base::Result<Finding> JudgeCases(Trial& trial, const char* step,
                                 const std::vector<records::Case>& cases,
                                 const std::function<base::Result<Finding>(Trial&)>& also = {}) {
  TRY_ASSIGN(const device::Properties properties, device::DescribeDevice(trial.set().device));
  TRY_ASSIGN(const auto workload, trial.Workload());
  std::string asked;
  for (const records::Case& one : cases) {
    TRY_ASSIGN(const auto finding, JudgeSize(trial, one, properties, *workload, also));
    if (!finding) continue;
    if (!finding->reason.empty()) return *finding;
    asked += (asked.empty() ? "" : "; ") + one.name.substr(trial.workload().name.size() + 2);
  }
  trial.Note(step, asked.empty() ? "not asked: the workload says none that the original and the "
                                   "variant's guard admit"
                                 : "as the original at " + asked);
  return Finding{};
}

}  // namespace

base::Result<bool> IsLegalSize(Trial& sized, const CasePlan& plan, const OriginalResult& workload) {
  const auto ask = [&]() -> base::Result<bool> {
    TRY_ASSIGN(const auto reference, sized.Workload());
    if (!WhyNotJudgedBy(*reference, workload).empty()) return false;
    TRY_ASSIGN(const std::string why_not, sized.references().WhyNotAt(Reversed(plan)));
    return why_not.empty();
  };
  auto legal = ask();
  if (!legal && legal.error().code == base::ErrorCode::kInvalidArgument) return false;
  return legal;
}

base::Result<Finding> StepSizes(Trial& trial) {
  return JudgeCases(trial, "sizes",
                    OtherSizes(trial.set().kernel, trial.workload(), trial.scene().original));
}

// Numbers that the candidate's text has and the original's has not: a case of its own for one of
// them would be seen nowhere else. Those with most digits first, since 0.5 says nothing.
static std::vector<double> OwnNumbers(const Trial& trial) {
  constexpr std::size_t kMostNumbers = 16;
  const std::vector<double> known = LiteralsOf(trial.set().kernel.closure_source);
  std::vector<std::pair<std::size_t, double>> own;
  for (const double number : LiteralsOf(trial.set().variant.source)) {
    if (std::find(known.begin(), known.end(), number) != known.end()) continue;
    char text[32];
    own.emplace_back(std::snprintf(text, sizeof text, "%.9g", number), number);
  }
  std::sort(own.begin(), own.end(), std::greater<>());
  own.resize(std::min(own.size(), kMostNumbers));
  std::vector<double> numbers;
  numbers.reserve(own.size());
  for (const auto& [digits, number] : own) numbers.push_back(number);
  return numbers;
}

base::Result<Finding> StepScalars(Trial& trial) {
  // What is multiplied by zero counts all the same where it is no number.
  const auto beside_zero = [](Trial& sized) -> base::Result<Finding> {
    const auto& floats = sized.scene().original.environment.floats;
    const bool zero =
        std::any_of(floats.begin(), floats.end(), [](const auto& one) { return one.second == 0; });
    return zero ? JudgeNoNumbers(sized) : base::Result<Finding>(Finding{});
  };
  return JudgeCases(
      trial, "scalars",
      OtherScalars(trial.set().kernel, trial.workload(), trial.scene().original, OwnNumbers(trial)),
      beside_zero);
}

}  // namespace cupilot::worker
