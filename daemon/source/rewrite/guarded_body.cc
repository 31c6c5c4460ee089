#include "source/rewrite/guarded_body.h"

#include <algorithm>
#include <optional>
#include <set>

#include "source/rewrite/inspect.h"
#include "source/rewrite/place.h"
#include "source/rewrite/slopes.h"

namespace cupilot::source {
namespace {

bool LeavesOnly(const Tree& tree, NodeId statement) {
  if (IsA(tree, statement, Kind::kCompound) && tree.at(statement).children.size() == 1) {
    statement = Child(tree, statement, 0);
  }
  return IsA(tree, statement, Kind::kReturn);
}

bool IsPlainIf(const Tree& tree, NodeId id) {
  return IsA(tree, id, Kind::kIf) && Child(tree, id, 0) == kNone && Child(tree, id, 3) == kNone;
}

// The parts of a && b && c, or of a || b || c.
void PartsOf(const Tree& tree, NodeId expression, const char* joint, std::vector<NodeId>& parts) {
  const NodeId id = SkipParens(tree, expression);
  if (IsA(tree, id, Kind::kBinary) && tree.at(id).name == joint) {
    PartsOf(tree, Child(tree, id, 0), joint, parts);
    PartsOf(tree, Child(tree, id, 1), joint, parts);
  } else {
    parts.push_back(id);
  }
}

// An integer that holds every place.
bool HoldsPlaces(const Node& node) {
  const std::string type =
      node.canonical.starts_with("const ") ? node.canonical.substr(6) : node.canonical;
  return type == "int" || type == "unsigned int" || type == "long" || type == "unsigned long" ||
         type == "long long" || type == "unsigned long long";
}

// The axis of an expression that is a thread's place itself.
std::optional<char> AxisOf(const Draft& draft, NodeId expression) {
  const Tree& tree = draft.tree;
  NodeId id = SkipParens(tree, expression);
  for (int depth = 0; id != kNone && depth < 16; ++depth) {
    if (const auto sum = GlobalIndexOf(tree, id)) return sum->axis;
    if (!HoldsPlaces(tree.at(id))) return std::nullopt;
    if (IsA(tree, id, Kind::kCast)) {
      id = SkipParens(tree, Child(tree, id, 0));
      continue;
    }
    const NodeId variable = VariableOf(tree, id);
    if (variable == kNone || !IsLocalVariable(tree, draft.facts, variable) ||
        draft.facts.modifications.count(variable) > 0) {
      return std::nullopt;
    }
    id = SkipParens(tree, Initialiser(tree, variable));
  }
  return std::nullopt;
}

// A number or a parameter, which expressions of the launch may name.
std::string LimitOf(const Draft& draft, NodeId expression) {
  const Tree& tree = draft.tree;
  const NodeId id = SkipParens(tree, expression);
  if (id == kNone) return "";
  if (!tree.at(id).value.empty()) return tree.at(id).value;
  const NodeId variable = VariableOf(tree, id);
  const bool parameter = IsA(tree, variable, Kind::kParameter) &&
                         IsIntegerType(tree.at(variable).canonical) &&
                         OwnChange(tree, draft.facts, variable) == kNone;
  return parameter ? NameInExpressions(draft, variable) : "";
}

// place < limit in the sense of `leaves`, whichever way it is written.
std::optional<UpperBound> BoundOf(const Draft& draft, NodeId part, bool leaves) {
  const Tree& tree = draft.tree;
  if (!IsA(tree, part, Kind::kBinary)) return std::nullopt;
  std::string compare = tree.at(part).name;
  NodeId place = Child(tree, part, 0), limit = Child(tree, part, 1);
  if (!AxisOf(draft, place)) {
    std::swap(place, limit);
    static constexpr const char* kMirrored[][2] = {
        {"<", ">"}, {"<=", ">="}, {">", "<"}, {">=", "<="}};
    for (const auto& [from, to] : kMirrored) {
      if (compare == from) {
        compare = to;
        break;
      }
    }
  }
  const auto axis = AxisOf(draft, place);
  const bool below = compare == (leaves ? ">=" : "<"), at_most = compare == (leaves ? ">" : "<=");
  if (!axis || (!below && !at_most)) return std::nullopt;
  for (const char d : {'x', 'y', 'z'}) {
    if (!SlopeOf(draft, {.axis = d}, limit).IsNone()) return std::nullopt;
  }
  std::string text = LimitOf(draft, limit);
  if (at_most && !text.empty()) text = "(" + text + " + 1)";
  return UpperBound{static_cast<std::size_t>(*axis - 'x'), text};
}

std::vector<NodeId> PartsOf(const Tree& tree, const GuardedBody::Step& step) {
  std::vector<NodeId> parts;
  PartsOf(tree, step.condition, step.leaves ? "||" : "&&", parts);
  return parts;
}

std::string TotalOf(const Draft& draft, std::size_t axis) {
  return "(" + draft.grid[axis] + ") * (" + draft.block[axis] + ")";
}

// What keeps places beyond a limit along an axis from working; "" for nothing.
std::string LimitAlong(const Draft& draft, const GuardedBody& body, std::size_t axis) {
  for (const GuardedBody::Step& step : body.steps) {
    if (step.condition == kNone) continue;
    for (const NodeId part : PartsOf(draft.tree, step)) {
      const auto bound = BoundOf(draft, part, step.leaves);
      if (bound && bound->axis == axis && !bound->limit.empty()) return bound->limit;
    }
  }
  return "";
}

class PlaceReader {
 public:
  PlaceReader(const Draft& draft, const std::function<bool(NodeId)>& may_use)
      : tree_(draft.tree), facts_(draft.facts), may_use_(may_use) {}

