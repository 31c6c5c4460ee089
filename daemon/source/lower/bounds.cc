#include "source/lower/bounds.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "source/syntax/built_ins.h"
#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

// How an integer expression changes from one thread of a row to the next.
enum class Slope { kConstant, kUp, kDown, kUnknown };
struct Trend {
  Slope slope = Slope::kUnknown;
  bool nonnegative = false;
  // No larger than this, where it is made of literals and built-in variables; otherwise kUnlimited.
  std::uint64_t most = kUnlimited;
};
constexpr Trend kNothingKnown;
constexpr std::uint64_t kMostThreads = 2147483647;  // of a row that is tested at all
constexpr std::uint64_t kInt = std::uint64_t{1} << 31, kUnsigned = std::uint64_t{1} << 32;

std::uint64_t Plus(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kUnlimited : sum;
}
std::uint64_t Times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kUnlimited : product;
}
std::uint64_t LimitOf(const Node& node) {
  if (node.value.empty() || node.value[0] == '-' || node.value.size() > 18) return kUnlimited;
  return std::stoull(node.value);
}
bool IsLong(const Node& node) { return node.canonical.find("long") != std::string::npos; }

bool IsUnsigned(const Node& node) { return node.canonical.find("unsigned") != std::string::npos; }
bool IsInteger(const Node& node) { return IsIntegerType(node.canonical); }

Slope Opposite(Slope slope) {
  if (slope == Slope::kUp) return Slope::kDown;
  return slope == Slope::kDown ? Slope::kUp : slope;
}
// Of the sum of two.
Slope Together(Slope a, Slope b) {
  if (a == Slope::kConstant) return b;
  if (b == Slope::kConstant || a == b) return a;
  return Slope::kUnknown;
}

class Finder {
 public:
  Finder(const Tree& tree, NodeId kernel, ThreadIndex& index)
      : tree_(tree), kernel_(kernel), index_(index) {}

  void Run() {
    const NodeId body = Body(tree_, kernel_);
    if (body == kNone) return;
    for (const NodeId statement : tree_.at(body).children) {
      if (IsA(tree_, statement, Kind::kDeclStatement)) {
        if (!TakeDeclarations(statement)) break;
      } else if (!IsA(tree_, statement, Kind::kIf) || !TakeIf(statement, body)) {
        break;
      }
    }
    KeepUsedDeclarations();
  }

 private:
  // False if executing it could be told from not executing it.
  bool TakeDeclarations(NodeId statement) {
    bool plain = true;
    for (const NodeId id : tree_.at(statement).children) {
      if (!IsA(tree_, id, Kind::kVariable) || Has(tree_, id, kStatic) ||
          Has(tree_, id, kSharedAttr) || Has(tree_, id, kVolatile)) {
        return false;
      }
      const Node& node = tree_.at(id);
      const NodeId value = Initialiser(tree_, id);
      if (value == kNone ? node.type_class == TypeClass::kRecord : !IsWithoutEffect(value))
        return false;
      const bool integer =
          node.type_class == TypeClass::kSigned || node.type_class == TypeClass::kUnsigned;
      if (!integer || value == kNone || Has(tree_, id, kReference)) {
        plain = false;
        continue;
      }
      std::vector<NodeId> parts;
      as_signed_ = IsSignedSum(tree_, id, index_.sums, parts);
      Trend trend = TrendOf(value);
      as_signed_ = false;
      // Conversions that could wrap.
      const bool narrower = node.type_bytes < 4;
      const bool changes_sign = node.type_class == TypeClass::kUnsigned && !trend.nonnegative;
      const bool too_large = parts.empty() && IsUnsigned(tree_.at(value)) && node.type_bytes == 4 &&
                             node.type_class == TypeClass::kSigned && trend.most >= kInt;
      if ((narrower || changes_sign || too_large) && trend.slope != Slope::kConstant) {
        trend = kNothingKnown;
      }
      if (!parts.empty() || trend.slope == Slope::kConstant) trend.most = kUnlimited;
      // The statement is executed for threads that would have left before it: no loads in it.
      if (trend.slope == Slope::kUnknown) plain = false;
      trends_[id] = trend;
    }
    if (!plain) {
      for (const NodeId id : tree_.at(statement).children) trends_.erase(id);
    }
    return true;
  }

