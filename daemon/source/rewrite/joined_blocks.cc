// Fewer blocks, each of which combines the values of several before its threads meet: for kernels
// whose blocks combine one value a thread and end in an atomic operation of the same kind. The
// method is the one of "sequential addition during load" in M. Harris, Optimizing Parallel
// Reduction in CUDA (kernel 7), with the loads of several steps, each of a whole vector, in flight.
// Sums of floating numbers are added in another order, as atomic operations do it anyway.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "source/rewrite/block_combination.h"
#include "source/rewrite/combine.h"
#include "source/rewrite/inspect.h"
#include "source/rewrite/lane_loads.h"
#include "source/rewrite/loops.h"
#include "source/rewrite/mechanical.h"
#include "source/rewrite/parameters.h"
#include "source/rewrite/place.h"

namespace cupilot::source {
namespace {

using records::Json;

constexpr std::int64_t kInFlight = 8;  // steps whose loads are issued together

struct JoinPlan {
  std::vector<NodeId> head, tail;  // statements before the threads first meet, and after
  std::set<NodeId> kept;           // variables of the head that do not depend on the block
  std::vector<NodeId> repeated;    // statements of the head that run once for each original block
  bool mixed = false;              // one of them declares kept variables, too
  std::vector<ThreadValue> values;
  std::map<NodeId, std::vector<NodeId>> places;  // of shared arrays: each use of them in the head
  BlockCombination combination;
};

bool Meets(const Tree& tree, NodeId statement) {
  return FindBelow(tree, statement, [&](NodeId id) {
           if (!IsA(tree, id, Kind::kCall)) return false;
           const std::string name = SystemCallee(tree, id);
           return IsBarrierCall(tree, id) || name.starts_with("__shfl") || name == "__syncwarp" ||
                  name.starts_with("atomic");
         }) != kNone;
}

// Whether it asks for its block along x, or for their number.
NodeId AsksForBlock(const Tree& tree, NodeId root) {
  return FindBelow(tree, root, [&](NodeId id) {
    const auto place = IndexOf(tree, id);
    return place && place->axis == 'x' &&
           (place->variable == "blockIdx" || place->variable == "gridDim");
  });
}

bool ChangesIn(const Draft& draft, NodeId variable, const std::vector<NodeId>& statements) {
  const auto changes = draft.facts.modifications.find(variable);
  if (changes == draft.facts.modifications.end()) return false;
  return std::any_of(changes->second.begin(), changes->second.end(), [&](NodeId change) {
    return std::any_of(statements.begin(), statements.end(),
                       [&](NodeId id) { return IsInside(draft.tree, change, id); });
  });
}

// What the head may do: compute, read, and put values into places of its own in shared memory.
class HeadReader {
 public:
  HeadReader(const Draft& draft, JoinPlan& plan)
      : draft_(draft), tree_(draft.tree), facts_(draft.facts), plan_(plan) {}

  base::Result<> Run() {
    for (const NodeId id : plan_.head) TRY(Look(id));
    for (const NodeId id : plan_.head) Sort(id);
    TRY(FindShared());
    TRY(FindLocals());
    if (plan_.values.empty()) return Declined("no value is ready where its threads first meet");
    return {};
  }

 private:
  base::Result<> Look(NodeId statement) {
    std::string why;
    Walk(tree_, statement, [&](NodeId id) {
      const Node& node = tree_.at(id);
      const auto place = IndexOf(tree_, id);
      if (place && place->axis == 'x' && place->variable == "gridDim") {
        why = "its work depends on the number of blocks";
      }
      if (node.kind == Kind::kReturn) why = "threads leave before they meet";
      if (node.kind == Kind::kVariable && (node.flags & kReference) != 0)
        why = "it uses references";
      if (IsModification(tree_, id)) {
        const NodeId target = TargetOf(tree_, id);
        const NodeId root = RootOf(tree_, target);
        const bool local =
            root != kNone && IsLocalVariable(tree_, facts_, root) && OwnerOf(tree_, target) == root;
        const bool shared = root != kNone && Has(tree_, root, kSharedAttr);
        if (!local && !shared) why = "it changes memory before its threads meet";
      }
      if (node.kind == Kind::kMemberCall || node.kind == Kind::kLambda) {
        why = "it calls what cannot be followed";
      }
      if (node.kind == Kind::kUnary && node.name == "&") why = "it takes addresses";
      return true;
    });
    return why.empty() ? base::Result<>{} : Declined(why);
  }

