#include "source/lower/atomic_reads.h"

#include <cctype>
#include <map>
#include <set>
#include <string>

#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

// Without white space; "" for kNone.
std::string Squeezed(const Tree& tree, NodeId id) {
  std::string text;
  if (id == kNone) return text;
  for (const char c : tree.TextOf(id)) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) text += c;
  }
  return text;
}

bool IsUnary(const Tree& tree, NodeId id, const char* name) {
  return IsA(tree, id, Kind::kUnary) && Has(tree, id, kPrefix) && tree.at(id).name == name;
}

// What an address points to: "*p", "bins[i]".
std::string PlaceAt(const Tree& tree, NodeId address) {
  const NodeId inner = SkipParens(tree, address);
  if (IsUnary(tree, inner, "&")) {
    return Squeezed(tree, SkipParens(tree, Child(tree, inner, 0)));
  }
  return "*" + Squeezed(tree, inner);
}
std::string PlaceOf(const Tree& tree, NodeId lvalue) {
  if (!IsUnary(tree, lvalue, "*")) return Squeezed(tree, lvalue);
  return "*" + Squeezed(tree, SkipParens(tree, Child(tree, lvalue, 0)));
}

bool IsCompareAndSwap(const Tree& tree, NodeId id) {
  const Node& node = tree.at(id);
  return node.kind == Kind::kCall && (node.name == "atomicCAS" || node.name == "atomicCAS_block" ||
                                      node.name == "atomicCAS_system");
}

// Its value is taken there, and nothing but its value.
bool IsRead(const Tree& tree, NodeId id) {
  NodeId below = id;
  NodeId at = tree.at(id).parent;
  while (IsA(tree, at, Kind::kParen)) {
    below = at;
    at = tree.at(at).parent;
  }
  if (at == kNone) return false;
  switch (tree.at(at).kind) {
    case Kind::kVariable:
      return !Has(tree, at, kReference);
    case Kind::kAssign:
      return Child(tree, at, 1) == below;
    case Kind::kBinary:
      return true;
    case Kind::kCall:
      return IsCompareAndSwap(tree, at);
    default:
      return false;
  }
}

}  // namespace

std::vector<NodeId> ReadsBesideCompareAndSwap(const Tree& tree) {
  std::map<NodeId, std::set<std::string>> places;  // by function
  const auto end = static_cast<NodeId>(tree.nodes.size());
  for (NodeId id = 0; id < end; ++id) {
    if (!IsCompareAndSwap(tree, id)) continue;
    const std::vector<NodeId> arguments = Arguments(tree, id);
    if (arguments.empty()) continue;
    places[EnclosingFunction(tree, id)].insert(PlaceAt(tree, arguments[0]));
  }
  std::vector<NodeId> reads;
  if (places.empty()) return reads;
  for (NodeId id = 0; id < end; ++id) {
    const bool place = IsUnary(tree, id, "*") || IsA(tree, id, Kind::kSubscript) ||
                       IsA(tree, id, Kind::kMember) || IsA(tree, id, Kind::kDeclRef);
    if (!place || !IsRead(tree, id)) continue;
    const auto found = places.find(EnclosingFunction(tree, id));
    if (found != places.end() && found->second.count(PlaceOf(tree, id)) > 0) reads.push_back(id);
  }
  return reads;
}

}  // namespace cupilot::source
