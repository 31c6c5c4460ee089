#include "source/rewrite/place.h"

#include <algorithm>

#include "source/rewrite/inspect.h"

namespace cupilot::source {
namespace {

std::string Shown(const Tree& tree, NodeId id) {
  std::string text(tree.TextOf(id));
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

// The loop whose initial statement or increment holds the node, kNone for other places.
NodeId LoopHeadAround(const Tree& tree, NodeId id) {
  for (NodeId at = id; at != kNone; at = tree.at(at).parent) {
    const NodeId parent = tree.at(at).parent;
    if (IsA(tree, parent, Kind::kFor)) {
      return LoopBody(tree, parent) == at ? kNone : parent;
    }
  }
  return kNone;
}

// i += blockDim.x (or i = i + blockDim.x) as a loop's increment.
bool StridesByBlock(const Tree& tree, NodeId loop) {
  const NodeId increment = Child(tree, loop, 2);
  if (increment == kNone) return false;
  NodeId step = kNone;
  if (IsA(tree, increment, Kind::kCompoundAssign) && tree.at(increment).name == "+=") {
    step = Child(tree, increment, 1);
  }
  const auto place = IndexOf(tree, SkipParensAndCasts(tree, step));
  return place && place->variable == "blockDim" && place->axis == 'x';
}

// for (s = blockDim.x / 2; s > 0; s /= 2)
bool Halves(const Tree& tree, NodeId loop) {
  const NodeId increment = Child(tree, loop, 2);
  if (!IsA(tree, increment, Kind::kCompoundAssign)) return false;
  const Node& node = tree.at(increment);
  const NodeId amount = SkipParensAndCasts(tree, Child(tree, increment, 1));
  if (amount == kNone) return false;
  const std::string& value = tree.at(amount).value;
  return (node.name == "/=" && value == "2") || (node.name == ">>=" && value == "1");
}

bool IsSharedSubscript(const Tree& tree, NodeId subscript) {
  const NodeId root = RootOf(tree, subscript);
  return root != kNone && Has(tree, root, kSharedAttr);
}

// threadIdx.x as the number of a thread among its block's: the index of its own shared value, a
// comparison, or the first of its strided elements.
bool IsNumberInBlock(const Tree& tree, NodeId member) {
  for (NodeId at = member; at != kNone; at = tree.at(at).parent) {
    const NodeId parent = tree.at(at).parent;
    if (parent == kNone) return false;
    const Node& node = tree.at(parent);
    if (node.kind == Kind::kParen || node.kind == Kind::kCast) continue;
    if (node.kind == Kind::kSubscript) {
      return Child(tree, parent, 1) == at && IsSharedSubscript(tree, parent);
    }
    if (node.kind == Kind::kBinary) {
      static constexpr std::string_view kCompares[] = {"<", "<=", ">", ">=", "==", "!="};
      if (std::find(std::begin(kCompares), std::end(kCompares), node.name) != std::end(kCompares)) {
        return true;
      }
      if (node.name == "+" || node.name == "-") continue;
      return false;
    }
    if (node.kind == Kind::kVariable) {
      const NodeId loop = LoopHeadAround(tree, parent);
      return loop != kNone && StridesByBlock(tree, loop);
    }
    return false;
  }
  return false;
}

bool IsBlockWidth(const Tree& tree, NodeId member) {
  const NodeId loop = LoopHeadAround(tree, member);
  return loop != kNone && (StridesByBlock(tree, loop) || Halves(tree, loop));
}

}  // namespace

std::vector<GlobalIndex> GlobalIndices(const Draft& draft) {
  std::vector<GlobalIndex> found;
  Walk(draft.tree, draft.facts.body, [&](NodeId id) {
    const auto form = GlobalIndexOf(draft.tree, id);
    if (form) found.push_back({id, form->axis, form->width});
    return !form;
  });
  return found;
}

base::Result<> CheckFreePlace(const Draft& draft) {
  const Tree& tree = draft.tree;
  const Facts& facts = draft.facts;
  if (!facts.rigid.empty()) return base::Fail(base::Unsupported(facts.rigid));
  if (facts.barrier || facts.shared) {
    return base::Fail(base::Unsupported("threads of a block wait for each other or share memory"));
  }
  if (facts.device_index) {
    return base::Fail(base::Unsupported("a function that the kernel calls asks for its place"));
  }
  const std::vector<GlobalIndex> indices = GlobalIndices(draft);
  for (const NodeId id : FindAll(tree, facts.body, Kind::kDeclRef)) {
    if (!IsBuiltInVariable(tree, id)) continue;
    const bool inside = std::any_of(indices.begin(), indices.end(), [&](const GlobalIndex& index) {
      return IsInside(tree, id, index.sum);
    });
    if (!inside) {
      return base::Fail(
          base::Unsupported("it uses its place otherwise than as blockIdx * blockDim + "
                            "threadIdx: '" +
                            Shown(tree, tree.at(id).parent) + "'"));
    }
  }
  if (indices.empty()) return base::Fail(base::Unsupported("it does not ask for its place"));
  const Geometry geometry = DraftGeometry(draft);
  for (const GlobalIndex& index : indices) {
    const auto d = static_cast<std::size_t>(index.axis - 'x');
    if (index.width != 0 && index.width != geometry.block[d]) {
      return base::Fail(base::Unsupported("it counts on blocks of another width than they have: '" +
                                          Shown(tree, index.sum) + "'"));
    }
  }
  return {};
}

base::Result<> CheckRepeatable(const Draft& draft) {
  const Tree& tree = draft.tree;
  const NodeId body = draft.facts.body;
  const auto no = [](const std::string& why) { return base::Fail(base::Unsupported(why)); };
  for (const NodeId id : FindAll(tree, body, Kind::kReturn)) {
    for (NodeId at = tree.at(id).parent; at != body && at != kNone; at = tree.at(at).parent) {
      if (IsLoop(tree.at(at).kind) || IsA(tree, at, Kind::kSwitch)) {
        return no("it returns from inside a loop");
      }
    }
  }
  for (const NodeId id : Parameters(tree, draft.facts.function)) {
    const std::string& name = tree.at(id).name;
    if (OwnChange(tree, draft.facts, id) != kNone) {
      return no("it changes its parameter '" + name + "'");
    }
    const NodeId address = FindBelow(tree, body, [&](NodeId at) {
      const Node& node = tree.at(at);
      const bool taken = node.kind == Kind::kUnary && node.name == "&";
      const bool bound = node.kind == Kind::kVariable && (node.flags & kReference) != 0;
      return (taken || bound) && OwnerOf(tree, Child(tree, at, 0)) == id;
    });
    if (address != kNone) return no("the address of its parameter '" + name + "' is taken");
  }
  return {};
}

base::Result<> NormalisePlace(Draft& draft) {
  Edits edits(draft.tree.text);
  bool any = false;
  for (const GlobalIndex& index : GlobalIndices(draft)) {
    if (index.width == 0) continue;
    const Node& node = draft.tree.at(index.sum);
    const std::string d(1, index.axis);
    std::string sum = "(blockIdx." + d + " * blockDim." + d + " + threadIdx." + d + ")";
    if (node.canonical != "unsigned int") sum = "((" + node.canonical + ")" + sum + ")";
    edits.Replace(node.begin, node.end, sum);
    AddGuard(draft, draft.block[static_cast<std::size_t>(index.axis - 'x')] +
                        " == " + std::to_string(index.width));
    any = true;
  }
  return any ? Change(draft, edits) : base::Result<>{};
}

base::Result<> CheckStridedBlock(const Draft& draft) {
  const Tree& tree = draft.tree;
  const Facts& facts = draft.facts;
  if (!facts.rigid.empty()) return base::Fail(base::Unsupported(facts.rigid));
  if (facts.device_index || facts.dynamic_shared) {
    return base::Fail(base::Unsupported("its shared memory or its functions depend on the block"));
  }
  const Geometry geometry = DraftGeometry(draft);
  if (geometry.block[1] != 1 || geometry.block[2] != 1) {
    return base::Fail(base::Unsupported("its blocks have more than one row of threads"));
  }
  bool strides = false;
  for (const NodeId id : FindAll(tree, facts.body, Kind::kDeclRef)) {
    if (!IsBuiltInVariable(tree, id)) continue;
    const NodeId member = tree.at(id).parent;
    const auto place = IndexOf(tree, member);
    bool fits = false;
    if (place && place->axis == 'x') {
      if (place->variable == "blockIdx" || place->variable == "gridDim") fits = true;
      if (place->variable == "blockDim") fits = IsBlockWidth(tree, member);
      if (place->variable == "threadIdx") fits = IsNumberInBlock(tree, member);
      const NodeId loop = LoopHeadAround(tree, member);
      strides = strides || (loop != kNone && StridesByBlock(tree, loop));
    }
    if (!fits) {
      return base::Fail(
          base::Unsupported("threads of a block wait for each other or share memory, and its work "
                            "is not shared out in "
                            "strides of blockDim.x: '" +
                            Shown(tree, tree.at(member).parent) + "'"));
    }
  }
  if (!strides) {
    return base::Fail(base::Unsupported(
        "threads of a block wait for each other or share memory, each with work of its own"));
  }
  return {};
}

}  // namespace cupilot::source
