#include "search/portfolio/bayesian.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>

#include "search/portfolio/build_costs.h"
#include "search/portfolio/feasibility.h"
#include "search/random_numbers.h"

namespace cupilot::search {
namespace {

constexpr std::size_t kLeastResultsOfProcess = 6;
constexpr std::size_t kProcessPoints = 160;  // that the process sees
constexpr std::size_t kRefitPoints = 120;    // where it was full and begins anew
constexpr std::size_t kTunePoints = 80;
// Failures among what the process sees, the newest; as slow as the slowest that it sees. Without
// them what fails seems as promising as what lies beside it for ever: where the fastest fail, 78 of
// 100 evaluations did, and the search was behind random search.
constexpr std::size_t kSeenFailures = 40;
constexpr std::uint64_t kAllCompared = 3000;
constexpr std::size_t kManyCandidates = 1000, kFewCandidates = 200;
// From so many results on fewer candidates are compared, the most likely first, and the others as
// steps go by; and the process is fitted anew a part at a time. So no step takes much longer than
// the others.
constexpr std::size_t kLongHistory = 600;
constexpr std::size_t kWatchedAStep = 50;
constexpr std::size_t kFittedAStep = 40;  // points
constexpr std::size_t kTuneUntil = 400;   // results
constexpr std::size_t kCompared = 24;     // the best by improvement, of which feasibility is asked
constexpr std::size_t kComparedWithPending = 200;
constexpr double kLengths[] = {0.1, 0.2, 0.4, 0.7, 1.2, 2.0, 4.0, 8.0};
// Where facts say little a fixed share of them misleads. (100 searches each of n-body, reduction,
// transpose and pnpoly: 0.772 with the share that is likelier, 0.747 with half always.)
constexpr double kFactsShares[] = {0.05, 0.15, 0.3, 0.5, 0.7};
constexpr double kNoises[] = {1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1};

// The expected improvement over `best`, of a normal distribution.
double ExpectedImprovement(const GaussianProcess::Prediction& prediction, double best) {
  const double gain = best - prediction.mean;
  const double z = gain / prediction.deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * 3.14159265358979323846);
  const double below = 0.5 * std::erfc(-z / std::sqrt(2.0));
  return gain * below + prediction.deviation * density;
}

// Lengths near the first one are likelier.
double PriorOf(double length) {
  const double off = std::log(length / 0.7);
  return -0.15 * off * off;
}

}  // namespace

Bayesian::Bayesian(const Commons& commons, const Scales& scales, const PointFacts* facts)
    : commons_(commons),
      evolution_(commons),
      facts_(commons.space, facts),
      kernel_(commons.space, scales, &facts_),
      process_(kernel_) {
  if (commons.space.size() > kAllCompared) return;
  for (std::uint64_t i = 0; i < commons.space.size(); ++i) all_.push_back(commons.space.At(i));
}

// The best half of what it may see, and the newest.
std::vector<std::size_t> Bayesian::Chosen(std::size_t most) const {
  const std::vector<std::size_t>& ran = commons_.history.ran();
  if (ran.size() <= most) return ran;
  const auto& results = commons_.history.results();
  // Of a long history the best of the newest and the leaders: sorting all of it takes too long.
  std::vector<std::size_t> chosen = commons_.history.leaders();
  std::unordered_set<std::size_t> seen(chosen.begin(), chosen.end());
  const std::size_t window = std::min<std::size_t>(ran.size(), 1000);
  std::vector<std::size_t> recent(ran.end() - static_cast<std::ptrdiff_t>(window), ran.end());
  std::stable_sort(recent.begin(), recent.end(), [&](std::size_t a, std::size_t b) {
    return results[a].log_time < results[b].log_time;
  });
  for (std::size_t i = 0; i < recent.size() && chosen.size() < most / 2; ++i) {
    if (seen.insert(recent[i]).second) chosen.push_back(recent[i]);
  }
  for (std::size_t i = ran.size(); i > 0 && chosen.size() < most; --i) {
    if (seen.insert(ran[i - 1]).second) chosen.push_back(ran[i - 1]);
  }
  return chosen;
}

