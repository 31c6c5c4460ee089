// Questions about a Tree that several users ask. Pure; a NodeId given must be of the tree, kNone is
// answered with kNone or an empty result.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "source/syntax/tree.h"

namespace cupilot::source {

inline bool Has(const Tree& tree, NodeId id, std::uint32_t flags) {
  return id != kNone && (tree.at(id).flags & flags) == flags;
}
inline bool IsA(const Tree& tree, NodeId id, Kind kind) {
  return id != kNone && tree.at(id).kind == kind;
}
// Child `index`, kNone if there is none.
NodeId Child(const Tree& tree, NodeId id, std::size_t index);

// Parts of a function (also of a lambda): the kCompound body, the parameters in order, the template
// parameters in order.
NodeId Body(const Tree& tree, NodeId function);
std::vector<NodeId> Parameters(const Tree& tree, NodeId function);
std::vector<NodeId> TemplateParameters(const Tree& tree, NodeId declaration);
// Initialiser of a variable, default value of a parameter.
NodeId Initialiser(const Tree& tree, NodeId variable);

// Parts of loops and branches; kNone for a missing part.
NodeId Condition(const Tree& tree, NodeId statement);  // if, for, while, do, switch, ?:
NodeId LoopBody(const Tree& tree, NodeId loop);        // for, range for, while, do
bool IsLoop(Kind kind);

// Parts of a call of any kind (kCall, kMemberCall, kKernelLaunch): callee expression, arguments
// (without a launch's configuration), and the configuration of a launch as written (2 to 4
// expressions).
NodeId Callee(const Tree& tree, NodeId call);
std::vector<NodeId> Arguments(const Tree& tree, NodeId call);
std::vector<NodeId> LaunchConfiguration(const Tree& tree, NodeId launch);

// The expression without parentheses around it, and without explicit casts.
NodeId SkipParens(const Tree& tree, NodeId expression);
NodeId SkipParensAndCasts(const Tree& tree, NodeId expression);

// A fundamental integer type by its canonical name, with or without const.
bool IsIntegerType(std::string_view canonical);

// Every node below `root`, `root` first, in the order of the text. A visitor that returns false is
// not shown what is below.
void Walk(const Tree& tree, NodeId root, const std::function<bool(NodeId)>& visit);
// All nodes of a kind at or below `root`.
std::vector<NodeId> FindAll(const Tree& tree, NodeId root, Kind kind);

// Declarations of user text with this name (as written: "blur", or qualified: "image::blur").
std::vector<NodeId> FindByName(const Tree& tree, std::string_view name);
// The definition among them with this kind, kNone if there is none.
NodeId FindDefinition(const Tree& tree, std::string_view qualified, Kind kind = Kind::kFunction);
// All __global__ functions of user text that have a body, in order.
std::vector<NodeId> Kernels(const Tree& tree);

// True if `id` is `ancestor` or below it.
bool IsInside(const Tree& tree, NodeId id, NodeId ancestor);
// The nearest ancestor (or the node itself) of a kind; kNone if there is none.
NodeId Enclosing(const Tree& tree, NodeId id, Kind kind);
// The function (or lambda) that a node lies in, kNone at namespace scope.
NodeId EnclosingFunction(const Tree& tree, NodeId id);
// Names of the enclosing namespaces, outermost first; "" for an unnamed one.
std::vector<std::string> NamespacesOf(const Tree& tree, NodeId id);
// The outermost declaration around `id` that stands at namespace scope (or in extern "C").
NodeId TopLevel(const Tree& tree, NodeId id);

// References to a declaration at or below `root` (kDeclRef and kMember nodes).
std::vector<NodeId> ReferencesTo(const Tree& tree, NodeId root, NodeId declaration);
// Declarations that anything at or below `root` refers to or names in a type, each once, system
// leaves included; those that lie below `root` themselves left out.
std::vector<NodeId> Reached(const Tree& tree, NodeId root);

// One past the declaration's ";" or closing brace: where a text that holds it must end.
std::uint32_t DeclarationEnd(const Tree& tree, NodeId declaration);

}  // namespace cupilot::source
