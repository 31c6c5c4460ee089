#include "records/expression.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "records/expression_node.h"

namespace cupilot::records {
namespace {

using Node = Expression::Node;
using Value = base::Result<std::int64_t>;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

tl::unexpected<base::Error> FailAt(const Node& node, const std::string& what) {
  return base::Fail(ExpressionError(node.column, what));
}

template <class T>
bool Holds(Operation operation, T left, T right) {
  switch (operation) {
    case Operation::kLess:
      return left < right;
    case Operation::kLessEqual:
      return left <= right;
    case Operation::kGreater:
      return left > right;
    case Operation::kGreaterEqual:
      return left >= right;
    case Operation::kEqual:
      return left == right;
    default:
      return left != right;
  }
}

// Of kDivide, kRemainder, kFloorDiv, and of kCeilDiv by a positive number.
const char* Divide(Operation operation, std::int64_t a, std::int64_t b, std::int64_t* result) {
  if (b == 0) return "division by zero";
  if (a == kMin && b == -1) return "overflow";
  const bool inexact = a % b != 0;
  *result = a / b;
  if (operation == Operation::kRemainder) *result = a % b;
  if (operation == Operation::kFloorDiv && inexact && ((a < 0) != (b < 0))) --*result;
  if (operation == Operation::kCeilDiv && inexact && a > 0) ++*result;
  return nullptr;
}

class Evaluator {
 public:
  explicit Evaluator(const Environment& environment) : environment_(environment) {}

  Value Of(const Node& node) const {
    switch (node.operation) {
      case Operation::kConstant:
        return node.value;
      case Operation::kName:
        return Named(node);
      case Operation::kNegate:
      case Operation::kNot:
        return Unary(node);
      case Operation::kAnd:
      case Operation::kOr:
        return Logical(node);
      case Operation::kConditional: {
        TRY_ASSIGN(const std::int64_t condition, Of(*node.children[0]));
        return Of(*node.children[condition != 0 ? 1 : 2]);
      }
      case Operation::kAligned:
        return Aligned(node);
      case Operation::kDisjoint:
        return Disjoint(node);
      case Operation::kIsNull: {
        TRY_ASSIGN(const std::uint64_t address, Pointer(*node.children[0]));
        return address == 0 ? 1 : 0;
      }
      case Operation::kBlocksPerSm:
        return BlocksPerSm(node);
      case Operation::kLog2Ceil:
        return LogarithmOf(node);
      case Operation::kMin:
      case Operation::kMax:
        return Extreme(node);
      default:
        return IsComparison(node.operation) ? Compare(node) : Arithmetic(node);
    }
  }

 private:
  Value Named(const Node& node) const {
    const auto found = environment_.integers.find(node.name);
    if (found != environment_.integers.end()) return found->second;
    if (environment_.floats.contains(node.name)) {
      return FailAt(node, "'" + node.name + "' is floating; only comparisons take it");
    }
    if (environment_.pointers.contains(node.name)) {
      return FailAt(node, "'" + node.name + "' is a pointer; use aligned, disjoint or is_null");
    }
    return FailAt(node, "unknown name '" + node.name + "'");
  }

  base::Result<std::uint64_t> Pointer(const Node& node) const {
    const auto found = environment_.pointers.find(node.name);
    if (found != environment_.pointers.end()) return found->second;
    const bool other =
        environment_.integers.contains(node.name) || environment_.floats.contains(node.name);
    return FailAt(
        node, other ? "'" + node.name + "' is not a pointer" : "unknown name '" + node.name + "'");
  }

  Value Unary(const Node& node) const {
    TRY_ASSIGN(const std::int64_t operand, Of(*node.children[0]));
    if (node.operation == Operation::kNot) return operand == 0 ? 1 : 0;
    if (operand == kMin) return FailAt(node, "overflow");
    return -operand;
  }

  Value Logical(const Node& node) const {
    TRY_ASSIGN(const std::int64_t left, Of(*node.children[0]));
    const bool is_and = node.operation == Operation::kAnd;
    if ((left != 0) != is_and) return is_and ? 0 : 1;
    TRY_ASSIGN(const std::int64_t right, Of(*node.children[1]));
    return right != 0 ? 1 : 0;
  }

