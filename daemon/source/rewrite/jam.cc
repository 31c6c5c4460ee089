#include "source/rewrite/jam.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "source/rewrite/inspect.h"
#include "source/rewrite/jam_scope.h"

namespace cupilot::source {
namespace {

// Why copies of the body cannot share its declarations; empty if they can.
std::string Obstacle(const Tree& tree, const Facts& facts) {
  for (const NodeId id : FindAll(tree, facts.body, Kind::kVariable)) {
    const std::string& name = tree.at(id).name;
    if (Has(tree, id, kReference)) return "the reference '" + name + "'";
    if (IsLocalVariable(tree, facts, id) && facts.address_taken.count(id) > 0) {
      return "the address of '" + name + "' is taken";
    }
  }
  for (const NodeId id : Parameters(tree, facts.function)) {
    if (facts.address_taken.count(id) > 0) return "the address of a parameter is taken";
  }
  return "";
}

class JamWriter {
 public:
  JamWriter(const Draft& draft, const JamOptions& options)
      : draft_(draft),
        tree_(draft.tree),
        options_(options),
        scope_(draft, (options.x > 1 ? kAlongX : 0u) | (options.y > 1 ? kAlongY : 0u)),
        prefix_(FreshPrefix(draft.tree, "jam")) {}

  std::string Run() {
    std::string text = "{\n";
    for (const char axis : {'x', 'y'}) {
      const int factor = axis == 'x' ? options_.x : options_.y;
      if (factor == 1) continue;
      const std::string d(1, axis);
      const std::string n = std::to_string(factor);
      const std::string place =
          options_.strided
              ? "(blockIdx." + d + " * (blockDim." + d + " * " + n + ") + threadIdx." + d + ")"
              : "(blockIdx." + d + " * blockDim." + d + " + threadIdx." + d + ") * " + n;
      text += "const int " + First(axis) + " = (int)" + place + ";\n";
    }
    const std::vector<NodeId> statements = tree_.at(draft_.facts.body).children;
    text += options_.jammed ? List(statements, 0, true) : Wrapped(statements);
    return text + "}";
  }

 private:
  std::string First(char axis) const { return prefix_ + "_" + axis + "0"; }
  std::string Lane() const { return prefix_ + "_x"; }
  std::string Step(char axis) const {
    return options_.strided ? std::string(" * (int)blockDim.") + axis : std::string();
  }
  std::string Copy(const std::string& name, int y) const {
    return prefix_ + "_of_" + name + (options_.y > 1 ? "_" + std::to_string(y) : "");
  }
  std::string LaneLoop() const {
    return "for (int " + Lane() + " = 0; " + Lane() + " < " + std::to_string(options_.x) + "; ++" +
           Lane() + ") ";
  }

  // The text of a node for copy `y`; what the statements `own` declare is each copy's own already.
  std::string Text(NodeId node, int y, std::span<const NodeId> own = {}) const {
    Edits edits(tree_.text);
    Walk(tree_, node, [&](NodeId id) {
      const Node& at = tree_.at(id);
      for (const GlobalIndex& index : scope_.sums()) {
        if (index.sum == id) {
          edits.Replace(at.begin, at.end, IndexText(index, id, y));
          return false;
        }
      }
      if (at.kind == Kind::kReturn) edits.Replace(at.begin, at.end, "continue");
      if (at.kind != Kind::kDeclRef) return true;
      const NodeId variable = VariableOf(tree_, id);
      if (variable == kNone || scope_.OfVariable(variable) == 0) return true;
      const auto declares = [&](NodeId statement) { return IsInside(tree_, variable, statement); };
      if (std::any_of(own.begin(), own.end(), declares)) return true;
      edits.Replace(at.begin, at.end, Use(variable, y));
      return false;
    });
    return edits.Apply(tree_.at(node).begin, tree_.at(node).end);
  }

  std::string IndexText(const GlobalIndex& index, NodeId id, int y) const {
    std::string sum = "(int)(blockIdx." + std::string(1, index.axis) + " * blockDim." + index.axis +
                      " + threadIdx." + index.axis + ")";
    if (index.axis == 'x' && options_.x > 1) sum = First('x') + " + " + Lane() + Step('x');
    if (index.axis == 'y' && options_.y > 1) {
      sum = First('y') + " + " + std::to_string(y) + Step('y');
    }
    // Where it becomes an int at once, it may as well be one: the guard keeps it in range.
    NodeId parent = tree_.at(id).parent;
    while (IsA(tree_, parent, Kind::kParen)) parent = tree_.at(parent).parent;
    const bool to_int =
        IsA(tree_, parent, Kind::kVariable) &&
        (tree_.at(parent).canonical == "int" || tree_.at(parent).canonical == "const int");
    return (to_int ? "(" : "((" + tree_.at(id).canonical + ")(") + sum + (to_int ? ")" : "))");
  }

