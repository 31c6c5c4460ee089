#include "source/rewrite/inspect.h"

#include <algorithm>

namespace cupilot::source {
NodeId FindBelow(const Tree& tree, NodeId root, const std::function<bool(NodeId)>& is) {
  NodeId found = kNone;
  if (root == kNone) return found;
  Walk(tree, root, [&](NodeId id) {
    if (found == kNone && is(id)) found = id;
    return found == kNone;
  });
  return found;
}

std::string SystemCallee(const Tree& tree, NodeId call) {
  if (!IsA(tree, call, Kind::kCall)) return "";
  const Node& node = tree.at(call);
  const NodeId callee = SkipParens(tree, Child(tree, call, 0));
  if (IsA(tree, callee, Kind::kDeclRef)) {
    const NodeId declaration = tree.at(callee).declaration;
    const bool system =
        declaration == kNone || Has(tree, declaration, kSystem) || Has(tree, declaration, kBuiltin);
    if (system) return node.name.empty() ? tree.at(callee).name : node.name;
  }
  return "";
}

NodeId UserCallee(const Tree& tree, NodeId call) {
  if (!IsA(tree, call, Kind::kCall)) return kNone;
  const NodeId callee = SkipParens(tree, Child(tree, call, 0));
  if (!IsA(tree, callee, Kind::kDeclRef)) return kNone;
  const NodeId declaration = tree.at(callee).declaration;
  if (!IsA(tree, declaration, Kind::kFunction) || Has(tree, declaration, kSystem)) return kNone;
  if (Has(tree, declaration, kDefinition)) return declaration;
  for (const NodeId id : FindByName(tree, tree.at(declaration).qualified)) {
    if (IsA(tree, id, Kind::kFunction) && Has(tree, id, kDefinition) &&
        tree.at(id).canonical == tree.at(declaration).canonical) {
      return id;
    }
  }
  return declaration;
}

std::optional<GlobalIndexForm> GlobalIndexOf(const Tree& tree, NodeId expression) {
  const auto sum = GlobalSumOf(tree, expression);
  if (!sum) return std::nullopt;
  const auto size = IndexOf(tree, sum->width);
  if (size && size->variable == "blockDim" && size->axis == sum->axis) {
    return GlobalIndexForm{sum->axis, 0};
  }
  const std::string& value = tree.at(sum->width).value;
  if (value.empty() || value.size() > 4 || value[0] < '1' || value[0] > '9') return std::nullopt;
  return GlobalIndexForm{sum->axis, std::stoll(value)};
}

bool IsModification(const Tree& tree, NodeId expression) {
  const Node& node = tree.at(expression);
  switch (node.kind) {
    case Kind::kAssign:
    case Kind::kCompoundAssign:
      return true;
    case Kind::kUnary:
      return node.name == "++" || node.name == "--";
    case Kind::kOperatorCall:
      return node.name == "++" || node.name == "--" ||
             (node.name.size() >= 1 && node.name.back() == '=' && node.name != "==" &&
              node.name != "!=" && node.name != "<=" && node.name != ">=");
    default:
      return false;
  }
}

NodeId TargetOf(const Tree& tree, NodeId modification) { return Child(tree, modification, 0); }

NodeId VariableOf(const Tree& tree, NodeId expression) {
  const NodeId id = SkipParens(tree, expression);
  if (!IsA(tree, id, Kind::kDeclRef)) return kNone;
  const NodeId declaration = tree.at(id).declaration;
  const bool variable =
      IsA(tree, declaration, Kind::kVariable) || IsA(tree, declaration, Kind::kParameter);
  return variable ? declaration : kNone;
}

NodeId RootOf(const Tree& tree, NodeId expression) {
  NodeId id = SkipParensAndCasts(tree, expression);
  while (id != kNone) {
    const Node& node = tree.at(id);
    switch (node.kind) {
      case Kind::kDeclRef:
        return VariableOf(tree, id);
      case Kind::kSubscript:
      case Kind::kMember:
        id = SkipParensAndCasts(tree, Child(tree, id, 0));
        break;
      case Kind::kUnary:
        if (node.name != "*" && node.name != "++" && node.name != "--") return kNone;
        id = SkipParensAndCasts(tree, Child(tree, id, 0));
        break;
      case Kind::kBinary: {
        if (node.name != "+" && node.name != "-") return kNone;
        const NodeId left = Child(tree, id, 0), right = Child(tree, id, 1);
        const bool array = tree.at(left).canonical.find('[') != std::string::npos;
        id = SkipParensAndCasts(tree,
                                array || IsPointerType(tree.at(left).canonical) ? left : right);
        break;
      }
      default:
        return kNone;
    }
  }
  return kNone;
}

NodeId OwnerOf(const Tree& tree, NodeId expression) {
  for (NodeId id = SkipParens(tree, expression); id != kNone;) {
    const bool part =
        (IsA(tree, id, Kind::kMember) && !Has(tree, id, kArrow)) || IsA(tree, id, Kind::kSubscript);
    if (!part) return VariableOf(tree, id);
    const NodeId base = SkipParens(tree, Child(tree, id, 0));
    if (IsA(tree, id, Kind::kSubscript) && IsPointerType(tree.at(base).canonical)) return kNone;
    id = base;
  }
  return kNone;
}

bool IsPointerType(std::string_view canonical) {
  // "float *", "float *const", "float *__restrict": a star after which no bracket stands.
  const std::size_t star = canonical.rfind('*');
  return star != std::string_view::npos && canonical.find_first_of("[(", star) == canonical.npos;
}

std::string FreshPrefix(const Tree& tree, const std::string& stem) {
  std::string prefix = "cupilot_" + stem;
  for (int n = 1; tree.text.find(prefix) != std::string::npos; ++n) {
    prefix = "cupilot_" + stem + std::to_string(n) + "x";
  }
  return prefix;
}

}  // namespace cupilot::source
