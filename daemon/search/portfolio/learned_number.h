// A number of each point, learned from the points of which it is known: boosted trees on their
// features. It sees the newest of them, so that a step takes as long however many there were. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "search/portfolio/refitted_trees.h"

namespace cupilot::search {

class LearnedNumber {
 public:
  LearnedNumber();

  // The number of the point with these features is known; where it may, fits a little of a new
  // model.
  void Learn(const std::vector<float>& features, double number, bool may_fit = true);

  bool IsFitted() const { return trees_.IsFitted(); }
  // What is expected of the point with these features; only where IsFitted().
  double Of(const std::vector<float>& features) const { return trees_.Predict(features); }
  // The median of what was known when it was last fitted.
  double middle() const { return middle_; }

 private:
  void Begin();

  std::vector<float> rows_;  // features, the newest last
  std::vector<double> numbers_;
  RefittedTrees trees_;
  std::size_t fitted_ = 0;  // numbers
  double middle_ = 0;
};

}  // namespace cupilot::search
