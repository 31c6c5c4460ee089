// A launch expression for many evaluations: its names are places in an array of numbers, and what
// does not depend on them was evaluated once. A pure value; one evaluation is some tens of
// nanoseconds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/expression.h"

namespace cupilot::records {

class SlotExpression {
 public:
  // The place of a name in the array; nullopt: a constant of `constants`.
  using SlotOf = std::function<std::optional<int>(std::string_view name)>;

  // kInvalidArgument where a part without slots has no value: unknown names, for one. kUnsupported
  // where slots meet floating numbers or pointers.
  static base::Result<SlotExpression> Compile(const Expression& expression, const SlotOf& slot_of,
                                              const Environment& constants);

  // Nothing where Expression::Evaluate() fails. `slots` holds all places that occur.
  std::optional<std::int64_t> Evaluate(const std::int64_t* slots) const;
  // Not zero; a failure is no.
  bool Holds(const std::int64_t* slots) const { return Evaluate(slots).value_or(0) != 0; }

  // Places that occur, ascending.
  const std::vector<int>& slots() const { return slots_; }

 private:
  class Compiler;
  struct Node {
    int operation = 0;       // Operation (expression_node.h), or one of ours
    std::int64_t value = 0;  // a constant, or a place
    int first = 0;           // children, in `children_`
    int count = 0;
  };
  bool Of(int node, const std::int64_t* slots, std::int64_t* value) const;

  std::vector<Node> nodes_;
  std::vector<int> children_;
  std::vector<int> slots_;
  int root_ = 0;
};

}  // namespace cupilot::records
