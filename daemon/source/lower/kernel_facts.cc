#include "source/lower/kernel_facts.h"

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

constexpr std::array<std::string_view, 4> kBuiltIns = {"threadIdx", "blockIdx", "blockDim",
                                                       "gridDim"};
// Whoever uses a cooperative group names one of the functions that make it.
constexpr std::array<std::string_view, 8> kWaits = {
    "__syncthreads",     "__syncwarp",      "_sync",     "__activemask",
    "this_thread_block", "tiled_partition", "this_grid", "coalesced_threads"};

bool ContainsAny(std::string_view text, const auto& words) {
  for (const std::string_view word : words) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return false;
}

// Only the host can run it, as what launches kernels. A constexpr function may run on both sides
// (with --expt-relaxed-constexpr, which our compiler always allows), and so may what stands in code
// of the device or in a lambda: an unmarked one is for both, as clang has it.
bool IsHostOnly(const Tree& tree, NodeId id) {
  if (!IsA(tree, id, Kind::kFunction)) return false;
  constexpr std::uint32_t kForDevice = kGlobalAttr | kDeviceAttr | kConstexpr;
  for (NodeId at = id; at != kNone; at = tree.at(at).parent) {
    if (IsA(tree, at, Kind::kLambda)) return false;
    if (IsA(tree, at, Kind::kFunction) && (tree.at(at).flags & kForDevice) != 0) return false;
  }
  return true;
}
// Of a class, say, the functions that only the host can run, and kernels, are no code that another
// kernel's threads execute.
bool IsApart(const Tree& tree, NodeId id, NodeId root) {
  return id != root &&
         (IsHostOnly(tree, id) || (IsA(tree, id, Kind::kFunction) && Has(tree, id, kGlobalAttr)));
}
void WalkDevice(const Tree& tree, NodeId root, const std::function<bool(NodeId)>& visit) {
  Walk(tree, root, [&](NodeId id) { return !IsApart(tree, id, root) && visit(id); });
}
std::string DeviceText(const Tree& tree, NodeId root) {
  std::string text;
  std::uint32_t from = tree.at(root).begin;
  Walk(tree, root, [&](NodeId id) {
    if (!IsApart(tree, id, root)) return true;
    const Node& node = tree.at(id);
    if (node.begin >= from) {
      text.append(tree.text, from, node.begin - from);
      from = node.end;
    }
    return false;
  });
  if (from < tree.at(root).end) text.append(tree.text, from, tree.at(root).end - from);
  return text;
}

// User functions (and types, variables) that `roots` reach on the device, the roots first.
std::vector<NodeId> ReachedFunctions(const Tree& tree, std::vector<NodeId> found) {
  std::set<NodeId> seen(found.begin(), found.end());
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::vector<NodeId> named;
    WalkDevice(tree, found[i], [&](NodeId id) {
      const Node& node = tree.at(id);
      if (node.declaration != kNone) named.push_back(node.declaration);
      named.insert(named.end(), node.types_used.begin(), node.types_used.end());
      return true;
    });
    for (NodeId reached : named) {
      if (Has(tree, reached, kSystem) || IsInside(tree, reached, found[i])) continue;
      if (IsApart(tree, reached, kNone)) continue;
      // A call may name an earlier declaration.
      if (IsA(tree, reached, Kind::kFunction) && !Has(tree, reached, kDefinition)) {
        const NodeId definition = FindDefinition(tree, tree.at(reached).qualified);
        if (definition != kNone) reached = definition;
      }
      if (seen.insert(reached).second) found.push_back(reached);
    }
  }
  return found;
}

// Calls what only an instantiation or the run decides: an object, a pointer, a policy's function.
bool IsOpenCall(const Tree& tree, NodeId id) {
  const Node& node = tree.at(id);
  if (node.kind == Kind::kOperatorCall) return node.name == "()";
  if (node.kind != Kind::kCall && node.kind != Kind::kMemberCall) return false;
  const NodeId callee = SkipParens(tree, Callee(tree, id));
  const NodeId declaration = callee == kNone ? kNone : tree.at(callee).declaration;
  if (declaration == kNone) return !Has(tree, callee, kBuiltin);
  return tree.at(declaration).kind != Kind::kFunction || Has(tree, declaration, kVirtual);
}
bool HasOpenCall(const Tree& tree, NodeId root) {
  bool open = false;
  WalkDevice(tree, root, [&](NodeId id) {
    open |= IsOpenCall(tree, id);
    return !open;
  });
  return open;
}

