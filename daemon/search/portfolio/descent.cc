#include "search/portfolio/descent.h"

#include <algorithm>

#include "search/portfolio/feasibility.h"
#include "search/random_numbers.h"

namespace cupilot::search {
namespace {

constexpr int kPerturbations = 30;  // tries to find a point that is not taken
constexpr double kChanged = 0.3;    // of the parameters

}  // namespace

void Descent::SetCentre(const Point& point, double log_time) {
  moved_.reset();
  if (centre_) {
    for (std::size_t i = 0; i < point.size(); ++i) {
      if (point[i] == (*centre_)[i]) continue;
      moved_ = i;
      direction_ = point[i] > (*centre_)[i] ? 1 : -1;
    }
  }
  centre_ = point;
  centre_time_ = log_time;
  all_values_ = false;
  around_ = commons_.space.Neighbours(point, true);
  Shuffle(around_, commons_.random);
  // Likely to fail: later. What helped the last time: first.
  const auto value = [this](const Point& other) {
    const bool again = moved_ && other[*moved_] != (*centre_)[*moved_] &&
                       (other[*moved_] > (*centre_)[*moved_]) == (direction_ > 0);
    return commons_.feasibility.Of(other) + (again ? 1 : 0);
  };
  std::stable_sort(around_.begin(), around_.end(),
                   [&](const Point& a, const Point& b) { return value(a) < value(b); });
}

std::optional<Point> Descent::Perturbed() const {
  const History::Result* best = commons_.history.best();
  if (best == nullptr) return std::nullopt;
  const std::size_t count = best->point.size();
  for (int i = 0; i < kPerturbations; ++i) {
    const Point other = commons_.space.Draw(commons_.random);
    Point point = best->point;
    for (std::size_t p = 0; p < count; ++p) {
      if (Unit(commons_.random) < kChanged) point[p] = other[p];
    }
    point = commons_.space.Nearest(point);
    if (!commons_.history.IsTaken(point)) return point;
  }
  return std::nullopt;
}

std::optional<Point> Descent::Propose() {
  const History::Result* best = commons_.history.best();
  if (best == nullptr) return std::nullopt;
  // A better point than where it stands: that one first, whoever found it.
  if (!centre_ || (best->log_time < centre_time_ && !done_.contains(best->point))) {
    SetCentre(best->point, best->log_time);
  }
  while (centre_) {
    while (!around_.empty()) {
      Point point = std::move(around_.back());
      around_.pop_back();
      if (!commons_.history.IsTaken(point)) return point;
    }
    if (!all_values_ && *centre_ == best->point) {
      all_values_ = true;
      around_ = commons_.space.Neighbours(*centre_, false);
      Shuffle(around_, commons_.random);
      continue;
    }
    done_.insert(*centre_);
    centre_.reset();
  }
  if (start_) return std::nullopt;
  start_ = Perturbed();
  return start_;
}

void Descent::Learn(const History::Result& result) {
  if (start_ && result.point == *start_) {
    start_.reset();
    if (result.ran) SetCentre(result.point, result.log_time);
    return;
  }
  if (!centre_ || !result.ran || result.log_time >= centre_time_) return;
  std::size_t differ = 0;
  for (std::size_t i = 0; i < result.point.size(); ++i) {
    differ += result.point[i] != (*centre_)[i] ? 1 : 0;
  }
  if (differ == 1) SetCentre(result.point, result.log_time);
}

}  // namespace cupilot::search
