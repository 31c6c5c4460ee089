#include "source/syntax/query.h"

#include <algorithm>

#include "source/syntax/lexer.h"

namespace cupilot::source {

NodeId Child(const Tree& tree, NodeId id, std::size_t index) {
  if (id == kNone) return kNone;
  const std::vector<NodeId>& children = tree.at(id).children;
  return index < children.size() ? children[index] : kNone;
}

NodeId Body(const Tree& tree, NodeId function) {
  if (function == kNone || tree.at(function).children.empty()) return kNone;
  const NodeId last = tree.at(function).children.back();
  return IsA(tree, last, Kind::kCompound) ? last : kNone;
}

namespace {
std::vector<NodeId> ChildrenOf(const Tree& tree, NodeId id, Kind kind) {
  std::vector<NodeId> found;
  if (id == kNone) return found;
  for (const NodeId child : tree.at(id).children) {
    if (IsA(tree, child, kind)) found.push_back(child);
  }
  return found;
}
}  // namespace

std::vector<NodeId> Parameters(const Tree& tree, NodeId function) {
  return ChildrenOf(tree, function, Kind::kParameter);
}

std::vector<NodeId> TemplateParameters(const Tree& tree, NodeId declaration) {
  return ChildrenOf(tree, declaration, Kind::kTemplateParameter);
}

NodeId Initialiser(const Tree& tree, NodeId variable) {
  if (variable == kNone) return kNone;
  for (const NodeId child : tree.at(variable).children) {
    if (!IsA(tree, child, Kind::kTemplateParameter)) return child;
  }
  return kNone;
}

NodeId Condition(const Tree& tree, NodeId statement) {
  if (statement == kNone) return kNone;
  switch (tree.at(statement).kind) {
    case Kind::kIf:
    case Kind::kFor:
    case Kind::kDo:
      return Child(tree, statement, 1);
    case Kind::kWhile:
    case Kind::kConditional:
      return Child(tree, statement, 0);
    case Kind::kSwitch: {
      const std::size_t count = tree.at(statement).children.size();
      return count < 2 ? kNone : Child(tree, statement, count - 2);
    }
    default:
      return kNone;
  }
}

bool IsLoop(Kind kind) {
  return kind == Kind::kFor || kind == Kind::kRangeFor || kind == Kind::kWhile || kind == Kind::kDo;
}

NodeId LoopBody(const Tree& tree, NodeId loop) {
  if (loop == kNone) return kNone;
  switch (tree.at(loop).kind) {
    case Kind::kFor:
      return Child(tree, loop, 3);
    case Kind::kRangeFor:
      return Child(tree, loop, 2);
    case Kind::kWhile:
      return Child(tree, loop, 1);
    case Kind::kDo:
      return Child(tree, loop, 0);
    default:
      return kNone;
  }
}

NodeId Callee(const Tree& tree, NodeId call) { return Child(tree, call, 0); }

namespace {
std::size_t ConfigurationCount(const Tree& tree, NodeId call) {
  if (!IsA(tree, call, Kind::kKernelLaunch)) return 0;
  const std::string& count = tree.at(call).value;
  return count.size() == 1 ? static_cast<std::size_t>(count[0] - '0') : 0;
}
}  // namespace

std::vector<NodeId> Arguments(const Tree& tree, NodeId call) {
  if (call == kNone) return {};
  const std::vector<NodeId>& children = tree.at(call).children;
  const std::size_t skip = std::min(children.size(), 1 + ConfigurationCount(tree, call));
  return {children.begin() + static_cast<std::ptrdiff_t>(skip), children.end()};
}

std::vector<NodeId> LaunchConfiguration(const Tree& tree, NodeId launch) {
  std::vector<NodeId> found;
  found.reserve(ConfigurationCount(tree, launch));
  for (std::size_t i = 0; i < ConfigurationCount(tree, launch); ++i) {
    found.push_back(Child(tree, launch, 1 + i));
  }
  return found;
}

NodeId SkipParens(const Tree& tree, NodeId expression) {
  while (IsA(tree, expression, Kind::kParen)) expression = Child(tree, expression, 0);
  return expression;
}

NodeId SkipParensAndCasts(const Tree& tree, NodeId expression) {
  while (expression != kNone) {
    expression = SkipParens(tree, expression);
    if (!IsA(tree, expression, Kind::kCast)) break;
    expression = Child(tree, expression, 0);
  }
  return expression;
}

bool IsIntegerType(std::string_view canonical) {
  static constexpr std::string_view kTypes[] = {
      "bool", "char",         "signed char", "unsigned char", "short",     "unsigned short",
      "int",  "unsigned int", "long",        "unsigned long", "long long", "unsigned long long"};
  if (canonical.starts_with("const ")) canonical.remove_prefix(6);
  return std::find(std::begin(kTypes), std::end(kTypes), canonical) != std::end(kTypes);
}

void Walk(const Tree& tree, NodeId root, const std::function<bool(NodeId)>& visit) {
  if (root == kNone || !visit(root)) return;
  for (const NodeId child : tree.at(root).children) Walk(tree, child, visit);
}

std::vector<NodeId> FindAll(const Tree& tree, NodeId root, Kind kind) {
  std::vector<NodeId> found;
  Walk(tree, root, [&](NodeId id) {
    if (tree.at(id).kind == kind) found.push_back(id);
    return true;
  });
  return found;
}

namespace {
bool IsDeclaration(Kind kind) { return kind < Kind::kCompound; }
}  // namespace

std::vector<NodeId> FindByName(const Tree& tree, std::string_view name) {
  std::vector<NodeId> found;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const Node& node = tree.nodes[i];
    if (!IsDeclaration(node.kind) || (node.flags & kSystem) != 0) continue;
    if (node.name == name || node.qualified == name) found.push_back(static_cast<NodeId>(i));
  }
  return found;
}

