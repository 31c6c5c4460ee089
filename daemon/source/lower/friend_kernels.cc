#include "source/lower/friend_kernels.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

#include "base/hash.h"
#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

constexpr std::size_t kHashDigits = 10;

bool IsKernel(const Tree& tree, NodeId id) {
  return IsA(tree, id, Kind::kFunction) && Has(tree, id, kGlobalAttr) && !Has(tree, id, kSystem);
}
bool IsFriend(const Tree& tree, NodeId id) { return IsA(tree, tree.at(id).parent, Kind::kFriend); }

std::vector<NodeId> KernelDeclarations(const Tree& tree) {
  std::vector<NodeId> found;
  for (NodeId id = 0; id < static_cast<NodeId>(tree.nodes.size()); ++id) {
    if (IsKernel(tree, id)) found.push_back(id);
  }
  return found;
}

// Where the declaration begins: with `template`, or with what stands before the function.
std::uint32_t BeginOf(const Tree& tree, NodeId id) {
  const Node& node = tree.at(id);
  std::uint32_t begin = node.begin;
  if (Has(tree, id, kTemplate) && node.template_begin < begin) begin = node.template_begin;
  if (IsFriend(tree, id)) begin = std::min(begin, tree.at(node.parent).begin);
  return begin;
}

// The word `friend` may stand before it, or what comes with it in the source.
std::uint32_t BeforeFriend(const Tree& tree, NodeId id) {
  constexpr std::string_view kWord = "friend";
  std::uint32_t begin = BeginOf(tree, id);
  std::size_t last = begin;
  while (last > 0 && std::isspace(static_cast<unsigned char>(tree.text[last - 1])) != 0) --last;
  if (last >= kWord.size() && tree.text.compare(last - kWord.size(), kWord.size(), kWord) == 0) {
    begin = static_cast<std::uint32_t>(last - kWord.size());
  }
  return begin;
}

// "::", "image::", "".
std::string QualifierOf(const Tree& tree, NodeId id) {
  const Node& node = tree.at(id);
  std::size_t begin = node.name_begin;
  const auto belongs = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
  };
  if (begin < 2 || tree.text.compare(begin - 2, 2, "::") != 0) return "";
  while (begin > 0 && belongs(tree.text[begin - 1])) --begin;
  return tree.text.substr(begin, node.name_begin - begin);
}

}  // namespace

std::map<NodeId, std::string> FriendStructures(const Tree& tree) {
  const std::vector<NodeId> kernels = KernelDeclarations(tree);
  std::set<std::string> friends;
  for (const NodeId id : kernels) {
    if (IsFriend(tree, id)) friends.insert(tree.at(id).qualified);
  }
  std::map<NodeId, std::string> structures;
  if (friends.empty()) return structures;
  const std::string unit = base::HashHex(tree.text).substr(0, kHashDigits);
  for (const NodeId id : kernels) {
    const Node& node = tree.at(id);
    if (!Has(tree, id, kDefinition) || friends.count(node.qualified) == 0) continue;
    // An explicit specialisation cannot be a member.
    if (!Has(tree, id, kTemplate) && node.template_begin < node.begin) continue;
    structures[id] =
        "cupilot_friend_" + node.name + "_" + std::to_string(node.name_begin) + "_" + unit;
  }
  return structures;
}

void DeclareFriends(const Tree& tree, const std::map<NodeId, std::string>& structures,
                    Edits& edits) {
  if (structures.empty()) return;
  for (const NodeId id : KernelDeclarations(tree)) {
    if (Has(tree, id, kDefinition)) continue;
    std::string text;
    for (const auto& [definition, structure] : structures) {
      if (tree.at(definition).qualified != tree.at(id).qualified) continue;
      text +=
          IsFriend(tree, id) ? "friend struct " + QualifierOf(tree, id) : std::string("struct ");
      text += structure + "; ";
    }
    const NodeId parent = tree.at(id).parent;
    // extern "C" with a declaration of its own, which stays one.
    const bool linkage = IsA(tree, parent, Kind::kLinkage);
    const std::uint32_t begin = linkage ? std::min(tree.at(parent).begin, BeginOf(tree, id))
                                : IsFriend(tree, id) ? BeforeFriend(tree, id)
                                                     : BeginOf(tree, id);
    edits.Insert(begin, text);
  }
}

}  // namespace cupilot::source
