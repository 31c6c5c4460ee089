#include "source/lower/unsupported.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

// What our headers make of a word such as __cluster_dims__: the word stands between the quotes.
constexpr std::string_view kMark = "cupilot_unsupported(\"";

// Code that runs on the device only: what is for both may do such things on the host.
bool IsDeviceOnly(const Tree& tree, NodeId id) {
  for (NodeId at = id; at != kNone; at = tree.at(at).parent) {
    if (Has(tree, at, kGlobalAttr)) return true;
    if (Has(tree, at, kHostAttr)) return false;
    if (IsA(tree, at, Kind::kFunction) && Has(tree, at, kDeviceAttr)) return true;
  }
  return false;
}

// An empty statement only keeps the compiler from moving things, on every processor.
bool IsEmptyAsm(std::string_view text) {
  const std::size_t quote = text.find('"');
  return quote != std::string_view::npos && text.substr(quote, 2) == "\"\"";
}

std::string PlaceAt(std::string_view text, std::size_t offset) {
  std::string file;
  std::size_t line = 1;
  for (std::size_t begin = 0; begin <= offset && begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view row = text.substr(begin, end - begin);
    const std::size_t open = row.find('"');
    if (row.size() > 2 && row.substr(0, 2) == "# " && open != std::string_view::npos) {
      line = static_cast<std::size_t>(std::stoul(std::string(row.substr(2, open - 2))));
      file = row.substr(open + 1, row.rfind('"') - open - 1);
    } else if (end < offset) {
      ++line;
    }
    begin = end + 1;
  }
  return file + ":" + std::to_string(line);
}

}  // namespace

std::vector<Unsupported> FindUnsupported(const Tree& tree) {
  std::map<std::size_t, std::string> found;  // by offset
  for (NodeId id = 0; id < static_cast<NodeId>(tree.nodes.size()); ++id) {
    const Node& node = tree.at(id);
    if (Has(tree, id, kSystem)) continue;
    if (node.kind == Kind::kKernelLaunch && IsDeviceOnly(tree, id)) {
      found[node.begin] = "launches by device code (dynamic parallelism)";
    }
    if (node.kind == Kind::kAsm && IsDeviceOnly(tree, id) && !IsEmptyAsm(tree.TextOf(id))) {
      found[node.begin] = "inline PTX (asm)";
    }
    // Nor does a device, but its compiler says so.
    if (Has(tree, id, kGlobalAttr | kDefinition) && IsA(tree, node.parent, Kind::kFriend)) {
      found[node.begin] = "kernels that are defined in a friend declaration";
    }
  }
  const std::string& text = tree.text;
  for (std::size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at + 1)) {
    const std::size_t begin = at + kMark.size();
    found[at] = text.substr(begin, text.find('"', begin) - begin);
  }
  std::vector<Unsupported> result;
  result.reserve(found.size());
  for (const auto& [offset, construct] : found) {
    result.push_back({PlaceAt(text, offset), construct});
  }
  return result;
}

}  // namespace cupilot::source
