// Longer rows of two-dimensional shared arrays, so that the elements of a column lie in different
// banks. Subscripts stay as they are: past the end of a row they would have no meaning in C++.
#include <algorithm>

#include "source/rewrite/inspect.h"
#include "source/rewrite/mechanical.h"
#include "source/rewrite/parameters.h"

namespace cupilot::source {
namespace {

using records::Json;

constexpr std::int64_t kSharedBytes = 48 * 1024;  // what a kernel may declare

std::int64_t Extents(const Tree& tree, NodeId array) {
  const std::string& type = tree.at(array).canonical;
  return std::count(type.begin(), type.end(), '[');
}

std::int64_t LastExtent(const Tree& tree, NodeId array) {
  const std::string& type = tree.at(array).canonical;
  const std::size_t open = type.rfind('[');
  return open == std::string::npos ? 0 : std::atoll(type.c_str() + open + 1);
}

// Every use has a subscript for each dimension, and none goes elsewhere but to an atomic function.
bool OnlyFullSubscripts(const Draft& draft, NodeId array) {
  const Tree& tree = draft.tree;
  const auto uses = draft.facts.references.find(array);
  if (uses == draft.facts.references.end()) return true;
  return std::all_of(uses->second.begin(), uses->second.end(), [&](NodeId use) {
    NodeId at = use;
    for (std::int64_t d = Extents(tree, array); d > 0; --d) {
      const NodeId parent = tree.at(at).parent;
      if (!IsA(tree, parent, Kind::kSubscript) || Child(tree, parent, 0) != at) return false;
      at = parent;
    }
    for (NodeId above = tree.at(use).parent; above != kNone; above = tree.at(above).parent) {
      if (IsA(tree, above, Kind::kSizeOf)) return false;
    }
    const NodeId parent = tree.at(at).parent;
    if (IsA(tree, parent, Kind::kVariable) && Has(tree, parent, kReference)) return false;
    if (!IsA(tree, parent, Kind::kUnary) || tree.at(parent).name != "&") return true;
    return SystemCallee(tree, tree.at(parent).parent).starts_with("atomic");
  });
}

struct Arrays {
  std::vector<NodeId> padded;
  std::int64_t bytes = 0;       // of all shared memory, before
  std::int64_t rows_bytes = 0;  // that one element more a row adds
};

base::Result<Arrays> FindArrays(const Draft& draft) {
  const Tree& tree = draft.tree;
  Arrays arrays;
  std::string reason = "it has no shared array";
  for (const NodeId id : FindAll(tree, draft.facts.body, Kind::kVariable)) {
    if (!Has(tree, id, kSharedAttr)) continue;
    const Node& node = tree.at(id);
    arrays.bytes += std::max(node.type_bytes, node.element_bytes * node.element_count);
    const std::string& name = node.name;
    const std::string text = tree.text.substr(node.name_end, node.end - node.name_end);
    if (Has(tree, id, kExtern)) {
      reason = "the size of '" + name + "' is the launch's";
    } else if (Extents(tree, id) < 2) {
      reason = "'" + name + "' has no rows";
    } else if (std::count(text.begin(), text.end(), '[') != Extents(tree, id) ||
               LastExtent(tree, id) < 1) {
      reason = "the extents of '" + name + "' are part of its type's name";
    } else if (!OnlyFullSubscripts(draft, id)) {
      reason = "'" + name + "' is used otherwise than element by element";
    } else {
      arrays.padded.push_back(id);
      arrays.rows_bytes += node.element_bytes * node.element_count / LastExtent(tree, id);
    }
  }
  if (arrays.padded.empty()) return base::Fail(base::Unsupported(reason));
  return arrays;
}

bool Fits(const Arrays& arrays, std::int64_t pad) {
  return arrays.bytes + pad * arrays.rows_bytes <= kSharedBytes;
}

}  // namespace

base::Result<std::vector<Json>> ProposePadding(const Draft& draft) {
  TRY_ASSIGN(const Arrays arrays, FindArrays(draft));
  std::vector<Json> parameters;
  const std::vector<std::int64_t> pads = draft.device == "host"
                                             ? std::vector<std::int64_t>{1, 16}
                                             : std::vector<std::int64_t>{1, 2, 4};
  for (const std::int64_t pad : pads) {
    if (Fits(arrays, pad)) parameters.push_back(Json{{"pad", pad}});
  }
  return parameters;
}

base::Result<std::string> ApplyPadding(Draft& draft, const Json& parameters) {
  TRY_ASSIGN(const std::int64_t pad, IntegerOf(parameters, "pad", 1));
  if (pad < 1 || pad > 16) return base::Fail(base::InvalidArgument("pad must be 1 to 16"));
  TRY_ASSIGN(const Arrays arrays, FindArrays(draft));
  if (!Fits(arrays, pad)) {
    return base::Fail(base::Unsupported("longer rows do not fit into shared memory"));
  }
  Edits edits(draft.tree.text);
  for (const NodeId id : arrays.padded) {
    const Node& node = draft.tree.at(id);
    const auto close = static_cast<std::uint32_t>(draft.tree.text.rfind(']', node.end));
    const auto open = static_cast<std::uint32_t>(draft.tree.text.rfind('[', close));
    edits.Replace(open, close + 1, "[" + std::to_string(LastExtent(draft.tree, id) + pad) + "]");
  }
  TRY(Change(draft, edits));
  return "rows of shared arrays longer by " + std::to_string(pad);
}

}  // namespace cupilot::source
