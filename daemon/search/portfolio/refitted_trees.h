// Boosted trees that answer while their successors, of more rows, are fitted a few at a time. Pure.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "search/portfolio/boosted_trees.h"

namespace cupilot::search {

class RefittedTrees {
 public:
  explicit RefittedTrees(const BoostedTrees::Settings& settings)
      : model_(settings), next_(settings) {}

  // As BoostedTrees::Begin(), of the successors.
  void Begin(std::vector<float> rows, std::size_t width, std::vector<double> targets) {
    next_.Begin(std::move(rows), width, std::move(targets));
    fitting_ = true;
  }
  // Grows at most so many of the successors, where some are begun; true: they answer from now on.
  bool Work(int trees) {
    for (int i = 0; fitting_ && i < trees; ++i) {
      if (next_.Grow()) continue;
      std::swap(model_, next_);
      fitted_ = true;
      fitting_ = false;
      return true;
    }
    return false;
  }
  bool IsFitted() const { return fitted_; }
  bool IsFitting() const { return fitting_; }

  // Only where IsFitted().
  double Predict(const std::vector<float>& features) const { return model_.Predict(features); }

 private:
  BoostedTrees model_, next_;
  bool fitted_ = false, fitting_ = false;
};

}  // namespace cupilot::search
