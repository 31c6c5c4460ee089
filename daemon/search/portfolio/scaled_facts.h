// What a Gaussian process sees of points' launches: logarithms of their facts (threads, blocks,
// occupancy, waves, bytes staged), each scaled to its way over the space. Of what only the compiler
// knows nothing: it is expected for some points and known of others, and a kernel that takes one
// for the other sees differences that are none. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "search/space.h"
#include "search/strategy.h"

namespace cupilot::search {

class ScaledFacts {
 public:
  using Values = std::vector<float>;

  // `facts`: outlives it; null: nothing is known.
  ScaledFacts(const Space& space, const PointFacts* facts);

  // How many of the facts are not the same at all points.
  std::size_t count() const { return seen_.size(); }
  // From 0 to 1, a little outside at points that are more extreme than those it was scaled by;
  // count() of them.
  Values Of(const Point& point) const;

 private:
  struct Seen {
    std::size_t fact;
    float low, way;
  };

  const PointFacts* facts_;
  std::vector<Seen> seen_;
};

}  // namespace cupilot::search
