// Expressions as C++11: a lambda of plain statements, so that && || ?: are `if`s and every failing
// operation returns.
#include <limits>

#include "records/expression.h"
#include "records/expression_node.h"

namespace cupilot::records {
namespace {

using Node = Expression::Node;

class Printer {
 public:
  explicit Printer(const NamePrinter& names) : names_(names) {}

  // The statements that compute the node, and the name of the long long with its value.
  base::Result<std::string> Value(const Node& node) {
    switch (node.operation) {
      case Operation::kConstant:
        return Constant(node.value);
      case Operation::kName:
        return Named(node);
      case Operation::kNegate:
      case Operation::kNot:
        return Unary(node);
      case Operation::kAnd:
      case Operation::kOr:
        return Logical(node);
      case Operation::kConditional:
        return Conditional(node);
      case Operation::kIsNull:
      case Operation::kAligned:
      case Operation::kDisjoint:
        return OfPointers(node);
      case Operation::kBlocksPerSm:
        return BlocksPerSm(node);
      case Operation::kMin:
      case Operation::kMax:
        return Extreme(node);
      default:
        return IsComparison(node.operation) ? Compare(node) : Arithmetic(node);
    }
  }

  const std::string& statements() const { return statements_; }

 private:
  std::string Fresh() { return "cupilot_v" + std::to_string(next_++); }

  static std::string Constant(std::int64_t value) {
    if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807LL - 1)";
    const std::string text = std::to_string(value) + "LL";
    return value < 0 ? "(" + text + ")" : text;
  }

  std::string Define(const std::string& value) {
    std::string name = Fresh();
    statements_ += "const long long " + name + " = " + value + "; ";
    return name;
  }

  base::Result<PrintedName> Lookup(const Node& node, const std::string& name) {
    std::optional<PrintedName> printed = names_(name);
    if (printed) return *printed;
    return base::Fail(ExpressionError(node.column, "unknown name '" + name + "'"));
  }

  base::Result<std::string> Named(const Node& node) {
    TRY_ASSIGN(const PrintedName printed, Lookup(node, node.name));
    if (printed.kind == NameKind::kFloating) {
      return base::Fail(ExpressionError(
          node.column, "'" + node.name + "' is floating; only comparisons take it"));
    }
    if (printed.kind == NameKind::kPointer) {
      return base::Fail(ExpressionError(
          node.column, "'" + node.name + "' is a pointer; use aligned, disjoint or is_null"));
    }
    if (!printed.readable.empty()) statements_ += "if (!(" + printed.readable + ")) return false; ";
    return Define(printed.text);
  }

  // The address as an unsigned long long.
  base::Result<std::string> Pointer(const Node& node) {
    TRY_ASSIGN(const PrintedName printed, Lookup(node, node.name));
    if (printed.kind != NameKind::kPointer) {
      return base::Fail(ExpressionError(node.column, "'" + node.name + "' is not a pointer"));
    }
    return "(unsigned long long)(" + printed.text + ")";
  }

  base::Result<std::string> Unary(const Node& node) {
    TRY_ASSIGN(const std::string operand, Value(*node.children[0]));
    if (node.operation == Operation::kNot) return Define(operand + " == 0");
    std::string name = Fresh();
    statements_ += "long long " + name + "; if (__builtin_sub_overflow(0LL, " + operand + ", &" +
                   name + ")) return false; ";
    return name;
  }

  base::Result<std::string> Logical(const Node& node) {
    const bool is_and = node.operation == Operation::kAnd;
    TRY_ASSIGN(const std::string left, Value(*node.children[0]));
    std::string name = Fresh();
    statements_ += "long long " + name + " = " + (is_and ? "0" : "1") + "; if (" + left +
                   (is_and ? " != 0" : " == 0") + ") { ";
    TRY_ASSIGN(const std::string right, Value(*node.children[1]));
    statements_ += name + " = " + right + " != 0; } ";
    return name;
  }

  base::Result<std::string> Conditional(const Node& node) {
    TRY_ASSIGN(const std::string condition, Value(*node.children[0]));
    std::string name = Fresh();
    statements_ += "long long " + name + "; if (" + condition + " != 0) { ";
    TRY_ASSIGN(const std::string yes, Value(*node.children[1]));
    statements_ += name + " = " + yes + "; } else { ";
    TRY_ASSIGN(const std::string no, Value(*node.children[2]));
    statements_ += name + " = " + no + "; } ";
    return name;
  }

  struct Operand {
    std::string text;
    bool floating = false;
  };

  base::Result<Operand> Compared(const Node& node) {
    if (node.operation == Operation::kName) {
      TRY_ASSIGN(const PrintedName printed, Lookup(node, node.name));
      if (printed.kind == NameKind::kFloating) return Operand{"(" + printed.text + ")", true};
    }
    TRY_ASSIGN(std::string value, Value(node));
    return Operand{std::move(value), false};
  }

  base::Result<std::string> Compare(const Node& node) {
    TRY_ASSIGN(const Operand left, Compared(*node.children[0]));
    TRY_ASSIGN(const Operand right, Compared(*node.children[1]));
    const std::string cast = left.floating || right.floating ? "(double)" : "";
    return Define(cast + left.text + " " + node.name + " " + cast + right.text);
  }