  const double* FloatOf(const Node& node) const {
    if (node.operation != Operation::kName || environment_.integers.contains(node.name)) {
      return nullptr;
    }
    const auto found = environment_.floats.find(node.name);
    return found == environment_.floats.end() ? nullptr : &found->second;
  }

  Value Compare(const Node& node) const {
    const double* left_float = FloatOf(*node.children[0]);
    const double* right_float = FloatOf(*node.children[1]);
    std::int64_t left = 0;
    std::int64_t right = 0;
    if (left_float == nullptr) {
      TRY_ASSIGN(left, Of(*node.children[0]));
    }
    if (right_float == nullptr) {
      TRY_ASSIGN(right, Of(*node.children[1]));
    }
    if (left_float == nullptr && right_float == nullptr) {
      return Holds(node.operation, left, right) ? 1 : 0;
    }
    const double a = left_float != nullptr ? *left_float : static_cast<double>(left);
    const double b = right_float != nullptr ? *right_float : static_cast<double>(right);
    return Holds(node.operation, a, b) ? 1 : 0;
  }

  Value Arithmetic(const Node& node) const {
    TRY_ASSIGN(const std::int64_t a, Of(*node.children[0]));
    TRY_ASSIGN(const std::int64_t b, Of(*node.children[1]));
    std::int64_t result = 0;
    const char* why = Compute(node.operation, a, b, &result);
    if (why == nullptr) return result;
    const bool of_function =
        (node.operation == Operation::kCeilDiv || node.operation == Operation::kRoundUp) && b <= 0;
    return FailAt(node, of_function ? "'" + node.name + "' " + why : why);
  }

  Value Extreme(const Node& node) const {
    TRY_ASSIGN(std::int64_t result, Of(*node.children[0]));
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      TRY_ASSIGN(const std::int64_t next, Of(*node.children[i]));
      (void)Compute(node.operation, result, next, &result);
    }
    return result;
  }

  Value LogarithmOf(const Node& node) const {
    TRY_ASSIGN(const std::int64_t value, Of(*node.children[0]));
    std::int64_t result = 0;
    if (const char* why = Log2Ceil(value, &result)) return FailAt(node, why);
    return result;
  }

  Value Aligned(const Node& node) const {
    TRY_ASSIGN(const std::uint64_t address, Pointer(*node.children[0]));
    TRY_ASSIGN(const std::int64_t bytes, Of(*node.children[1]));
    if (bytes <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(bytes))) {
      return FailAt(node, "'aligned' to a number that is not a power of two");
    }
    return (address & (static_cast<std::uint64_t>(bytes) - 1)) == 0 ? 1 : 0;
  }

  Value Disjoint(const Node& node) const {
    TRY_ASSIGN(const std::uint64_t p, Pointer(*node.children[0]));
    TRY_ASSIGN(const std::int64_t n, Of(*node.children[1]));
    TRY_ASSIGN(const std::uint64_t q, Pointer(*node.children[2]));
    TRY_ASSIGN(const std::int64_t m, Of(*node.children[3]));
    std::uint64_t p_end = 0;
    std::uint64_t q_end = 0;
    if (n < 0 || m < 0) return FailAt(node, "'disjoint' of a negative size");
    if (__builtin_add_overflow(p, static_cast<std::uint64_t>(n), &p_end) ||
        __builtin_add_overflow(q, static_cast<std::uint64_t>(m), &q_end)) {
      return FailAt(node, "overflow");
    }
    return n == 0 || m == 0 || p_end <= q || q_end <= p ? 1 : 0;
  }

  Value BlocksPerSm(const Node& node) const {
    const std::string& entry = node.children[0]->name;
    std::optional<std::int64_t> blocks;
    if (environment_.blocks_per_sm) blocks = environment_.blocks_per_sm(entry);
    if (!blocks) return FailAt(node, "the occupancy of '" + entry + "' is not known");
    return *blocks;
  }

