#include "tests/support/rivals/rival_strategies.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "search/random_numbers.h"

namespace cupilot::search {
namespace {

constexpr int kTries = 1000;  // of drawing something that fits

// A random valid point, each of whose parameters is at most one place away; nothing: none was
// found.
std::optional<Point> StrictlyAdjacent(const Space& space, const Point& point,
                                      std::mt19937_64& random) {
  for (int i = 0; i < kTries; ++i) {
    Point other = point;
    bool inside = true;
    for (std::size_t p = 0; p < other.size(); ++p) {
      const int place = other[p] + static_cast<int>(Below(3, random)) - 1;
      inside =
          inside && place >= 0 && place < static_cast<int>(space.parameters()[p].values.size());
      other[p] = static_cast<std::uint16_t>(std::max(place, 0));
    }
    if (inside && other != point && space.IsValid(other)) return other;
  }
  return std::nullopt;
}

// A random valid point that differs in one parameter.
std::optional<Point> OneAway(const Space& space, const Point& point, std::mt19937_64& random) {
  std::vector<Point> all = space.Neighbours(point, false);
  // Of a point that is not valid itself other parts may be wrong, too.
  std::erase_if(all, [&space](const Point& other) { return !space.IsValid(other); });
  if (all.empty()) return std::nullopt;
  return all[static_cast<std::size_t>(Below(all.size(), random))];
}

class SimulatedAnnealing : public Strategy {
 public:
  SimulatedAnnealing(const Space& space, std::uint64_t seed) : space_(space), random_(seed) {}

  std::optional<Point> Next() override {
    if (!here_) return space_.Draw(random_);
    auto point = Unit(random_) < kAnywhere ? OneAway(space_, *here_, random_)
                                           : StrictlyAdjacent(space_, *here_, random_);
    return point ? point : space_.Draw(random_);
  }

  void Report(const Point& point, std::optional<double> microseconds) override {
    seen_.insert(point);
    if (!here_) {
      here_ = point;
      time_ = microseconds;
      return;
    }
    if (Accepts(microseconds)) {
      here_ = point;
      time_ = microseconds;
    }
    if (++steps_ % kSteps != 0) return;
    const std::size_t distinct = seen_.size() - before_;
    stuck_ = distinct == last_distinct_ ? stuck_ + 1 : 0;
    last_distinct_ = distinct;
    const double all = std::ceil(std::log(kEnd) / std::log(kAlpha));
    const double limit = std::min(all, static_cast<double>(space_.size()));
    temperature_ = kStart * std::pow(kAlpha, all / limit * static_cast<double>(distinct));
    if (temperature_ <= kEnd) {
      temperature_ = kStart;
      before_ = seen_.size();
      last_distinct_ = 0;
      here_.reset();
    } else if (stuck_ > kStuck) {
      stuck_ = 0;
      here_.reset();
    }
  }

 private:
  static constexpr double kStart = 0.5, kEnd = 0.0001, kAlpha = 0.9975, kAnywhere = 0.2;
  static constexpr int kSteps = 2, kStuck = 100;

  bool Accepts(std::optional<double> time) {
    if (!time_) return true;
    if (!time) return false;
    if (*time < *time_) return true;
    return std::exp((*time_ - *time) / *time_ / temperature_) > Unit(random_);
  }

  const Space& space_;
  std::mt19937_64 random_;
  std::optional<Point> here_;
  std::optional<double> time_;
  double temperature_ = kStart;
  int steps_ = 0, stuck_ = 0;
  std::set<Point> seen_;
  std::size_t before_ = 0;  // seen when the schedule began
  std::size_t last_distinct_ = 0;
};

class Genetic : public Strategy {
 public:
  Genetic(const Space& space, std::uint64_t seed) : space_(space), random_(seed) {
    const std::uint64_t half = std::max<std::uint64_t>(space.size() / 2, 2);
    count_ = static_cast<std::size_t>(std::min<std::uint64_t>(kIndividuals, half));
    Begin();
  }

  std::optional<Point> Next() override {
    if (asked_ == population_.size()) Breed();
    return population_[asked_++];
  }

  void Report(const Point& point, std::optional<double> microseconds) override {
    measured_.emplace_back(microseconds.value_or(kFailed), point);
  }

 private:
  static constexpr std::size_t kIndividuals = 26;
  static constexpr int kGenerations = 90;
  static constexpr std::uint64_t kMutation = 55;
  static constexpr double kBeta = 2.5, kFailed = 1e300;

