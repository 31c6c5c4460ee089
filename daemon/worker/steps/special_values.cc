// Values that random data do not have: no numbers, infinite, huge and tiny ones and those that a
// scalar has (a threshold, say) at random positions, integers that are all the same, and other
// constants where the workload has one (a bias of zeros, or where a sum begins).
//
// What is no number in the original's result has to be none in the candidate's, and an infinity has
// to be the same one, but for this: a compensated sum, or one of values in several short parts,
// makes no number of an infinite one (inf - inf). A candidate whose results had the original's bits
// so far has no such arithmetic; nor has it an excuse for another bit here.
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "records/element_values.h"
#include "worker/check_nearby.h"
#include "worker/plant.h"
#include "worker/steps/step.h"

namespace cupilot::worker {
namespace {

constexpr double kSpecialUnits = 128;
// Of the largest result, in roundings: of a candidate that had the original's bits so far, and
// where numbers are so simple that all honest candidates take the same branches.
constexpr double kExactParts = 8, kLatticeParts = 4096;
// Of a declared tolerance, and with it of the largest result: nothing is known of what cancels.
constexpr double kTolerances = 16;
constexpr double kErrors = 5;  // of the original: its own, and what the rule allows others
constexpr int kZeroedOperands = 4;
constexpr int kMostScalars = 3;
// Squares of it, and sums of these, are numbers of single precision.
constexpr double kHuge = 1e12;

struct Special {
  const char* name;
  double value;
};
constexpr Special kSpecials[] = {
    {"values that are no numbers", std::numeric_limits<double>::quiet_NaN()},
    {"infinite values", std::numeric_limits<double>::infinity()},
    {"tiny values", 0}};

std::string IntegersName(bool high) {
  return std::string("all integers at the ") + (high ? "upper" : "lower") + " end of their range";
}

// Each kind of values has places of its own: what one lot of places does not show, others may.
std::uint64_t SeedOf(const Trial& trial, const Special& special) {
  return trial.set().seed + static_cast<std::uint64_t>(&special - kSpecials);
}

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
  // `finite`: nothing is asked where the original's is infinite or no number.
  // `lattice`: Regime::lattice.
  SpecialComparison(Trial& trial, const OriginalResult& reference, std::string label,
                    const SpecialContents& special)
      : trial_(trial),
        reference_(reference),
        label_(std::move(label)),
        numbers_(special.numbers),
        finite_(special.finite),
        lattice_(special.lattice),
        plain_(special.plain),
        units_(std::max(kSpecialUnits, special.units)) {
    errors_.resize(reference.outputs.size());
  }

  // How far numbers may be apart is asked of the original's errors where one is too far.
  base::Result<Finding> Run() {
    Finding finding = Compare();
    if (finding.reason.empty() || !too_far_) return finding;
    return AskNearby(trial_.references(), reference_, true, std::move(finding),
                     [&](const std::vector<Rho>& errors) {
                       errors_ = errors;
                       return Compare();
                     });
  }

 private:
  Finding Compare() {
    const Layout& layout = trial_.scene().original.layout;
    for (std::size_t r = 0; r < layout.regions.size(); ++r) {
      const Region& region = layout.regions[r];
      if (!region.output || region.order_free) continue;
      const std::byte* got = trial_.memory().data() + region.offset;
      const std::vector<std::byte>& expected = reference_.outputs[r].bytes;
      if (std::memcmp(expected.data(), got, expected.size()) == 0) continue;
      for (std::int64_t i = 0; i < region.count * region.type.lanes; ++i) {
        if (!Differs(r, got, i)) continue;
        return {"wrong_values",
                Where(region, static_cast<std::size_t>(i / region.type.lanes)) + ": " +
                    records::ExpectedGot(
                        device::ShowNumber(reference_.outputs[r].bytes.data(), i, region.type),
                        device::ShowNumber(got, i, region.type)) +
                    " (fill " + label_ + ", case '" + trial_.workload().name + "', seed " +
                    std::to_string(trial_.set().seed) + ")",
                "wrong_values"};
      }
    }
    return {};
  }