  bool IsKept(NodeId variable) const {
    const Node& node = tree_.at(variable);
    if (node.kind != Kind::kVariable || (node.flags & kSharedAttr) != 0) return true;
    const NodeId value = Initialiser(tree_, variable);
    if (ChangesIn(draft_, variable, plan_.head) || facts_.address_taken.count(variable) > 0) {
      return false;
    }
    if (value == kNone) return true;
    if (!IsPure(tree_, facts_, value) || LoadsMemory(tree_, facts_, value)) return false;
    return AsksForBlock(tree_, value) == kNone &&
           FindBelow(tree_, value, [&](NodeId id) {
             const NodeId named = IsA(tree_, id, Kind::kDeclRef) ? VariableOf(tree_, id) : kNone;
             return named != kNone && IsLocalVariable(tree_, facts_, named) &&
                    plan_.kept.count(named) == 0;
           }) == kNone;
  }

  void Sort(NodeId statement) {
    if (!IsA(tree_, statement, Kind::kDeclStatement)) {
      plan_.repeated.push_back(statement);
      return;
    }
    std::size_t kept = 0;
    const std::vector<NodeId>& variables = tree_.at(statement).children;
    for (const NodeId variable : variables) {
      if (!IsKept(variable)) continue;
      plan_.kept.insert(variable);
      ++kept;
    }
    if (kept < variables.size()) plan_.repeated.push_back(statement);
    plan_.mixed = plan_.mixed || (kept > 0 && kept < variables.size());
  }

  // The whole of subscripts around a use of an array.
  NodeId PlaceAround(NodeId use) const {
    NodeId place = use;
    for (NodeId parent = tree_.at(place).parent;
         IsA(tree_, parent, Kind::kSubscript) && Child(tree_, parent, 0) == place;
         parent = tree_.at(place).parent) {
      place = parent;
    }
    return place;
  }

  std::string IndexText(NodeId place) const {
    const NodeId array = RootOf(tree_, place);
    std::string text(tree_.TextOf(place));
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\t'; });
    return text.substr(tree_.at(array).name.size());
  }

  base::Result<> FindShared() {
    for (const NodeId statement : plan_.head) {
      for (const NodeId id : FindAll(tree_, statement, Kind::kDeclRef)) {
        const NodeId variable = VariableOf(tree_, id);
        if (variable == kNone || !Has(tree_, variable, kSharedAttr)) continue;
        const NodeId place = PlaceAround(id);
        if (place == id) return Declined("a place in shared memory belongs to several threads");
        plan_.places[variable].push_back(place);
      }
    }
    for (const auto& [variable, places] : plan_.places) {
      for (const NodeId place : places) {
        if (IndexText(place) != IndexText(places.front())) {
          return Declined("threads read what others put into shared memory before they meet");
        }
      }
      bool assigned = false;
      for (const NodeId statement : plan_.repeated) {
        const auto sure = Assigns(statement, variable);
        if (!sure) return Declined("not every thread puts a value into shared memory");
        assigned = *sure;
        if (assigned) break;
      }
      if (!assigned) return Declined("not every thread puts a value into shared memory");
      plan_.values.push_back({variable, places.front(), tree_.at(variable).element});
    }
    return {};
  }

  bool Mentions(NodeId root, NodeId variable) const {
    return FindBelow(tree_, root, [&](NodeId id) {
             return IsA(tree_, id, Kind::kDeclRef) && VariableOf(tree_, id) == variable;
           }) != kNone;
  }

  // Whether a statement gives the thread's place a value whatever happens; nothing where it may
  // read it before.
  std::optional<bool> Assigns(NodeId id, NodeId variable) const {
    if (id == kNone || !Mentions(id, variable)) return false;
    const Node& node = tree_.at(id);
    if (node.kind == Kind::kAssign) {
      if (RootOf(tree_, TargetOf(tree_, id)) != variable || Mentions(Child(tree_, id, 1), variable))
        return std::nullopt;
      return true;
    }
    if (node.kind == Kind::kCompound) {
      for (const NodeId child : node.children) {
        const auto sure = Assigns(child, variable);
        if (!sure || *sure) return sure;
      }
      return false;
    }
    if (node.kind != Kind::kIf || Mentions(Condition(tree_, id), variable)) return std::nullopt;
    const auto yes = Assigns(Child(tree_, id, 2), variable);
    const auto no = Assigns(Child(tree_, id, 3), variable);
    if (!yes || !no || *yes != *no) return std::nullopt;
    return yes;
  }

