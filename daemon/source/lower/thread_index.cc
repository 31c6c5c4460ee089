#include "source/lower/thread_index.h"

#include <algorithm>

#include "source/lower/bounds.h"
#include "source/syntax/built_ins.h"
#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

// The factor of blockIdx.x: blockDim.x, a constant, or a template parameter; "" for anything else.
std::string WidthOf(const Tree& tree, NodeId id) {
  const auto place = IndexOf(tree, id);
  if (place && place->variable == "blockDim" && place->axis == 'x') return kBlockWidth;
  const Node& node = tree.at(id);
  if (!node.value.empty() && node.value[0] != '-') return node.value + "u";
  if (node.kind == Kind::kDeclRef && IsA(tree, node.declaration, Kind::kTemplateParameter)) {
    return "(unsigned int)(" + node.name + ")";
  }
  return "";
}

// "" if `id` is no such sum, else its width.
std::string SumWidth(const Tree& tree, NodeId id) {
  const Node& node = tree.at(id);
  static constexpr std::string_view kTypes[] = {
      "int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long"};
  if (std::find(std::begin(kTypes), std::end(kTypes), node.canonical) == std::end(kTypes))
    return "";
  const auto sum = GlobalSumOf(tree, id);
  return sum && sum->axis == 'x' ? WidthOf(tree, sum->width) : "";
}

bool IsInsideAny(const Tree& tree, NodeId id, const std::vector<NodeId>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](NodeId node) { return IsInside(tree, id, node); });
}

bool IsFlat(const Tree& tree, NodeId kernel, const std::vector<NodeId>& sums) {
  for (const NodeId id : FindAll(tree, kernel, Kind::kDeclRef)) {
    if (!IsBuiltInVariable(tree, id)) continue;
    const std::string& name = tree.at(tree.at(id).declaration).name;
    if (name != "threadIdx" && name != "blockIdx") continue;
    const NodeId member = tree.at(id).parent;
    const bool other = IsA(tree, member, Kind::kMember) && tree.at(member).name != "x";
    if (!other && !IsInsideAny(tree, id, sums)) return false;
  }
  return !sums.empty();
}

}  // namespace

ThreadIndex ThreadIndexOf(const Tree& tree, NodeId kernel) {
  ThreadIndex index;
  std::string width;
  Walk(tree, kernel, [&](NodeId id) {
    if (IsA(tree, id, Kind::kLambda)) return false;
    const std::string found = SumWidth(tree, id);
    if (found.empty()) return true;
    if (width.empty()) width = found;
    if (found == width) index.sums.push_back(id);
    return false;
  });
  if (!width.empty()) index.width = width;
  index.flat = IsFlat(tree, kernel, index.sums);
  FindBounds(tree, kernel, index);
  return index;
}

namespace {

bool IsSignedTerm(const Tree& tree, NodeId id, const std::vector<NodeId>& sums,
                  std::vector<NodeId>& parts) {
  if (id == kNone) return false;
  const Node& node = tree.at(id);
  if (std::find(sums.begin(), sums.end(), id) != sums.end()) {
    parts.push_back(id);
    return node.canonical == "unsigned int" || node.canonical == "int";
  }
  switch (node.kind) {
    case Kind::kParen:
      return IsSignedTerm(tree, Child(tree, id, 0), sums, parts);
    case Kind::kBinary:
      return (node.name == "+" || node.name == "-" || node.name == "*") &&
             IsSignedTerm(tree, Child(tree, id, 0), sums, parts) &&
             IsSignedTerm(tree, Child(tree, id, 1), sums, parts);
    case Kind::kIntLiteral:
      // A large factor is a hash, which is meant to wrap.
      return node.name.find_first_of("uUlL") == std::string::npos && node.value.size() <= 2;
    case Kind::kMember:
      if (IsBuiltInVariable(tree, Child(tree, id, 0))) {
        parts.push_back(id);
        return true;
      }
      return node.canonical == "int";
    case Kind::kDeclRef:
      return node.canonical == "int" || node.canonical == "const int";
    default:
      return false;
  }
}

}  // namespace

bool IsSignedSum(const Tree& tree, NodeId variable, const std::vector<NodeId>& sums,
                 std::vector<NodeId>& parts) {
  const Node& node = tree.at(variable);
  return node.type_class == TypeClass::kSigned && node.type_bytes == 4 &&
         !Has(tree, variable, kReference) &&
         IsSignedTerm(tree, Initialiser(tree, variable), sums, parts) && !parts.empty();
}

}  // namespace cupilot::source
