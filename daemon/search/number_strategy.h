// The search over numbers that the daemon runs (number_search.h), as a strategy on a space. The
// standard point is asked for first and is what the others are compared with.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "search/number_search.h"
#include "search/strategy.h"

namespace cupilot::search {

class NumberStrategy : public Strategy {
 public:
  NumberStrategy(const Space& space, std::uint64_t seed);

  std::optional<Point> Next() override;
  void Report(const Point& point, std::optional<double> microseconds) override;

 private:
  void Tell(const Point& point, std::optional<double> microseconds);

  const Space& space_;
  NumberSearch search_;
  Point standard_;
  bool asked_ = false;                   // for the standard point
  std::optional<double> standard_time_;  // what a speedup of 1 is, in microseconds
  std::vector<std::pair<Point, std::optional<double>>> early_;  // reports before that is known
};

}  // namespace cupilot::search
