// Values that random data do not have: no numbers, infinite and tiny ones at random positions, and
// integers that are all the same.
//
// What is no number in the original's result has to be none in the candidate's, and an infinity has
// to be the same one, but for this: a compensated sum, or one of values in several short parts,
// makes no number of an infinite one (inf - inf). A candidate whose results had the original's bits
// so far has no such arithmetic; nor has it an excuse for another bit here.
#include <cmath>
#include <limits>

#include "worker/plant.h"
#include "worker/steps/step.h"

namespace cupilot::worker {
namespace {

constexpr double kSpecialUnits = 128;
constexpr int kZeroedOperands = 4;

struct Special {
  const char* name;
  double value;
};
constexpr Special kSpecials[] = {
    {"values that are no numbers", std::numeric_limits<double>::quiet_NaN()},
    {"infinite values", std::numeric_limits<double>::infinity()},
    {"tiny values", 0}};

// The smallest number but zero that the type has, some times over.
double TinyOf(const Layout& layout) {
  double tiny = 0;
  for (const Region& region : layout.regions) {
    if (region.input && region.type.floating()) {
      tiny = std::max(tiny, device::SmallestNormal(region.type) / 4);
    }
  }
  return tiny;
}

class SpecialComparison {
 public:
  // `numbers`: whether what is a number has to be close to the original's, not only a number too.
  SpecialComparison(const Trial& trial, const OriginalResult& reference, std::string label,
                    bool numbers)
      : trial_(trial), reference_(reference), label_(std::move(label)), numbers_(numbers) {}

  Finding Run() const {
    const Layout& layout = trial_.scene().original.layout;
    for (std::size_t r = 0; r < layout.regions.size(); ++r) {
      const Region& region = layout.regions[r];
      if (!region.output || region.order_free) continue;
      const std::byte* got = trial_.memory().data() + region.offset;
      for (std::int64_t i = 0; i < region.count * region.type.lanes; ++i) {
        if (!Differs(region, reference_.outputs[r], got, i)) continue;
        return {"wrong_values",
                Where(region, static_cast<std::size_t>(i / region.type.lanes)) + ": expected " +
                    device::ShowNumber(reference_.outputs[r].bytes.data(), i, region.type) +
                    ", got " + device::ShowNumber(got, i, region.type) + " (fill " + label_ +
                    ", case '" + trial_.workload().name + "', seed " +
                    std::to_string(trial_.set().seed) + ")",
                "wrong_values"};
      }
    }
    return {};
  }

 private:
  bool Differs(const Region& region, const ReferenceOutput& output, const std::byte* got,
               std::int64_t i) const {
    const std::byte* expected = output.bytes.data();
    if (!region.type.floating()) {
      const auto size = static_cast<std::size_t>(region.type.size() / region.type.lanes);
      const std::size_t at = static_cast<std::size_t>(i) * size;
      return !std::equal(expected + at, expected + at + size, got + at);
    }
    const double o = device::ReadNumber(expected, i, region.type);
    const double c = device::ReadNumber(got, i, region.type);
    if (std::isnan(o)) return !std::isnan(c);
    if (o == c) return false;
    if (std::isinf(o)) return !std::isnan(c) || trial_.exact();
    if (!std::isfinite(c) || trial_.exact()) return true;
    if (!output.expected || !numbers_)
      return false;  // by bits or a tolerance: other fills ask for that
    return std::fabs(c - o) > output.expected->Apart(kSpecialUnits, static_cast<std::size_t>(i));
  }

  const Trial& trial_;
  const OriginalResult& reference_;
  const std::string label_;
  const bool numbers_;
};

base::Result<Finding> JudgeContents(Trial& trial, const std::string& name, CaseInputs contents,
                                    bool numbers) {
  if (!contents.changed) return Finding{};
  TRY_ASSIGN(const auto workload, trial.Workload());
  auto inputs = std::make_shared<CaseInputs>(std::move(contents));
  TRY_ASSIGN(const auto reference, trial.references().FindOf(name, inputs));
  if (!reference->dropped.empty() || (workload->repeats && !reference->repeats)) {
    trial.Note("special_values", name + ": dropped: " + reference->dropped);
    return Finding{};
  }
  const std::string label = "of the workload with " + name;
  TRY_ASSIGN(Finding finding, trial.RunOn({*reference, label}, {}));
  if (!finding.reason.empty()) return finding;
  return SpecialComparison(trial, *reference, label, numbers).Run();
}

base::Result<Finding> JudgeSpecial(Trial& trial, const Special& special) {
  TRY_ASSIGN(const auto workload, trial.Workload());
  const CasePlan& plan = trial.scene().original;
  const double value = special.value == 0 ? TinyOf(plan.layout) : special.value;
  return JudgeContents(trial, special.name,
                       WithSpecialValues(plan, *workload->inputs, value, trial.set().seed), true);
}

// A product with zero is no number where the other factor is none.
base::Result<Finding> JudgeZeros(Trial& trial) {
  TRY_ASSIGN(const auto workload, trial.Workload());
  const CasePlan& plan = trial.scene().original;
  int operands = 0;
  for (const std::size_t r : PlantableRegions(plan.layout)) {
    const Region& region = plan.layout.regions[r];
    if (!region.type.floating() || ++operands > kZeroedOperands) continue;
    TRY_ASSIGN(
        Finding finding,
        JudgeContents(trial, "zeros in '" + region.name + "' beside values that are no numbers",
                      WithZerosBeside(plan, *workload->inputs, r,
                                      std::numeric_limits<double>::quiet_NaN(), trial.set().seed),
                      false));
    if (!finding.reason.empty()) return finding;
  }
  return Finding{};
}

base::Result<Finding> JudgeIntegers(Trial& trial, bool high) {
  TRY_ASSIGN(const auto workload, trial.Workload());
  auto inputs = std::make_shared<CaseInputs>(
      WithIntegersAtEnd(trial.scene().original, *workload->inputs, high));
  if (!inputs->changed) return Finding{};
  const std::string name =
      std::string("all integers at the ") + (high ? "upper" : "lower") + " end of their range";
  TRY_ASSIGN(const auto reference, trial.references().FindOf(name, inputs));
  if (!reference->dropped.empty()) {
    trial.Note("special_values", name + ": dropped: " + reference->dropped);
    return Finding{};
  }
  return trial.Judge({*reference, "of the workload with " + name});
}

}  // namespace

base::Result<Finding> StepSpecialValues(Trial& trial) {
  for (const bool high : {false, true}) {
    TRY_ASSIGN(Finding finding, JudgeIntegers(trial, high));
    if (!finding.reason.empty()) return finding;
  }
  for (const Special& special : kSpecials) {
    TRY_ASSIGN(Finding finding, JudgeSpecial(trial, special));
    if (!finding.reason.empty()) return finding;
  }
  return JudgeZeros(trial);
}

}  // namespace cupilot::worker