  base::Result<std::string> Arithmetic(const Node& node) {
    std::string arguments;
    for (const auto& child : node.children) {
      TRY_ASSIGN(const std::string value, Value(*child));
      arguments += value + ", ";
    }
    std::string name = Fresh();
    statements_ += "long long " + name + "; ";
    const std::string call = "(" + arguments + "&" + name + ")) return false; ";
    switch (node.operation) {
      case Operation::kAdd:
        statements_ += "if (__builtin_add_overflow" + call;
        break;
      case Operation::kSubtract:
        statements_ += "if (__builtin_sub_overflow" + call;
        break;
      case Operation::kMultiply:
        statements_ += "if (__builtin_mul_overflow" + call;
        break;
      case Operation::kDivide:
        statements_ += "if (!cupilot_divide" + call;
        break;
      case Operation::kRemainder:
        statements_ += "if (!cupilot_remainder" + call;
        break;
      default:  // a function with the same name
        statements_ += "if (!cupilot_" + node.name + call;
        break;
    }
    return name;
  }

  base::Result<std::string> Extreme(const Node& node) {
    TRY_ASSIGN(std::string result, Value(*node.children[0]));
    const char* sign = node.operation == Operation::kMin ? " < " : " > ";
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      TRY_ASSIGN(const std::string next, Value(*node.children[i]));
      std::string chosen = next;
      chosen.append(sign).append(result).append(" ? ").append(next).append(" : ").append(result);
      result = Define(chosen);
    }
    return result;
  }

  base::Result<std::string> OfPointers(const Node& node) {
    TRY_ASSIGN(const std::string first, Pointer(*node.children[0]));
    if (node.operation == Operation::kIsNull) return Define(first + " == 0");
    TRY_ASSIGN(const std::string size, Value(*node.children[1]));
    std::string arguments = first + ", " + size;
    if (node.operation == Operation::kDisjoint) {
      TRY_ASSIGN(const std::string second, Pointer(*node.children[2]));
      TRY_ASSIGN(const std::string second_size, Value(*node.children[3]));
      arguments += ", " + second + ", " + second_size;
    }
    std::string name = Fresh();
    statements_ += "long long " + name + "; if (!cupilot_" + node.name + "(" + arguments + ", &" +
                   name + ")) return false; ";
    return name;
  }

  base::Result<std::string> BlocksPerSm(const Node& node) {
    const std::string name = "blocks_per_sm(" + node.children[0]->name + ")";
    TRY_ASSIGN(const PrintedName printed, Lookup(node, name));
    if (!printed.readable.empty()) statements_ += "if (!(" + printed.readable + ")) return false; ";
    return Define(printed.text);
  }

  const NamePrinter& names_;
  std::string statements_;
  int next_ = 0;
};

}  // namespace

base::Result<std::string> Expression::PrintCpp(std::string_view target,
                                               const NamePrinter& names) const {
  Printer printer(names);
  TRY_ASSIGN(const std::string value, printer.Value(*root_));
  return "[&]() -> bool { " + printer.statements() + std::string(target) + " = " + value +
         "; return true; }()";
}

std::string PrintedHelpers() {
  return R"(static inline bool cupilot_divide(long long a, long long b, long long* out) {
  if (b == 0 || (b == -1 && a == -9223372036854775807LL - 1)) return false;
  *out = a / b;
  return true;
}
static inline bool cupilot_remainder(long long a, long long b, long long* out) {
  if (b == 0 || (b == -1 && a == -9223372036854775807LL - 1)) return false;
  *out = a % b;
  return true;
}
static inline bool cupilot_floor_div(long long a, long long b, long long* out) {
  if (!cupilot_divide(a, b, out)) return false;
  if (a % b != 0 && (a < 0) != (b < 0)) --*out;
  return true;
}
static inline bool cupilot_ceil_div(long long a, long long b, long long* out) {
  if (b <= 0) return false;
  *out = a / b + (a % b > 0 ? 1 : 0);
  return true;
}
static inline bool cupilot_round_up(long long a, long long b, long long* out) {
  long long quotient;
  return cupilot_ceil_div(a, b, &quotient) && !__builtin_mul_overflow(quotient, b, out);
}
static inline bool cupilot_log2_ceil(long long a, long long* out) {
  if (a <= 0) return false;
  *out = a == 1 ? 0 : 64 - __builtin_clzll((unsigned long long)a - 1ULL);
  return true;
}
static inline bool cupilot_aligned(unsigned long long address, long long bytes, long long* out) {
  if (bytes <= 0 || (bytes & (bytes - 1)) != 0) return false;
  *out = (address & ((unsigned long long)bytes - 1ULL)) == 0 ? 1 : 0;
  return true;
}
static inline bool cupilot_disjoint(unsigned long long p, long long n, unsigned long long q,
                                    long long m, long long* out) {
  unsigned long long p_end, q_end;
  if (n < 0 || m < 0) return false;
  if (__builtin_add_overflow(p, (unsigned long long)n, &p_end)) return false;
  if (__builtin_add_overflow(q, (unsigned long long)m, &q_end)) return false;
  *out = n == 0 || m == 0 || p_end <= q || q_end <= p ? 1 : 0;
  return true;
}
)";
}

}  // namespace cupilot::records
