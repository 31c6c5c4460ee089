#include "source/rewrite/thread_growth.h"

#include <cstdlib>
#include <map>
#include <optional>

#include "source/rewrite/inspect.h"

namespace cupilot::source {
namespace {

constexpr std::int64_t kLargestGrowth = std::int64_t{1} << 31;

std::optional<std::int64_t> NumberOfExpression(const Tree& tree, NodeId expression) {
  const NodeId id = SkipParensAndCasts(tree, expression);
  if (id == kNone || tree.at(id).value.empty() || tree.at(id).value.size() > 9) {
    return std::nullopt;
  }
  return std::stoll(tree.at(id).value);
}

bool IsClamp(const std::string& name) {
  return name == "min" || name == "max" || name == "umin" || name == "umax";
}

class GrowthReader {
 public:
  GrowthReader(const Draft& draft, char axis)
      : tree_(draft.tree), facts_(draft.facts), axis_(axis) {}

  Growth Of(NodeId expression) {
    const NodeId id = SkipParensAndCasts(tree_, expression);
    if (id == kNone) return {};
    if (const auto place = IndexOf(tree_, id)) {
      return {.constant = place->variable == "threadIdx" && place->axis == axis_ ? 1 : 0};
    }
    const Node& node = tree_.at(id);
    if (node.kind == Kind::kDeclRef) return OfVariable(id);
    if (node.kind == Kind::kSubscript || (node.kind == Kind::kUnary && node.name == "*")) {
      return OfElement(id);
    }
    if (node.kind == Kind::kBinary) return OfBinary(node);
    if (node.kind == Kind::kCall && IsClamp(SystemCallee(tree_, id))) return OfClamp(id);
    return OfParts(id);
  }

 private:
  static Growth Sum(const Growth& a, const Growth& b, std::int64_t sign) {
    return {a.linear && b.linear, a.symbolic || b.symbolic, a.indirect || b.indirect,
            a.constant + sign * b.constant};
  }

  static Growth Times(const Growth& growth, std::int64_t factor) {
    if (factor == 0) return {};
    if (std::abs(growth.constant) > kLargestGrowth || std::abs(factor) > kLargestGrowth) {
      return {.linear = growth.linear, .symbolic = true, .indirect = growth.indirect};
    }
    return {growth.linear, growth.symbolic, growth.indirect, growth.constant * factor};
  }

  Growth OfBinary(const Node& node) {
    const NodeId left = node.children[0], right = node.children[1];
    if (node.name == "+" || node.name == "-") {
      return Sum(Of(left), Of(right), node.name == "+" ? 1 : -1);
    }
    if (node.name == "*" || node.name == "<<") {
      Growth a = Of(left), b = Of(right);
      NodeId factor = right;
      if (node.name == "*" && a.IsNone()) {
        std::swap(a, b);
        factor = left;
      }
      if (b.IsNone() && a.linear) {
        if (a.IsNone()) return {.indirect = a.indirect || b.indirect};
        const auto number = NumberOfExpression(tree_, factor);
        if (!number || (node.name == "<<" && (*number < 0 || *number > 30))) {
          return {.symbolic = true, .indirect = a.indirect || b.indirect};
        }
        return Times(a, node.name == "*" ? *number : std::int64_t{1} << *number);
      }
      return {.linear = false, .indirect = a.indirect || b.indirect};
    }
    return Parts({left, right});
  }

  // The same for all where all parts are, else no line.
  Growth Parts(const std::vector<NodeId>& parts) {
    Growth all;
    for (const NodeId part : parts) {
      if (part == kNone) continue;
      const Growth growth = Of(part);
      all.linear = all.linear && growth.IsNone();
      all.indirect = all.indirect || growth.indirect;
    }
    return all;
  }

  Growth OfParts(NodeId id) { return Parts(tree_.at(id).children); }

  // Clamped at the edges it grows as it does inside.
  Growth OfClamp(NodeId call) {
    Growth most;
    for (const NodeId argument : Arguments(tree_, call)) {
      const Growth growth = Of(argument);
      const bool indirect = most.indirect || growth.indirect;
      if (!growth.IsNone()) most = growth;
      most.indirect = indirect;
    }
    return most;
  }

  // What is read there is not known; of an array of the thread's own it is no memory.
  Growth OfElement(NodeId id) {
    Growth growth = OfParts(id);
    const NodeId root = RootOf(tree_, id);
    const bool own = root != kNone && IsLocalVariable(tree_, facts_, root) &&
                     !IsPointerType(tree_.at(root).canonical);
    growth.indirect = growth.indirect || !own;
    if (!own) growth.linear = growth.linear && growth.IsNone();
    return growth;
  }

  Growth OfVariable(NodeId reference) {
    const NodeId variable = VariableOf(tree_, reference);
    if (variable == kNone || !IsLocalVariable(tree_, facts_, variable)) return {};
    if (facts_.address_taken.contains(variable)) return {.linear = false};
    // What it is made of itself adds nothing to it.
    const auto [known, is_new] = known_.try_emplace(variable);
    if (!is_new) return known->second;
    Growth growth = Of(Initialiser(tree_, variable));
    const auto changes = facts_.modifications.find(variable);
    if (changes != facts_.modifications.end()) {
      for (const NodeId change : changes->second) growth = Changed(growth, change);
    }
    known_[variable] = growth;
    return growth;
  }

  // Steps that are the same for all threads keep the distance between them.
  Growth Changed(const Growth& before, NodeId change) {
    const Node& node = tree_.at(change);
    if (node.kind == Kind::kUnary) return before;
    const NodeId value = Child(tree_, change, 1);
    if (node.kind == Kind::kAssign) {
      const Growth after = Of(value);
      if (before.IsNone()) return after;
      return Sum(before, {.linear = after.linear, .indirect = after.indirect}, 1);
    }
    const bool steps = node.name == "+=" || node.name == "-=";
    const Growth step = Of(value);
    if (steps && step.IsNone()) return Sum(before, {.indirect = step.indirect}, 1);
    return {.linear = false, .indirect = before.indirect || step.indirect};
  }

  const Tree& tree_;
  const Facts& facts_;
  const char axis_;
  std::map<NodeId, Growth> known_;
};

}  // namespace

Growth GrowthOf(const Draft& draft, char axis, NodeId expression) {
  return GrowthReader(draft, axis).Of(expression);
}

}  // namespace cupilot::source
