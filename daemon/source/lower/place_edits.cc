#include "source/lower/place_edits.h"

#include <algorithm>
#include <vector>

#include "source/syntax/built_ins.h"
#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

bool Contains(const std::vector<NodeId>& nodes, NodeId id) {
  return std::find(nodes.begin(), nodes.end(), id) != nodes.end();
}

std::string Lowered(const Tree& tree, NodeId id, const ThreadIndex& index) {
  Edits edits(tree.text);
  EditPlaces(tree, id, index, edits);
  return edits.Apply(tree.at(id).begin, tree.at(id).end);
}

}  // namespace

void EditPlaces(const Tree& tree, NodeId root, const ThreadIndex& index, Edits& edits) {
  std::vector<NodeId> as_signed;
  Walk(tree, root, [&](NodeId id) {
    const Node& node = tree.at(id);
    // A member of a class of the body's own is no part of the thread's function.
    if (node.kind == Kind::kFunction && id != root) return false;
    if (node.kind == Kind::kVariable) {
      std::vector<NodeId> parts;
      if (IsSignedSum(tree, id, index.sums, parts)) {
        as_signed.insert(as_signed.end(), parts.begin(), parts.end());
      }
    }
    const bool is_signed = Contains(as_signed, id);
    if (Contains(index.sums, id)) {
      edits.Replace(node.begin, node.end,
                    "((" + (is_signed ? "int" : node.canonical) + ")cupilot_t.index_x)");
      return false;
    }
    if (is_signed) edits.Insert(node.begin, "(int)");
    if (IsBuiltInVariable(tree, id)) edits.Insert(node.begin, "cupilot_t.");
    return true;
  });
}

void EditBounds(const Tree& tree, const ThreadIndex& index, Edits& edits) {
  for (const Bound& bound : index.bounds) {
    const Node& node = tree.at(bound.condition);
    edits.Insert(node.begin, bound.leaves ? "(!cupilot_t.inside && (" : "(cupilot_t.inside || (");
    edits.Insert(node.end, "))");
  }
}

std::string BoundsTest(const Tree& tree, const ThreadIndex& index) {
  if (index.bounds.empty()) return "";
  std::string upper, lower, text;
  for (const NodeId id : index.declarations) text += Lowered(tree, id, index) + " ";
  for (const Bound& bound : index.bounds) {
    const std::string condition =
        (bound.leaves ? "!(" : "(") + Lowered(tree, bound.condition, index) + ")";
    if (bound.upper) upper += (upper.empty() ? "" : " && ") + condition;
    if (bound.lower) lower += (lower.empty() ? "" : " && ") + condition;
  }
  if (upper.empty()) upper = "true";
  if (lower.empty()) lower = "true";
  return text + "return (" + upper + " ? 1 : 0) | (" + lower + " ? 2 : 0);";
}

}  // namespace cupilot::source