  // Variables that differ between blocks and that the tail uses.
  base::Result<> FindLocals() {
    std::set<NodeId> named;
    for (const NodeId statement : plan_.tail) {
      for (const NodeId id : FindAll(tree_, statement, Kind::kDeclRef)) {
        const NodeId variable = VariableOf(tree_, id);
        if (variable == kNone || plan_.kept.count(variable) > 0) continue;
        if (!IsLocalVariable(tree_, facts_, variable) || !named.insert(variable).second) continue;
        const bool of_head = std::any_of(plan_.head.begin(), plan_.head.end(),
                                         [&](NodeId at) { return IsInside(tree_, variable, at); });
        if (!of_head) continue;
        std::string type = tree_.at(variable).canonical;
        if (type.starts_with("const ")) type = type.substr(6);
        plan_.values.push_back({variable, kNone, type});
      }
    }
    return {};
  }

  const Draft& draft_;
  const Tree& tree_;
  const Facts& facts_;
  JoinPlan& plan_;
};

base::Result<JoinPlan> MakeJoinPlan(const Draft& draft) {
  const Tree& tree = draft.tree;
  const Facts& facts = draft.facts;
  if (!facts.rigid_besides_warps.empty()) return Declined(facts.rigid_besides_warps);
  if (!facts.atomics) return Declined("its blocks do not end in atomic operations");
  if (facts.atomic_result_used) return Declined("it uses what an atomic operation returns");
  if (facts.device_index || facts.device_effects || facts.writes_unknown) {
    return Declined("a function that it calls changes memory or asks for its place");
  }
  JoinPlan plan;
  for (const NodeId id : tree.at(facts.body).children) {
    (plan.tail.empty() && !Meets(tree, id) ? plan.head : plan.tail).push_back(id);
  }
  if (plan.tail.empty()) return Declined("its threads do not meet");
  if (!facts.barrier && facts.rigid.empty()) {
    return Declined("its threads do not combine their values before the atomic operations");
  }
  TRY(HeadReader(draft, plan).Run());
  for (const NodeId id : plan.tail) {
    if (AsksForBlock(tree, id) != kNone) {
      return Declined("what its threads do together depends on the block");
    }
  }
  const bool differs = std::any_of(plan.head.begin(), plan.head.end(),
                                   [&](NodeId id) { return AsksForBlock(tree, id) != kNone; });
  if (!differs) return Declined("its blocks all do the same");
  for (const NodeId variable : facts.written) {
    if (Has(tree, variable, kSharedAttr) || IsLocalVariable(tree, facts, variable)) continue;
    for (const NodeId id : plan.head) {
      if (!ReferencesTo(tree, id, variable).empty()) {
        return Declined("it reads what its blocks combine");
      }
    }
  }
  const std::vector<NodeId> constants(plan.kept.begin(), plan.kept.end());
  TRY_ASSIGN(plan.combination, CombinationOf(draft, constants, plan.values, plan.tail));
  for (const ThreadValue& value : plan.values) {
    if (NeutralOf(plan.combination.combine, value.type).empty()) {
      return Declined("there is no neutral value of '" + value.type + "' for its operation");
    }
    const bool floating = value.type == "float" || value.type == "double";
    if (floating && NeedsBitwise(draft)) {
      return Declined("the order of its sums would change, and its results must be equal");
    }
  }
  return plan;
}

// Why a thread cannot do another thread's elements; "" if it can.
std::string FixedThreads(const Draft& draft, const JoinPlan& plan) {
  const Tree& tree = draft.tree;
  if (!plan.combination.even) return "some threads' values count otherwise than others'";
  if (plan.mixed) return "one statement declares what depends on the block and what does not";
  const Geometry geometry = DraftGeometry(draft);
  if (geometry.block[1] * geometry.block[2] != 1) return "its blocks have more than one row";
  const std::vector<GlobalIndex> sums = GlobalIndices(draft);
  const auto stands_in = [&](NodeId id) {
    if (std::any_of(sums.begin(), sums.end(), [&](const GlobalIndex& index) {
          return index.axis == 'x' && IsInside(tree, id, index.sum);
        })) {
      return true;
    }
    return std::any_of(plan.places.begin(), plan.places.end(), [&](const auto& places) {
      return std::any_of(places.second.begin(), places.second.end(),
                         [&](NodeId place) { return IsInside(tree, id, place); });
    });
  };
  for (const NodeId statement : plan.repeated) {
    for (const NodeId id : FindAll(tree, statement, Kind::kDeclRef)) {
      if (stands_in(id)) continue;
      const auto place = IndexOf(tree, tree.at(id).parent);
      if (place && place->axis == 'x') return "it uses its place otherwise than as an element's";
      const NodeId variable = VariableOf(tree, id);
      if (variable == kNone || plan.kept.count(variable) == 0) continue;
      const NodeId thread = FindBelow(tree, variable, [&](NodeId at) {
        const auto index = IndexOf(tree, at);
        return index && index->variable == "threadIdx";
      });
      if (thread != kNone) return "it uses its place otherwise than as an element's";
    }
  }
  return "";
}

class JoinWriter {
 public:
  JoinWriter(const Draft& draft, const JoinPlan& plan, const LaneLoads& loads, std::int64_t items,
             int width)
      : draft_(draft),
        tree_(draft.tree),
        plan_(plan),
        items_(items),
        slots_(items <= kInFlight ? items : std::gcd(items, kInFlight)),
        width_(width),
        prefix_(FreshPrefix(draft.tree, "joined")),
        lanes_(draft, loads, width, prefix_, [this](PartEdits& edits) { Values(edits); }) {}