// Device code cannot, so this is the host's.
bool Launches(const Tree& tree, NodeId lambda) {
  return !FindAll(tree, lambda, Kind::kKernelLaunch).empty();
}

// What an open call may call: lambdas and members outside of kernels, and functions that are named
// but not called where they are named; nothing that only the host can run.
std::vector<NodeId> PossibleCallees(const Tree& tree) {
  std::vector<NodeId> possible;
  for (NodeId id = 0; id < static_cast<NodeId>(tree.nodes.size()); ++id) {
    const Node& node = tree.at(id);
    if (Has(tree, id, kSystem)) continue;
    const bool member = node.kind == Kind::kFunction && Has(tree, id, kMember_ | kDefinition) &&
                        !IsHostOnly(tree, id);
    const bool lambda =
        node.kind == Kind::kLambda && KernelAround(tree, id) == kNone && !Launches(tree, id);
    if (member || lambda) possible.push_back(id);
    if (node.kind != Kind::kDeclRef || !IsA(tree, node.declaration, Kind::kFunction) ||
        !Has(tree, node.declaration, kDeviceAttr) || Has(tree, node.declaration, kSystem)) {
      continue;
    }
    const NodeId parent = node.parent;
    if (!IsA(tree, parent, Kind::kCall) || Callee(tree, parent) != id) {
      possible.push_back(node.declaration);
    }
  }
  return ReachedFunctions(tree, std::move(possible));
}

// By the text, so that calls in templates, which name nothing yet, count too.
bool Waits(const Tree& tree, NodeId id) { return ContainsAny(DeviceText(tree, id), kWaits); }
bool AsksForThread(const Tree& tree, NodeId id) {
  const std::string text = DeviceText(tree, id);
  return ContainsAny(text, kBuiltIns) || text.find(kAssertion) != std::string::npos ||
         text.find("__attribute__((shared))") != std::string::npos;
}
// Of another object: nothing is known of it.
bool IsElsewhere(const Tree& tree, NodeId id) {
  return IsA(tree, id, Kind::kFunction) && Has(tree, id, kDeviceAttr) &&
         !Has(tree, id, kDefinition) && !Has(tree, id, kTemplate);
}

}  // namespace

NodeId KernelAround(const Tree& tree, NodeId id) {
  for (NodeId at = id; at != kNone; at = tree.at(at).parent) {
    if (tree.at(at).kind == Kind::kFunction) return Has(tree, at, kGlobalAttr) ? at : kNone;
  }
  return kNone;
}

KernelFacts KernelFactsOf(const Tree& tree, NodeId kernel) {
  KernelFacts facts;
  const std::vector<NodeId> reached = ReachedFunctions(tree, {kernel});
  bool open = false;
  for (const NodeId id : reached) {
    facts.synchronises |= Waits(tree, id) || IsElsewhere(tree, id);
    facts.needs_current |= (id != kernel && AsksForThread(tree, id)) || IsElsewhere(tree, id);
    open |= HasOpenCall(tree, id);
    for (const NodeId variable : FindAll(tree, id, Kind::kVariable)) {
      if (Has(tree, variable, kSharedAttr) && !Has(tree, variable, kExtern)) {
        facts.shared_bytes += tree.at(variable).type_bytes;
      }
    }
  }
  if (tree.TextOf(kernel).find(kAssertion) != std::string_view::npos) {
    facts.needs_current |= !FindAll(tree, kernel, Kind::kLambda).empty();
  }
  for (const NodeId id : FindAll(tree, kernel, Kind::kFunction)) {
    facts.needs_current |= id != kernel && AsksForThread(tree, id);
  }
  if (!open || (facts.synchronises && facts.needs_current)) return facts;
  for (const NodeId id : PossibleCallees(tree)) {
    facts.synchronises |= Waits(tree, id);
    facts.needs_current |= AsksForThread(tree, id);
  }
  return facts;
}

}  // namespace cupilot::source
