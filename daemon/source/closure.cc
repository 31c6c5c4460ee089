#include "source/closure.h"

#include <algorithm>
#include <set>

#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

bool ForDevice(const Tree& tree, NodeId function) {
  const std::uint32_t flags = tree.at(function).flags;
  return (flags & (kDeviceAttr | kGlobalAttr | kConstexpr)) != 0;
}

bool IsNamespaceScope(const Tree& tree, NodeId id) {
  const Kind kind = tree.at(id).kind;
  return kind == Kind::kTranslationUnit || kind == Kind::kNamespace || kind == Kind::kLinkage;
}

void WalkWritten(const Tree& tree, NodeId root, const std::function<void(NodeId)>& visit) {
  Walk(tree, root, [&](NodeId id) {
    if (IsHostOnlyMember(tree, id)) return false;
    visit(id);
    return true;
  });
}

class Collector {
 public:
  Collector(const Tree& tree, NodeId root) : tree_(tree), root_(root) {
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      const NodeId id = static_cast<NodeId>(i);
      const Node& node = tree.nodes[i];
      if (node.parent == kNone || (node.flags & kSystem) != 0) continue;
      if (IsNamespaceScope(tree, node.parent) && node.kind != Kind::kNamespace &&
          node.kind != Kind::kLinkage) {
        tops_.push_back(id);
      }
    }
  }

  void Run(NodeId also) {
    Take(TopLevel(tree_, root_));
    if (also != kNone) {
      std::vector<NodeId> reached;
      for (const NodeId used : tree_.at(also).types_used) Reach(used, reached);
      for (const NodeId top : reached) Take(top);
    }
    // Declarations that nothing names but that change what names mean, until nothing is added.
    for (std::size_t before = 0; before != taken_.size();) {
      before = taken_.size();
      TakeRelated();
    }
    TakeDirectives();
  }

  std::vector<NodeId> Declarations() const { return {taken_.begin(), taken_.end()}; }
  const std::vector<NodeId>& leaves() const { return leaves_; }

 private:
  void Take(NodeId top) {
    std::vector<NodeId> work = {top};
    while (!work.empty()) {
      const NodeId id = work.back();
      work.pop_back();
      if (id == kNone || !taken_.insert(id).second) continue;
      WalkWritten(tree_, id, [&](NodeId node) {
        Reach(tree_.at(node).declaration, work);
        for (const NodeId used : tree_.at(node).types_used) Reach(used, work);
      });
    }
  }

  void Reach(NodeId id, std::vector<NodeId>& work) {
    if (id == kNone) return;
    if (Has(tree_, id, kSystem)) {
      if (seen_leaves_.insert(id).second) leaves_.push_back(id);
      return;
    }
    const NodeId top = TopLevel(tree_, id);
    if (top == kNone || taken_.count(top) > 0) return;
    // An overload for the host is no candidate in device code.
    if (tree_.at(top).kind == Kind::kFunction && !ForDevice(tree_, top)) return;
    work.push_back(top);
  }

  void TakeRelated() {
    std::set<std::pair<std::string, bool>> names;  // with: is it a function
    for (const NodeId id : taken_) {
      const Node& node = tree_.at(id);
      if (!node.qualified.empty()) names.emplace(node.qualified, node.kind == Kind::kFunction);
    }
    for (const NodeId id : tops_) {
      if (taken_.count(id) > 0) continue;
      const Node& node = tree_.at(id);
      if (node.kind == Kind::kFunction) {
        // Another declaration, a specialisation or an overload; a member defined outside its class.
        const bool known = names.count({node.qualified, true}) > 0;
        const bool member = (node.flags & kMember_) != 0 && (node.flags & kDeviceAttr) != 0 &&
                            names.count({ParentName(node.qualified), false}) > 0;
        if (known && IsOtherKernel(id)) continue;
        if ((known && ForDevice(tree_, id)) || member) Take(id);
      } else if (node.kind == Kind::kRecord || node.kind == Kind::kEnum) {
        if (names.count({node.qualified, false}) > 0) Take(id);
      }
    }
  }

  // Device code calls no kernel: an overload of ours would only be in the way.
  bool IsOtherKernel(NodeId id) const {
    const Node& node = tree_.at(id);
    const Node& root = tree_.at(root_);
    return (node.flags & kGlobalAttr) != 0 && node.qualified == root.qualified &&
           (node.mangled != root.mangled || (node.flags & kTemplate) != (root.flags & kTemplate) ||
            (node.flags & kDefinition) != 0) &&
           id != root_;
  }

  static std::string ParentName(const std::string& qualified) {
    const std::size_t at = qualified.rfind("::");
    return at == std::string::npos ? std::string() : qualified.substr(0, at);
  }

  // `using namespace` of what is there, in scopes that are there.
  void TakeDirectives() {
    std::set<std::string> namespaces;
    for (const NodeId id : taken_) {
      std::string path;
      for (const std::string& name : NamespacesOf(tree_, id)) {
        if (!name.empty()) path += (path.empty() ? "" : "::") + name;
        namespaces.insert(path);
      }
    }
    for (const NodeId id : tops_) {
      const Node& node = tree_.at(id);
      if (node.kind != Kind::kUsing || node.value != "namespace") continue;
      if (node.begin > tree_.at(root_).begin) continue;
      const bool system = std::any_of(node.types_used.begin(), node.types_used.end(),
                                      [&](NodeId used) { return Has(tree_, used, kSystem); });
      if (!system && namespaces.count(node.qualified) == 0) continue;
      std::string path;
      for (const std::string& name : NamespacesOf(tree_, id)) {
        if (!name.empty()) path += (path.empty() ? "" : "::") + name;
      }
      if (path.empty() || namespaces.count(path) > 0) Take(id);
    }
  }

  const Tree& tree_;
  NodeId root_;
  std::vector<NodeId> tops_;
  std::set<NodeId> taken_;
  std::set<NodeId> seen_leaves_;
  std::vector<NodeId> leaves_;
};

