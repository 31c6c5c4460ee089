// Which of a kernel's variables differ between the threads that become one. Pure.
#pragma once

#include <map>
#include <set>

#include "source/rewrite/draft.h"
#include "source/rewrite/place.h"

namespace cupilot::source {

// Axes along which a value differs: a set of bits.
using Axes = unsigned int;
inline constexpr Axes kAlongX = 1, kAlongY = 2;

class JamScope {
 public:
  // `axes`: those along which threads are joined.
  JamScope(const Draft& draft, Axes axes);

  // Of an expression, or of everything in a statement.
  Axes Of(NodeId node) const;
  Axes OfVariable(NodeId variable) const;
  // A local integer that is a pure function of the place, never changed: each use can be its
  // initialiser instead, which keeps addresses visible to the compiler.
  bool IsIndex(NodeId variable) const { return indices_.count(variable) > 0; }
  // Whether a loop or branch can stay one for all threads.
  bool IsUniformLoop(NodeId loop) const;
  // Axes along which the statement must be repeated.
  Axes Repeats(NodeId statement) const;
  const std::vector<GlobalIndex>& sums() const { return sums_; }
  Axes all() const { return axes_; }

 private:
  void FindIndices();
  bool Raise(NodeId variable, Axes axes);
  Axes ControlOf(NodeId change, NodeId variable, bool& wrapped) const;

  const Draft& draft_;
  const Axes axes_;
  std::vector<GlobalIndex> sums_;
  std::map<NodeId, Axes> variables_;
  std::set<NodeId> indices_;
};

}  // namespace cupilot::source
