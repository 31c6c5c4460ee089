#include "search/portfolio/portfolio.h"

#include <algorithm>
#include <cmath>

#include "search/portfolio/bayesian.h"
#include "search/portfolio/cost_model.h"
#include "search/portfolio/descent.h"
#include "search/portfolio/evolution.h"
#include "search/portfolio/transfer.h"
#include "search/random_numbers.h"

namespace cupilot::search {
namespace {

// Random points: one for each parameter, between these. (GEMM, of 14 parameters, scores 0.85 after
// 14 of them and 0.90 after six; the convolution, of eight, 0.88 after eight and 0.86 after six: 60
// searches each. Ones that are far from each other, and Bayesian optimisation after four results
// instead of six, find a good point of pnpoly after 20 evaluations instead of 25 with eight under
// way, but score less elsewhere.)
constexpr std::size_t kLeastDesign = 6, kMostDesign = 8;
constexpr int kDrawsOfHuge = 1000;  // where points have no numbers
constexpr std::size_t kOpening =
    10;  // champions and random points by turns, before members are asked
constexpr std::uint64_t kLarge = 1'000'000;  // points
// In spaces with more points Bayesian optimisation sees the facts of launches. (It was measured on
// recorded spaces of thousands of points; of the small ones of a variant there is no recording, and
// the searches of tests/data/search hold without.)
constexpr std::uint64_t kLaunchesSeen = 1000;
// In spaces with more points a cost model names some, too, where the others have found nothing for
// a while: it sees all of a long history, of which Bayesian optimisation sees a part. (60 searches
// of the recorded dedispersion end at 0.99 instead of 0.96 of the way from random search's
// expectation to the best point.)
constexpr std::uint64_t kBeyondProcess = 5000;

}  // namespace

Portfolio::Portfolio(const StrategyInputs& inputs, const PortfolioParts& parts)
    : space_(inputs.space),
      random_(inputs.seed),
      scales_(space_),
      features_(space_, scales_, inputs.facts),
      feasibility_(features_, parts.feasibility),
      build_costs_(features_),
      build_reports_(features_),
      learns_build_costs_(parts.build_costs),
      commons_{space_, history_, feasibility_, build_costs_, build_reports_, random_},
      shuffled_(space_, inputs.seed ^ 0x5bd1e995),
      standard_(space_.Standard()) {
  // Of a space that is not large Bayesian optimisation learns enough to have nearly all
  // evaluations, until others have shown what they gain.
  const bool large = !space_.IsNumbered() || space_.size() > kLarge;
  std::vector<double> first_gains;
  const auto add = [&](std::unique_ptr<PortfolioMember> member, double first_gain) {
    members_.push_back(std::move(member));
    first_gains.push_back(first_gain);
  };
  if (parts.transfer && !inputs.champions.empty()) {
    auto transfer = std::make_unique<Transfer>(commons_, inputs.champions);
    transfer_ = transfer.get();
    add(std::move(transfer), large ? 0.1 : 0.5);
  }
  if (parts.bayesian) {
    // What a launch says of its speed is the cost model's.
    const bool seen = parts.cost_model && (!space_.IsNumbered() || space_.size() > kLaunchesSeen);
    const PointFacts* facts = seen ? inputs.facts : nullptr;
    add(std::make_unique<Bayesian>(commons_, scales_, facts), large ? 0.2 : 1.0);
  }
  const bool beyond = !space_.IsNumbered() || space_.size() > kBeyondProcess;
  if (parts.cost_model && (beyond || !parts.bayesian)) {
    add(std::make_unique<CostModel>(commons_, scales_, features_), large ? 0.15 : 0);
    // Nobody else asks for them.
    learns_build_reports_ = parts.build_reports && inputs.facts != nullptr;
  }
  if (parts.evolution) add(std::make_unique<Evolution>(commons_), large ? 0.15 : 0);
  if (parts.descent) add(std::make_unique<Descent>(commons_), 0.1);
  if (parts.bandit) {
    bandit_.emplace(first_gains, large ? BanditSettings{0.1, 4} : BanditSettings{0.005, 30});
  }
  std::size_t tunable = 0;
  for (const SpaceParameter& parameter : space_.parameters()) {
    tunable += parameter.values.size() > 1 ? 1 : 0;
  }
  design_ = std::clamp(tunable, kLeastDesign, kMostDesign);
}

Portfolio::~Portfolio() = default;

std::optional<Point> Portfolio::Random() {
  const bool huge = !space_.IsNumbered();
  for (int i = 0; !huge || i < kDrawsOfHuge; ++i) {
    auto point = shuffled_.Next();
    if (!point) break;
    if (history_.IsTaken(*point)) continue;
    if (Unit(random_) < feasibility_.Of(*point)) return point;
    if (!huge) postponed_.push_back(std::move(*point));
  }
  while (!postponed_.empty()) {
    Point point = std::move(postponed_.back());
    postponed_.pop_back();
    if (!history_.IsTaken(point)) return point;
  }
  return std::nullopt;
}

std::size_t Portfolio::ArmsTurn(const std::vector<bool>& barred) {
  if (bandit_) return bandit_->Choose(barred);
  do {
    turn_ = (turn_ + 1) % members_.size();
  } while (barred[turn_]);
  return turn_;
}

std::optional<Point> Portfolio::FromArm(std::size_t arm) {
  auto point = members_[arm]->Propose();
  if (point) owners_[*point] = arm;
  return point;
}

std::optional<Point> Portfolio::Choose() {
  if (standard_) {
    Point standard = std::move(*standard_);
    standard_.reset();
    if (!history_.IsTaken(standard)) return standard;
  }
  if (members_.empty()) return Random();
  // Champions that are of no use here must not be all that the models know.
  if (transfer_ != nullptr && opening_ < kOpening && transfer_->left() > 0) {
    if (++opening_ % 2 == 0) return Random();
    if (auto point = FromArm(0)) return point;
  }
  // What is under way teaches nothing yet: members that are asked meanwhile would go on from the
  // source's own point, whose time is known from the start.
  if (history_.results().size() >= design_) {
    std::vector<bool> barred(members_.size());
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const std::size_t arm = ArmsTurn(barred);
      if (auto point = FromArm(arm)) return point;
      barred[arm] = true;
    }
  }
  return Random();
}