  bool IsValue(NodeId expression) {
    if (expression == kNone || !IsPure(tree_, facts_, expression) ||
        LoadsMemory(tree_, facts_, expression)) {
      return false;
    }
    return FindBelow(tree_, expression, [&](NodeId id) {
             const NodeId variable =
                 tree_.at(id).kind == Kind::kDeclRef ? VariableOf(tree_, id) : kNone;
             if (variable == kNone || !IsLocalVariable(tree_, facts_, variable)) return false;
             if (may_use_ && may_use_(variable)) return false;
             const NodeId parent = tree_.at(variable).parent;
             return IsA(tree_, tree_.at(parent).parent, Kind::kFor) || !IsDeclaration(parent);
           }) == kNone;
  }

  bool IsDeclaration(NodeId statement) {
    if (!IsA(tree_, statement, Kind::kDeclStatement)) return false;
    // A variable may name one that the same statement declares before it.
    if (!asked_.insert(statement).second) return true;
    const std::vector<NodeId>& variables = tree_.at(statement).children;
    return std::all_of(variables.begin(), variables.end(), [&](NodeId id) {
      return IsA(tree_, id, Kind::kVariable) && IsLocalVariable(tree_, facts_, id) &&
             !Has(tree_, id, kReference) && facts_.address_taken.count(id) == 0 &&
             OwnChange(tree_, facts_, id) == kNone &&
             tree_.at(id).canonical.find('[') == std::string::npos &&
             IsValue(Initialiser(tree_, id));
    });
  }

