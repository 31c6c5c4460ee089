// Loads and stores of two or four neighbouring elements at once: one thread does the work of as
// many neighbours, whose elements it moves as one vector.
#include <array>
#include <map>
#include <optional>

#include "source/rewrite/inspect.h"
#include "source/rewrite/jam_scope.h"
#include "source/rewrite/mechanical.h"
#include "source/rewrite/parameters.h"
#include "source/rewrite/place.h"

namespace cupilot::source {
namespace {

using records::Json;

constexpr std::array<const char*, 4> kLanes = {"x", "y", "z", "w"};

struct Access {
  bool read = false, written = false;
  std::vector<NodeId> subscripts;
};
struct Plan {
  std::map<NodeId, Access> pointers;  // parameters
  NodeId guard = kNone;               // the condition that the body begins with, kNone for none
  bool leaves = false;                // it leaves where that holds
};

std::string VectorType(const std::string& element, int width) {
  const std::string count = std::to_string(width);
  if (element == "float" || element == "int") return element + count;
  if (element == "unsigned int") return "uint" + count;
  if (element == "double" && width == 2) return "double2";
  return "";
}

bool IsConditional(const Tree& tree, NodeId id, NodeId body, NodeId guard) {
  for (NodeId at = id; at != body && at != kNone; at = tree.at(at).parent) {
    const NodeId parent = tree.at(at).parent;
    const Node& node = tree.at(parent);
    if (node.kind == Kind::kIf && Condition(tree, parent) != guard) return true;
    if (node.kind == Kind::kConditional || node.kind == Kind::kSwitch) return true;
    if (node.kind == Kind::kBinary && (node.name == "&&" || node.name == "||")) return true;
  }
  return false;
}

// The statements are declarations and one guard around or before all that touches memory.
void FindGuard(const Draft& draft, Plan& plan) {
  const Tree& tree = draft.tree;
  for (const NodeId id : tree.at(draft.facts.body).children) {
    if (IsA(tree, id, Kind::kDeclStatement) && !LoadsMemory(tree, draft.facts, id)) continue;
    if (!IsA(tree, id, Kind::kIf) || Child(tree, id, 0) != kNone || Child(tree, id, 3) != kNone)
      return;
    NodeId yes = Child(tree, id, 2);
    if (IsA(tree, yes, Kind::kCompound) && tree.at(yes).children.size() == 1) {
      yes = Child(tree, yes, 0);
    }
    const bool leaves = IsA(tree, yes, Kind::kReturn);
    if (!leaves && tree.at(draft.facts.body).children.back() != id) return;
    if (!IsPure(tree, draft.facts, Condition(tree, id)) ||
        LoadsMemory(tree, draft.facts, Condition(tree, id))) {
      return;
    }
    plan.guard = Condition(tree, id);
    plan.leaves = leaves;
    return;
  }
}

base::Result<Plan> MakePlan(const Draft& draft) {
  TRY(CheckFreePlace(draft));
  const Tree& tree = draft.tree;
  const Facts& facts = draft.facts;
  if (facts.atomics) return base::Fail(base::Unsupported("it has atomic operations"));
  if (facts.device_effects || facts.writes_unknown) {
    return base::Fail(base::Unsupported("it writes where that cannot be followed"));
  }
  for (const GlobalIndex& index : GlobalIndices(draft)) {
    if (index.axis != 'x')
      return base::Fail(base::Unsupported("its threads have more than one axis"));
  }
  const NodeId loop =
      FindBelow(tree, facts.body, [&](NodeId id) { return IsLoop(tree.at(id).kind); });
  if (loop != kNone)
    return base::Fail(base::Unsupported("each thread walks over several elements"));
  TRY(CheckRepeatable(draft));
  Plan plan;
  FindGuard(draft, plan);
  for (const NodeId id : FindAll(tree, facts.body, Kind::kReturn)) {
    const NodeId guard = Enclosing(tree, id, Kind::kIf);
    if (guard == kNone || !plan.leaves || Condition(tree, guard) != plan.guard) {
      return base::Fail(base::Unsupported("it ends early by a condition of its own"));
    }
  }
  const JamScope scope(draft, kAlongX);
  const auto is_place = [&](NodeId index) {
    index = SkipParensAndCasts(tree, index);
    const NodeId variable = VariableOf(tree, index);
    if (variable != kNone && scope.IsIndex(variable)) {
      index = SkipParensAndCasts(tree, Initialiser(tree, variable));
    }
    return index != kNone && GlobalIndexOf(tree, index).has_value();
  };
  for (const NodeId id : Parameters(tree, draft.function)) {
    if (!IsPointerType(tree.at(id).canonical)) continue;
    const auto uses = facts.references.find(id);
    if (uses == facts.references.end()) continue;
    Access access;
    for (const NodeId use : uses->second) {
      const NodeId subscript = tree.at(use).parent;
      if (!IsA(tree, subscript, Kind::kSubscript) || Child(tree, subscript, 0) != use ||
          !is_place(Child(tree, subscript, 1))) {
        return base::Fail(base::Unsupported("'" + tree.at(id).name +
                                            "' is not only used at the thread's own element"));
      }
      if (IsConditional(tree, subscript, facts.body, plan.guard)) {
        return base::Fail(base::Unsupported("an access depends on a condition of its own"));
      }
      const NodeId parent = tree.at(subscript).parent;
      const bool target = IsModification(tree, parent) && TargetOf(tree, parent) == subscript;
      if (target) access.written = true;
      if (!target || !IsA(tree, parent, Kind::kAssign)) access.read = true;
      if (IsA(tree, parent, Kind::kUnary) && tree.at(parent).name == "&") {
        return base::Fail(base::Unsupported("the address of an element is taken"));
      }
      access.subscripts.push_back(subscript);
    }
    plan.pointers[id] = std::move(access);
  }
  if (plan.pointers.empty()) return base::Fail(base::Unsupported("it reads and writes no arrays"));
  return plan;
}

std::string VectorName(const Tree& tree, NodeId pointer) {
  return FreshPrefix(tree, "vector") + "_" + tree.at(pointer).name;
}

// A part of the body for one lane; with `vectors`, elements are components of what was loaded.
std::string LaneText(const Draft& draft, const Plan& plan, NodeId part, const std::string& place,
                     const char* component, bool loop) {
  const Tree& tree = draft.tree;
  Edits edits(tree.text);
  if (component != nullptr) {
    for (const auto& [pointer, access] : plan.pointers) {
      for (const NodeId id : access.subscripts) {
        edits.Replace(tree.at(id).begin, tree.at(id).end,
                      VectorName(tree, pointer) + "." + component);
      }
    }
  }
  for (const GlobalIndex& index : GlobalIndices(draft)) {
    const Node& node = tree.at(index.sum);
    edits.Replace(node.begin, node.end, "((" + node.canonical + ")(" + place + "))");
  }
  if (loop) {
    for (const NodeId id : FindAll(tree, draft.facts.body, Kind::kReturn)) {
      edits.Replace(tree.at(id).begin, tree.at(id).end, "continue");
    }
  }
  return edits.Apply(tree.at(part).begin, tree.at(part).end);
}

}  // namespace

base::Result<std::vector<Json>> ProposeVectorizedAccess(const Draft& draft) {
  TRY_ASSIGN(const Plan plan, MakePlan(draft));
  if (draft.device == "host") {
    return base::Fail(base::Unsupported("on the host device the compiler forms vectors itself"));
  }
  const Geometry geometry = DraftGeometry(draft);
  std::vector<Json> parameters;
  for (const int width : {4, 2}) {
    bool fits = geometry.block[0] * geometry.grid[0] % width == 0;
    for (const auto& [pointer, access] : plan.pointers) {
      fits = fits && !VectorType(draft.tree.at(pointer).element, width).empty();
    }
    if (fits) parameters.push_back(Json{{"width", width}});
  }
  return parameters;
}

base::Result<std::string> ApplyVectorizedAccess(Draft& draft, const Json& parameters) {
  TRY(MakePlan(draft));
  TRY(NormalisePlace(draft));
  TRY_ASSIGN(const Plan plan, MakePlan(draft));
  TRY_ASSIGN(const std::int64_t wide, IntegerOf(parameters, "width", 4));
  if (wide != 2 && wide != 4) return base::Fail(base::InvalidArgument("width must be 2 or 4"));
  const int width = static_cast<int>(wide);
  const Tree& tree = draft.tree;
  const std::string first = FreshPrefix(tree, "first");
  const std::string lane = first + "_lane", all = first + "_all";
  std::string text = "{\nconst int " + first +
                     " = (int)(blockIdx.x * blockDim.x + threadIdx.x) * " + std::to_string(width) +
                     ";\nbool " + all + " = true;\n";
  const NodeId body = draft.facts.body;
  if (plan.guard != kNone) {
    // What the guard uses stands before it.
    for (int i = 0; i < width; ++i) {
      const std::string place = first + " + " + std::to_string(i);
      text += "{\n";
      for (const NodeId id : tree.at(body).children) {
        if (!IsA(tree, id, Kind::kDeclStatement)) break;
        text += LaneText(draft, plan, id, place, nullptr, false) + "\n";
      }
      text += all + " &= (bool)(" + (plan.leaves ? "!(" : "(") +
              LaneText(draft, plan, plan.guard, place, nullptr, false) + "));\n}\n";
    }
  }
  text += "if (" + all + ") {\n";
  std::string stores;
  for (const auto& [pointer, access] : plan.pointers) {
    const Node& node = tree.at(pointer);
    const std::string type = VectorType(node.element, width), name = VectorName(tree, pointer);
    if (type.empty()) {
      return base::Fail(
          base::Unsupported("there is no vector of " + std::to_string(width) + " " + node.element));
    }
    text += type + " " + name;
    if (access.read) {
      text += " = *reinterpret_cast<const " + type + "*>(" + node.name + " + " + first + ")";
    }
    text += ";\n";
    if (access.written) {
      stores +=
          "*reinterpret_cast<" + type + "*>(" + node.name + " + " + first + ") = " + name + ";\n";
    }
    AddGuard(draft, "aligned(" + NameInExpressions(draft, pointer) + ", " +
                        std::to_string(width * node.element_bytes) + ")");
  }
  for (int i = 0; i < width; ++i) {
    text += LaneText(draft, plan, body, first + " + " + std::to_string(i),
                     kLanes[static_cast<std::size_t>(i)], false) +
            "\n";
  }
  text += stores + "} else {\nfor (int " + lane + " = 0; " + lane + " < " + std::to_string(width) +
          "; ++" + lane + ") " + LaneText(draft, plan, body, first + " + " + lane, nullptr, true) +
          "\n}\n}";
  const std::string total = "(" + draft.grid[0] + ") * (" + draft.block[0] + ")";
  AddGuard(draft, total + " <= 2147483647");
  const Geometry geometry = DraftGeometry(draft);
  std::string& side = geometry.grid[0] % width == 0 ? draft.grid[0] : draft.block[0];
  AddGuard(draft, "(" + side + ") % " + std::to_string(width) + " == 0");
  side = "(" + side + ") / " + std::to_string(width);
  Edits edits(tree.text);
  edits.Replace(tree.at(body).begin, tree.at(body).end, text);
  TRY(Change(draft, edits));
  return "vectors of " + std::to_string(width) + " elements";
}

}  // namespace cupilot::source
