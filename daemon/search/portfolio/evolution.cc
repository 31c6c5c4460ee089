#include "search/portfolio/evolution.h"

#include <algorithm>
#include <cmath>

#include "search/portfolio/feasibility.h"
#include "search/random_numbers.h"

namespace cupilot::search {
namespace {

constexpr std::size_t kLeastResults = 12;  // with a time, before there are children
constexpr int kTries = 40;                 // to find a child that is not taken
constexpr double kWholeGroup = 0.5;        // of groups that come from one parent
constexpr double kMutations = 1.0;         // a child, on average
constexpr double kNearMutation = 0.5;      // of them: to the next place

}  // namespace

// The better, the more often.
const Point& Evolution::Parent() const {
  const auto& leaders = commons_.history.leaders();
  const double share = std::pow(Unit(commons_.random), 2);
  const auto rank = static_cast<std::size_t>(share * static_cast<double>(leaders.size()));
  return commons_.history.results()[leaders[std::min(rank, leaders.size() - 1)]].point;
}

Point Evolution::Child() const {
  const Point& first = Parent();
  const Point& second = Parent();
  Point child = first;
  for (const std::vector<std::size_t>& group : groups_) {
    const bool whole = Unit(commons_.random) < kWholeGroup;
    const bool from_second = Unit(commons_.random) < 0.5;
    for (const std::size_t p : group) {
      if (whole ? from_second : Unit(commons_.random) < 0.5) child[p] = second[p];
    }
  }
  for (std::size_t p = 0; p < child.size(); ++p) {
    const std::size_t values = commons_.space.parameters()[p].values.size();
    if (values < 2 || Unit(commons_.random) >= kMutations / static_cast<double>(child.size())) {
      continue;
    }
    if (Unit(commons_.random) < kNearMutation) {
      const bool up = child[p] == 0 || (child[p] + 1u < values && Unit(commons_.random) < 0.5);
      child[p] = static_cast<std::uint16_t>(up ? child[p] + 1 : child[p] - 1);
    } else {
      child[p] = static_cast<std::uint16_t>(Below(values, commons_.random));
    }
  }
  return commons_.space.Nearest(child);
}

std::optional<Point> Evolution::Propose() {
  if (commons_.history.ran().size() < kLeastResults) return std::nullopt;
  for (int i = 0; i < kTries; ++i) {
    Point child = Child();
    if (commons_.history.IsTaken(child)) continue;
    if (Unit(commons_.random) < commons_.feasibility.Of(child)) return child;
  }
  return std::nullopt;
}

}  // namespace cupilot::search
