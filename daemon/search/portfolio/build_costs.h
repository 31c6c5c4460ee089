// How long points take to build, learned from those that were built: where builds are what a search
// waits for, of two that promise the same the one that is built sooner is better (expected
// improvement per second: Snoek, Larochelle, Adams, Practical Bayesian Optimization of Machine
// Learning Algorithms, NeurIPS 2012). Only what takes longer than others counts: to divide by all
// of it took the search of a GEMM away from its best points. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "search/portfolio/refitted_trees.h"
#include "search/portfolio/scales.h"
#include "search/space.h"

namespace cupilot::search {

class BuildCosts {
 public:
  explicit BuildCosts(const Features& features);

  // What the point's build took, in seconds; fits a little of a new model.
  void Learn(const Point& point, double seconds);
  // What a build of the point is worth, above 0 to 1: where it is expected to take so many times as
  // long as the median, so many times less.
  double WorthOf(const Point& point) const;

 private:
  void Begin();

  const Features& features_;
  std::vector<float> rows_;        // features of what was built, the newest last
  std::vector<double> log_costs_;  // of seconds
  RefittedTrees trees_;
  std::size_t fitted_ = 0;  // builds
  double log_middle_ = 0;   // of seconds: the median of the builds at the last Begin()
};

}  // namespace cupilot::search
