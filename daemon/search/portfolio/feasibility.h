// Which points are likely to fail, learned from those that did: constraints that nobody wrote down,
// such as registers, or what a compiler refuses. Never certain: nothing is left out for ever. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "search/portfolio/history.h"
#include "search/portfolio/refitted_trees.h"
#include "search/portfolio/scales.h"

namespace cupilot::search {

class Feasibility {
 public:
  // Not `enabled`: all points are likely to run.
  Feasibility(const Features& features, bool enabled);

  // The probability that it runs, from kLeast to 1.
  static constexpr double kLeast = 0.02;
  double Of(const Point& point) const;

  // A result came; fits a little of a new model.
  void Learn(const History& history);

 private:
  void Begin(const History& history);

  const Features& features_;
  bool enabled_;
  RefittedTrees trees_;
  std::size_t fitted_failures_ = 0, fitted_results_ = 0;
};

}  // namespace cupilot::search
