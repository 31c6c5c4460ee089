// How good a strategy is, by the methodology of Willemsen, Schoonhoven, Filipovic, Torring, van
// Nieuwpoort, van Werkhoven (A methodology for comparing optimization algorithms for auto-tuning,
// FGCS 2024): how far it is, at each moment of a budget that fits the space's difficulty, from what
// random search is expected to have found (0) to the optimum (1); the mean over these moments, over
// repeats and over spaces. Pure.
//
// Where that leaves a choice: what random search has found after n evaluations is the exact mean
// over all draws without replacement (the published program takes the time at the expected rank,
// which a random search does not reach on average), points that fail are drawn too, and who has
// found nothing yet has the median.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "search/measured.h"
#include "search/replay.h"
#include "search/strategy.h"

namespace cupilot::search {

struct ScoreSettings {
  double cutoff = 0.95;  // of the way from the median to the optimum: there the budget ends
  double start = 0.01;   // of the same way: where the moments begin
  std::size_t moments = 1000;
  // Evaluations of a budget, where random search is not within 1 % of the way by then.
  std::uint64_t least = 20;
};

// What random search is expected to have found.
class Baseline {
 public:
  // kInvalidArgument: no point has a time, or the median is the optimum.
  static base::Result<Baseline> Make(const MeasuredSpace& measured, const ScoreSettings& settings);

  double optimum() const { return optimum_; }  // microseconds
  double median() const { return median_; }
  double seconds_each() const { return seconds_each_; }  // the mean of an evaluation
  std::uint64_t budget() const { return budget_; }       // evaluations
  double budget_seconds() const { return seconds_each_ * static_cast<double>(budget_); }
  // Microseconds; after at most budget() evaluations.
  double After(std::uint64_t evaluations) const { return expected_[evaluations]; }
  double At(double seconds) const;
  // Equidistant, up to the end of the budget.
  const std::vector<double>& moments() const { return moments_; }

 private:
  double optimum_ = 0;
  double median_ = 0;
  double seconds_each_ = 0;
  std::uint64_t budget_ = 0;
  std::vector<double> expected_;  // by evaluations
  std::vector<double> moments_;   // seconds
};

// The run's score at each moment.
std::vector<double> CurveOf(const Baseline& baseline, const ReplayRun& run);

// By space, by repeat.
using Scores = std::vector<std::vector<double>>;

struct Interval {
  double low = 0;
  double high = 0;
};

// The mean over spaces of the means over repeats.
double MeanOf(const Scores& scores);
// The 95 % interval of that mean by bootstrap: spaces are drawn, and of each its repeats.
Interval IntervalOf(const Scores& scores, std::uint64_t seed);
// How sure it is, from 0 to 1, that the first is better than the second on such spaces: the share
// of bootstrap draws, paired by space and repeat, in which it is. Both have the same spaces and
// repeats.
double LevelOf(const Scores& first, const Scores& second, std::uint64_t seed);

// A space that strategies are compared on.
struct Arena {
  const MeasuredSpace* measured = nullptr;
  Baseline baseline;
  std::vector<Point> champions = {};  // what strategies are told (strategy.h)
  const PointFacts* facts = nullptr;  // the same
};

// All repeats of one strategy.
struct StrategyScore {
  std::string name;
  Scores scores;                            // by arena
  std::vector<std::vector<double>> curves;  // by arena: the mean over repeats at each moment
  std::uint64_t evaluations = 0;            // of all runs, as the following
  std::uint64_t repeated = 0;
  std::uint64_t unknown = 0;
  double search_seconds = 0;  // with a clock
  double longest_step = 0;
};

// Repeat r has the seed `seed` + r on each space.
StrategyScore ScoreOf(const StrategyRow& row, const std::vector<Arena>& arenas,
                      std::uint64_t repeats, std::uint64_t seed, const ReplayClock& clock);

}  // namespace cupilot::search
