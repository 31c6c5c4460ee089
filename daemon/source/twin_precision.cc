#include "source/twin_precision.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

// Functions of headers that give a floating value without computing one.
bool OnlyMoves(std::string_view name) {
  constexpr std::array<std::string_view, 21> kParts = {
      "2float",  "2half", "2bfloat", "2double", "2int", "2uint",   "2short",
      "2ushort", "2ll",   "2ull",    "__ld",    "shfl", "shuffle", "xchg",
      "Exch",    "CAS",   "max",     "min",     "abs",  "_as_",    "make_"};
  for (const std::string_view part : kParts) {
    if (HasPart(name, part)) return true;
  }
  return false;
}

class Widest {
 public:
  explicit Widest(const Tree& tree) : tree_(tree) {}

  Format Find() {
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      const Node& node = tree_.nodes[i];
      if ((node.flags & kSystem) != 0) continue;
      mentioned_ = std::max(mentioned_, FormatOf(node.canonical));
      Look(static_cast<NodeId>(i), node);
    }
    if (accumulated_ != Format::kNoFormat) return accumulated_;
    return computed_ != Format::kNoFormat ? computed_ : mentioned_;
  }

 private:
  void Look(NodeId id, const Node& node) {
    switch (node.kind) {
      case Kind::kBinary:
        if (IsArithmetic(node.name)) Computes(Carried(id));
        return;
      case Kind::kOperatorCall:
        if (node.name.ends_with('=') && !IsComparison(node.name)) return Assigns(id, node);
        if (IsArithmetic(node.name)) Computes(FormatOf(node.canonical));
        return;
      case Kind::kCompoundAssign:
      case Kind::kAssign:
        return Assigns(id, node);
      case Kind::kVariable:
      case Kind::kReturn:
        return;
      case Kind::kCall:
        return Calls(id, node);
      default:
        return;
    }
  }

  static bool IsArithmetic(std::string_view name) {
    return name == "+" || name == "-" || name == "*" || name == "/";
  }
  static bool IsComparison(std::string_view name) {
    return name == "==" || name == "!=" || name == "<=" || name == ">=";
  }

  void Computes(Format format) { computed_ = std::max(computed_, format); }
  void Accumulates(Format format) { accumulated_ = std::max(accumulated_, format); }

  // "s += x", "s = s + x", "s = fma(a, b, s)".
  void Assigns(NodeId id, const Node& node) {
    const NodeId target = Child(tree_, id, 0), value = Child(tree_, id, 1);
    if (target == kNone || value == kNone) return;
    const Format format = FormatOf(tree_.at(target).canonical);
    if (format == Format::kNoFormat) return;
    const bool compound = node.name != "=" && node.name.size() >= 2;
    if (compound) Computes(format);
    if (!InLoop(id)) return;
    if (compound || (Mentions(value, tree_.TextOf(target)) && HasArithmetic(value))) {
      Accumulates(format);
    }
  }

  bool Mentions(NodeId root, std::string_view text) const {
    bool found = false;
    Walk(tree_, root, [&](NodeId id) {
      found = found || tree_.TextOf(id) == text;
      return !found;
    });
    return found;
  }

  bool HasArithmetic(NodeId root) const {
    bool found = false;
    Walk(tree_, root, [&](NodeId id) {
      const Node& node = tree_.at(id);
      const bool operation = (node.kind == Kind::kBinary || node.kind == Kind::kOperatorCall) &&
                             IsArithmetic(node.name);
      const bool function = node.kind == Kind::kCall && IsOfHeader(node) &&
                            FormatOf(node.canonical) != Format::kNoFormat && !OnlyMoves(node.name);
      found = found || operation || function;
      return !found;
    });
    return found;
  }

  bool InLoop(NodeId id) const {
    for (; id != kNone; id = tree_.at(id).parent) {
      if (IsLoop(tree_.at(id).kind)) return true;
      if (tree_.at(id).kind == Kind::kFunction) return false;
    }
    return false;
  }

  bool IsOfHeader(const Node& call) const {
    const NodeId callee = call.children.empty() ? kNone : SkipParens(tree_, call.children[0]);
    if (callee == kNone) return false;
    const NodeId declaration = tree_.at(callee).declaration;
    return declaration == kNone || Has(tree_, declaration, kSystem);
  }

  void Calls(NodeId id, const Node& node) {
    const std::vector<NodeId> arguments = Arguments(tree_, id);
    if (HasPart(node.name, "atomicAdd") && !arguments.empty()) {
      return Accumulates(FormatOf(tree_.at(SkipParens(tree_, arguments[0])).canonical));
    }
    if (FormatOf(node.canonical) == Format::kNoFormat) return;
    if (!IsOfHeader(node) || !OnlyMoves(node.name)) Computes(Carried(id));
  }

  // Of operands that are no constants.
  Format Carried(NodeId id) const {
    if (id == kNone) return Format::kNoFormat;
    const Node& node = tree_.at(id);
    switch (node.kind) {
      case Kind::kIntLiteral:
      case Kind::kFloatLiteral:
      case Kind::kCharLiteral:
      case Kind::kBoolLiteral:
        return Format::kNoFormat;
      case Kind::kParen:
      case Kind::kUnary:
      case Kind::kBinary:
      case Kind::kConditional:
        return OfChildren(id);
      case Kind::kCast:
        return IsConstant(id) ? Format::kNoFormat : FormatOf(node.canonical);
      case Kind::kDeclRef:
        return IsConstant(id) ? Format::kNoFormat : FormatOf(node.canonical);
      case Kind::kCall: {
        const Format given = FormatOf(node.canonical);
        if (!IsOfHeader(node) || OnlyMoves(node.name)) return given;
        Format carried = Format::kNoFormat;
        for (const NodeId argument : Arguments(tree_, id)) {
          carried = std::max(carried, Carried(argument));
        }
        return std::min(given, carried);
      }
      default:
        return FormatOf(node.canonical);
    }
  }

  Format OfChildren(NodeId id) const {
    Format widest = Format::kNoFormat;
    for (const NodeId child : tree_.at(id).children) widest = std::max(widest, Carried(child));
    return widest;
  }

  // Literals, and what is made of them alone: "const double kHalf = 1.0 / 2".
  bool IsConstant(NodeId id) const {
    if (id == kNone) return false;
    const Node& node = tree_.at(id);
    switch (node.kind) {
      case Kind::kIntLiteral:
      case Kind::kFloatLiteral:
        return true;
      case Kind::kParen:
      case Kind::kUnary:
      case Kind::kBinary:
      case Kind::kCast:
        for (const NodeId child : node.children) {
          if (!IsConstant(child)) return false;
        }
        return !node.children.empty();
      case Kind::kDeclRef: {
        if (node.declaration == kNone) return false;
        const Node& declared = tree_.at(node.declaration);
        return declared.kind == Kind::kVariable && (declared.flags & (kConst | kConstexpr)) != 0 &&
               IsConstant(Initialiser(tree_, node.declaration));
      }
      default:
        return false;
    }
  }

  const Tree& tree_;
  Format mentioned_ = Format::kNoFormat;
  Format computed_ = Format::kNoFormat;
  Format accumulated_ = Format::kNoFormat;
};

}  // namespace

Format ArithmeticOf(const Tree& tree) { return Widest(tree).Find(); }

}  // namespace cupilot::source
