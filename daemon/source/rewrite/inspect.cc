#include "source/rewrite/inspect.h"

#include <algorithm>

namespace cupilot::source {
namespace {

std::optional<GlobalIndexForm> ProductOf(const Tree& tree, NodeId expression) {
  const NodeId id = SkipParensAndCasts(tree, expression);
  if (!IsA(tree, id, Kind::kBinary) || tree.at(id).name != "*") return std::nullopt;
  for (const std::size_t first : {0u, 1u}) {
    const auto block = IndexOf(tree, SkipParensAndCasts(tree, Child(tree, id, first)));
    if (!block || block->variable != "blockIdx") continue;
    const NodeId width = SkipParensAndCasts(tree, Child(tree, id, 1 - first));
    const auto size = IndexOf(tree, width);
    if (size && size->variable == "blockDim" && size->axis == block->axis) {
      return GlobalIndexForm{block->axis, 0};
    }
    const std::string& value = width == kNone ? "" : tree.at(width).value;
    if (!value.empty() && value.size() <= 4 && value[0] >= '1' && value[0] <= '9') {
      return GlobalIndexForm{block->axis, std::stoll(value)};
    }
  }
  return std::nullopt;
}

}  // namespace

NodeId FindBelow(const Tree& tree, NodeId root, const std::function<bool(NodeId)>& is) {
  NodeId found = kNone;
  if (root == kNone) return found;
  Walk(tree, root, [&](NodeId id) {
    if (found == kNone && is(id)) found = id;
    return found == kNone;
  });
  return found;
}

NodeId SkipParensAndCasts(const Tree& tree, NodeId expression) {
  while (expression != kNone) {
    expression = SkipParens(tree, expression);
    if (!IsA(tree, expression, Kind::kCast)) break;
    expression = Child(tree, expression, 0);
  }
  return expression;
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

bool IsPlaceVariable(const Tree& tree, NodeId reference) {
  static constexpr std::string_view kNames[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
  if (!IsA(tree, reference, Kind::kDeclRef)) return false;
  const NodeId declaration = tree.at(reference).declaration;
  if (!Has(tree, declaration, kSystem)) return false;
  return std::find(std::begin(kNames), std::end(kNames), tree.at(declaration).name) !=
         std::end(kNames);
}

std::optional<Place> IndexOf(const Tree& tree, NodeId expression) {
  if (!IsA(tree, expression, Kind::kMember)) return std::nullopt;
  const NodeId base = SkipParens(tree, Child(tree, expression, 0));
  if (base == kNone || !IsPlaceVariable(tree, base)) return std::nullopt;
  const std::string& member = tree.at(expression).name;
  if (member.size() != 1) return std::nullopt;
  return Place{tree.at(tree.at(base).declaration).name, member[0]};
}

std::optional<GlobalIndexForm> GlobalIndexOf(const Tree& tree, NodeId expression) {
  if (!IsA(tree, expression, Kind::kBinary) || tree.at(expression).name != "+") return std::nullopt;
  for (const std::size_t first : {0u, 1u}) {
    const auto product = ProductOf(tree, Child(tree, expression, first));
    const auto thread = IndexOf(tree, SkipParensAndCasts(tree, Child(tree, expression, 1 - first)));
    if (product && thread && thread->variable == "threadIdx" && thread->axis == product->axis) {
      return product;
    }
  }
  return std::nullopt;
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

bool IsIntegerType(std::string_view canonical) {
  static constexpr std::string_view kTypes[] = {
      "bool", "char",         "signed char", "unsigned char", "short",     "unsigned short",
      "int",  "unsigned int", "long",        "unsigned long", "long long", "unsigned long long"};
  if (canonical.starts_with("const ")) canonical.remove_prefix(6);
  return std::find(std::begin(kTypes), std::end(kTypes), canonical) != std::end(kTypes);
}

std::string FreshPrefix(const Tree& tree, const std::string& stem) {
  std::string prefix = "cupilot_" + stem;
  for (int n = 1; tree.text.find(prefix) != std::string::npos; ++n) {
    prefix = "cupilot_" + stem + std::to_string(n) + "x";
  }
  return prefix;
}

}  // namespace cupilot::source