  // Loads may be left out where nothing follows from them; calls and changes may not.
  bool IsWithoutEffect(NodeId root) const {
    bool without = true;
    Walk(tree_, root, [&](NodeId id) {
      const Node& node = tree_.at(id);
      switch (node.kind) {
        case Kind::kUnary:
          if (node.name == "++" || node.name == "--") without = false;
          break;
        case Kind::kDeclRef:
        case Kind::kMember:
          if (Has(tree_, node.declaration, kVolatile)) without = false;
          break;
        case Kind::kBinary:
        case Kind::kConditional:
        case Kind::kCast:
        case Kind::kParen:
        case Kind::kSubscript:
        case Kind::kSizeOf:
        case Kind::kIntLiteral:
        case Kind::kFloatLiteral:
        case Kind::kCharLiteral:
        case Kind::kBoolLiteral:
        case Kind::kNullPointer:
          break;
        default:
          without = false;
      }
      return without;
    });
    return without;
  }

  // True if what follows may be looked at too.
  bool TakeIf(NodeId statement, NodeId body) {
    const NodeId condition = Condition(tree_, statement);
    const std::string_view head = tree_.TextOf(statement);
    if (Child(tree_, statement, 0) != kNone || condition == kNone ||
        head.substr(0, head.find('(')).find("constexpr") != std::string_view::npos) {
      return false;
    }
    const bool has_else = Child(tree_, statement, 3) != kNone;
    if (!has_else && IsReturn(Child(tree_, statement, 2))) {
      return TakeConditions(condition, "||", true);
    }
    if (!has_else && tree_.at(body).children.back() == statement) {
      TakeConditions(condition, "&&", false);
    }
    return false;
  }

  bool IsReturn(NodeId id) const {
    if (IsA(tree_, id, Kind::kCompound) && tree_.at(id).children.size() == 1) {
      id = Child(tree_, id, 0);
    }
    return IsA(tree_, id, Kind::kReturn) && tree_.at(id).children.empty();
  }

  // False behind a part that does more than to be true or false: what follows it may not keep a
  // thread from it.
  bool TakeConditions(NodeId id, std::string_view join, bool leaves) {
    const NodeId inner = SkipParens(tree_, id);
    if (IsA(tree_, inner, Kind::kBinary) && tree_.at(inner).name == join) {
      return TakeConditions(Child(tree_, inner, 0), join, leaves) &&
             TakeConditions(Child(tree_, inner, 1), join, leaves);
    }
    Bound bound;
    bound.condition = inner;
    bound.leaves = leaves;
    if (!Judge(inner, bound)) return IsWithoutEffect(inner);
    if (leaves && bound.upper != bound.lower) std::swap(bound.upper, bound.lower);
    index_.bounds.push_back(bound);
    return true;
  }

  // Along which part of a row the condition is true.
  bool Judge(NodeId id, Bound& bound) {
    const Node& node = tree_.at(id);
    if (TrendOf(id).slope == Slope::kConstant) {
      bound.upper = bound.lower = true;
      return true;
    }
    if (node.kind != Kind::kBinary) return false;
    const bool less = node.name == "<" || node.name == "<=";
    if (!less && node.name != ">" && node.name != ">=") return false;
    const NodeId smaller = Child(tree_, id, less ? 0 : 1), larger = Child(tree_, id, less ? 1 : 0);
    if (!IsInteger(tree_.at(smaller)) || !IsInteger(tree_.at(larger))) return false;
    const Trend a = TrendOf(smaller), b = TrendOf(larger);
    // As unsigned numbers, negative ones would be the largest.
    if (IsUnsigned(tree_.at(smaller)) || IsUnsigned(tree_.at(larger))) {
      if (a.slope != Slope::kConstant && !a.nonnegative) return false;
      if (b.slope != Slope::kConstant && !b.nonnegative) return false;
    }
    const Slope slope = Together(a.slope, Opposite(b.slope));
    bound.upper = slope == Slope::kUp;
    bound.lower = slope == Slope::kDown;
    return bound.upper || bound.lower;
  }