std::optional<Point> Portfolio::Next() {
  auto point = Choose();
  if (point) history_.Take(*point);
  return point;
}

void Portfolio::Report(const Point& point, std::optional<double> microseconds) {
  Put(point, microseconds, Failure::kWrong);
}

void Portfolio::ReportFailure(const Point& point, Failure failure) {
  Put(point, std::nullopt, failure);
}

void Portfolio::ReportBuild(const Point& point, const BuildReport& built) {
  if (learns_build_costs_) build_costs_.Learn(point, built.cpu_seconds);
  if (learns_build_reports_) build_reports_.Learn(point, built);
}

// A new best counts by how much it gained. (What comes near it says nothing: members that stay
// beside the best would have most turns.)
double Portfolio::GainOf(const History::Result& result, std::optional<double> best_before) const {
  if (!result.ran || !best_before) return 0;
  const double gain = *best_before - result.log_time;
  const double scale = std::max(spread_, 0.01);
  return gain > 0 ? std::min(1.0, 0.3 + gain / scale) : 0;
}

void Portfolio::Put(const Point& point, std::optional<double> microseconds, Failure failure) {
  const History::Result* before = history_.best();
  const std::optional<double> best_before =
      before == nullptr ? std::nullopt : std::optional<double>(before->log_time);
  const History::Result* result = history_.Put(point, microseconds, failure);
  if (result == nullptr) return;
  if (result->ran) {
    // How far a typical result is from the best.
    const double off = result->log_time - history_.best()->log_time;
    const double count = static_cast<double>(std::min<std::size_t>(history_.ran().size(), 50));
    spread_ += (off - spread_) / count;
  }
  feasibility_.Learn(history_);
  for (const auto& member : members_) member->Learn(*result);
  const auto owner = owners_.find(point);
  if (owner == owners_.end()) return;
  if (bandit_) bandit_->Reward(owner->second, GainOf(*result, best_before));
  owners_.erase(owner);
}

}  // namespace cupilot::search