std::vector<Point> Bayesian::Candidates() const {
  if (!all_.empty()) return all_;
  const std::size_t most =
      commons_.history.results().size() > kLongHistory ? kFewCandidates : kManyCandidates;
  std::vector<Point> candidates;
  std::unordered_set<Point, PointHash> seen;
  const auto add = [&](Point point) {
    if (candidates.size() >= most || commons_.history.IsTaken(point)) return;
    if (seen.insert(point).second) candidates.push_back(std::move(point));
  };
  const auto& leaders = commons_.history.leaders();
  for (std::size_t i = 0; i < std::min<std::size_t>(leaders.size(), 3); ++i) {
    const Point& leader = commons_.history.results()[leaders[i]].point;
    for (Point& point : commons_.space.Neighbours(leader, i > 0)) {
      if (candidates.size() < most / 3) add(std::move(point));
    }
  }
  for (std::size_t i = 0; i < most / 3; ++i) add(evolution_.Child());
  for (std::size_t i = candidates.size(); i < most; ++i) {
    add(commons_.space.Draw(commons_.random));
  }
  return candidates;
}

// The newest that instruct.
std::vector<Point> Bayesian::Failures() const {
  const auto& results = commons_.history.results();
  std::vector<Point> failures;
  for (std::size_t i = results.size();
       i > 0 && failures.size() < std::min(commons_.history.failures(), kSeenFailures); --i) {
    const History::Result& result = results[i - 1];
    if (!result.ran && result.instructs) failures.push_back(result.point);
  }
  return failures;
}

void Bayesian::Refit() {
  const auto& results = commons_.history.results();
  const std::vector<Point> failures = Failures();
  const bool all_fit = commons_.history.ran().size() + failures.size() < kProcessPoints;
  const std::vector<std::size_t> chosen =
      Chosen((all_fit ? kProcessPoints : kRefitPoints) - failures.size());
  std::vector<double> times;
  times.reserve(chosen.size());
  for (const std::size_t i : chosen) times.push_back(results[i].log_time);
  std::vector<double> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  const double middle = sorted[sorted.size() / 2];
  ceiling_ = middle + std::max(middle - sorted.front(), 0.05);
  std::vector<Point> points;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    points.push_back(results[chosen[i]].point);
    times[i] = Seen(times[i]);
  }
  points.insert(points.end(), failures.begin(), failures.end());
  times.resize(points.size(), ceiling_);
  if (!IsLong() || process_.size() == 0) {
    process_.Fit(points, times, kProcessPoints);
    return Renewed();
  }
  const double mean =
      std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
  left_.clear();
  for (std::size_t i = kFittedAStep; i < points.size(); ++i)
    left_.emplace_back(points[i], times[i]);
  points.resize(std::min(points.size(), kFittedAStep));
  times.resize(points.size());
  successor_.emplace(kernel_).Fit(points, times, kProcessPoints, mean);
}

// Meanwhile the process answers, with what it knows.
void Bayesian::WorkOnSuccessor() {
  if (left_.empty() || successor_->full()) {
    process_ = std::move(*successor_);
    successor_.reset();
    return Renewed();
  }
  for (std::size_t i = 0; i < kFittedAStep && !left_.empty() && !successor_->full(); ++i) {
    successor_->Add(left_.front().first, left_.front().second);
    left_.pop_front();
  }
}

void Bayesian::Renewed() {
  candidates_ = Candidates();
  since_ = 0;
  changed_ = improved_ = false;
}

bool Bayesian::IsLong() const {
  return all_.empty() && commons_.history.results().size() > kLongHistory;
}

void Bayesian::WatchMore() {
  const std::size_t left = candidates_.size() - process_.watched();
  const std::size_t count = IsLong() ? std::min(left, kWatchedAStep) : left;
  const auto from = candidates_.begin() + static_cast<std::ptrdiff_t>(process_.watched());
  process_.Watch({from, from + static_cast<std::ptrdiff_t>(count)});
}