  Trend TrendOf(NodeId id) const {
    if (id == kNone) return kNothingKnown;
    const Node& node = tree_.at(id);
    if (std::find(index_.sums.begin(), index_.sums.end(), id) != index_.sums.end()) {
      return {Slope::kUp, true, kMostThreads};
    }
    switch (node.kind) {
      case Kind::kParen:
        return TrendOf(Child(tree_, id, 0));
      case Kind::kIntLiteral:
      case Kind::kBoolLiteral:
        return {Slope::kConstant, true, LimitOf(node)};
      case Kind::kCast:
        return OfCast(id);
      case Kind::kMember:
        return OfMember(id);
      case Kind::kDeclRef:
        return OfReference(id);
      case Kind::kUnary:
        return OfUnary(id);
      case Kind::kBinary:
        return OfBinary(id);
      default:
        return kNothingKnown;
    }
  }

  Trend OfCast(NodeId id) const {
    const Node& node = tree_.at(id);
    const Trend trend = TrendOf(Child(tree_, id, 0));
    if (trend.slope == Slope::kConstant) return {Slope::kConstant, IsUnsigned(node), kUnlimited};
    const bool to_int = IsInteger(node) && !IsLong(node) && !IsUnsigned(node);
    if (to_int && IsUnsigned(tree_.at(Child(tree_, id, 0))) && trend.most >= kInt) {
      return kNothingKnown;
    }
    const bool wide = node.canonical == "int" || node.canonical == "unsigned int" ||
                      node.canonical.find("long") != std::string::npos;
    const bool same = IsInteger(node) && wide && (trend.nonnegative || !IsUnsigned(node));
    return same ? trend : kNothingKnown;
  }

  Trend OfMember(NodeId id) const {
    const Node& node = tree_.at(id);
    const NodeId base = Child(tree_, id, 0);
    if (base == kNone || Has(tree_, id, kArrow)) return kNothingKnown;
    if (IsBuiltInVariable(tree_, base)) {
      const std::string& name = tree_.at(tree_.at(base).declaration).name;
      const bool moves = node.name == "x" && name == "threadIdx";
      const bool of_block = name == "threadIdx" || name == "blockDim";
      return {moves ? Slope::kUp : Slope::kConstant, true, of_block ? 1024 : kMostThreads};
    }
    const NodeId variable = tree_.at(base).declaration;
    if (IsA(tree_, base, Kind::kDeclRef) && IsParameter(variable) && IsInteger(node)) {
      return {Slope::kConstant, IsUnsigned(node), kUnlimited};
    }
    return kNothingKnown;
  }

  bool IsParameter(NodeId id) const {
    return IsA(tree_, id, Kind::kParameter) && tree_.at(id).parent == kernel_ &&
           !Has(tree_, id, kReference);
  }

  Trend OfReference(NodeId id) const {
    const Node& node = tree_.at(id);
    const NodeId declaration = node.declaration;
    const auto known = trends_.find(declaration);
    if (known != trends_.end()) return known->second;
    const bool constant = IsParameter(declaration) ||
                          IsA(tree_, declaration, Kind::kTemplateParameter) ||
                          IsA(tree_, declaration, Kind::kEnumerator) ||
                          (!Has(tree_, declaration, kLocal) && !node.value.empty()) ||
                          Has(tree_, declaration, kConstantAttr);
    if (!constant) return kNothingKnown;
    const bool nonnegative = IsUnsigned(node) || (!node.value.empty() && node.value[0] != '-');
    return {Slope::kConstant, nonnegative, LimitOf(node)};
  }

