// How long points take to build, learned from those that were built: where builds are what a search
// waits for, of two that promise the same the one that is built sooner is better (expected
// improvement per second: Snoek, Larochelle, Adams, Practical Bayesian Optimization of Machine
// Learning Algorithms, NeurIPS 2012). Only what takes longer than others counts: to divide by all
// of it took the search of a GEMM away from its best points. Pure.
#pragma once

#include "search/portfolio/learned_number.h"
#include "search/portfolio/scales.h"
#include "search/space.h"

namespace cupilot::search {

class BuildCosts {
 public:
  explicit BuildCosts(const Features& features) : features_(features) {}

  // The point was built in so many seconds (0: not known); fits a little of a new model.
  void Learn(const Point& point, double seconds);
  // What a build of the point is worth, above 0 to 1: where it is expected to take so many times as
  // long as the median, so many times less.
  double WorthOf(const Point& point) const;

 private:
  const Features& features_;
  LearnedNumber log_seconds_;
};

}  // namespace cupilot::search
