#include "source/tags.h"

#include <algorithm>
#include <map>

#include "source/syntax/query.h"

namespace cupilot::source {

Places::Places(std::string_view text) : text_(text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t open = line.find('"');
    if (line.starts_with("# ") && line.size() > 2 && line[2] >= '0' && line[2] <= '9' &&
        open != std::string_view::npos) {
      Marker marker{static_cast<std::uint32_t>(end + 1), "", std::atoi(line.data() + 2)};
      for (std::size_t i = open + 1; i < line.size() && line[i] != '"'; ++i) {
        if (line[i] == '\\' && i + 1 < line.size()) ++i;
        marker.file += line[i];
      }
      markers_.push_back(std::move(marker));
    }
    begin = end + 1;
  }
}

Places::Place Places::At(std::uint32_t offset) const {
  const auto after = std::upper_bound(
      markers_.begin(), markers_.end(), offset,
      [](std::uint32_t value, const Marker& marker) { return value < marker.offset; });
  if (after == markers_.begin()) return {};
  const Marker& marker = *(after - 1);
  const std::string_view between = text_.substr(marker.offset, offset - marker.offset);
  return {marker.file,
          marker.line + static_cast<int>(std::count(between.begin(), between.end(), '\n'))};
}

std::string Places::Name(std::uint32_t offset) const {
  const Place place = At(offset);
  return place.file + ":" + std::to_string(place.line);
}

namespace {

struct Top {
  NodeId id;
  Places::Place place;
};

// Declarations at namespace scope, with where they begin.
void CollectTop(const Tree& tree, NodeId root, const Places& places, std::vector<Top>& found) {
  for (const NodeId child : tree.at(root).children) {
    const Node& node = tree.at(child);
    if (node.kind == Kind::kNamespace || node.kind == Kind::kLinkage) {
      CollectTop(tree, child, places, found);
    } else {
      found.push_back({child, places.At(node.template_begin)});
    }
  }
}

NodeId DefinitionOf(const Tree& tree, NodeId kernel) {
  if (Has(tree, kernel, kDefinition)) return kernel;
  const Node& node = tree.at(kernel);
  for (const NodeId other : FindByName(tree, node.qualified)) {
    const Node& candidate = tree.at(other);
    if (candidate.kind == Kind::kFunction && Has(tree, other, kDefinition) &&
        candidate.mangled == node.mangled) {
      return other;
    }
  }
  return kNone;
}

}  // namespace

TagReport AttachTags(const Preprocessed& source, const Tree& tree, const Places& places) {
  TagReport report;
  std::vector<Top> tops;
  CollectTop(tree, 0, places, tops);
  std::map<NodeId, TaggedKernel> by_declaration;
  // A file that is included again has its tags again, above other kernels.
  std::map<std::pair<std::string, int>, const Top*> before;
  for (const TagComment& comment : source.comments) {
    const Top*& earlier = before[{comment.file, comment.line}];
    const Top* next = nullptr;
    for (const Top& top : tops) {
      if (top.place.file != comment.file || top.place.line < comment.line) continue;
      if (earlier != nullptr && &top <= earlier) continue;
      // `void k(struct S* s)` declares S on the kernel's line.
      const bool nearer = next == nullptr || top.place.line < next->place.line ||
                          (top.place.line == next->place.line && Has(tree, top.id, kGlobalAttr) &&
                           !Has(tree, next->id, kGlobalAttr));
      if (nearer) next = &top;
    }
    if (next == nullptr && earlier != nullptr) continue;
    earlier = next;
    if (next == nullptr || !Has(tree, next->id, kGlobalAttr)) {
      report.warnings.push_back(comment.file + ":" + std::to_string(comment.line) +
                                ": this tag stands above no kernel; put it directly above a "
                                "__global__ function");
      continue;
    }
    const NodeId definition = DefinitionOf(tree, next->id);
    TaggedKernel& tagged = by_declaration[definition == kNone ? next->id : definition];
    tagged.kernel = definition;
    if (auto parsed = ParseTagComment(comment, tagged.tag); !parsed && tagged.error.empty()) {
      tagged.error = parsed.error().message;
    }
  }
  for (auto& [declaration, tagged] : by_declaration) {
    const std::string where = tagged.tag.file + ":" + std::to_string(tagged.tag.line);
    if (!tagged.tag.tune && tagged.error.empty()) {
      report.warnings.push_back(
          where + ": the tag of " + tree.at(declaration).qualified +
          " lacks the line '// cupilot: tune'; without it the kernel is left alone");
    } else if (tagged.kernel == kNone) {
      report.warnings.push_back(where + ": " + tree.at(declaration).qualified +
                                " is only declared here; tag it where it is defined");
    } else {
      report.kernels.push_back(std::move(tagged));
    }
  }
  return report;
}

Tag WithValues(Tag tag, const NamedValues& values) {
  if (values.empty()) return tag;
  const auto replace = [&values](std::string& text) { text = Substitute(text, values); };
  for (TagWorkload& workload : tag.workloads) {
    for (std::string& text : workload.grid) replace(text);
    for (std::string& text : workload.block) replace(text);
    replace(workload.shared_bytes);
    for (TagValue& value : workload.values) {
      replace(value.scalar);
      replace(value.count);
      const auto replace_in = [&](records::Fill& fill) {
        for (std::string* text : {&fill.low, &fill.high, &fill.value, &fill.total, &fill.bytes}) {
          replace(*text);
        }
      };
      if (!value.fill) continue;
      replace_in(*value.fill);
      for (records::Fill& inner : value.fill->inner) replace_in(inner);
    }
  }
  for (TagRequire& require : tag.require) replace(require.expression);
  for (std::string& text : tag.launch_grid) replace(text);
  for (std::string& text : tag.launch_block) replace(text);
  replace(tag.launch_shared_bytes);
  return tag;
}

}  // namespace cupilot::source