  const Environment& environment_;
};

void CollectNames(const Node& node, std::vector<std::string>& names) {
  if (node.operation == Operation::kName) {
    if (std::find(names.begin(), names.end(), node.name) == names.end()) {
      names.push_back(node.name);
    }
  }
  if (node.operation == Operation::kBlocksPerSm) return;
  for (const auto& child : node.children) CollectNames(*child, names);
}

void CollectConjuncts(const std::shared_ptr<const Node>& node,
                      std::vector<std::shared_ptr<const Node>>& conjuncts) {
  if (node->operation != Operation::kAnd) return conjuncts.push_back(node);
  for (const auto& child : node->children) CollectConjuncts({node, child.get()}, conjuncts);
}

bool Asks(const Node& node) {
  return node.operation == Operation::kAligned || node.operation == Operation::kDisjoint ||
         std::any_of(node.children.begin(), node.children.end(),
                     [](const auto& child) { return Asks(*child); });
}

}  // namespace

bool IsComparison(Operation operation) {
  return operation >= Operation::kLess && operation <= Operation::kNotEqual;
}

const char* Compute(Operation operation, std::int64_t a, std::int64_t b, std::int64_t* result) {
  switch (operation) {
    case Operation::kAdd:
      return __builtin_add_overflow(a, b, result) ? "overflow" : nullptr;
    case Operation::kSubtract:
      return __builtin_sub_overflow(a, b, result) ? "overflow" : nullptr;
    case Operation::kMultiply:
      return __builtin_mul_overflow(a, b, result) ? "overflow" : nullptr;
    case Operation::kMin:
      *result = std::min(a, b);
      return nullptr;
    case Operation::kMax:
      *result = std::max(a, b);
      return nullptr;
    case Operation::kCeilDiv:
    case Operation::kRoundUp: {
      if (b <= 0) return "by a number that is not positive";
      const char* why = Divide(Operation::kCeilDiv, a, b, result);
      if (why != nullptr || operation == Operation::kCeilDiv) return why;
      return __builtin_mul_overflow(*result, b, result) ? "overflow" : nullptr;
    }
    default:
      return Divide(operation, a, b, result);
  }
}

bool HoldsBetween(Operation comparison, std::int64_t a, std::int64_t b) {
  return Holds(comparison, a, b);
}

const char* Log2Ceil(std::int64_t a, std::int64_t* result) {
  if (a <= 0) return "'log2_ceil' of a number that is not positive";
  *result = std::bit_width(static_cast<std::uint64_t>(a) - 1);
  return nullptr;
}

base::Result<std::int64_t> EvaluateNode(const Node& node, const Environment& environment) {
  return Evaluator(environment).Of(node);
}

base::Result<Expression> Expression::Parse(std::string_view text) {
  base::Error error;
  std::shared_ptr<const Node> root = ParseExpression(text, error);
  if (root == nullptr) return base::Fail(std::move(error));
  Expression expression;
  expression.text_ = std::string(text);
  expression.root_ = std::move(root);
  return expression;
}

base::Result<std::int64_t> Expression::Evaluate(const Environment& environment) const {
  return Evaluator(environment).Of(*root_);
}

std::vector<Expression> Expression::Conjuncts() const {
  std::vector<std::shared_ptr<const Node>> nodes;
  CollectConjuncts(root_, nodes);
  std::vector<Expression> conjuncts(nodes.size(), *this);
  for (std::size_t i = 0; i < nodes.size(); ++i) conjuncts[i].root_ = std::move(nodes[i]);
  return conjuncts;
}

bool Expression::AsksAddresses() const { return Asks(*root_); }

std::vector<std::string> Expression::Names() const {
  std::vector<std::string> names;
  CollectNames(*root_, names);
  return names;
}

base::Result<std::int64_t> EvaluateText(std::string_view text, const Environment& environment) {
  TRY_ASSIGN(const Expression expression, Expression::Parse(text));
  return expression.Evaluate(environment);
}

}  // namespace cupilot::records
