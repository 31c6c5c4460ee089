#include "client/nvcc/architecture_branches.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "source/syntax/query.h"

namespace cupilot::nvcc {
namespace {

using source::Kind;

constexpr std::string_view kMacro = "__CUDA_ARCH__";

bool IsOfName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool Names(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || !IsOfName(text[at - 1]);
    if (begins && (end == text.size() || !IsOfName(text[end]))) return true;
  }
  return false;
}

// Removes comments from one line; `open`: whether one of several lines goes on.
std::string WithoutComments(std::string_view line, bool& open) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (open) {
      open = line.substr(i, 2) != "*/";
      if (!open) ++i;
    } else if (line.substr(i, 2) == "//") {
      break;
    } else if (line.substr(i, 2) == "/*") {
      open = true;
      ++i;
    } else {
      text += line[i];
    }
  }
  return text;
}

bool IsBranch(std::string_view directive) {
  const std::size_t hash = directive.find_first_not_of(" \t");
  if (hash == std::string_view::npos || directive[hash] != '#') return false;
  directive.remove_prefix(hash + 1);
  const std::size_t word = std::min(directive.find_first_not_of(" \t"), directive.size());
  directive.remove_prefix(word);
  const bool branches = directive.starts_with("if") || directive.starts_with("elif");
  return branches && Names(directive, kMacro);
}

// The lines at which a directive asks the macro.
std::set<std::size_t> BranchesIn(std::string_view text) {
  std::set<std::size_t> lines;
  bool comment = false;
  std::string whole;  // lines that are joined by a backslash
  std::size_t first = 1, number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view row = text.substr(begin, end - begin);
    begin = end + 1;
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (whole.empty()) first = number;
    const bool joined = row.ends_with('\\');
    if (joined) row.remove_suffix(1);
    whole += WithoutComments(row, comment) + " ";
    if (joined) continue;
    if (IsBranch(whole)) lines.insert(first);
    whole.clear();
  }
  return lines;
}

struct Place {
  std::string_view file;
  std::size_t line = 0;
  auto operator<=>(const Place&) const = default;
};

// Where each of the offsets, which ascend, stands in the user's files, by the line markers.
std::map<std::size_t, Place> PlacesOf(std::string_view text, const std::set<std::size_t>& offsets) {
  std::map<std::size_t, Place> places;
  Place at;
  auto next = offsets.begin();
  for (std::size_t begin = 0; begin < text.size() && next != offsets.end();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view row = text.substr(begin, end - begin);
    const std::size_t open = row.find('"');
    if (row.starts_with("# ") && open != std::string_view::npos) {
      std::from_chars(row.data() + 2, row.data() + open, at.line);
      at.file = row.substr(open + 1, row.rfind('"') - open - 1);
    } else {
      for (; next != offsets.end() && *next <= end; ++next) places[*next] = at;
      ++at.line;
    }
    begin = end + 1;
  }
  return places;
}

}  // namespace

std::vector<ArchitectureBranch> FindArchitectureBranches(const source::Tree& tree) {
  std::vector<source::NodeId> functions;
  std::set<std::size_t> offsets;
  for (source::NodeId id = 0; id < static_cast<source::NodeId>(tree.nodes.size()); ++id) {
    const source::Node& node = tree.at(id);
    if (node.kind != Kind::kFunction || Has(tree, id, source::kSystem)) continue;
    const bool device = Has(tree, id, source::kGlobalAttr) || Has(tree, id, source::kDeviceAttr);
    if (!device || node.end <= node.begin) continue;
    functions.push_back(id);
    offsets.insert({node.begin, node.end});
  }
  const auto places = PlacesOf(tree.text, offsets);
  std::map<std::string_view, std::set<std::size_t>> files;
  std::vector<ArchitectureBranch> found;
  std::set<Place> said;
  for (const source::NodeId id : functions) {
    const source::Node& node = tree.at(id);
    const auto first = places.find(node.begin), last = places.find(node.end);
    if (first == places.end() || last == places.end()) continue;
    const std::string_view file = first->second.file;
    if (file.empty() || file != last->second.file) continue;
    const auto [known, added] = files.try_emplace(file);
    if (added) {
      if (const auto text = base::ReadFile(std::string(file))) known->second = BranchesIn(*text);
    }
    const auto line = known->second.lower_bound(first->second.line);
    if (line == known->second.end() || *line > last->second.line) continue;
    if (!said.insert({file, *line}).second) continue;  // once for all instances
    const std::string name = tree.text.substr(node.name_begin, node.name_end - node.name_begin);
    found.push_back({std::string(file), *line, name});
  }
  return found;
}

std::string DescribeBranch(const ArchitectureBranch& branch) {
  return branch.file + ":" + std::to_string(branch.line) + ": warning: cupilot: '" +
         branch.function +
         "' depends on __CUDA_ARCH__, which the host device does not define: it takes the branch "
         "for hosts";
}

}  // namespace cupilot::nvcc
