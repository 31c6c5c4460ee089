#include "source/rewrite/slopes.h"

#include <algorithm>
#include <optional>

#include "source/rewrite/inspect.h"

namespace cupilot::source {
namespace {

constexpr Slope kUnknownSlope{.known = false};
constexpr std::int64_t kLargestSlope = std::int64_t{1} << 40;

std::optional<std::int64_t> ConstantOf(const Tree& tree, NodeId expression) {
  const NodeId id = SkipParensAndCasts(tree, expression);
  if (id == kNone || tree.at(id).value.empty() || tree.at(id).value.size() > 12)
    return std::nullopt;
  return std::stoll(tree.at(id).value);
}

class SlopeReader {
 public:
  SlopeReader(const Draft& draft, const Subject& subject) : draft_(draft), subject_(subject) {}

  Slope Of(NodeId expression) {
    const Tree& tree = draft_.tree;
    const NodeId id = SkipParensAndCasts(tree, expression);
    if (id == kNone) return kUnknownSlope;
    if (const auto sum = GlobalIndexOf(tree, id)) {
      return Slope{.constant = sum->axis == subject_.axis ? 1 : 0};
    }
    const Node& node = tree.at(id);
    if (node.kind == Kind::kDeclRef) return OfVariable(id);
    if (node.kind == Kind::kUnary && (node.name == "-" || node.name == "+")) {
      const Slope operand = Of(Child(tree, id, 0));
      return node.name == "+" ? operand : Times(operand, -1);
    }
    if (node.kind == Kind::kBinary) {
      const NodeId left = Child(tree, id, 0), right = Child(tree, id, 1);
      if (node.name == "+") return Sum(Of(left), Of(right));
      if (node.name == "-") return Sum(Of(left), Times(Of(right), -1));
      if (node.name == "*") return Product(left, right);
      const auto bits = ConstantOf(tree, right);
      if (node.name == "<<" && bits && *bits >= 0 && *bits < 32) {
        return Times(Of(left), std::int64_t{1} << *bits);
      }
    }
    return OfParts(id);
  }

 private:
  static Slope Sum(const Slope& a, const Slope& b) {
    return {a.known && b.known, a.symbolic || b.symbolic, a.constant + b.constant};
  }

  static Slope Times(const Slope& slope, std::int64_t factor) {
    if (factor == 0) return {};
    if (std::abs(slope.constant) > kLargestSlope || std::abs(factor) > kLargestSlope) {
      return {.known = slope.known, .symbolic = true};
    }
    return {slope.known, slope.symbolic, slope.constant * factor};
  }

  Slope Product(NodeId left, NodeId right) {
    Slope a = Of(left), b = Of(right);
    if (a.IsNone()) {
      std::swap(a, b);
      std::swap(left, right);
    }
    if (!a.known || !b.IsNone()) return kUnknownSlope;
    if (a.IsNone()) return {};
    if (const auto factor = ConstantOf(draft_.tree, right)) return Times(a, *factor);
    return {.symbolic = true};
  }

  // Anything else: the same for all, or not linear.
  Slope OfParts(NodeId id) {
    for (const NodeId part : draft_.tree.at(id).children) {
      if (part != kNone && !Of(part).IsNone()) return kUnknownSlope;
    }
    return {};
  }

  Slope OfVariable(NodeId reference) {
    const Tree& tree = draft_.tree;
    const NodeId variable = VariableOf(tree, reference);
    // A function's name, an enumerator.
    if (variable == kNone) return IsBuiltInVariable(tree, reference) ? kUnknownSlope : Slope{};
    if (variable == subject_.counter) return {.constant = 1};
    if (!IsLocalVariable(tree, draft_.facts, variable)) return {};
    const NodeId value = Initialiser(tree, variable);
    if (value == kNone || depth_ > 32 || draft_.facts.address_taken.count(variable) > 0) {
      return kUnknownSlope;
    }
    // A counter starts at its first value everywhere, and counts alike.
    if (OwnChange(tree, draft_.facts, variable) != kNone) {
      const std::vector<NodeId>& changes = draft_.facts.modifications.at(variable);
      const bool counts = std::all_of(changes.begin(), changes.end(),
                                      [&](NodeId change) { return Counts(variable, change); });
      if (!counts) return kUnknownSlope;
    }
    ++depth_;
    const Slope slope = Of(value);
    --depth_;
    return slope;
  }

  // The increment, by a constant, of the loop that declares the variable.
  bool Counts(NodeId variable, NodeId change) const {
    const Tree& tree = draft_.tree;
    const NodeId loop = tree.at(change).parent;
    if (!IsA(tree, loop, Kind::kFor) || Child(tree, loop, 2) != change) return false;
    if (!IsInside(tree, variable, Child(tree, loop, 0))) return false;
    return IsA(tree, change, Kind::kUnary) ||
           (IsA(tree, change, Kind::kCompoundAssign) &&
            ConstantOf(tree, Child(tree, change, 1)).has_value());
  }

  const Draft& draft_;
  const Subject subject_;
  int depth_ = 0;
};

}  // namespace

Slope SlopeOf(const Draft& draft, const Subject& subject, NodeId expression) {
  return SlopeReader(draft, subject).Of(expression);
}

}  // namespace cupilot::source