  std::string Use(NodeId variable, int y) const {
    const Node& node = tree_.at(variable);
    if (scope_.IsIndex(variable)) {
      std::string type = node.canonical;
      if (type.starts_with("const ")) type = type.substr(6);
      return "((" + type + ")(" + Text(Initialiser(tree_, variable), y) + "))";
    }
    const Axes along = scope_.OfVariable(variable);
    return ((along & kAlongY) != 0 ? Copy(node.name, y) : Copy(node.name, 0)) +
           ((along & kAlongX) != 0 ? "[" + Lane() + "]" : "");
  }

  // `write(y)` once for each copy that `along` asks for, each in a loop over lanes if it asks for
  // that.
  template <class Write>
  std::string Repeat(Axes along, const Write& write) const {
    std::string text;
    const int copies = (along & kAlongY) != 0 ? options_.y : 1;
    for (int y = 0; y < copies; ++y) {
      text += ((along & kAlongX) != 0 ? LaneLoop() : std::string()) + write(y);
    }
    return text;
  }

  // Statements, all of one thread after all of another.
  std::string Wrapped(std::span<const NodeId> statements) const {
    const bool leaves = std::any_of(statements.begin(), statements.end(), [&](NodeId id) {
      return FindBelow(tree_, id, [&](NodeId at) { return tree_.at(at).kind == Kind::kReturn; }) !=
             kNone;
    });
    return Repeat(scope_.all(), [&](int y) {
      std::string text = "{\n";
      for (const NodeId id : statements) text += Text(id, y, statements) + ";\n";
      text += "}\n";
      // "continue" leaves one copy; without lanes there is no loop to go on with yet.
      return leaves && options_.x == 1 ? "for (bool " + Lane() + "_once = true; " + Lane() +
                                             "_once; " + Lane() + "_once = false) " + text
                                       : text;
    });
  }

  bool IsReturn(NodeId id) const {
    if (IsA(tree_, id, Kind::kCompound) && tree_.at(id).children.size() == 1) {
      id = Child(tree_, id, 0);
    }
    return IsA(tree_, id, Kind::kReturn);
  }

  std::string List(const std::vector<NodeId>& statements, std::size_t first, bool outermost) const {
    std::string text;
    for (std::size_t i = first; i < statements.size(); ++i) {
      const NodeId id = statements[i];
      const bool returns = FindBelow(tree_, id, [&](NodeId at) {
                             return tree_.at(at).kind == Kind::kReturn;
                           }) != kNone;
      if (returns && outermost) {
        const NodeId condition = Condition(tree_, id);
        const bool guard = IsA(tree_, id, Kind::kIf) && Child(tree_, id, 0) == kNone &&
                           Child(tree_, id, 3) == kNone && IsReturn(Child(tree_, id, 2)) &&
                           IsPure(tree_, draft_.facts, condition);
        const auto rest = std::span(statements).subspan(i);
        if (!guard) return text + Wrapped(rest);
        if (scope_.Of(condition) == 0) {
          text += "if (" + Text(condition, 0) + ") return;\n";
          continue;
        }
        return text + Split(condition, true, List(statements, i + 1, true), Wrapped(rest));
      }
      text += Statement(id);
    }
    return text;
  }

  // All threads take the same way, or each goes its own.
  std::string Split(NodeId condition, bool leaves, const std::string& together,
                    const std::string& apart) const {
    const std::string all = prefix_ + "_all";
    std::string text = "{\nbool " + all + " = true;\n";
    text += Repeat(scope_.Of(condition), [&](int y) {
      return all + " &= (bool)(" + (leaves ? "!(" : "(") + Text(condition, y) + "));\n";
    });
    return text + "if (" + all + ") {\n" + together + "} else {\n" + apart + "}\n}\n";
  }

  std::string Statement(NodeId id) const {
    if (id == kNone) return ";\n";
    const Node& node = tree_.at(id);
    switch (node.kind) {
      case Kind::kCompound:
        return "{\n" + List(node.children, 0, false) + "}\n";
      case Kind::kDeclStatement:
        return Declaration(id);
      case Kind::kIf:
        return If(id);
      case Kind::kFor:
      case Kind::kWhile:
      case Kind::kDo:
        return scope_.IsUniformLoop(id) ? Loop(id) : Apart(id);
      case Kind::kNullStatement:
        return ";\n";
      case Kind::kSwitch:
      case Kind::kRangeFor:
      case Kind::kOtherStatement:
        return Apart(id);
      default:
        return Repeat(scope_.Repeats(id), [&](int y) { return Text(id, y) + ";\n"; });
    }
  }

  std::string Apart(NodeId id) const { return Wrapped({&id, 1}); }

