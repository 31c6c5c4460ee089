#include "search/number_search.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace cupilot::search {
namespace {

// Of a space that is larger the points are not listed: 16 bytes for each of these.
constexpr std::size_t kMostNodes = 2'000'000;
// A strategy that asks for so many points in a row of which none is new has nothing left; one that
// asks again for what is under way waits for it, and so do we.
constexpr int kMostAsked = 10'000;
constexpr int kMostWaiting = 100;
// Points that are given before one that is put off: the strategy waits for it.
constexpr int kPutOff = 8;
constexpr std::size_t kMostPutOff = 32;

}  // namespace

NumberSearch::NumberSearch(NumberSpace space, std::uint64_t seed, std::string strategy)
    : numbers_(std::move(space)), seed_(seed), strategy_name_(std::move(strategy)) {
  best_ = numbers_.Default();
}

void NumberSearch::Begin() {
  begun_ = true;
  if (numbers_.tunables.empty()) return;
  auto solved = Solve(numbers_, {kMostNodes});
  if (!solved) {
    warning_ = "no values of its tunables are tried: " + solved.error().message;
    return;
  }
  warning_ = solved->warning;
  numbers_.require = solved->unsolved;
  solved_ = std::make_unique<const SolvedSpace>(std::move(*solved));
  size_ = solved_->space.size();
  const auto row = FindStrategy(strategy_name_);
  if (!row) {
    warning_ = "no values of its tunables are tried: " + row.error().message;
    return;
  }
  facts_ = LaunchFacts::Make(numbers_, solved_->space);
  StrategyInputs inputs{solved_->space, seed_, {}, facts_.get()};
  for (const Values& champion : numbers_.champions) {
    if (auto point = NearestOf(champion)) inputs.champions.push_back(std::move(*point));
  }
  strategy_ = row->make_from(inputs);
  if (const auto standard = PointOf(best_)) asked_[*standard] = {true, 1.0, 0};
}

void NumberSearch::Close() {
  begun_ = dry_ = true;
  ahead_.reset();
  later_.clear();
  strategy_.reset();
  facts_.reset();
  solved_.reset();
  asked_.clear();
}

// The values that it has here, or those next to them; nothing: they are of other tunables.
std::optional<Point> NumberSearch::NearestOf(const Values& champion) const {
  const std::vector<SpaceParameter>& parameters = solved_->space.parameters();
  Point point;
  for (const SpaceParameter& parameter : parameters) {
    const auto named = std::find_if(champion.begin(), champion.end(), [&](const auto& value) {
      return value.first == parameter.name;
    });
    if (named == champion.end()) return std::nullopt;
    const auto distance = [&](std::int64_t value) {
      return std::fabs(static_cast<double>(value) - static_cast<double>(named->second));
    };
    const auto nearest =
        std::min_element(parameter.values.begin(), parameter.values.end(),
                         [&](std::int64_t a, std::int64_t b) { return distance(a) < distance(b); });
    point.push_back(static_cast<std::uint16_t>(nearest - parameter.values.begin()));
  }
  return point;
}

std::optional<Point> NumberSearch::PointOf(const Values& values) const {
  const std::vector<SpaceParameter>& parameters = solved_->space.parameters();
  if (values.size() != parameters.size()) return std::nullopt;
  Point point;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::vector<std::int64_t>& all = parameters[i].values;
    const auto found = std::find(all.begin(), all.end(), values[i].second);
    if (found == all.end()) return std::nullopt;
    point.push_back(static_cast<std::uint16_t>(found - all.begin()));
  }
  return point;
}

// By the nearest point that was built: in the fewest tunables other than this one, then by places
// in their lists.
bool NumberSearch::LooksTooLarge(const Point& point) const {
  const BuildReport* nearest = nullptr;
  std::pair<int, int> least;
  for (const auto& [other, report] : built_) {
    std::pair<int, int> distance;
    for (std::size_t i = 0; i < point.size(); ++i) {
      distance.first += point[i] != other[i] ? 1 : 0;
      distance.second += std::abs(int{point[i]} - int{other[i]});
    }
    if (nearest != nullptr && distance >= least) continue;
    nearest = &report;
    least = distance;
  }
  if (nearest == nullptr) return false;
  records::Environment environment = numbers_.constants;
  for (const auto& [name, value] : ValuesOf(solved_->space, point)) {
    environment.integers[name] = value;
  }
  return !FitsByReport(*nearest, numbers_.block, numbers_.shared_bytes, environment,
                       numbers_.limits);
}

