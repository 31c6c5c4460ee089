#include "records/slot_expression.h"

#include <algorithm>
#include <utility>

#include "records/expression_node.h"

namespace cupilot::records {

class SlotExpression::Compiler {
 public:
  Compiler(const SlotOf& slot_of, const Environment& constants)
      : slot_of_(slot_of), constants_(constants) {}

  base::Result<SlotExpression> Compile(const Expression& expression) {
    TRY_ASSIGN(out_.root_, Add(expression.root()));
    std::sort(out_.slots_.begin(), out_.slots_.end());
    out_.slots_.erase(std::unique(out_.slots_.begin(), out_.slots_.end()), out_.slots_.end());
    return std::move(out_);
  }

 private:
  base::Result<int> Add(const Expression::Node& node) {
    if (node.operation == Operation::kName) {
      if (const auto slot = slot_of_(node.name)) {
        out_.slots_.push_back(*slot);
        return Append({static_cast<int>(Operation::kName), *slot, 0, 0});
      }
    }
    if (!HasSlots(node)) {
      TRY_ASSIGN(const std::int64_t value, EvaluateNode(node, constants_));
      return Append({static_cast<int>(Operation::kConstant), value, 0, 0});
    }
    if (!IsOfIntegers(node)) {
      return base::Fail(base::Unsupported("column " + std::to_string(node.column) +
                                          ": tunables meet what is no integer"));
    }
    std::vector<int> children;
    for (const auto& child : node.children) {
      TRY_ASSIGN(const int index, Add(*child));
      children.push_back(index);
    }
    const Node made{static_cast<int>(node.operation), 0, static_cast<int>(out_.children_.size()),
                    static_cast<int>(children.size())};
    out_.children_.insert(out_.children_.end(), children.begin(), children.end());
    return Append(made);
  }

  int Append(const Node& node) {
    out_.nodes_.push_back(node);
    return static_cast<int>(out_.nodes_.size()) - 1;
  }

  bool HasSlots(const Expression::Node& node) const {
    if (node.operation == Operation::kName) return slot_of_(node.name).has_value();
    return std::any_of(node.children.begin(), node.children.end(),
                       [this](const auto& child) { return HasSlots(*child); });
  }

  bool IsOfIntegers(const Expression::Node& node) const {
    const Operation operation = node.operation;
    if (operation == Operation::kAligned || operation == Operation::kDisjoint ||
        operation == Operation::kIsNull || operation == Operation::kBlocksPerSm) {
      return false;
    }
    return std::none_of(node.children.begin(), node.children.end(), [this](const auto& child) {
      return child->operation == Operation::kName && !slot_of_(child->name) &&
             constants_.integers.find(child->name) == constants_.integers.end() &&
             (constants_.floats.find(child->name) != constants_.floats.end() ||
              constants_.pointers.find(child->name) != constants_.pointers.end());
    });
  }

  const SlotOf& slot_of_;
  const Environment& constants_;
  SlotExpression out_;
};

base::Result<SlotExpression> SlotExpression::Compile(const Expression& expression,
                                                     const SlotOf& slot_of,
                                                     const Environment& constants) {
  return Compiler(slot_of, constants).Compile(expression);
}

std::optional<std::int64_t> SlotExpression::Evaluate(const std::int64_t* slots) const {
  std::int64_t value = 0;
  if (!Of(root_, slots, &value)) return std::nullopt;
  return value;
}

bool SlotExpression::Of(int index, const std::int64_t* slots, std::int64_t* value) const {
  const Node& node = nodes_[static_cast<std::size_t>(index)];
  const int* child = children_.data() + node.first;
  const auto operation = static_cast<Operation>(node.operation);
  std::int64_t b = 0;
  switch (operation) {
    case Operation::kConstant:
      *value = node.value;
      return true;
    case Operation::kName:
      *value = slots[node.value];
      return true;
    case Operation::kNegate:
      return Of(child[0], slots, value) &&
             Compute(Operation::kSubtract, 0, *value, value) == nullptr;
    case Operation::kNot:
      if (!Of(child[0], slots, value)) return false;
      *value = *value == 0 ? 1 : 0;
      return true;
    case Operation::kAnd:
    case Operation::kOr: {
      if (!Of(child[0], slots, value)) return false;
      const bool is_and = operation == Operation::kAnd;
      if ((*value != 0) == is_and && !Of(child[1], slots, value)) return false;
      *value = *value != 0 ? 1 : 0;
      return true;
    }
    case Operation::kConditional:
      return Of(child[0], slots, value) && Of(child[*value != 0 ? 1 : 2], slots, value);
    case Operation::kLog2Ceil:
      return Of(child[0], slots, value) && Log2Ceil(*value, value) == nullptr;
    case Operation::kMin:
    case Operation::kMax:
      if (!Of(child[0], slots, value)) return false;
      for (int i = 1; i < node.count; ++i) {
        if (!Of(child[i], slots, &b)) return false;
        (void)Compute(operation, *value, b, value);
      }
      return true;
    default:
      if (!Of(child[0], slots, value) || !Of(child[1], slots, &b)) return false;
      if (!IsComparison(operation)) return Compute(operation, *value, b, value) == nullptr;
      *value = HoldsBetween(operation, *value, b) ? 1 : 0;
      return true;
  }
}

}  // namespace cupilot::records
