// Contents that random data hardly ever have (regimes.h).
#include "worker/regimes.h"

#include <algorithm>
#include <cmath>

#include "worker/literals.h"
#include "worker/steps/step.h"

namespace cupilot::worker {
namespace {

// Of all regimes of a case together; large cases are asked the first ones.
constexpr std::int64_t kMostBytes = std::int64_t{512} << 20;
constexpr std::int64_t kFewest = 3;
// Equal numbers, added again and again, are rounded the same way each time: honest sums are off by
// as many units as they have terms then. A branch that is taken wrongly is off by more.
constexpr double kMostUnitsOfTies = 4096;
constexpr std::int64_t kSignificandOfFloat = 24;  // bits

// What the sources and the launch name, so that branches on it are taken.
std::vector<double> NumbersOf(const Trial& trial) {
  std::vector<double> numbers = LiteralsOf(trial.set().kernel.closure_source);
  for (const double number : LiteralsOf(trial.set().variant.source)) numbers.push_back(number);
  for (const auto& [name, value] : trial.scene().original.environment.floats) {
    if (name.starts_with("$") && std::isfinite(value) && value != 0) numbers.push_back(value);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

// A sum has no more terms than there are numbers, but for products of sums.
double UnitsOfTies(const Layout& layout) {
  double terms = 0;
  for (const Region& region : layout.regions) {
    if (region.input) terms += static_cast<double>(ComponentsOf(region));
  }
  return std::min(terms, kMostUnitsOfTies);
}

bool HasFreeOrder(const Layout& layout) {
  return std::any_of(layout.regions.begin(), layout.regions.end(),
                     [](const Region& region) { return region.output && region.order_free; });
}

base::Result<Finding> JudgeRegime(Trial& trial, const Regime& regime) {
  const bool plain = regime.kind == Regime::Kind::kPlain;
  if (plain && HasFreeOrder(trial.scene().original.layout))
    return JudgeContentsOf(trial, "regimes", regime.name, regime.draw);
  SpecialContents special{"regimes", regime.name};
  special.lattice = regime.lattice;
  special.plain = plain;
  special.finite = regime.kind == Regime::Kind::kFinite;
  special.units = UnitsOfTies(trial.scene().original.layout);
  return JudgeSpecialContents(trial, special, regime.draw);
}

}  // namespace

base::Result<Finding> StepRegimes(Trial& trial) {
  TRY_ASSIGN(const auto workload, trial.Workload());
  const CasePlan& plan = trial.scene().original;
  const protocol::CandidateSet& set = trial.set();
  const bool wide = !set.twin_artifact.empty() && set.twin.significand_bits >= kSignificandOfFloat;
  const auto regimes = Regimes(plan, *workload->inputs, NumbersOf(trial), wide, set.seed);
  const std::int64_t most =
      std::max(kFewest, kMostBytes / std::max<std::int64_t>(1, plan.layout.bytes));
  std::int64_t asked = 0;
  for (const Regime& regime : regimes) {
    if (asked++ == most) break;
    TRY_ASSIGN(Finding finding, JudgeRegime(trial, regime));
    if (!finding.reason.empty()) return finding;
  }
  const auto all = static_cast<std::int64_t>(regimes.size());
  if (most < all) {
    trial.Note("regimes", "the first " + std::to_string(most) + " of " + std::to_string(all) +
                              ": the case is large");
  }
  return Finding{};
}

}  // namespace cupilot::worker