bool NumberSearch::HasNext() {
  if (ahead_) return true;
  if (later_.empty() || later_.front().after > 0) {
    if (Ask()) return true;
  }
  if (later_.empty()) return false;
  ahead_ = std::move(later_.front().point);
  later_.pop_front();
  return true;
}

// Whether the strategy has a point that nothing is known of.
bool NumberSearch::Ask() {
  if (dry_) return false;
  if (!begun_) Begin();
  int waiting = 0;
  for (int in_vain = 0; strategy_ != nullptr && in_vain < kMostAsked && waiting < kMostWaiting;
       ++in_vain) {
    std::optional<Point> point = strategy_->Next();
    if (!point) break;
    const auto [known, is_new] = asked_.try_emplace(*point);
    if (!is_new && known->second.reported) {
      Tell(*point, known->second);
    } else if (!is_new) {
      ++known->second.waiting;
      ++waiting;
    } else if (!numbers_.Legal(ValuesOf(solved_->space, *point))) {
      known->second.reported = true;
      known->second.failure = Failure::kLimits;
      Tell(*point, known->second);
    } else if (later_.size() < kMostPutOff && LooksTooLarge(*point)) {
      later_.push_back({std::move(*point), kPutOff});
    } else {
      ahead_ = std::move(point);
      return true;
    }
  }
  dry_ = true;
  return false;
}

std::optional<Values> NumberSearch::Next() {
  if (!HasNext()) return std::nullopt;
  const Point point = *std::exchange(ahead_, std::nullopt);
  for (Later& later : later_) --later.after;
  return ValuesOf(solved_->space, point);
}

void NumberSearch::Tell(const Point& point, const Asked& asked) {
  if (asked.time) {
    strategy_->Report(point, asked.time);
  } else {
    strategy_->ReportFailure(point, asked.failure);
  }
}

void NumberSearch::Report(const Values& values, std::optional<double> speedup,
                          const BuildReport& built, Failure failure) {
  if (strategy_ == nullptr) return;
  const auto point = PointOf(values);
  const auto found = point ? asked_.find(*point) : asked_.end();
  if (found == asked_.end() || found->second.reported) return;
  Put(*point, found->second, values, speedup, built, failure);
}

void NumberSearch::Know(const Values& values, std::optional<double> speedup,
                        const BuildReport& built, Failure failure) {
  if (!begun_) Begin();
  if (strategy_ == nullptr) return;
  const auto point = PointOf(values);
  if (!point || !solved_->space.IsValid(*point)) return;
  Asked& asked = asked_[*point];
  if (!asked.reported) Put(*point, asked, values, speedup, built, failure);
}

void NumberSearch::Put(const Point& point, Asked& asked, const Values& values,
                       std::optional<double> speedup, const BuildReport& built, Failure failure) {
  asked.reported = true;
  asked.failure = failure;
  if (built.registers > 0) built_.emplace_back(point, built);
  if (built != BuildReport()) strategy_->ReportBuild(point, built);
  if (speedup && *speedup > 0) asked.time = 1 / *speedup;
  for (; asked.waiting > 0; --asked.waiting) Tell(point, asked);
  dry_ = false;
  ++without_gain_;
  if (!speedup || *speedup <= best_speedup_) return;
  best_ = values;
  best_speedup_ = *speedup;
  without_gain_ = 0;
}

void NumberSearch::Correct(const Values& values, std::optional<double> speedup) {
  if (strategy_ == nullptr) return;
  const auto point = PointOf(values);
  const auto found = point ? asked_.find(*point) : asked_.end();
  if (found == asked_.end() || !found->second.reported) return;
  found->second.time.reset();
  if (speedup && *speedup > 0) found->second.time = 1 / *speedup;
  best_ = numbers_.Default();
  best_speedup_ = 1.0;
  for (const auto& [other, asked] : asked_) {
    if (!asked.time || 1 / *asked.time <= best_speedup_) continue;
    best_ = ValuesOf(solved_->space, other);
    best_speedup_ = 1 / *asked.time;
  }
}

}  // namespace cupilot::search
