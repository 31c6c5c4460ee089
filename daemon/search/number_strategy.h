// The plain search over numbers: the standard point, some random points, then coordinate descent
// from the best: one parameter at a time to its neighbouring values, over and over, until no step
// helps; then again from a random point, until every valid point was tried. Where the descent waits
// for results, what comes is a random point.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "search/random_strategy.h"
#include "search/strategy.h"

namespace cupilot::search {

class NumberStrategy : public Strategy {
 public:
  NumberStrategy(const Space& space, std::uint64_t seed);

  std::optional<Point> Next() override;
  void Report(const Point& point, std::optional<double> microseconds) override;

 private:
  std::optional<Point> Choose();
  std::optional<Point> RandomPoint();
  std::optional<Point> DescentPoint() const;

  const Space& space_;
  RandomStrategy draws_;
  std::map<Point, bool> tried_;        // whether it was reported
  std::optional<Point> standard_;      // until it was asked for; nothing where it is not valid
  std::optional<Point> centre_;        // of the descent
  std::optional<double> centre_time_;  // microseconds; nothing: it failed
  std::optional<Point> restart_;       // a random point that becomes the centre when it is reported
  std::size_t random_left_ = 0;
  std::size_t pending_ = 0;
};

}  // namespace cupilot::search
