#include "search/score.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "search/random_numbers.h"

namespace cupilot::search {
namespace {

constexpr std::size_t kResamples = 4000;  // of a bootstrap
constexpr double kLeastWay = 0.01;        // see CurveOf()
constexpr double kNegligible = 1e-15;     // a probability
constexpr double kRounding = 1e-9;        // of evaluations

// The mean of the best of `draws` different ones of `all` points, of which the sorted `times` have
// a time; where none of them is among the drawn, `otherwise`.
double ExpectedBest(const std::vector<double>& times, std::uint64_t all, std::uint64_t draws,
                    double otherwise) {
  double mean = 0;
  double none_so_far = 1;  // the probability that none of the better ones was drawn
  for (std::size_t i = 0; i < times.size() && none_so_far > kNegligible; ++i) {
    const std::uint64_t left = all - i;  // this one and all others
    const double none =
        left <= draws ? 0
                      : none_so_far * static_cast<double>(left - draws) / static_cast<double>(left);
    mean += times[i] * (none_so_far - none);
    none_so_far = none;
  }
  return mean + none_so_far * otherwise;
}

double MedianOf(const std::vector<double>& sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double PlainMean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(values.size(), 1));
}

// Means of draws of spaces, and of each drawn one of its repeats; sorted.
std::vector<double> Bootstrap(const Scores& scores, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> means;
  if (scores.empty()) return means;
  for (std::size_t draw = 0; draw < kResamples; ++draw) {
    double sum = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const std::vector<double>& repeats =
          scores[static_cast<std::size_t>(Below(scores.size(), random))];
      double of_space = 0;
      for (std::size_t j = 0; j < repeats.size(); ++j) {
        of_space += repeats[static_cast<std::size_t>(Below(repeats.size(), random))];
      }
      sum += of_space / static_cast<double>(repeats.size());
    }
    means.push_back(sum / static_cast<double>(scores.size()));
  }
  std::sort(means.begin(), means.end());
  return means;
}

}  // namespace

base::Result<Baseline> Baseline::Make(const MeasuredSpace& measured,
                                      const ScoreSettings& settings) {
  std::vector<double> times;
  for (const MeasuredRow& row : measured.rows()) {
    if (row.microseconds) times.push_back(*row.microseconds);
  }
  if (times.empty()) {
    return base::Fail(base::InvalidArgument("no point has a time: there is nothing to search for"));
  }
  std::sort(times.begin(), times.end());
  Baseline baseline;
  baseline.optimum_ = times.front();
  baseline.median_ = MedianOf(times);
  const double way = baseline.median_ - baseline.optimum_;
  if (way <= 0) {
    return base::Fail(base::InvalidArgument(
        "half of the points are as fast as the best: there is nothing to search for"));
  }
  baseline.seconds_each_ = ReplayCost(measured).mean();
  const std::uint64_t all = measured.rows().size();
  const double first_below = baseline.optimum_ + (1 - settings.start) * way;
  const double last_below = baseline.optimum_ + (1 - settings.cutoff) * way;
  const double all_but_there = baseline.optimum_ + kLeastWay * way;
  std::uint64_t start = all;
  for (std::uint64_t n = 0; n <= all; ++n) {
    const double best = ExpectedBest(times, all, n, baseline.median_);
    baseline.expected_.push_back(best);
    // In a small space the budget ends before random search is there, too.
    if (best <= all_but_there && n > 1) break;
    baseline.budget_ = n;
    if (best <= first_below) start = std::min(start, n);
    if (best <= last_below && n >= settings.least) break;
  }
  start = std::min(start, baseline.budget_);
  const double begin = static_cast<double>(start) * baseline.seconds_each_;
  const double length = baseline.budget_seconds() - begin;
  const double steps = static_cast<double>(std::max<std::size_t>(settings.moments, 2) - 1);
  for (std::size_t i = 0; i < std::max<std::size_t>(settings.moments, 2); ++i) {
    baseline.moments_.push_back(begin + length * static_cast<double>(i) / steps);
  }
  return baseline;
}

double Baseline::At(double seconds) const {
  const double evaluations = std::floor(std::max(0.0, seconds) / seconds_each_ + kRounding);
  return expected_[std::min(static_cast<std::size_t>(evaluations), expected_.size() - 1)];
}

std::vector<double> CurveOf(const Baseline& baseline, const ReplayRun& run) {
  std::vector<double> curve;
  double best = baseline.median();
  std::size_t next = 0;
  for (const double moment : baseline.moments()) {
    while (next < run.improvements.size() &&
           run.improvements[next].seconds <= moment * (1 + kRounding)) {
      best = run.improvements[next++].microseconds;
    }
    const double random = baseline.At(moment);
    // Where random search is all but there a score says nothing; it stays finite.
    const double way =
        std::max(random - baseline.optimum(), kLeastWay * (baseline.median() - baseline.optimum()));
    curve.push_back((random - best) / way);
  }
  return curve;
}

double MeanOf(const Scores& scores) {
  std::vector<double> means;
  means.reserve(scores.size());
  for (const std::vector<double>& repeats : scores) means.push_back(PlainMean(repeats));
  return PlainMean(means);
}

Interval IntervalOf(const Scores& scores, std::uint64_t seed) {
  const std::vector<double> means = Bootstrap(scores, seed);
  if (means.empty()) return {};
  const auto at = [&means](double share) {
    return means[static_cast<std::size_t>(
        std::llround(share * static_cast<double>(means.size() - 1)))];
  };
  return {at(0.025), at(0.975)};
}

double LevelOf(const Scores& first, const Scores& second, std::uint64_t seed) {
  Scores differences = first;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    for (std::size_t j = 0; j < differences[i].size(); ++j) differences[i][j] -= second[i][j];
  }
  double better = 0;
  const std::vector<double> means = Bootstrap(differences, seed);
  for (const double mean : means) better += mean > 0 ? 1 : mean == 0 ? 0.5 : 0;
  return (better + 0.5) / static_cast<double>(means.size() + 1);
}

StrategyScore ScoreOf(const StrategyRow& row, const std::vector<Arena>& arenas,
                      std::uint64_t repeats, std::uint64_t seed, const ReplayClock& clock) {
  StrategyScore score;
  score.name = row.name;
  for (const Arena& arena : arenas) {
    std::vector<double> of_repeats;
    std::vector<double> sum(arena.baseline.moments().size());
    for (std::uint64_t repeat = 0; repeat < repeats; ++repeat) {
      const auto strategy =
          row.make_from({arena.measured->space(), seed + repeat, arena.champions, arena.facts});
      const ReplayRun run = Replay(*arena.measured, *strategy,
                                   arena.baseline.budget_seconds() * (1 + kRounding), clock);
      const std::vector<double> curve = CurveOf(arena.baseline, run);
      of_repeats.push_back(PlainMean(curve));
      for (std::size_t i = 0; i < curve.size(); ++i) sum[i] += curve[i];
      score.evaluations += run.evaluations;
      score.repeated += run.repeated;
      score.unknown += run.unknown;
      score.search_seconds += run.search_seconds;
      score.longest_step = std::max(score.longest_step, run.longest_step);
    }
    for (double& value : sum) value /= static_cast<double>(std::max<std::uint64_t>(repeats, 1));
    score.scores.push_back(std::move(of_repeats));
    score.curves.push_back(std::move(sum));
  }
  return score;
}

}  // namespace cupilot::search
