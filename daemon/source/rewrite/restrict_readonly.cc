// Says that pointers do not overlap, and loads what is only read through the read-only path. The
// published guard makes it true: it compares what is written with all other ranges.
#include <algorithm>
#include <set>

#include "source/rewrite/alias.h"
#include "source/rewrite/inspect.h"
#include "source/rewrite/mechanical.h"
#include "source/rewrite/parameters.h"
#include "source/rewrite/shared_memory.h"

namespace cupilot::source {
namespace {

using records::Json;

bool IsRestricted(const Tree& tree, NodeId parameter) {
  return tree.at(parameter).canonical.find("restrict") != std::string::npos;
}

std::vector<NodeId> PointersOf(const Draft& draft) {
  std::vector<NodeId> pointers;
  for (const NodeId parameter : Parameters(draft.tree, draft.facts.function)) {
    if (IsPointerType(draft.tree.at(parameter).canonical)) pointers.push_back(parameter);
  }
  return pointers;
}

// How a use lets the pointer itself, not what lies behind it, get elsewhere; "" if it does not.
std::string Escape(const Tree& tree, NodeId use) {
  NodeId at = use;
  NodeId parent = tree.at(at).parent;
  while (IsA(tree, parent, Kind::kParen)) {
    at = parent;
    parent = tree.at(at).parent;
  }
  if (parent == kNone) return "";
  const Node& node = tree.at(parent);
  switch (node.kind) {
    case Kind::kUnary:
      return node.name == "&" ? "its address is taken" : "";
    case Kind::kVariable:
      return Has(tree, parent, kReference) ? "a reference names it" : "";
    case Kind::kAssign:
      return Child(tree, parent, 1) == at ? "it is assigned elsewhere" : "";
    case Kind::kCast:
      return IsPointerType(node.canonical) ? "" : "it is made a number";
    case Kind::kInitList:
    case Kind::kConstruct:
    case Kind::kReturn:
      return "it is stored elsewhere";
    default:
      return "";
  }
}

base::Result<> CheckRestrict(const Draft& draft) {
  const Tree& tree = draft.tree;
  const auto no = [](const std::string& why) { return base::Fail(base::Unsupported(why)); };
  const std::vector<NodeId> pointers = PointersOf(draft);
  if (pointers.empty()) return no("it has no pointer parameter");
  if (pointers.size() == 1) return no("its one pointer has none to overlap with");
  if (std::all_of(pointers.begin(), pointers.end(),
                  [&](NodeId pointer) { return IsRestricted(tree, pointer); })) {
    return no("its pointers are restricted already");
  }
  TRY(CheckDisjoint(draft));
  for (const NodeId pointer : pointers) {
    const std::string& name = tree.at(pointer).name;
    if (tree.text.compare(tree.at(pointer).name_end, 1, "[") == 0)
      return no("'" + name + "' is written as an array");
    if (OwnChange(tree, draft.facts, pointer) != kNone) {
      return no("it gives '" + name + "' another value");
    }
    const auto uses = draft.facts.references.find(pointer);
    if (uses == draft.facts.references.end()) continue;
    for (const NodeId use : uses->second) {
      const std::string escape = Escape(tree, use);
      if (!escape.empty()) return no("'" + name + "': " + escape);
    }
  }
  return {};
}

// Types of which the device has loads through the read-only path.
bool IsLoadable(const std::string& element) {
  static const std::set<std::string> kTypes = {"char4", "short2", "short4"};
  return IsSharedElement(element) || kTypes.count(element) > 0;
}

// p[i] as a value: not as a place.
bool IsLoad(const Tree& tree, NodeId subscript) {
  NodeId at = subscript;
  NodeId parent = tree.at(at).parent;
  while (IsA(tree, parent, Kind::kParen) || IsA(tree, parent, Kind::kMember)) {
    at = parent;
    parent = tree.at(at).parent;
  }
  if (parent == kNone) return false;
  const Node& node = tree.at(parent);
  if (node.kind == Kind::kUnary && node.name == "&") return false;
  if (node.kind == Kind::kVariable) return !Has(tree, parent, kReference);
  if (node.kind == Kind::kSizeOf || node.kind == Kind::kMemberCall) return false;
  if (node.kind == Kind::kCall) return UserCallee(tree, parent) == kNone;
  return !(IsModification(tree, parent) && TargetOf(tree, parent) == at);
}

std::vector<NodeId> ReadOnlyLoads(const Draft& draft) {
  const Tree& tree = draft.tree;
  std::vector<NodeId> loads;
  if (draft.facts.writes_unknown) return loads;
  for (const NodeId id : FindAll(tree, draft.facts.body, Kind::kSubscript)) {
    const NodeId pointer = VariableOf(tree, Child(tree, id, 0));
    if (!IsA(tree, pointer, Kind::kParameter) || !Has(tree, pointer, kElementConst)) continue;
    if (draft.facts.written.count(pointer) > 0 || !IsLoadable(tree.at(pointer).element)) continue;
    if (IsLoad(tree, id)) loads.push_back(id);
  }
  return loads;
}

}  // namespace

base::Result<std::vector<Json>> ProposeRestrict(const Draft& draft) {
  TRY(CheckRestrict(draft));
  std::vector<Json> parameters;
  const bool loads = draft.device != "host" && !ReadOnlyLoads(draft).empty();
  if (loads) parameters.push_back(Json{{"loads", "restrict_ldg"}});
  parameters.push_back(Json{{"loads", "restrict"}});
  return parameters;
}

base::Result<std::string> ApplyRestrict(Draft& draft, const Json& parameters) {
  const std::string how = WordOf(parameters, "loads", "restrict");
  if (how != "restrict" && how != "restrict_ldg") {
    return base::Fail(base::InvalidArgument("loads must be restrict or restrict_ldg"));
  }
  TRY(CheckRestrict(draft));
  Edits edits(draft.tree.text);
  for (const NodeId pointer : PointersOf(draft)) {
    const Node& node = draft.tree.at(pointer);
    if (!IsRestricted(draft.tree, pointer) && node.name_end > node.name_begin) {
      edits.Insert(node.name_begin, "__restrict__ ");
    }
  }
  if (how == "restrict_ldg") {
    const std::vector<NodeId> loads = ReadOnlyLoads(draft);
    if (loads.empty()) return base::Fail(base::Unsupported("it loads nothing that is only read"));
    for (const NodeId load : loads) {
      edits.Insert(draft.tree.at(load).begin, "__ldg(&");
      edits.Insert(draft.tree.at(load).end, ")");
    }
  }
  TRY(Change(draft, edits));
  return how == "restrict" ? "pointers that do not overlap"
                           : "pointers that do not overlap, read-only loads";
}

}  // namespace cupilot::source