NodeId FindDefinition(const Tree& tree, std::string_view qualified, Kind kind) {
  for (const NodeId id : FindByName(tree, qualified)) {
    const Node& node = tree.at(id);
    if (node.kind == kind && node.qualified == qualified && (node.flags & kDefinition) != 0) {
      return id;
    }
  }
  return kNone;
}

std::vector<NodeId> Kernels(const Tree& tree) {
  std::vector<NodeId> found;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const NodeId id = static_cast<NodeId>(i);
    if (tree.nodes[i].kind == Kind::kFunction && !Has(tree, id, kSystem) &&
        Has(tree, id, kGlobalAttr | kDefinition)) {
      found.push_back(id);
    }
  }
  return found;
}

bool IsInside(const Tree& tree, NodeId id, NodeId ancestor) {
  for (; id != kNone; id = tree.at(id).parent) {
    if (id == ancestor) return true;
  }
  return false;
}

NodeId Enclosing(const Tree& tree, NodeId id, Kind kind) {
  while (id != kNone && tree.at(id).kind != kind) id = tree.at(id).parent;
  return id;
}

NodeId EnclosingFunction(const Tree& tree, NodeId id) {
  while (id != kNone && tree.at(id).kind != Kind::kFunction && tree.at(id).kind != Kind::kLambda) {
    id = tree.at(id).parent;
  }
  return id;
}

std::vector<std::string> NamespacesOf(const Tree& tree, NodeId id) {
  std::vector<std::string> names;
  for (NodeId up = id == kNone ? kNone : tree.at(id).parent; up != kNone; up = tree.at(up).parent) {
    const Node& node = tree.at(up);
    if (node.kind != Kind::kNamespace) continue;
    names.push_back((node.flags & kUnnamed) != 0 ? std::string() : node.name);
  }
  std::reverse(names.begin(), names.end());
  return names;
}

NodeId TopLevel(const Tree& tree, NodeId id) {
  while (id != kNone) {
    const NodeId parent = tree.at(id).parent;
    if (parent == kNone) return kNone;
    const Kind kind = tree.at(parent).kind;
    if (kind == Kind::kTranslationUnit || kind == Kind::kNamespace || kind == Kind::kLinkage) {
      return id;
    }
    id = parent;
  }
  return kNone;
}

std::vector<NodeId> ReferencesTo(const Tree& tree, NodeId root, NodeId declaration) {
  std::vector<NodeId> found;
  Walk(tree, root, [&](NodeId id) {
    const Node& node = tree.at(id);
    if (node.declaration == declaration &&
        (node.kind == Kind::kDeclRef || node.kind == Kind::kMember)) {
      found.push_back(id);
    }
    return true;
  });
  return found;
}

std::vector<NodeId> Reached(const Tree& tree, NodeId root) {
  std::vector<NodeId> found;
  std::vector<bool> seen(tree.nodes.size(), false);
  const auto add = [&](NodeId id) {
    if (id == kNone || seen[static_cast<std::size_t>(id)] || IsInside(tree, id, root)) return;
    seen[static_cast<std::size_t>(id)] = true;
    found.push_back(id);
  };
  Walk(tree, root, [&](NodeId id) {
    add(tree.at(id).declaration);
    for (const NodeId type : tree.at(id).types_used) add(type);
    return true;
  });
  return found;
}

std::uint32_t DeclarationEnd(const Tree& tree, NodeId declaration) {
  const Node& node = tree.at(declaration);
  if (node.kind == Kind::kFriend && IsA(tree, Child(tree, declaration, 0), Kind::kFunction)) {
    return DeclarationEnd(tree, Child(tree, declaration, 0));
  }
  const bool closed = (node.kind == Kind::kFunction && Body(tree, declaration) != kNone) ||
                      node.kind == Kind::kNamespace;
  if (closed) return node.end;
  // A group of declarators, an attribute after the declarator, a record with variables: all end at
  // the first semicolon outside brackets.
  const std::size_t window = std::max<std::size_t>(tree.text.find(';', node.end), node.end);
  const std::vector<Token> tokens =
      Lex(tree.text, node.end, std::min(tree.text.size(), window) + 4096);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view word = Spelling(tree.text, tokens[i]);
    if (word == ";") return tokens[i].end;
    if (word == "(" || word == "[" || word == "{") i = MatchingToken(tree.text, tokens, i);
    if (word == "}") break;
  }
  return node.end;
}

}  // namespace cupilot::source
