#include "source/rewrite/block_size.h"

#include <string_view>
#include <vector>

#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

bool IsBuiltIn(const Tree& tree, NodeId id, std::string_view name) {
  return IsA(tree, id, Kind::kDeclRef) && Has(tree, tree.at(id).declaration, kSystem) &&
         tree.at(tree.at(id).declaration).name == name;
}

// threadIdx.x: the member's name, empty if it is something else.
std::string_view MemberOf(const Tree& tree, NodeId id, std::string_view variable) {
  id = SkipParens(tree, id);
  if (!IsA(tree, id, Kind::kMember) || tree.at(id).children.empty()) return {};
  return IsBuiltIn(tree, tree.at(id).children[0], variable) ? std::string_view(tree.at(id).name)
                                                            : std::string_view{};
}

// blockIdx.d * blockDim.d, in either order: d.
std::string_view ProductOf(const Tree& tree, NodeId id) {
  id = SkipParens(tree, id);
  if (!IsA(tree, id, Kind::kBinary) || tree.at(id).name != "*") return {};
  for (const int first : {0, 1}) {
    const auto& children = tree.at(id).children;
    const std::string_view index =
        MemberOf(tree, children[static_cast<std::size_t>(first)], "blockIdx");
    const std::string_view size =
        MemberOf(tree, children[static_cast<std::size_t>(1 - first)], "blockDim");
    if (!index.empty() && index == size) return index;
  }
  return {};
}

// The whole sum around a built-in variable.
bool IsGlobalIndex(const Tree& tree, NodeId id) {
  if (!IsA(tree, id, Kind::kBinary) || tree.at(id).name != "+") return false;
  for (const int first : {0, 1}) {
    const auto& children = tree.at(id).children;
    const std::string_view product = ProductOf(tree, children[static_cast<std::size_t>(first)]);
    const std::string_view thread =
        MemberOf(tree, children[static_cast<std::size_t>(1 - first)], "threadIdx");
    if (!product.empty() && product == thread) return true;
  }
  return false;
}

bool InsideGlobalIndex(const Tree& tree, NodeId id) {
  NodeId at = id;
  for (int levels = 0; at != kNone && levels < 8; ++levels, at = tree.at(at).parent) {
    if (IsGlobalIndex(tree, at)) return true;
  }
  return false;
}

}  // namespace

base::Result<> CheckBlockSize(const Tree& tree, NodeId kernel, bool synchronises) {
  if (synchronises) {
    return base::Fail(base::Unsupported("threads of a block wait for each other or share memory"));
  }
  bool uses_index = false;
  for (NodeId id = 0; id < static_cast<NodeId>(tree.nodes.size()); ++id) {
    bool built_in = false;
    for (const char* name : {"threadIdx", "blockIdx", "blockDim", "gridDim"}) {
      built_in = built_in || IsBuiltIn(tree, id, name);
    }
    if (!built_in) continue;
    if (!IsInside(tree, id, kernel)) {
      return base::Fail(base::Unsupported("a function that the kernel calls asks for its place"));
    }
    if (!InsideGlobalIndex(tree, id)) {
      return base::Fail(
          base::Unsupported("the kernel uses its place in the block otherwise than as "
                            "blockIdx * blockDim + threadIdx: '" +
                            std::string(tree.TextOf(tree.at(id).parent)) + "'"));
    }
    uses_index = true;
  }
  if (!uses_index) return base::Fail(base::Unsupported("the kernel does not ask for its place"));
  return {};
}

void ApplyBlockSize(const std::array<std::int64_t, 3>& shape, records::Launch& launch,
                    std::string& guard) {
  static constexpr const char* kNames[] = {"x", "y", "z"};
  launch.grid.clear();
  launch.block.clear();
  for (std::size_t d = 0; d < 3; ++d) {
    const std::string size = std::to_string(shape[d]);
    const std::string total = "grid_" + std::string(kNames[d]) + " * block_" + kNames[d];
    launch.grid.push_back("(" + total + ") / " + size);
    launch.block.push_back(size);
    guard += (guard.empty() ? "" : " && ") + ("(" + total + ") % " + size + " == 0");
  }
}

}  // namespace cupilot::source
