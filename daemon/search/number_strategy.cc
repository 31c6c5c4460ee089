#include "search/number_strategy.h"

#include <utility>

namespace cupilot::search {
namespace {

// Where points have no numbers, one that was tried may be drawn again.
constexpr int kDraws = 1000;

}  // namespace

NumberStrategy::NumberStrategy(const Space& space, std::uint64_t seed)
    : space_(space),
      draws_(space, seed),
      standard_(space.Standard()),
      centre_(standard_),
      random_left_(space.parameters().size() + 2) {}

// Every point that is passed over was tried: what it was passed over for changes no later answer.
std::optional<Point> NumberStrategy::RandomPoint() {
  const bool numbered = space_.IsNumbered();
  for (int i = 0; numbered || i < kDraws; ++i) {
    std::optional<Point> point = draws_.Next();
    if (!point || !tried_.contains(*point)) return point;
  }
  return std::nullopt;
}

std::optional<Point> NumberStrategy::DescentPoint() const {
  if (!centre_) return std::nullopt;
  for (Point& neighbour : space_.Neighbours(*centre_, true)) {
    if (!tried_.contains(neighbour)) return std::move(neighbour);
  }
  return std::nullopt;
}

std::optional<Point> NumberStrategy::Choose() {
  if (standard_) return std::exchange(standard_, std::nullopt);
  if (random_left_ > 0) {
    auto point = RandomPoint();
    if (point) --random_left_;
    return point;
  }
  auto point = DescentPoint();
  if (point) return point;
  // While results are outstanding who asks ahead gets a point that may be of use anyway.
  point = RandomPoint();
  if (pending_ == 0) restart_ = point;
  return point;
}

std::optional<Point> NumberStrategy::Next() {
  auto point = Choose();
  if (!point) return std::nullopt;
  tried_[*point] = false;
  ++pending_;
  return point;
}

void NumberStrategy::Report(const Point& point, std::optional<double> microseconds) {
  const auto found = tried_.find(point);
  if (found == tried_.end() || found->second) return;
  found->second = true;
  --pending_;
  const bool restarts = restart_ == point;
  if (restarts) restart_.reset();
  if (!microseconds) return;
  if (!restarts && centre_time_ && *microseconds >= *centre_time_) return;
  centre_ = point;
  centre_time_ = microseconds;
}

}  // namespace cupilot::search
