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
    const std::size_t count = targets.size();
    next_.Begin(std::move(rows), width, std::move(targets));
    if (count < kFewRows) next_.Sort(width);
    fitting_ = true;
  }
  // Grows at most so many of the successors, where some are begun, or does what takes as long
  // before; true: they answer from now on.
  bool Work(int trees) {
    if (fitting_ && !next_.IsSorted()) {
      next_.Sort(kFeaturesATree * static_cast<std::size_t>(trees));
      if (!next_.IsSorted()) return false;
    }
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
  static constexpr std::size_t kFewRows = 300;      // are sorted at once
  static constexpr std::size_t kFeaturesATree = 4;  // sorted in the time that a tree takes

  BoostedTrees model_, next_;
  bool fitted_ = false, fitting_ = false;
};

}  // namespace cupilot::search
