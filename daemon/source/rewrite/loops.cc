#include "source/rewrite/loops.h"

#include <algorithm>
#include <set>

#include "source/rewrite/inspect.h"

namespace cupilot::source {
namespace {

std::optional<std::int64_t> NumberAt(const Tree& tree, NodeId expression) {
  const NodeId id = SkipParensAndCasts(tree, expression);
  if (id == kNone || tree.at(id).value.empty() || tree.at(id).value.size() > 18)
    return std::nullopt;
  return std::stoll(tree.at(id).value);
}

bool ChangesInside(const Draft& draft, NodeId variable, NodeId outer) {
  const auto found = draft.facts.modifications.find(variable);
  if (found == draft.facts.modifications.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(),
                     [&](NodeId change) { return IsInside(draft.tree, change, outer); });
}

// Why an expression may have another value after the loop's body ran; "" if it cannot.
std::string Varies(const Draft& draft, NodeId expression, NodeId loop, NodeId own) {
  const Tree& tree = draft.tree;
  const Facts& facts = draft.facts;
  const NodeId body = LoopBody(tree, loop);
  if (!IsPure(tree, facts, expression)) return "its bound has effects";
  if (LoadsMemory(tree, facts, expression) && StoresMemory(tree, facts, body)) {
    return "its bound is read from memory while the body writes";
  }
  const NodeId changing = FindBelow(tree, expression, [&](NodeId id) {
    const NodeId variable = VariableOf(tree, id);
    if (variable == kNone || tree.at(id).kind != Kind::kDeclRef) return false;
    return variable == own || ChangesInside(draft, variable, loop) ||
           (facts.address_taken.count(variable) > 0 && IsLocalVariable(tree, facts, variable));
  });
  return changing == kNone ? ""
                           : "its bound depends on '" + std::string(tree.TextOf(changing)) + "'";
}

// The step of ++i, i++, i += 2, i = i + 2.
std::optional<std::int64_t> StepOf(const Tree& tree, NodeId increment, NodeId variable) {
  if (increment == kNone || !IsModification(tree, increment)) return std::nullopt;
  if (VariableOf(tree, TargetOf(tree, increment)) != variable) return std::nullopt;
  const Node& node = tree.at(increment);
  if (node.kind == Kind::kUnary && node.name == "++") return 1;
  if (node.kind == Kind::kCompoundAssign && node.name == "+=") {
    return NumberAt(tree, Child(tree, increment, 1));
  }
  return std::nullopt;
}

// The operator's or function's other operand where one operand is the variable, kNone else.
NodeId OtherOperand(const Tree& tree, NodeId left, NodeId right, NodeId variable) {
  if (VariableOf(tree, left) == variable) return right;
  return VariableOf(tree, right) == variable ? left : kNone;
}

bool Mentions(const Tree& tree, NodeId root, NodeId variable) {
  return FindBelow(tree, root, [&](NodeId id) {
           return tree.at(id).kind == Kind::kDeclRef && VariableOf(tree, id) == variable;
         }) != kNone;
}

bool IsExtremum(const std::string& name) {
  static const std::set<std::string> kNames = {"fmaxf", "fminf", "fmax", "fmin", "max", "min"};
  return kNames.count(name) > 0;
}

std::string CombineOf(const std::string& spelling) {
  const std::string name =
      spelling.ends_with("=") ? spelling.substr(0, spelling.size() - 1) : spelling;
  if (name == "-") return "+";
  return name == "+" || name == "*" || name == "&" || name == "|" || name == "^" ? name : "";
}

// What v = (value) does to v; "" if it is not a reduction.
std::string CombineOfValue(const Tree& tree, NodeId value, NodeId variable) {
  const NodeId id = SkipParens(tree, value);
  if (id == kNone) return "";
  const Node& node = tree.at(id);
  if (node.kind == Kind::kBinary) {
    const NodeId left = Child(tree, id, 0), right = Child(tree, id, 1);
    const NodeId other = OtherOperand(tree, left, right, variable);
    if (other == kNone || Mentions(tree, other, variable)) return "";
    if (node.name == "-" && other == left) return "";
    return CombineOf(node.name);
  }
  const std::string callee = SystemCallee(tree, id);
  const std::vector<NodeId> arguments =
      callee.empty() ? std::vector<NodeId>{} : Arguments(tree, id);
  if ((callee == "fmaf" || callee == "fma") && arguments.size() == 3) {
    const bool sum = VariableOf(tree, arguments[2]) == variable &&
                     !Mentions(tree, arguments[0], variable) &&
                     !Mentions(tree, arguments[1], variable);
    return sum ? "+" : "";
  }
  if (!IsExtremum(callee) || arguments.size() != 2) return "";
  const NodeId other = OtherOperand(tree, arguments[0], arguments[1], variable);
  return other == kNone || Mentions(tree, other, variable) ? "" : callee;
}

bool HasFloating(const Tree& tree, NodeId root) {
  return FindBelow(tree, root, [&](NodeId id) {
           const std::string& type = tree.at(id).canonical;
           return type.find("float") != std::string::npos ||
                  type.find("double") != std::string::npos;
         }) != kNone;
}

bool IsOwnStatement(const Tree& tree, NodeId expression) {
  const NodeId parent = tree.at(expression).parent;
  if (parent == kNone) return false;
  const Kind kind = tree.at(parent).kind;
  if (kind == Kind::kCompound) return true;
  if (kind == Kind::kIf) return Condition(tree, parent) != expression;
  return IsLoop(kind) && LoopBody(tree, parent) == expression;
}

}  // namespace

base::Result<CountingLoop> ReadLoop(const Draft& draft, NodeId loop) {
  const Tree& tree = draft.tree;
  if (!IsA(tree, loop, Kind::kFor)) return Declined("a loop that is no for loop");
  CountingLoop found;
  found.loop = loop;
  found.body = LoopBody(tree, loop);
  const NodeId init = Child(tree, loop, 0);
  if (!IsA(tree, init, Kind::kDeclStatement) || tree.at(init).children.size() != 1) {
    return Declined("a loop that does not declare its one counter");
  }
  found.variable = Child(tree, init, 0);
  found.start = Initialiser(tree, found.variable);
  const Node& variable = tree.at(found.variable);
  const std::int64_t bytes = variable.type_bytes;
  if (!IsIntegerType(variable.canonical) || Has(tree, found.variable, kReference) ||
      (bytes != 4 && bytes != 8) || found.start == kNone) {
    return Declined("a loop whose counter is no integer");
  }
  const NodeId condition = SkipParens(tree, Condition(tree, loop));
  if (!IsA(tree, condition, Kind::kBinary)) return Declined("a loop without a plain bound");
  const std::string& compare = tree.at(condition).name;
  found.bound = Child(tree, condition, 1);
  found.inclusive = compare == "<=";
  if ((compare != "<" && compare != "<=") ||
      VariableOf(tree, Child(tree, condition, 0)) != found.variable ||
      !IsIntegerType(tree.at(found.bound).canonical)) {
    return Declined("a loop without a plain bound");
  }
  const auto step = StepOf(tree, Child(tree, loop, 2), found.variable);
  if (!step || *step < 1 || *step > 4096)
    return Declined("a loop whose counter does not grow by a constant");
  found.step = *step;
  const auto changes = draft.facts.modifications.find(found.variable);
  if (changes == draft.facts.modifications.end() || changes->second.size() != 1 ||
      draft.facts.address_taken.count(found.variable) > 0) {
    return Declined("a loop whose body changes its counter");
  }
  const std::string varies = Varies(draft, found.bound, loop, found.variable);
  if (!varies.empty()) return Declined("a loop that is not counted: " + varies);
  if (found.body == kNone) return Declined("a loop without a body");
  return found;
}

std::string JumpIn(const Draft& draft, NodeId statement) {
  const Tree& tree = draft.tree;
  const NodeId jump = FindBelow(tree, statement, [&](NodeId id) {
    switch (tree.at(id).kind) {
      case Kind::kBreak:
      case Kind::kContinue:
      case Kind::kReturn:
      case Kind::kGoto:
      case Kind::kLabel:
      case Kind::kSwitch:
      case Kind::kLambda:
      case Kind::kAsm:
        return true;
      default:
        return IsBarrierCall(tree, id);
    }
  });
  if (jump == kNone) return "";
  std::string text(tree.TextOf(jump));
  return text.substr(0, text.find_first_of(" \n("));
}

std::optional<Reduction> ReductionOf(const Draft& draft, NodeId expression) {
  const Tree& tree = draft.tree;
  const Node& node = tree.at(expression);
  if (node.kind != Kind::kAssign && node.kind != Kind::kCompoundAssign) return std::nullopt;
  if (!IsOwnStatement(tree, expression)) return std::nullopt;
  const NodeId variable = VariableOf(tree, TargetOf(tree, expression));
  const NodeId value = Child(tree, expression, 1);
  if (variable == kNone) return std::nullopt;
  if (node.kind == Kind::kCompoundAssign) {
    const std::string combine = CombineOf(node.name);
    if (combine.empty() || Mentions(tree, value, variable)) return std::nullopt;
    return Reduction{expression, variable, combine};
  }
  const std::string combine = CombineOfValue(tree, value, variable);
  if (combine.empty()) return std::nullopt;
  return Reduction{expression, variable, combine};
}

std::vector<Reduction> ReductionsIn(const Draft& draft, NodeId loop) {
  const Tree& tree = draft.tree;
  const Facts& facts = draft.facts;
  std::vector<Reduction> all;
  Walk(tree, LoopBody(tree, loop), [&](NodeId id) {
    const auto reduction = ReductionOf(draft, id);
    if (reduction) all.push_back(*reduction);
    return true;
  });
  const auto fits = [&](const Reduction& one) {
    const std::string& type = tree.at(one.variable).canonical;
    const bool scalar = IsFloating(tree, one.variable) || IsIntegerType(type);
    // An integer that takes floating values is cut off at each step: parts would be cut elsewhere.
    const bool cut = IsIntegerType(type) && HasFloating(tree, one.statement);
    if (!scalar || cut || !IsLocalVariable(tree, facts, one.variable) ||
        Has(tree, one.variable, kReference) || Has(tree, one.variable, kVolatile) ||
        IsInside(tree, one.variable, loop) || facts.address_taken.count(one.variable) > 0) {
      return false;
    }
    const auto uses = facts.references.find(one.variable);
    if (uses == facts.references.end()) return false;
    return std::all_of(uses->second.begin(), uses->second.end(), [&](NodeId use) {
      if (!IsInside(tree, use, loop)) return true;
      return std::any_of(all.begin(), all.end(), [&](const Reduction& other) {
        return other.variable == one.variable && other.combine == one.combine &&
               IsInside(tree, use, other.statement);
      });
    });
  };
  std::vector<Reduction> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found), fits);
  return found;
}

bool IsFloating(const Tree& tree, NodeId variable) {
  const std::string& type = tree.at(variable).canonical;
  return type == "float" || type == "double";
}

bool NeedsBitwise(const Draft& draft) {
  return draft.kernel.tolerance && draft.kernel.tolerance->bitwise;
}

std::string StatementText(const Tree& tree, NodeId statement) {
  const Kind kind = tree.at(statement).kind;
  const bool complete = kind == Kind::kCompound || kind == Kind::kDeclStatement;
  return std::string(tree.TextOf(statement)) + (complete ? "" : ";");
}

}  // namespace cupilot::source
