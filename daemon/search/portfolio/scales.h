// How far apart the values of a space's parameters are, and what models see of a point. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/space.h"
#include "search/strategy.h"

namespace cupilot::search {

// Values on a scale from 0 to 1: powers, and numbers that spread like powers, by their logarithms.
// Orders by which of each two of their loops stands first.
class Scales {
 public:
  explicit Scales(const Space& space);

  bool IsOrdered(std::size_t parameter) const { return !at_[parameter].empty(); }
  // Of an ordered parameter.
  double At(std::size_t parameter, std::uint16_t place) const { return at_[parameter][place]; }
  // Of a parameter that is an order; not for others.
  bool HasWays(std::size_t parameter) const { return !ways_[parameter].empty(); }
  // Of each pair of its loops 1 where the first one stands before the other, -1 where behind it, 0
  // where one of them is not there. A loop is a letter and how many of the same stand before it: of
  // "ikjk" the second k is not the first.
  using Ways = std::vector<std::int8_t>;
  const Ways& WaysOf(std::size_t parameter, std::uint16_t place) const {
    return ways_[parameter][place];
  }
  // From 0 to 1: of ordered ones the difference; of orders the share of pairs that do not stand the
  // same way round (after M. Kendall, A New Measure of Rank Correlation, 1938); of others 1 where
  // they differ.
  double Distance(std::size_t parameter, std::uint16_t a, std::uint16_t b) const;

 private:
  const Space& space_;
  std::vector<std::vector<double>> at_;  // empty: it has no order
  std::vector<std::vector<Ways>> ways_;  // by place; empty: it is no order
};

// Logarithms of a point's facts, of one more each.
std::vector<double> LogFactsOf(const PointFacts& facts, const Point& point,
                               const BuildReport& built);

// A point as numbers, for trees: scaled values, sums and differences of those that constraints tie
// together (logarithms of products and ratios: threads, tiles), a flag for each value of a category
// and for each pair of loops of an order, and logarithms of the facts.
class Features {
 public:
  Features(const Space& space, const Scales& scales, const PointFacts* facts);

  std::size_t count() const { return count_; }
  // Of these, the last ones: logarithms of the facts.
  std::size_t facts() const { return facts_ == nullptr ? 0 : facts_->count(); }
  // Replaces what is in `features`; the facts are those of a point whose build nobody knows.
  void Of(const Point& point, std::vector<float>& features) const;
  // Replaces the facts in what Of() gave for the point by those with this build.
  void SetBuild(const Point& point, const BuildReport& built, std::vector<float>& features) const;

 private:
  struct Pair {
    std::size_t first, second;
  };

  void AppendFacts(const Point& point, const BuildReport& built,
                   std::vector<float>& features) const;

  const Space& space_;
  const Scales& scales_;
  const PointFacts* facts_;
  std::vector<std::vector<double>> log_;  // of values of ordered parameters, by place
  std::vector<Pair> pairs_;
  std::size_t count_ = 0;
};

}  // namespace cupilot::search
