// Gradient boosting of small trees whose nodes of one depth ask the same (oblivious trees, as in
// Prokhorenkova, Gusev, Vorobev, Dorogush, Gulin, CatBoost, NeurIPS 2018), fitted a tree at a time
// so that a search may spread the work over its steps. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cupilot::search {

class BoostedTrees {
 public:
  struct Settings {
    int trees = 60;
    int depth = 4;  // at most kMostDepth
    double rate = 0.15;
    double ballast = 2;  // rows of mean 0 that each leaf has besides its own
  };
  static constexpr int kMostDepth = 6;

  explicit BoostedTrees(const Settings& settings) : settings_(settings) {}

  // Rows of `width` features each, one target a row; forgets all trees. Begun is not grown.
  void Begin(std::vector<float> rows, std::size_t width, std::vector<double> targets);
  // So many more features are put into bins, which Grow() does for all that are left.
  void Sort(std::size_t features);
  bool IsSorted() const { return edges_.size() == width_; }
  // One more tree; false: all are there.
  bool Grow();
  bool done() const { return static_cast<int>(trees_.size()) >= settings_.trees; }
  bool empty() const { return trees_.empty(); }

  double Predict(const std::vector<float>& features) const;

 private:
  static constexpr std::size_t kBins = 32;

  struct Tree {
    std::array<std::uint32_t, kMostDepth> feature{};
    std::array<float, kMostDepth> above{};  // goes right where the feature is greater
    std::array<float, std::size_t{1} << kMostDepth> leaf{};
    int depth = 0;
  };
  struct Split {
    double gain = 0;
    std::size_t feature = 0;
    std::size_t bin = 0;  // goes right where the bin is greater
  };

  Split BestSplit(const std::vector<std::uint8_t>& leaf_of, std::size_t leaves) const;

  Settings settings_;
  double mean_ = 0;
  std::size_t width_ = 0;
  std::vector<float> rows_;  // until all features are in bins
  std::vector<std::vector<float>>
      edges_;                       // by feature: the greatest value of each bin but the last
  std::vector<std::uint8_t> bins_;  // by feature, by row
  std::vector<double> residuals_;
  std::vector<Tree> trees_;
};

}  // namespace cupilot::search
