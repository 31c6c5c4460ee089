#include "source/syntax/built_ins.h"

#include <algorithm>

#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

bool Is(const std::optional<Place>& place, std::string_view variable) {
  return place && place->variable == variable;
}

std::optional<GlobalSum> ProductOf(const Tree& tree, NodeId expression) {
  const NodeId id = SkipParensAndCasts(tree, expression);
  if (!IsA(tree, id, Kind::kBinary) || tree.at(id).name != "*") return std::nullopt;
  for (const std::size_t first : {0u, 1u}) {
    const auto block = IndexOf(tree, SkipParensAndCasts(tree, Child(tree, id, first)));
    const NodeId width = SkipParensAndCasts(tree, Child(tree, id, 1 - first));
    if (Is(block, "blockIdx") && width != kNone) return GlobalSum{block->axis, width};
  }
  return std::nullopt;
}

}  // namespace

bool IsBuiltInVariable(const Tree& tree, NodeId reference) {
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
  if (base == kNone || !IsBuiltInVariable(tree, base)) return std::nullopt;
  const std::string& member = tree.at(expression).name;
  if (member.size() != 1) return std::nullopt;
  return Place{tree.at(tree.at(base).declaration).name, member[0]};
}

std::optional<GlobalSum> GlobalSumOf(const Tree& tree, NodeId expression) {
  if (!IsA(tree, expression, Kind::kBinary) || tree.at(expression).name != "+") return std::nullopt;
  for (const std::size_t first : {0u, 1u}) {
    const auto product = ProductOf(tree, Child(tree, expression, first));
    const auto thread = IndexOf(tree, SkipParensAndCasts(tree, Child(tree, expression, 1 - first)));
    if (product && Is(thread, "threadIdx") && thread->axis == product->axis) return product;
  }
  return std::nullopt;
}

}  // namespace cupilot::source