  void Begin() {
    generation_ = 0;
    asked_ = 0;
    measured_.clear();
    population_.clear();
    for (int i = 0; i < kTries && population_.size() < count_; ++i) Add(space_.Draw(random_));
  }

  void Add(Point point) {
    if (population_.size() == count_ || !space_.IsValid(point) ||
        std::find(population_.begin(), population_.end(), point) != population_.end()) {
      return;
    }
    population_.push_back(std::move(point));
  }

  // The best come first.
  std::size_t Rank() {
    const double share = 1 - std::pow(1 - Unit(random_), 1 / kBeta);
    return std::min(measured_.size() - 1,
                    static_cast<std::size_t>(share * static_cast<double>(measured_.size())));
  }

  Point Repaired(const Point& point) {
    if (space_.IsValid(point)) return point;
    if (auto near = StrictlyAdjacent(space_, point, random_)) return *near;
    return OneAway(space_, point, random_).value_or(point);
  }

  void Breed() {
    if (++generation_ == kGenerations || measured_.size() < 2) return Begin();
    std::stable_sort(measured_.begin(), measured_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    population_.clear();
    asked_ = 0;
    for (int i = 0; i < kTries && population_.size() < count_; ++i) {
      const std::size_t first = Rank();
      std::size_t second = first;
      while (second == first) second = Rank();
      Point a = measured_[first].second, b = measured_[second].second;
      for (std::size_t p = static_cast<std::size_t>(Below(a.size(), random_)); p < a.size(); ++p) {
        std::swap(a[p], b[p]);
      }
      for (const Point& crossed : {a, b}) {
        Point child = Repaired(crossed);
        if (Below(kMutation, random_) == 0) {
          child = OneAway(space_, child, random_).value_or(child);
        }
        Add(std::move(child));
      }
    }
    measured_.clear();
    if (population_.empty()) Begin();
  }

  const Space& space_;
  std::mt19937_64 random_;
  std::size_t count_ = 0;
  std::vector<Point> population_;
  std::size_t asked_ = 0;  // of the population
  std::vector<std::pair<double, Point>> measured_;
  int generation_ = 0;
};

class GreedyLocalSearch : public Strategy {
 public:
  GreedyLocalSearch(const Space& space, std::uint64_t seed) : space_(space), random_(seed) {}

  std::optional<Point> Next() override {
    if (!here_) return start_ ? *start_ : space_.Draw(random_);
    return around_[next_];
  }

  void Report(const Point& point, std::optional<double> microseconds) override {
    const double time = microseconds.value_or(kFailed);
    if (!here_ || time < time_) {
      here_ = point;
      time_ = time;
      around_ = space_.Neighbours(point, false);
      Shuffle(around_, random_);
      next_ = 0;
    } else {
      ++next_;
    }
    if (next_ < around_.size()) return;
    // A local optimum.
    without_gain_ = time_ < best_ ? 0 : without_gain_ + 1;
    best_ = std::min(best_, time_);
    start_.reset();
    if (without_gain_ < kPatience) {
      Point point_near = *here_;
      const auto changes = std::max(1, static_cast<int>(kWalk * static_cast<double>(point.size())));
      for (int i = 0; i < changes; ++i) {
        point_near = OneAway(space_, point_near, random_).value_or(point_near);
      }
      start_ = std::move(point_near);
    }
    here_.reset();
  }

 private:
  static constexpr int kPatience = 50;
  static constexpr double kWalk = 0.3, kFailed = 1e300;

  const Space& space_;
  std::mt19937_64 random_;
  std::optional<Point> start_;  // where the next descent begins; nothing: anywhere
  std::optional<Point> here_;
  double time_ = kFailed;
  double best_ = kFailed;
  std::vector<Point> around_;
  std::size_t next_ = 0;  // of them
  int without_gain_ = 0;
};

template <class T>
std::unique_ptr<Strategy> MakeRival(const StrategyInputs& inputs) {
  return std::make_unique<T>(inputs.space, inputs.seed);
}

constexpr StrategyRow kRivals[] = {
    {"simulated_annealing", "steps to worse points become rarer", &MakeRival<SimulatedAnnealing>},
    {"genetic", "children of the better points", &MakeRival<Genetic>},
    {"greedy_ils", "descents from changed local optima", &MakeRival<GreedyLocalSearch>},
};

}  // namespace

std::span<const StrategyRow> RivalStrategies() { return kRivals; }

}  // namespace cupilot::search