std::vector<Scope> ScopesOf(const Tree& tree, NodeId id) {
  std::vector<Scope> scopes;
  for (NodeId up = tree.at(id).parent; up != kNone; up = tree.at(up).parent) {
    const Node& node = tree.at(up);
    if (node.kind == Kind::kNamespace) {
      std::string open = (node.flags & kInline) != 0 ? "inline namespace " : "namespace ";
      if ((node.flags & kUnnamed) == 0) open.append(node.name).append(" ");
      scopes.push_back({open.append("{")});
    } else if (node.kind == Kind::kLinkage) {
      const std::string_view text = tree.TextOf(up);
      const std::size_t open = text.find('"');
      const std::size_t close = text.find('"', open + 1);
      const std::string language = close == std::string_view::npos
                                       ? "C"
                                       : std::string(text.substr(open + 1, close - open - 1));
      scopes.push_back({"extern \"" + language + "\" {"});
    }
  }
  std::reverse(scopes.begin(), scopes.end());
  return scopes;
}

// The chunk's text without line markers, host-only members and runs of empty lines.
std::string TextOfChunk(const Tree& tree, const Chunk& chunk) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> cuts;
  for (const NodeId declaration : chunk.declarations) {
    Walk(tree, declaration, [&](NodeId id) {
      if (!IsHostOnlyMember(tree, id)) return true;
      cuts.emplace_back(tree.at(id).template_begin, DeclarationEnd(tree, id));
      return false;
    });
  }
  std::sort(cuts.begin(), cuts.end());
  std::string kept;
  std::uint32_t at = chunk.begin;
  for (const auto& [begin, end] : cuts) {
    if (begin > at) kept += tree.text.substr(at, begin - at);
    at = std::max(at, end);
  }
  if (at < chunk.end) kept += tree.text.substr(at, chunk.end - at);

  return WithoutMarkers(kept);
}

}  // namespace

std::string WithoutMarkers(std::string_view written) {
  std::string text;
  for (std::size_t begin = 0; begin < written.size();) {
    const std::size_t end = std::min(written.find('\n', begin), written.size());
    const std::string_view line = written.substr(begin, end - begin);
    const bool marker = line.starts_with("# ");
    const bool blank = line.find_first_not_of(" \t") == std::string_view::npos;
    if (!marker && !blank) text += std::string(line) + "\n";
    begin = end + 1;
  }
  return text;
}

