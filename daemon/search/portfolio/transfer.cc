#include "search/portfolio/transfer.h"

#include <algorithm>

#include "search/random_numbers.h"

namespace cupilot::search {

Transfer::Transfer(const Commons& commons, const std::vector<Point>& champions)
    : commons_(commons) {
  const auto& parameters = commons.space.parameters();
  std::unordered_set<Point, PointHash> seen;
  for (Point point : champions) {
    point.resize(parameters.size());
    for (std::size_t i = 0; i < point.size(); ++i) {
      const auto last = static_cast<std::uint16_t>(parameters[i].values.size() - 1);
      point[i] = std::min(point[i], last);
    }
    point = commons.space.Nearest(point);
    if (seen.insert(point).second) champions_.push_back(std::move(point));
  }
}

std::optional<Point> Transfer::Propose() {
  while (next_ < champions_.size()) {
    const Point& point = champions_[next_++];
    if (!commons_.history.IsTaken(point)) return point;
  }
  while (true) {
    while (!around_.empty()) {
      Point point = std::move(around_.back());
      around_.pop_back();
      if (!commons_.history.IsTaken(point)) return point;
    }
    // The best champion whose neighbours were not yet tried.
    const History::Result* best = nullptr;
    for (const Point& champion : champions_) {
      const History::Result* result = commons_.history.Find(champion);
      if (result == nullptr || !result->ran || followed_.contains(champion)) continue;
      if (best == nullptr || result->log_time < best->log_time) best = result;
    }
    if (best == nullptr) return std::nullopt;
    followed_.insert(best->point);
    around_ = commons_.space.Neighbours(best->point, true);
    Shuffle(around_, commons_.random);
  }
}

}  // namespace cupilot::search