 private:
  const Tree& tree_;
  const Facts& facts_;
  const std::function<bool(NodeId)>& may_use_;
  std::set<NodeId> asked_;
};

// Blocks of `size` places along an axis, all of them the launch's own or kept from working.
void CoverAlong(Draft& draft, std::size_t axis, const std::string& limit, std::int64_t size) {
  const std::string total = TotalOf(draft, axis), side = std::to_string(size);
  AddGuard(draft, total + " <= 2147482623");  // places are ints, also those of a last tile
  std::string covered = total + " % " + side + " == 0";
  if (!limit.empty()) covered += " || (" + limit + " >= 0 && " + total + " >= " + limit + ")";
  AddGuard(draft, covered);
  draft.grid[axis] = "ceil_div(" + total + ", " + side + ")";
}

}  // namespace

bool IsOfPlace(const Draft& draft, NodeId expression, const std::function<bool(NodeId)>& may_use) {
  return PlaceReader(draft, may_use).IsValue(expression);
}

bool DeclaresPlaces(const Draft& draft, NodeId statement) {
  return PlaceReader(draft, {}).IsDeclaration(statement);
}

GuardedBody ReadBody(const Draft& draft) {
  const Tree& tree = draft.tree;
  GuardedBody body;
  std::vector<NodeId> list = tree.at(draft.facts.body).children;
  for (bool inner = true; inner;) {
    inner = false;
    std::size_t i = 0;
    for (; i < list.size(); ++i) {
      const NodeId id = list[i];
      if (DeclaresPlaces(draft, id)) {
        body.steps.push_back({.declares = id});
        continue;
      }
      if (!IsPlainIf(tree, id) || !IsOfPlace(draft, Condition(tree, id))) break;
      const NodeId yes = Child(tree, id, 2);
      const bool leaves = LeavesOnly(tree, yes);
      if (!leaves && i + 1 != list.size()) break;
      body.steps.push_back({.condition = Condition(tree, id), .leaves = leaves});
      if (leaves) continue;
      const bool compound = IsA(tree, yes, Kind::kCompound);
      list = compound ? tree.at(yes).children : std::vector<NodeId>{yes};
      inner = true;
      break;
    }
    if (!inner) body.work.assign(list.begin() + static_cast<std::ptrdiff_t>(i), list.end());
  }
  return body;
}

std::string TextAt(const Draft& draft, NodeId node, const PlaceText& place,
                   const std::function<bool(NodeId, Edits&)>& more) {
  const Tree& tree = draft.tree;
  Edits edits(tree.text);
  Walk(tree, node, [&](NodeId id) {
    const Node& at = tree.at(id);
    if (const auto sum = GlobalIndexOf(tree, id)) {
      if (sum->axis == 'z') return false;
      const std::string& text = sum->axis == 'x' ? place.x : place.y;
      edits.Replace(at.begin, at.end, "((" + at.canonical + ")(" + text + "))");
      return false;
    }
    return !more || !more(id, edits);
  });
  return edits.Apply(tree.at(node).begin, tree.at(node).end);
}

std::string GuardedText(const Draft& draft, const GuardedBody& body, const PlaceText& place,
                        const std::string& inner) {
  std::string text, end;
  for (const GuardedBody::Step& step : body.steps) {
    if (step.declares != kNone) {
      text += TextAt(draft, step.declares, place) + "\n";
      continue;
    }
    const std::string condition = "(" + TextAt(draft, step.condition, place) + ")";
    text += "if (" + std::string(step.leaves ? "!" : "") + condition + ") {\n";
    end += "}\n";
  }
  return "{\n" + text + inner + end + "}\n";
}

base::Result<std::vector<UpperBound>> UpperBounds(const Draft& draft, const GuardedBody& body) {
  std::vector<UpperBound> bounds;
  for (const GuardedBody::Step& step : body.steps) {
    if (step.condition == kNone) continue;
    for (const NodeId part : PartsOf(draft.tree, step)) {
      const auto bound = BoundOf(draft, part, step.leaves);
      if (!bound) {
        return Declined("its guard is more than upper bounds of a thread's place: '" +
                        std::string(draft.tree.TextOf(part)) + "'");
      }
      bounds.push_back(*bound);
    }
  }
  return bounds;
}

base::Result<> CheckCover(const Draft& draft, const GuardedBody& body,
                          const std::int64_t (&size)[2]) {
  const Geometry geometry = DraftGeometry(draft);
  if (draft.facts.launch_bounds) return Declined("it has launch bounds for the blocks it has");
  if (geometry.block[2] != 1) return Declined("its blocks have several layers of threads");
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t total = geometry.grid[axis] * geometry.block[axis];
    if (total % size[axis] != 0 && LimitAlong(draft, body, axis).empty()) {
      return Declined("its " + std::to_string(total) + " threads along " + kAxes[axis] +
                      " are no multiple of " + std::to_string(size[axis]) +
                      ", and no guard keeps more from working");
    }
  }
  return {};
}

base::Result<> CoverInTiles(Draft& draft, const GuardedBody& body, const std::int64_t (&size)[2],
                            const std::int64_t (&threads)[2]) {
  TRY(CheckCover(draft, body, size));
  AddGuard(draft, draft.block[2] + " == 1");
  for (std::size_t axis = 0; axis < 2; ++axis) {
    CoverAlong(draft, axis, LimitAlong(draft, body, axis), size[axis]);
    draft.block[axis] = std::to_string(threads[axis]);
  }
  return {};
}

}  // namespace cupilot::source