bool IsHostOnlyMember(const Tree& tree, NodeId id) {
  const Node& node = tree.at(id);
  if (node.kind == Kind::kUsing && node.value == "name") {  // of a base's members
    const std::vector<NodeId>& named = node.types_used;
    return node.parent != kNone && tree.at(node.parent).kind == Kind::kRecord && !named.empty() &&
           std::all_of(named.begin(), named.end(),
                       [&](NodeId target) { return IsHostOnlyMember(tree, target); });
  }
  if (node.kind == Kind::kFriend) {
    const NodeId function = Child(tree, id, 0);
    return IsA(tree, function, Kind::kFunction) && !ForDevice(tree, function);
  }
  if (node.kind != Kind::kFunction || (node.flags & kMember_) == 0) return false;
  if (node.parent == kNone || tree.at(node.parent).kind != Kind::kRecord) return false;
  if (ForDevice(tree, id) || (node.flags & kVirtual) != 0) return false;
  // Constructors, destructors and assignments decide what kind of type it is.
  const std::string& record = tree.at(node.parent).name;
  return node.name != record && !node.name.starts_with(record + "<") &&
         !node.name.starts_with("~") && node.name != "operator=";
}

std::vector<NodeId> NodesOf(const Tree& tree, const Chunk& chunk) {
  std::vector<NodeId> nodes;
  for (const NodeId declaration : chunk.declarations) {
    WalkWritten(tree, declaration, [&](NodeId id) { nodes.push_back(id); });
  }
  return nodes;
}

Closure CollectClosure(const Tree& tree, NodeId root,
                       const std::vector<std::string>& system_includes, NodeId also) {
  Collector collector(tree, root);
  collector.Run(also);
  Closure closure;
  std::vector<NodeId> declarations = collector.Declarations();
  std::sort(declarations.begin(), declarations.end(), [&](NodeId a, NodeId b) {
    return std::pair(tree.at(a).template_begin, a) < std::pair(tree.at(b).template_begin, b);
  });
  for (const NodeId id : declarations) {
    const std::uint32_t begin = tree.at(id).template_begin;
    const std::uint32_t end = DeclarationEnd(tree, id);
    if (!closure.chunks.empty() && begin < closure.chunks.back().end) {
      closure.chunks.back().end = std::max(closure.chunks.back().end, end);
      closure.chunks.back().declarations.push_back(id);
      continue;
    }
    Chunk chunk;
    chunk.begin = begin;
    chunk.end = end;
    chunk.declarations = {id};
    chunk.scopes = ScopesOf(tree, id);
    chunk.namespaces = NamespacesOf(tree, id);
    closure.chunks.push_back(std::move(chunk));
  }
  for (Chunk& chunk : closure.chunks) chunk.text = TextOfChunk(tree, chunk);

  closure.leaves = collector.leaves();
  std::set<std::string> needed;
  for (const NodeId leaf : closure.leaves) {
    if (!tree.at(leaf).header.empty()) needed.insert(tree.at(leaf).header);
  }
  needed.erase("cuda_runtime.h");
  closure.headers = {"cuda_runtime.h"};
  for (const std::string& header : system_includes) {
    if (needed.erase(header) > 0) closure.headers.push_back(header);
  }
  closure.headers.insert(closure.headers.end(), needed.begin(), needed.end());
  return closure;
}

std::string PrintClosure(const Closure& closure) {
  std::string text;
  for (const std::string& header : closure.headers) {
    text +=
        header.starts_with('/') ? "#include \"" + header + "\"\n" : "#include <" + header + ">\n";
  }
  std::vector<Scope> open;
  for (const Chunk& chunk : closure.chunks) {
    text += '\n';
    if (chunk.scopes != open) {
      for (std::size_t i = 0; i < open.size(); ++i) text += "}\n";
      for (const Scope& scope : chunk.scopes) text += scope.open + "\n";
      open = chunk.scopes;
    }
    text += chunk.text;
  }
  for (std::size_t i = 0; i < open.size(); ++i) text += "}\n";
  return text;
}

std::vector<records::ClosureRange> RangesOf(const Closure& closure, const Preprocessed& source) {
  std::vector<records::ClosureRange> ranges;
  for (const Chunk& chunk : closure.chunks) {
    auto stretch = std::lower_bound(
        source.stretches.begin(), source.stretches.end(), chunk.begin,
        [](const Stretch& candidate, std::uint32_t begin) { return candidate.begin < begin; });
    bool fresh = true;
    for (; stretch != source.stretches.end() && stretch->begin < chunk.end; ++stretch) {
      const std::string& file = source.files[static_cast<std::size_t>(stretch->file)];
      if (fresh || ranges.back().file != file) {
        ranges.push_back({file, stretch->file_begin, stretch->file_end, ""});
      } else {
        ranges.back().begin = std::min<std::int64_t>(ranges.back().begin, stretch->file_begin);
        ranges.back().end = std::max<std::int64_t>(ranges.back().end, stretch->file_end);
      }
      fresh = false;
    }
  }
  return ranges;
}

}  // namespace cupilot::source
