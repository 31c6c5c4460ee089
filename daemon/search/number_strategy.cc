#include "search/number_strategy.h"

#include <algorithm>

namespace cupilot::search {
namespace {

// Where the standard point does not run, whatever runs is faster than it.
constexpr double kNever = 1e15;

Point PointOf(const Space& space, const Values& values) {
  Point point;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::vector<std::int64_t>& all = space.parameters()[i].values;
    const auto found = std::find(all.begin(), all.end(), values[i].second);
    point.push_back(static_cast<std::uint16_t>(found - all.begin()));
  }
  return point;
}

Values ValuesOf(const Space& space, const Point& point) {
  Values values;
  for (std::size_t i = 0; i < point.size(); ++i) {
    values.emplace_back(space.parameters()[i].name, space.ValueOf(point, i));
  }
  return values;
}

NumberSpace NumbersOf(const Space& space) {
  NumberSpace numbers;
  for (const SpaceParameter& parameter : space.parameters()) {
    records::Tunable tunable;
    tunable.name = parameter.name;
    tunable.values = parameter.values;
    tunable.default_value = parameter.standard;
    numbers.tunables.push_back(std::move(tunable));
  }
  numbers.also = [&space](const Values& values) { return space.IsValid(PointOf(space, values)); };
  return numbers;
}

}  // namespace

NumberStrategy::NumberStrategy(const Space& space, std::uint64_t seed)
    : space_(space), search_(NumbersOf(space), seed) {
  standard_ = PointOf(space, NumbersOf(space).Default());
  if (space.IsValid(standard_)) return;
  asked_ = true;
  standard_time_ = kNever;
}

std::optional<Point> NumberStrategy::Next() {
  if (!asked_) {
    asked_ = true;
    return standard_;
  }
  const auto values = search_.Next();
  if (!values) return std::nullopt;
  return PointOf(space_, *values);
}

void NumberStrategy::Report(const Point& point, std::optional<double> microseconds) {
  if (standard_time_) return Tell(point, microseconds);
  if (point != standard_) {
    early_.emplace_back(point, microseconds);
    return;
  }
  standard_time_ = microseconds.value_or(kNever);
  for (const auto& [other, time] : early_) Tell(other, time);
  early_.clear();
}

void NumberStrategy::Tell(const Point& point, std::optional<double> microseconds) {
  const Values values = ValuesOf(space_, point);
  if (microseconds) {
    search_.Report(values, *standard_time_ / *microseconds);
  } else {
    search_.Report(values, std::nullopt);
  }
}

}  // namespace cupilot::search