  Trend OfUnary(NodeId id) const {
    const Node& node = tree_.at(id);
    const Trend trend = TrendOf(Child(tree_, id, 0));
    if (node.name == "+") return trend;
    const bool known = node.name == "-" || node.name == "!" || node.name == "~";
    if (!known) return kNothingKnown;
    if (trend.slope == Slope::kConstant) return {Slope::kConstant, node.name == "!", kUnlimited};
    return node.name == "-" && !IsUnsigned(node) ? Trend{Opposite(trend.slope), false, kUnlimited}
                                                 : kNothingKnown;
  }

  Trend OfBinary(NodeId id) const {
    const Node& node = tree_.at(id);
    const NodeId right = Child(tree_, id, 1);
    const Trend a = TrendOf(Child(tree_, id, 0)), b = TrendOf(right);
    if (a.slope == Slope::kUnknown || b.slope == Slope::kUnknown) return kNothingKnown;
    const std::string& op = node.name;
    const std::string& value = tree_.at(SkipParens(tree_, right)).value;
    const bool positive = IsA(tree_, SkipParens(tree_, right), Kind::kIntLiteral)
                              ? tree_.at(SkipParens(tree_, right)).name[0] != '0'
                              : !value.empty() && value[0] != '-' && value[0] != '0';
    const bool divides = op == "/" || op == "%";
    if (divides && !positive) return kNothingKnown;
    const std::uint64_t most = op == "+"                 ? Plus(a.most, b.most)
                               : op == "*"               ? Times(a.most, b.most)
                               : op == "/" || op == ">>" ? a.most
                                                         : kUnlimited;
    const bool of_unsigned = IsUnsigned(node) && !as_signed_;
    const bool wraps = of_unsigned && most >= (IsLong(node) ? kUnlimited : kUnsigned);
    const bool nonnegative = a.nonnegative && b.nonnegative && op != "-";
    if (a.slope == Slope::kConstant && b.slope == Slope::kConstant) {
      return {Slope::kConstant, nonnegative || of_unsigned, wraps ? kUnlimited : most};
    }
    if (op == "+" || op == "-") {
      if (wraps) return kNothingKnown;
      return {Together(a.slope, op == "-" ? Opposite(b.slope) : b.slope), nonnegative, most};
    }
    if (op == "*") {
      const Trend& factor = a.slope == Slope::kConstant ? a : b;
      if (factor.slope != Slope::kConstant || !factor.nonnegative || wraps) return kNothingKnown;
      return {a.slope == Slope::kConstant ? b.slope : a.slope, nonnegative, most};
    }
    if ((op == "/" || op == ">>") && b.slope == Slope::kConstant && (op == ">>" || positive) &&
        a.nonnegative) {
      return {a.slope, true, a.most};
    }
    return kNothingKnown;
  }

  void KeepUsedDeclarations() {
    std::set<NodeId> used;
    const std::function<void(NodeId)> use = [&](NodeId root) {
      for (const NodeId id : FindAll(tree_, root, Kind::kDeclRef)) {
        const NodeId variable = tree_.at(id).declaration;
        if (trends_.count(variable) == 0) continue;
        const NodeId statement = tree_.at(variable).parent;
        if (used.insert(statement).second) use(statement);
      }
    };
    for (const Bound& bound : index_.bounds) use(bound.condition);
    index_.declarations.assign(used.begin(), used.end());
    std::sort(index_.declarations.begin(), index_.declarations.end(),
              [&](NodeId a, NodeId b) { return tree_.at(a).begin < tree_.at(b).begin; });
  }

  const Tree& tree_;
  const NodeId kernel_;
  ThreadIndex& index_;
  std::map<NodeId, Trend> trends_;
  bool as_signed_ = false;
};

}  // namespace

void FindBounds(const Tree& tree, NodeId kernel, ThreadIndex& index) {
  Finder(tree, kernel, index).Run();
}

}  // namespace cupilot::source