// A number of the kernel's to what makes the results likelier: by turns a parameter's length, the
// noise, the facts' length, their share.
void Bayesian::Tune() {
  const auto& results = commons_.history.results();
  const std::vector<std::size_t> chosen = Chosen(kTunePoints);
  std::vector<Point> points;
  std::vector<double> times;
  for (const std::size_t i : chosen) {
    points.push_back(results[i].point);
    times.push_back(Seen(results[i].log_time));
  }
  GaussianProcess process(kernel_);
  const auto attempt_next = [&](double here, const auto& values, const auto& prior_of,
                                const auto& set) {
    double best_value = here;
    std::optional<double> best;
    const auto attempt = [&](double value) {
      set(value);
      process.Fit(points, times, 0);
      const double found = process.LogLikelihood() + prior_of(value);
      if (best && found <= *best) return;
      best = found;
      best_value = value;
    };
    attempt(here);
    const double* below = nullptr;
    const double* above = nullptr;
    for (const double& value : values) {
      if (value < here * 0.99) below = &value;
      if (value > here * 1.01 && above == nullptr) above = &value;
    }
    if (below != nullptr) attempt(*below);
    if (above != nullptr) attempt(*above);
    set(best_value);
    changed_ = changed_ || best_value != here;
  };
  const std::size_t parameters = commons_.space.parameters().size();
  const std::size_t turns = parameters + (kernel_.HasFacts() ? 3 : 1);
  do {
    tuning_ = (tuning_ + 1) % turns;
  } while (tuning_ < parameters && commons_.space.parameters()[tuning_].values.size() < 2);
  if (tuning_ < parameters) {
    attempt_next(kernel_.length(tuning_), kLengths, &PriorOf,
                 [&](double length) { kernel_.SetLength(tuning_, length); });
  } else if (tuning_ == parameters) {
    attempt_next(
        kernel_.noise(), kNoises, [](double) { return 0.0; },
        [&](double noise) { kernel_.SetNoise(noise); });
  } else if (tuning_ == parameters + 1) {
    attempt_next(kernel_.facts_length(), kLengths, &PriorOf,
                 [&](double length) { kernel_.SetFactsLength(length); });
  } else {
    attempt_next(
        kernel_.facts_share(), kFactsShares, [](double) { return 0.0; },
        [&](double share) { kernel_.SetFactsShare(share); });
  }
}

void Bayesian::Learn(const History::Result& result) {
  std::erase(pending_, result.point);
  if (!result.instructs || process_.size() == 0) return;
  improved_ = improved_ || commons_.history.best() == &result;
  const double seen = result.ran ? Seen(result.log_time) : ceiling_;
  if (successor_) left_.emplace_back(result.point, seen);
  if (!process_.full()) process_.Add(result.point, seen);
}

std::optional<Point> Bayesian::Propose() {
  const History& history = commons_.history;
  if (history.ran().size() < kLeastResultsOfProcess) return std::nullopt;
  if (process_.size() == 0) Refit();
  const std::size_t known = history.results().size();
  if (known < kTuneUntil) {
    const int rounds = known < 40 ? 3 : 1;
    for (int i = 0; i < rounds; ++i) Tune();
  }
  const std::size_t patience = std::max<std::size_t>(3, process_.size() / 12);
  const bool stale = changed_ || (all_.empty() && (improved_ || since_ > 8));
  if (successor_) {
    WorkOnSuccessor();
  } else if (process_.full() || (stale && since_ >= (known < 60 ? 1 : patience))) {
    Refit();
  }
  WatchMore();
  ++since_;
  const double best = history.best()->log_time;
  std::vector<std::pair<double, std::size_t>> compared;
  for (std::size_t i = 0; i < process_.watched(); ++i) {
    if (history.IsTaken(process_.Watched(i))) continue;
    compared.emplace_back(-ExpectedImprovement(process_.PredictWatched(i), best), i);
  }
  if (compared.empty()) {
    since_ = patience;
    improved_ = true;
    return std::nullopt;
  }
  const std::size_t most = pending_.empty() ? kCompared : kComparedWithPending;
  const auto end = compared.begin() + static_cast<std::ptrdiff_t>(std::min(compared.size(), most));
  std::partial_sort(compared.begin(), end, compared.end());
  const std::pair<double, std::size_t>* chosen = nullptr;
  double chosen_value = -1;
  for (auto it = compared.begin(); it != end; ++it) {
    const Point& point = process_.Watched(it->second);
    const double value = -it->first * commons_.feasibility.Of(point) * NewBeside(point) *
                         commons_.build_costs.WorthOf(point);
    if (value <= chosen_value) continue;
    chosen_value = value;
    chosen = &*it;
  }
  pending_.push_back(process_.Watched(chosen->second));
  return pending_.back();
}

// What is like a point that is under way will be known soon without it. (With 24 under way half of
// 40 searches on the recorded space of pnpoly were within 5 % after 35 evaluations, without this
// after 47; of GEMM after 57 and 61.)
double Bayesian::NewBeside(const Point& point) const {
  double share = 1;
  for (const Point& other : pending_) {
    const double alike = std::min(1.0, kernel_.Of(point, other));
    share *= 1 - 0.5 * alike * alike;
  }
  return share;
}

}  // namespace cupilot::search
