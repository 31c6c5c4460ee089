#include "source/lower/kernel_facts.h"

#include <array>
#include <set>
#include <string_view>

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

// User functions with a body that `root` reaches, `root` first.
std::vector<NodeId> ReachedFunctions(const Tree& tree, NodeId root) {
  std::vector<NodeId> found = {root};
  std::set<NodeId> seen = {root};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (NodeId reached : Reached(tree, found[i])) {
      if (Has(tree, reached, kSystem)) continue;
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

}  // namespace

NodeId KernelAround(const Tree& tree, NodeId id) {
  for (NodeId at = id; at != kNone; at = tree.at(at).parent) {
    if (tree.at(at).kind == Kind::kFunction) return Has(tree, at, kGlobalAttr) ? at : kNone;
  }
  return kNone;
}

KernelFacts KernelFactsOf(const Tree& tree, NodeId kernel) {
  KernelFacts facts;
  const std::vector<NodeId> reached = ReachedFunctions(tree, kernel);
  for (const NodeId id : reached) {
    const std::string_view text = tree.TextOf(id);
    // By the text, so that calls in templates, which name nothing yet, count too.
    if (ContainsAny(text, kWaits)) facts.synchronises = true;
    if (id != kernel && ContainsAny(text, kBuiltIns)) facts.needs_current = true;
    if (id != kernel && text.find("__attribute__((shared))") != std::string_view::npos) {
      facts.needs_current = true;
    }
    for (const NodeId variable : FindAll(tree, id, Kind::kVariable)) {
      if (Has(tree, variable, kSharedAttr) && !Has(tree, variable, kExtern)) {
        facts.shared_bytes += tree.at(variable).type_bytes;
      }
    }
  }
  return facts;
}

}  // namespace cupilot::source
