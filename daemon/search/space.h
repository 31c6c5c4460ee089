// The valid points of a space of numbers, found by solving its constraints: parameters that
// constraints tie together form a group, each group is a tree of its parameters' values from which
// what cannot be valid is cut as soon as it shows, and the space is their product (the chain of
// trees of the Auto-Tuning Framework, Rasch, Schulze, Steuwer, Gorlatch, TACO 2021). Every point
// has a number, so that drawing is uniform over the valid ones. Pure values; one thread at a time
// is not needed for what is const.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/expression.h"
#include "records/slot_expression.h"

namespace cupilot::search {

enum class ParameterKind {
  kNumber,    // differences mean something
  kPower,     // ratios do
  kBoolean,   // 0 and 1
  kCategory,  // names, or numbers without an order
  kOrder,     // permutations, as texts: "kij"
};

struct SpaceParameter {
  std::string name;
  ParameterKind kind = ParameterKind::kNumber;
  std::vector<std::int64_t> values;  // as constraints see them; of names their places, from 0
  std::vector<std::string> texts;    // of kCategory and kOrder, by value; may be empty
  std::int64_t standard = 0;         // what it is where nobody chose: one of the values
  std::string when;  // it exists where this is not zero, and is `standard` elsewhere
};

// Which value each parameter has, by place in its list.
using Point = std::vector<std::uint16_t>;

class Space {
 public:
  struct Limits {
    std::size_t nodes = 20'000'000;  // of all trees: 16 bytes each
    std::size_t tries = 50'000'000;  // of values, valid or not: some seconds
  };

  // kInvalidArgument: two parameters of one name, no values, one twice or more than 65,535, a
  // standard value that is none, a constraint that is no expression of parameters and constants, or
  // no valid point at all, with the constraint that leaves none; kUnsupported: a group has too many
  // valid points, or solving it takes too long.
  static base::Result<Space> Make(std::vector<SpaceParameter> parameters,
                                  const std::vector<std::string>& require,
                                  const records::Environment& constants, const Limits& limits);
  static base::Result<Space> Make(std::vector<SpaceParameter> parameters,
                                  const std::vector<std::string>& require,
                                  const records::Environment& constants) {
    return Make(std::move(parameters), require, constants, Limits());
  }
  // Where the constraints are not known, but the valid points are: these, in any order. `when` says
  // nothing here. kInvalidArgument: as above, no points, or one with a place that is none.
  static base::Result<Space> OfPoints(std::vector<SpaceParameter> parameters,
                                      std::vector<Point> points);

  const std::vector<SpaceParameter>& parameters() const { return parameters_; }
  // Of valid points; at most 2^63, where it is that or more.
  std::uint64_t size() const { return size_; }
  // Whether points have numbers: size() is below 2^63.
  bool IsNumbered() const;
  double cartesian_size() const;
  // Groups that constraints tie together, by places of parameters.
  std::vector<std::vector<std::size_t>> groups() const;

  // The valid point of this number, below size().
  Point At(std::uint64_t number) const;
  // Its number; nothing: it is not valid. Only where size() is below 2^63.
  std::optional<std::uint64_t> NumberOf(const Point& point) const;
  bool IsValid(const Point& point) const;
  // Where nobody chose; nothing: that point is not valid.
  std::optional<Point> Standard() const;
  // Uniform over the valid ones, the same with every standard library.
  Point Draw(std::mt19937_64& random) const;
  // Valid points that differ in one parameter: with `adjacent` only by the next valid value above
  // and below (of kCategory, kOrder and kBoolean: any value).
  std::vector<Point> Neighbours(const Point& point, bool adjacent) const;
  // A valid point near one that need not be valid: as many of its values as can be kept, in the
  // order of the trees, and the nearest values in their places.
  Point Nearest(const Point& point) const;

  std::int64_t ValueOf(const Point& point, std::size_t parameter) const {
    return parameters_[parameter].values[point[parameter]];
  }
  // "bx=64 order=kij"
  std::string TextOf(const Point& point) const;

 private:
  class Solver;
  // A value of the parameter at this depth. Its children are the nodes of the next level from
  // `first_child` up to the next node's.
  struct Node {
    std::uint64_t first_leaf = 0;
    std::uint32_t first_child = 0;
    std::uint16_t value = 0;
  };
  struct Tree {
    std::vector<std::size_t> parameters;    // by depth
    std::vector<std::vector<Node>> levels;  // each with one more node behind the last
    std::uint64_t leaves = 0;
  };
  struct Range {
    std::size_t begin = 0, end = 0;
  };

  // Adds the nodes behind the last ones; `leaves` is set.
  static void Close(Tree& tree);
  static Range ChildrenOf(const Tree& tree, std::size_t depth, std::size_t node);
  static const Node* FindValue(const Tree& tree, std::size_t depth, Range range,
                               std::uint16_t value);
  // Sets what the tree's leaf of this number says.
  static void SetLeaf(const Tree& tree, std::uint64_t leaf, Point& point);
  static std::optional<std::uint64_t> LeafOf(const Tree& tree, const Point& point);

  std::vector<SpaceParameter> parameters_;
  std::vector<Tree> trees_;
  std::uint64_t size_ = 0;
};

}  // namespace cupilot::search
