#include "source/rewrite/shared_memory.h"

#include <set>

#include "source/rewrite/inspect.h"

namespace cupilot::source {

bool IsSharedElement(const std::string& element) {
  static const std::set<std::string> kTypes = {"char",
                                               "signed char",
                                               "unsigned char",
                                               "short",
                                               "unsigned short",
                                               "int",
                                               "unsigned int",
                                               "long",
                                               "unsigned long",
                                               "long long",
                                               "unsigned long long",
                                               "float",
                                               "double",
                                               "float2",
                                               "float4",
                                               "int2",
                                               "int4",
                                               "uint2",
                                               "uint4",
                                               "double2",
                                               "uchar4"};
  return kTypes.count(element) > 0;
}

NodeId PointerOf(const Draft& draft, NodeId expression) {
  const Tree& tree = draft.tree;
  NodeId variable = VariableOf(tree, expression);
  for (int depth = 0; variable != kNone && depth < 8; ++depth) {
    if (!IsPointerType(tree.at(variable).canonical) ||
        OwnChange(tree, draft.facts, variable) != kNone) {
      return kNone;
    }
    if (IsA(tree, variable, Kind::kParameter)) return variable;
    if (!IsLocalVariable(tree, draft.facts, variable)) return kNone;
    variable = RootOf(tree, Initialiser(tree, variable));
  }
  return kNone;
}

std::size_t UsesOf(const Draft& draft, NodeId pointer) {
  const Tree& tree = draft.tree;
  std::size_t uses = 0;
  const auto found = draft.facts.references.find(pointer);
  if (found == draft.facts.references.end()) return 0;
  for (const NodeId use : found->second) {
    const NodeId variable = Enclosing(tree, use, Kind::kVariable);
    const bool derived = variable != kNone && IsPointerType(tree.at(variable).canonical) &&
                         RootOf(tree, Initialiser(tree, variable)) == pointer;
    uses += derived ? UsesOf(draft, variable) : 1;
  }
  return uses;
}

bool IsDoneAlways(const Tree& tree, NodeId expression, NodeId statement) {
  for (NodeId at = expression; at != statement; at = tree.at(at).parent) {
    const NodeId parent = tree.at(at).parent;
    const Node& node = tree.at(parent);
    const bool first = Child(tree, parent, 0) == at;
    if (node.kind == Kind::kIf || node.kind == Kind::kSwitch || IsLoop(node.kind) ||
        node.kind == Kind::kCompound) {
      return false;
    }
    if (node.kind == Kind::kConditional && !first) return false;
    if (node.kind == Kind::kBinary && (node.name == "&&" || node.name == "||") && !first) {
      return false;
    }
  }
  return true;
}

}  // namespace cupilot::source