  bool Differs(std::size_t r, const std::byte* got, std::int64_t i) {
    const Region& region = trial_.scene().original.layout.regions[r];
    const ReferenceOutput& output = reference_.outputs[r];
    const std::byte* expected = output.bytes.data();
    too_far_ = false;
    if (!region.type.floating()) {
      const auto size = static_cast<std::size_t>(region.type.size() / region.type.lanes);
      const std::size_t at = static_cast<std::size_t>(i) * size;
      return !std::equal(expected + at, expected + at + size, got + at);
    }
    const double o = device::ReadNumber(expected, i, region.type);
    const double c = device::ReadNumber(got, i, region.type);
    if (finite_ && !std::isfinite(o)) return false;
    if (std::isnan(o)) return !std::isnan(c);
    if (o == c) return false;
    if (std::isinf(o)) return !std::isnan(c) || trial_.exact();
    if (!std::isfinite(c)) return true;
    const double apart = std::fabs(c - o) / device::Roundoff(region.type);
    // The compiler may have put a fused product elsewhere, which shows on few contents only.
    if (trial_.exact() && (!output.expected || apart > kExactParts * LargestOf(r))) return true;
    if (lattice_ && apart > kLatticeParts * LargestOf(r)) return true;
    if (plain_ && EqualityOf(trial_.set(), region, output) == Equality::kTolerance) {
      return std::fabs(c - o) > ToleratedIn(r);
    }
    if (!output.expected || !numbers_) return false;  // by bits: other fills ask for that
    const double units = std::max(units_, kErrors * errors_[r].max);
    too_far_ = std::fabs(c - o) > output.expected->Apart(units, static_cast<std::size_t>(i));
    return too_far_;
  }

  double ToleratedIn(std::size_t r) {
    const records::Tolerance& declared = *trial_.set().workload.tolerance;
    return kTolerances *
           (declared.absolute.value_or(0) + declared.relative.value_or(0) * LargestOf(r));
  }

  // Of the original's finite results.
  double LargestOf(std::size_t r) {
    if (largest_.empty()) largest_.assign(reference_.outputs.size(), -1);
    if (largest_[r] >= 0) return largest_[r];
    const Region& region = trial_.scene().original.layout.regions[r];
    largest_[r] = 0;
    for (std::int64_t i = 0; i < ComponentsOf(region); ++i) {
      const double o = device::ReadNumber(reference_.outputs[r].bytes.data(), i, region.type);
      if (std::isfinite(o)) largest_[r] = std::max(largest_[r], std::fabs(o));
    }
    return largest_[r];
  }

  Trial& trial_;
  const OriginalResult& reference_;
  const std::string label_;
  const bool numbers_, finite_, lattice_, plain_;
  std::vector<double> largest_;  // by region; -1: not known yet
  const double units_;
  std::vector<Rho> errors_;  // of the original, by region; at first none
  bool too_far_ = false;     // how the last two that were compared differ
};

base::Result<Finding> JudgeContents(Trial& trial, const std::string& name,
                                    const std::function<CaseInputs()>& draw, bool numbers) {
  return JudgeSpecialContents(trial, {"special_values", name, numbers}, draw);
}

base::Result<Finding> JudgeSpecial(Trial& trial, const Special& special) {
  TRY_ASSIGN(const auto workload, trial.Workload());
  const CasePlan& plan = trial.scene().original;
  const double value = special.value == 0 ? TinyOf(plan.layout) : special.value;
  const auto draw = [&] {
    return WithSpecialValues(plan, *workload->inputs, value, SeedOf(trial, special));
  };
  return JudgeContents(trial, special.name, draw, true);
}

// What integers select, a mask or a length, is all or nothing at one end of what their fills say:
// what is not finite is left out for certain there, wherever it stands, and may leave no trace.
base::Result<Finding> JudgeUnselected(Trial& trial, const Special& special) {
  if (special.value == 0) return Finding{};
  TRY_ASSIGN(const auto workload, trial.Workload());
  const CasePlan& plan = trial.scene().original;
  for (const bool high : {false, true}) {
    const auto draw = [&] {
      CaseInputs ends = WithIntegersAtEnd(plan, *workload->inputs, high);
      if (!ends.changed) return ends;
      return WithSpecialValues(plan, ends, special.value, SeedOf(trial, special));
    };
    TRY_ASSIGN(
        Finding finding,
        JudgeContents(trial, std::string(special.name) + " and " + IntegersName(high), draw, true));
    if (!finding.reason.empty()) return finding;
  }
  return Finding{};
}

// Of types that have numbers so large.
base::Result<Finding> JudgeHuge(Trial& trial) {
  const CasePlan& plan = trial.scene().original;
  for (const std::size_t r : PlantableRegions(plan.layout)) {
    const device::ElementType& type = plan.layout.regions[r].type;
    // Its range is as small on this side as on the other.
    if (type.floating() && device::SmallestNormal(type) * kHuge > 1) return Finding{};
  }
  TRY_ASSIGN(const auto workload, trial.Workload());
  const auto draw = [&] {
    return WithSpecialValues(plan, *workload->inputs, kHuge, trial.set().seed);
  };
  return JudgeContents(trial, "huge values", draw, true);
}

// What is compared with a scalar is equal to it, too.
base::Result<Finding> JudgeScalars(Trial& trial) {
  TRY_ASSIGN(const auto workload, trial.Workload());
  const CasePlan& plan = trial.scene().original;
  int scalars = 0;
  for (const auto& [name, value] : plan.environment.floats) {
    if (!name.starts_with("$") || !std::isfinite(value) || ++scalars > kMostScalars) continue;
    const double planted = value;
    const auto draw = [&] {
      return WithSpecialValues(plan, *workload->inputs, planted, trial.set().seed);
    };
    SpecialContents special{"special_values", "values as great as argument " + name};
    special.plain = true;
    TRY_ASSIGN(Finding finding, JudgeSpecialContents(trial, special, draw));
    if (!finding.reason.empty()) return finding;
  }
  return Finding{};
}

// Random data say nothing of an array that the workload fills with one number.
base::Result<Finding> JudgeConstants(Trial& trial) {
  TRY_ASSIGN(const auto workload, trial.Workload());
  return JudgeContentsOf(trial, "special_values", "other constants", [&] {
    return WithOtherConstants(trial.scene().original, *workload->inputs);
  });
}

// A product with zero is no number where the other factor is none.
base::Result<Finding> JudgeZeros(Trial& trial) {
  TRY_ASSIGN(const auto workload, trial.Workload());
  const CasePlan& plan = trial.scene().original;
  int operands = 0;
  for (const std::size_t r : PlantableRegions(plan.layout)) {
    const Region& region = plan.layout.regions[r];
    if (!region.type.floating() || ++operands > kZeroedOperands) continue;
    const auto draw = [&] {
      return WithZerosBeside(plan, *workload->inputs, r, std::numeric_limits<double>::quiet_NaN(),
                             trial.set().seed);
    };
    TRY_ASSIGN(
        Finding finding,
        JudgeContents(trial, "zeros in '" + region.name + "' beside values that are no numbers",
                      draw, false));
    if (!finding.reason.empty()) return finding;
  }
  return Finding{};
}

base::Result<Finding> JudgeIntegers(Trial& trial, bool high) {
  TRY_ASSIGN(const auto workload, trial.Workload());
  const std::string name = IntegersName(high);
  TRY_ASSIGN(const auto reference, trial.references().FindOf(name, [&] {
    return WithIntegersAtEnd(trial.scene().original, *workload->inputs, high);
  }));
  if (reference->redundant) return Finding{};
  if (const std::string why_not = WhyNotJudgedBy(*reference, *workload); !why_not.empty()) {
    trial.Note("special_values", name + ": dropped: " + why_not);
    return Finding{};
  }
  return trial.Judge({*reference, "of the workload with " + name});
}

}  // namespace

