#include "search/portfolio/boosted_trees.h"

#include <algorithm>
#include <numeric>

namespace cupilot::search {

void BoostedTrees::Begin(std::vector<float> rows, std::size_t width, std::vector<double> targets) {
  trees_.clear();
  width_ = width;
  residuals_ = std::move(targets);
  const std::size_t count = residuals_.size();
  mean_ = std::accumulate(residuals_.begin(), residuals_.end(), 0.0) /
          static_cast<double>(std::max<std::size_t>(count, 1));
  for (double& residual : residuals_) residual -= mean_;
  rows_ = std::move(rows);
  edges_.clear();
  bins_.assign(width * count, 0);
}

void BoostedTrees::Sort(std::size_t features) {
  const std::size_t count = residuals_.size();
  std::vector<float> column(count);
  for (; features > 0 && !IsSorted(); --features) {
    const std::size_t f = edges_.size();
    for (std::size_t i = 0; i < count; ++i) column[i] = rows_[i * width_ + f];
    std::sort(column.begin(), column.end());
    const std::vector<float> sorted = column;
    column.erase(std::unique(column.begin(), column.end()), column.end());
    std::vector<float>& edges = edges_.emplace_back();
    if (column.size() <= kBins) {
      edges.assign(column.begin(), column.empty() ? column.end() : column.end() - 1);
    } else {
      for (std::size_t bin = 1; bin < kBins; ++bin) edges.push_back(sorted[bin * count / kBins]);
      edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    }
    column.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto edge = std::lower_bound(edges.begin(), edges.end(), rows_[i * width_ + f]);
      bins_[f * count + i] = static_cast<std::uint8_t>(edge - edges.begin());
    }
  }
  if (IsSorted()) rows_ = {};
}

BoostedTrees::Split BoostedTrees::BestSplit(const std::vector<std::uint8_t>& leaf_of,
                                            std::size_t leaves) const {
  const std::size_t count = residuals_.size();
  Split best;
  std::vector<double> sums(leaves * kBins), counts(leaves * kBins);
  for (std::size_t f = 0; f < width_; ++f) {
    if (edges_[f].empty()) continue;
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(counts.begin(), counts.end(), 0.0);
    const std::uint8_t* bins = bins_.data() + f * count;
    for (std::size_t i = 0; i < count; ++i) {
      sums[leaf_of[i] * kBins + bins[i]] += residuals_[i];
      counts[leaf_of[i] * kBins + bins[i]] += 1;
    }
    std::array<double, kBins> gains{};
    for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
      const double* sum = sums.data() + leaf * kBins;
      const double* number = counts.data() + leaf * kBins;
      const double all = std::accumulate(sum, sum + kBins, 0.0);
      const double all_count = std::accumulate(number, number + kBins, 0.0);
      double left = 0, left_count = 0;
      for (std::size_t bin = 0; bin < edges_[f].size(); ++bin) {
        left += sum[bin];
        left_count += number[bin];
        const double right = all - left, right_count = all_count - left_count;
        gains[bin] += left * left / (left_count + settings_.ballast) +
                      right * right / (right_count + settings_.ballast);
      }
    }
    for (std::size_t bin = 0; bin < edges_[f].size(); ++bin) {
      if (gains[bin] > best.gain) best = {gains[bin], f, bin};
    }
  }
  return best;
}

bool BoostedTrees::Grow() {
  if (done() || residuals_.empty()) return false;
  Sort(width_);
  const std::size_t count = residuals_.size();
  Tree tree;
  std::vector<std::uint8_t> leaf_of(count);
  for (; tree.depth < std::min(settings_.depth, kMostDepth); ++tree.depth) {
    const Split split = BestSplit(leaf_of, std::size_t{1} << tree.depth);
    if (split.gain <= 0) break;
    const auto depth = static_cast<std::size_t>(tree.depth);
    tree.feature[depth] = static_cast<std::uint32_t>(split.feature);
    tree.above[depth] = edges_[split.feature][split.bin];
    const std::uint8_t* bins = bins_.data() + split.feature * count;
    for (std::size_t i = 0; i < count; ++i) {
      leaf_of[i] = static_cast<std::uint8_t>(2 * leaf_of[i] + (bins[i] > split.bin ? 1 : 0));
    }
  }
  std::vector<double> sums(std::size_t{1} << tree.depth), counts(sums.size());
  for (std::size_t i = 0; i < count; ++i) {
    sums[leaf_of[i]] += residuals_[i];
    counts[leaf_of[i]] += 1;
  }
  for (std::size_t leaf = 0; leaf < sums.size(); ++leaf) {
    tree.leaf[leaf] =
        static_cast<float>(settings_.rate * sums[leaf] / (counts[leaf] + settings_.ballast));
  }
  for (std::size_t i = 0; i < count; ++i) residuals_[i] -= tree.leaf[leaf_of[i]];
  trees_.push_back(tree);
  return !done();
}

double BoostedTrees::Predict(const std::vector<float>& features) const {
  double sum = mean_;
  for (const Tree& tree : trees_) {
    std::size_t leaf = 0;
    for (std::size_t depth = 0; depth < static_cast<std::size_t>(tree.depth); ++depth) {
      leaf = 2 * leaf + (features[tree.feature[depth]] > tree.above[depth] ? 1 : 0);
    }
    sum += tree.leaf[leaf];
  }
  return sum;
}

}  // namespace cupilot::search