  std::string If(NodeId id) const {
    const NodeId condition = Condition(tree_, id);
    const NodeId yes = Child(tree_, id, 2), no = Child(tree_, id, 3);
    if (Child(tree_, id, 0) != kNone || !IsPure(tree_, draft_.facts, condition)) return Apart(id);
    if (scope_.Of(condition) == 0) {
      return "if (" + Text(condition, 0) + ") {\n" + Statement(yes) +
             (no == kNone ? "}\n" : "} else {\n" + Statement(no) + "}\n");
    }
    // Worth a second copy of the text where a loop is inside.
    const bool loop =
        FindBelow(tree_, yes, [&](NodeId at) { return IsLoop(tree_.at(at).kind); }) != kNone;
    const bool large = tree_.at(yes).end - tree_.at(yes).begin > 4000;
    if (!IsA(tree_, tree_.at(id).parent, Kind::kCompound) || large || (!loop && no != kNone)) {
      return Apart(id);
    }
    return Split(condition, false, Statement(yes), Apart(id));
  }

  std::string Loop(NodeId id) const {
    const NodeId condition = Condition(tree_, id);
    if (IsA(tree_, id, Kind::kWhile)) {
      return "while (" + Text(condition, 0) + ") {\n" + Statement(LoopBody(tree_, id)) + "}\n";
    }
    if (IsA(tree_, id, Kind::kDo)) {
      return "do {\n" + Statement(LoopBody(tree_, id)) + "} while (" + Text(condition, 0) + ");\n";
    }
    std::string head = "for (";
    const NodeId init = Child(tree_, id, 0), step = Child(tree_, id, 2);
    if (init != kNone) head += Text(init, 0);
    if (init == kNone || !IsA(tree_, init, Kind::kDeclStatement)) head += ";";
    head += " " + Text(condition, 0) + "; ";
    if (step != kNone) head += Text(step, 0);
    return head + ") {\n" + Statement(LoopBody(tree_, id)) + "}\n";
  }

  std::string Declaration(NodeId id) const {
    const std::vector<NodeId>& variables = tree_.at(id).children;
    const bool same = std::all_of(variables.begin(), variables.end(), [&](NodeId variable) {
      return !IsA(tree_, variable, Kind::kVariable) || scope_.OfVariable(variable) == 0;
    });
    if (same) return std::string(tree_.TextOf(id)) + "\n";
    std::string text;
    for (const NodeId variable : variables) {
      const Axes along = scope_.OfVariable(variable);
      if (scope_.IsIndex(variable) && along != 0) continue;  // each use is its initialiser
      const Node& node = tree_.at(variable);
      const NodeId value = Initialiser(tree_, variable);
      std::string type = node.canonical, extents;
      const std::size_t bracket = type.find('[');
      if (bracket != std::string::npos) {
        extents = type.substr(bracket);
        type.resize(bracket);
      }
      if (type.starts_with("const ") && !IsPointerType(type)) type = type.substr(6);
      while (type.ends_with("const")) type.resize(type.size() - 5);  // of the pointer itself
      const int copies = (along & kAlongY) != 0 ? options_.y : 1;
      for (int y = 0; y < copies; ++y) {
        const std::string name = along == 0 ? node.name : Copy(node.name, y);
        text += type + " " + name +
                ((along & kAlongX) != 0 ? "[" + std::to_string(options_.x) + "]" : "") + extents +
                ";\n";
      }
      if (value == kNone) continue;
      text += Repeat(along, [&](int y) {
        return (along == 0 ? node.name : Use(variable, y)) + " = " + Text(value, y) + ";\n";
      });
    }
    return text;
  }

  const Draft& draft_;
  const Tree& tree_;
  const JamOptions& options_;
  const JamScope scope_;
  const std::string prefix_;
};

// Arrays and records with initialisers of their own form cannot be assigned.
std::string InitialiserObstacle(const Draft& draft, const JamScope& scope) {
  const Tree& tree = draft.tree;
  for (const NodeId id : FindAll(tree, draft.facts.body, Kind::kVariable)) {
    const NodeId value = Initialiser(tree, id);
    if (value == kNone || scope.OfVariable(id) == 0) continue;
    const Node& node = tree.at(id);
    if (node.canonical.find('[') != std::string::npos || IsA(tree, value, Kind::kInitList)) {
      return "the initialiser of '" + node.name + "'";
    }
  }
  return "";
}

}  // namespace

base::Result<> JamThreads(Draft& draft, const JamOptions& options) {
  TRY(CheckRepeatable(draft));
  if (options.jammed) {
    std::string obstacle = Obstacle(draft.tree, draft.facts);
    if (obstacle.empty()) {
      obstacle = InitialiserObstacle(draft, JamScope(draft, kAlongX | kAlongY));
    }
    if (!obstacle.empty()) {
      return base::Fail(base::Unsupported("copies cannot share a scope: " + obstacle));
    }
  }
  const std::string body = JamWriter(draft, options).Run();
  Edits edits(draft.tree.text);
  const Node& at = draft.tree.at(draft.facts.body);
  edits.Replace(at.begin, at.end, body);
  return Change(draft, edits);
}

}  // namespace cupilot::source