base::Result<Finding> JudgeSpecialContents(Trial& trial, const SpecialContents& special,
                                           const std::function<CaseInputs()>& draw) {
  TRY_ASSIGN(const auto workload, trial.Workload());
  TRY_ASSIGN(const auto reference, trial.references().FindOf(special.name, draw));
  if (reference->redundant) return Finding{};
  if (const std::string why_not = WhyNotJudgedBy(*reference, *workload); !why_not.empty()) {
    trial.Note(special.step, special.name + ": dropped: " + why_not);
    return Finding{};
  }
  const std::string label = "of the workload with " + special.name;
  TRY_ASSIGN(Finding finding, trial.RunOn({*reference, label}, {}));
  if (!finding.reason.empty()) return finding;
  TRY_ASSIGN(const auto judged, trial.TwinWhereBitsDiffer(reference));
  return SpecialComparison(trial, *judged, label, special).Run();
}

// Not infinite ones: a + 0 * (b - a) and (1 - 0) * a + 0 * b are both honest.
base::Result<Finding> JudgeNoNumbers(Trial& trial) { return JudgeSpecial(trial, kSpecials[0]); }

base::Result<Finding> StepSpecialValues(Trial& trial) {
  for (const bool high : {false, true}) {
    TRY_ASSIGN(Finding finding, JudgeIntegers(trial, high));
    if (!finding.reason.empty()) return finding;
  }
  for (const Special& special : kSpecials) {
    TRY_ASSIGN(Finding finding, JudgeSpecial(trial, special));
    if (!finding.reason.empty()) return finding;
    TRY_ASSIGN(finding, JudgeUnselected(trial, special));
    if (!finding.reason.empty()) return finding;
  }
  for (const auto& judge : {JudgeConstants, JudgeHuge, JudgeScalars}) {
    TRY_ASSIGN(Finding finding, judge(trial));
    if (!finding.reason.empty()) return finding;
  }
  return JudgeZeros(trial);
}

}  // namespace cupilot::worker
