#include "search/random_strategy.h"

#include "search/random_numbers.h"

namespace cupilot::search {

std::uint64_t RandomStrategy::InPlaceOf(std::uint64_t number) const {
  const auto found = moved_.find(number);
  return found == moved_.end() ? number : found->second;
}

std::optional<Point> RandomStrategy::Next() {
  // Points have no numbers there; nor will one be drawn twice.
  if (!space_.IsNumbered()) return space_.Draw(random_);
  if (drawn_ == space_.size()) return std::nullopt;
  const std::uint64_t place = drawn_ + Below(space_.size() - drawn_, random_);
  const std::uint64_t number = InPlaceOf(place);
  moved_[place] = InPlaceOf(drawn_);
  moved_.erase(drawn_);
  ++drawn_;
  return space_.At(number);
}

void RandomStrategy::Report(const Point&, std::optional<double>) {}

}  // namespace cupilot::search
