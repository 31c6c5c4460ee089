// How far apart the values of a space's parameters are, and what models see of a point. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/space.h"
#include "search/strategy.h"

namespace cupilot::search {

// Values on a scale from 0 to 1: powers, and numbers that spread like powers, by their logarithms.
class Scales {
 public:
  explicit Scales(const Space& space);

  bool IsOrdered(std::size_t parameter) const { return !at_[parameter].empty(); }
  // Of an ordered parameter.
  double At(std::size_t parameter, std::uint16_t place) const { return at_[parameter][place]; }
  // From 0 to 1: of ordered ones the difference; of orders the share of pairs that stand the other
  // way round (Kendall); of others 1 where they differ.
  double Distance(std::size_t parameter, std::uint16_t a, std::uint16_t b) const;

 private:
  const Space& space_;
  std::vector<std::vector<double>> at_;  // empty: it has no order
};

// A point as numbers, for trees: scaled values, sums and differences of those that constraints tie
// together (logarithms of products and ratios: threads, tiles), a flag for each value of a category
// and for each pair of an order, and logarithms of the facts.
class Features {
 public:
  Features(const Space& space, const Scales& scales, const PointFacts* facts);

  std::size_t count() const { return count_; }
  // Replaces what is in `features`.
  void Of(const Point& point, std::vector<float>& features) const;

 private:
  struct Pair {
    std::size_t first, second;
  };

  const Space& space_;
  const Scales& scales_;
  const PointFacts* facts_;
  std::vector<std::vector<double>> log_;  // of values of ordered parameters, by place
  std::vector<Pair> pairs_;
  std::size_t count_ = 0;
};

}  // namespace cupilot::search