  std::string total() const { return prefix_ + "_total"; }

  std::string Run() const {
    std::string text = "{\n" + Kept();
    for (std::size_t i = 0; i < plan_.values.size(); ++i) {
      text += plan_.values[i].type + " " + Sum(i) + " = " + Neutral(i) + ";\n";
    }
    const std::string step = prefix_ + "_step";
    if (slots_ < items_) {
      text += "for (unsigned int " + step + " = 0; " + step + " < " + std::to_string(items_) +
              "u; " + step + " += " + std::to_string(slots_) + "u) ";
    } else {
      text += "const unsigned int " + step + " = 0;\n";
    }
    text += width_ > 1 ? Vectors() : Blocks();
    for (std::size_t i = 0; i < plan_.values.size(); ++i) {
      const ThreadValue& value = plan_.values[i];
      text += value.place == kNone ? value.type + " " + tree_.at(value.variable).name
                                   : std::string(tree_.TextOf(value.place));
      text += " = " + Sum(i) + ";\n";
    }
    for (const NodeId id : plan_.tail) text += StatementText(tree_, id) + "\n";
    return text + "}";
  }

  void Guard(Draft& draft) const { lanes_.Guard(draft); }

 private:
  std::string Sum(std::size_t i) const { return prefix_ + "_sum" + std::to_string(i); }
  std::string One(std::size_t i) const { return prefix_ + "_one" + std::to_string(i); }
  std::string Slot() const { return prefix_ + "_slot"; }
  std::string Neutral(std::size_t i) const {
    return NeutralOf(plan_.combination.combine, plan_.values[i].type);
  }

  std::string Kept() const {
    std::string text;
    for (const NodeId statement : plan_.head) {
      if (!IsA(tree_, statement, Kind::kDeclStatement)) continue;
      const std::vector<NodeId>& variables = tree_.at(statement).children;
      const auto is_kept = [&](NodeId id) { return plan_.kept.count(id) > 0; };
      if (std::all_of(variables.begin(), variables.end(), is_kept)) {
        text += std::string(tree_.TextOf(statement)) + "\n";
        continue;
      }
      for (const NodeId id : variables) {
        if (!is_kept(id)) continue;
        const NodeId value = Initialiser(tree_, id);
        text += tree_.at(id).canonical + " " + tree_.at(id).name;
        text += value == kNone ? ";\n" : " = " + std::string(tree_.TextOf(value)) + ";\n";
      }
    }
    return text;
  }

  std::string Slots() const {
    return "for (int " + Slot() + " = 0; " + Slot() + " < " + std::to_string(slots_) + "; ++" +
           Slot() + ") ";
  }

  // The thread's place in shared memory is a variable until all blocks' values are combined.
  void Values(PartEdits& edits) const {
    for (std::size_t i = 0; i < plan_.values.size(); ++i) {
      const auto places = plan_.places.find(plan_.values[i].variable);
      if (places == plan_.places.end()) continue;
      for (const NodeId id : places->second) {
        edits.Replace(tree_.at(id), One(i));
      }
    }
  }

  std::string DeclareOnes() const {
    std::string text;
    for (std::size_t i = 0; i < plan_.values.size(); ++i) {
      text += plan_.values[i].type + " " + One(i) + ";\n";
    }
    return text;
  }

  std::string TakeLocals() const {
    std::string text;
    for (std::size_t i = 0; i < plan_.values.size(); ++i) {
      const ThreadValue& value = plan_.values[i];
      if (value.place == kNone) text += One(i) + " = " + tree_.at(value.variable).name + ";\n";
    }
    return text;
  }

  std::string Add() const {
    std::string text;
    for (std::size_t i = 0; i < plan_.values.size(); ++i) {
      text += Sum(i) + " = " + Combined(plan_.combination.combine, Sum(i), One(i)) + ";\n";
    }
    return text;
  }

  std::string Index() const {
    return "blockIdx.x * " + std::to_string(items_) + "u + " + prefix_ + "_step + " + Slot();
  }

  // A thread does what it did in each of several blocks.
  std::string Blocks() const {
    const std::string at = prefix_ + "_block", n = std::to_string(slots_);
    std::string text = "{\n", take, add;
    for (std::size_t i = 0; i < plan_.values.size(); ++i) {
      const std::string kept = prefix_ + "_kept" + std::to_string(i) + "[" + Slot() + "]";
      text += plan_.values[i].type + " " + prefix_ + "_kept" + std::to_string(i) + "[" + n + "];\n";
      take += kept + " = " + One(i) + ";\n";
      add += Sum(i) + " = " + Combined(plan_.combination.combine, Sum(i), kept) + ";\n";
    }
    text += Slots() + "{\n" + "const unsigned int " + at + " = " + Index() + ";\n";
    for (std::size_t i = 0; i < plan_.values.size(); ++i) {
      text += plan_.values[i].type + " " + One(i) + " = " + Neutral(i) + ";\n";
    }
    text += "if (" + at + " < (unsigned int)" + total() + ") {\n";
    for (const NodeId id : plan_.repeated) text += OfBlock(id, at) + "\n";
    text += TakeLocals() + "}\n" + take + "}\n";
    return text + Slots() + "{\n" + add + "}\n}\n";
  }

  std::string OfBlock(NodeId part, const std::string& at) const {
    PartEdits edits(tree_, part);
    Values(edits);
    Walk(tree_, part, [&](NodeId id) {
      const auto place = IndexOf(tree_, id);
      const bool block = place && place->variable == "blockIdx" && place->axis == 'x';
      if (block) edits.Replace(tree_.at(id), at);
      return true;
    });
    return edits.Apply() + (IsA(tree_, part, Kind::kDeclStatement) ? "" : ";");
  }

  // A thread takes whole vectors of the elements that blocks lie side by side for.
  std::string Vectors() const {
    const std::string at = prefix_ + "_at", ok = prefix_ + "_ok", first = prefix_ + "_first";
    const std::string n = std::to_string(slots_), lane = prefix_ + "_lane";
    const std::string width = std::to_string(width_);
    const std::string index = "const unsigned int " + at + " = (" + Index() +
                              ") * blockDim.x + threadIdx.x;\nconst int " + first + " = (int)(" +
                              at + " * " + width + "u);\n";
    const std::string inside = at + " < (unsigned int)" + total();
    std::string text = "{\nbool " + ok + "[" + n + "];\n" + lanes_.Declarations(slots()) + Slots() +
                       "{\n" + index + "bool " + ok + "_one = " + inside + ";\n" +
                       lanes_.Load(Slot(), first, ok + "_one") + ok + "[" + Slot() + "] = " + ok +
                       "_one;\n}\n";
    text += Slots() + "{\n" + index + "if (" + ok + "[" + Slot() + "]) {\n";
    for (int i = 0; i < width_; ++i) {
      text += "{\n" + DeclareOnes();
      for (const NodeId id : plan_.repeated) text += lanes_.Lane(id, Slot(), first, i);
      text += TakeLocals() + Add() + "}\n";
    }
    text += "} else if (" + inside + ") {\nfor (int " + lane + " = 0; " + lane + " < " + width +
            "; ++" + lane + ") {\n" + DeclareOnes();
    for (const NodeId id : plan_.repeated) text += lanes_.Alone(id, first + " + " + lane);
    return text + TakeLocals() + Add() + "}\n}\n}\n}\n";
  }

  int slots() const { return static_cast<int>(slots_); }

  const Draft& draft_;
  const Tree& tree_;
  const JoinPlan& plan_;
  const std::int64_t items_, slots_;
  const int width_;
  const std::string prefix_;
  const LaneWriter lanes_;
};

base::Result<LaneLoads> LoadsOf(const Draft& draft, const JoinPlan& plan) {
  const std::string fixed = FixedThreads(draft, plan);
  if (!fixed.empty()) return Declined(fixed);
  return FindLaneLoads(draft, plan.repeated);
}

}  // namespace

base::Result<std::vector<Json>> ProposeJoinedBlocks(const Draft& draft) {
  TRY_ASSIGN(const JoinPlan plan, MakeJoinPlan(draft));
  const Geometry geometry = DraftGeometry(draft);
  std::vector<Json> parameters;
  const auto add = [&](std::int64_t items, int width, std::int64_t least) {
    if (geometry.grid[0] < items * width * least) return;
    parameters.push_back(Json{{"items", items}, {"width", width}});
  };
  if (draft.device == "host") {
    // Few blocks for each processor: what a block's threads do together is dear.
    for (const std::int64_t items : {32, 64, 16, 128, 8}) add(items, 1, 4);
    return parameters;
  }
  int width = 1;
  if (const auto loads = LoadsOf(draft, plan)) {
    static constexpr int kWidths[] = {16, 8, 4, 2};
    const std::vector<int> widths = WidthsOf(draft, *loads, kWidths);
    if (!widths.empty()) width = widths.front();
  }
  // Blocks for all multiprocessors; where there are too few for that, for some.
  for (const std::int64_t least : {64, 2}) {
    if (!parameters.empty()) break;
    if (width > 1) {
      for (const std::int64_t items : {8, 4, 16, 2}) add(items, width, least);
    }
    for (const std::int64_t items : {16, 8, 32, 4}) add(items, 1, least);
  }
  return parameters;
}

base::Result<std::string> ApplyJoinedBlocks(Draft& draft, const Json& parameters) {
  TRY(MakeJoinPlan(draft));
  TRY_ASSIGN(const std::int64_t items, IntegerOf(parameters, "items", 8));
  TRY_ASSIGN(const std::int64_t width, IntegerOf(parameters, "width", 1));
  if (items < 1 || items > 4096 || width < 1 || width > 16 || items * width < 2) {
    return base::Fail(base::InvalidArgument("items must be 1 to 4096, width 1 to 16"));
  }
  if (width > 1) TRY(NormalisePlace(draft));
  TRY_ASSIGN(const JoinPlan plan, MakeJoinPlan(draft));
  LaneLoads loads;
  if (width > 1) {
    TRY_ASSIGN(loads, LoadsOf(draft, plan));
    const int wanted[] = {static_cast<int>(width)};
    if (WidthsOf(draft, loads, wanted).empty()) {
      return Declined("there is no vector of " + std::to_string(width) + " such elements");
    }
  }
  const Geometry geometry = DraftGeometry(draft);
  for (std::size_t d = 0; d < 3; ++d) {
    AddGuard(draft, "(" + draft.block[d] + ") == " + std::to_string(geometry.block[d]));
  }
  if (geometry.block[0] % width != 0) {
    return Declined("its blocks are no multiple of " + std::to_string(width));
  }
  const JoinWriter writer(draft, plan, loads, items, static_cast<int>(width));
  Edits edits(draft.tree.text);
  const Node& body = draft.tree.at(draft.facts.body);
  edits.Replace(body.begin, body.end, writer.Run());
  const std::string blocks = "(" + draft.grid[0] + ")";
  const std::string threads = blocks + " * (" + draft.block[0] + ")";
  AddGuard(draft, threads + " <= 2147483647");
  AddParameter(draft, edits, writer.total(),
               width > 1 ? threads + " / " + std::to_string(width) : blocks);
  writer.Guard(draft);
  draft.grid[0] = "ceil_div(" + draft.grid[0] + ", " + std::to_string(items * width) + ")";
  TRY(Change(draft, edits));
  return "one block does the work of " + std::to_string(items * width) +
         (width > 1 ? ", in vectors of " + std::to_string(width) : "");
}

}  // namespace cupilot::source
