#include "source/waiting.h"

#include <algorithm>
#include <set>

#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

constexpr int kCallsDeep = 3;

bool IsKnown(const Tree& tree, NodeId id) {
  id = SkipParensAndCasts(tree, id);
  return id != kNone && (!tree.at(id).value.empty() || IsA(tree, id, Kind::kBoolLiteral) ||
                         IsA(tree, id, Kind::kIntLiteral));
}

// A value with which an atomic leaves the memory as it is.
bool ChangesNothing(const Tree& tree, std::string_view name, NodeId operand) {
  operand = SkipParensAndCasts(tree, operand);
  if (operand == kNone) return false;
  const std::string& value = tree.at(operand).value;
  if (name.starts_with("atomicAnd")) return value == "-1" || value == "4294967295";
  return value == "0" && (name.starts_with("atomicAdd") || name.starts_with("atomicSub") ||
                          name.starts_with("atomicOr") || name.starts_with("atomicXor") ||
                          name.starts_with("atomicMax"));
}

bool IsLibraryAtomic(const Tree& tree, NodeId object) {
  return object != kNone && tree.at(object).canonical.find("atomic") != std::string::npos;
}

enum class Asks { kNot, kIfItDecides, kAlways };

// How a call of a library's function looks at memory that others write.
Asks LooksAtMemory(const Tree& tree, NodeId call) {
  const NodeId callee = SkipParens(tree, Callee(tree, call));
  if (callee == kNone) return Asks::kNot;
  const std::string& name = tree.at(callee).name;
  if (IsA(tree, callee, Kind::kMember) && IsLibraryAtomic(tree, Child(tree, callee, 0))) {
    return name == "wait" ? Asks::kAlways : name == "load" ? Asks::kIfItDecides : Asks::kNot;
  }
  if (!Has(tree, tree.at(callee).declaration, kSystem)) return Asks::kNot;
  const std::vector<NodeId> arguments = Arguments(tree, call);
  if (name == "__ldcg" || name == "__ldcv") return Asks::kIfItDecides;
  if (name.starts_with("atomicCAS") && arguments.size() >= 3) {
    const bool lock = IsKnown(tree, arguments[1]) && IsKnown(tree, arguments[2]);
    return lock ? Asks::kIfItDecides : Asks::kNot;
  }
  if (arguments.size() < 2) return Asks::kNot;
  if (name.starts_with("atomicExch")) {
    return IsKnown(tree, arguments[1]) ? Asks::kIfItDecides : Asks::kNot;
  }
  return ChangesNothing(tree, name, arguments[1]) ? Asks::kIfItDecides : Asks::kNot;
}

// The same for a function of the user's that does nothing else with its result but return it, or
// decides by it.
Asks LooksDeeply(const Tree& tree, NodeId call, int deep) {
  const Asks asks = LooksAtMemory(tree, call);
  const NodeId callee = SkipParens(tree, Callee(tree, call));
  if (asks != Asks::kNot || deep == 0 || callee == kNone) return asks;
  const NodeId declaration = tree.at(callee).declaration;
  if (!IsA(tree, declaration, Kind::kFunction) || Has(tree, declaration, kSystem)) return asks;
  const NodeId function = FindDefinition(tree, tree.at(declaration).qualified);
  const std::vector<NodeId> calls = FindAll(tree, function, Kind::kCall);
  const bool some = std::any_of(calls.begin(), calls.end(), [&](NodeId inner) {
    return !IsA(tree, tree.at(inner).parent, Kind::kCompound) &&
           LooksDeeply(tree, inner, deep - 1) != Asks::kNot;
  });
  return some ? Asks::kIfItDecides : Asks::kNot;
}

class Loop {
 public:
  Loop(const Tree& tree, NodeId loop) : tree_(tree), loop_(loop) {
    Walk(tree, loop, [&](NodeId id) {
      const Node& node = tree.at(id);
      const bool steps = node.kind == Kind::kUnary && (node.name == "++" || node.name == "--");
      if (node.kind == Kind::kAssign || node.kind == Kind::kCompoundAssign || steps) {
        Changed(Child(tree, id, 0));
      }
      return true;
    });
  }

  NodeId Find() const {
    for (const Kind kind : {Kind::kCall, Kind::kMemberCall}) {
      for (const NodeId call : FindAll(tree_, loop_, kind)) {
        if (NearestLoop(call) != loop_) continue;
        const Asks asks = LooksDeeply(tree_, call, kCallsDeep);
        if (asks == Asks::kAlways) return call;
        if (asks == Asks::kIfItDecides && Decides(call) && IsTheSamePlace(call)) return call;
      }
    }
    return kNone;
  }

 private:
  void Changed(NodeId left) {
    left = SkipParens(tree_, left);
    if (IsA(tree_, left, Kind::kDeclRef)) changed_.insert(tree_.at(left).declaration);
  }

  NodeId NearestLoop(NodeId id) const {
    while (id != kNone && !IsLoop(tree_.at(id).kind)) id = tree_.at(id).parent;
    return id;
  }

  bool IsIn(NodeId id, NodeId ancestor) const {
    return ancestor != kNone && IsInside(tree_, id, ancestor);
  }

  // Whether the loop goes on depends on the call's result.
  bool Decides(NodeId call) const {
    const NodeId condition = Condition(tree_, loop_);
    if (IsIn(call, condition)) return true;
    const NodeId variable = Receiver(call);
    if (variable != kNone && condition != kNone &&
        !ReferencesTo(tree_, condition, variable).empty()) {
      return true;
    }
    for (const NodeId branch : FindAll(tree_, loop_, Kind::kIf)) {
      const NodeId test = Condition(tree_, branch);
      const bool tested = IsIn(call, test) || (variable != kNone && test != kNone &&
                                               !ReferencesTo(tree_, test, variable).empty());
      if (tested && EndsTheLoop(branch)) return true;
    }
    return false;
  }

  // The variable that the call's result is kept in.
  NodeId Receiver(NodeId call) const {
    for (NodeId up = tree_.at(call).parent; up != kNone && up != loop_; up = tree_.at(up).parent) {
      if (IsA(tree_, up, Kind::kVariable)) return up;
      if (IsA(tree_, up, Kind::kAssign)) {
        const NodeId left = SkipParens(tree_, Child(tree_, up, 0));
        return IsA(tree_, left, Kind::kDeclRef) ? tree_.at(left).declaration : kNone;
      }
      if (IsA(tree_, up, Kind::kCompound)) break;
    }
    return kNone;
  }

  // A loop that counts ends by itself. Else a branch ends it by leaving, or by what it assigns.
  bool EndsTheLoop(NodeId branch) const {
    const NodeId condition = Condition(tree_, loop_);
    if (IsA(tree_, loop_, Kind::kFor) && Child(tree_, loop_, 2) != kNone && condition != kNone) {
      return false;
    }
    if (IsA(tree_, loop_, Kind::kRangeFor)) return false;
    if (condition == kNone || IsKnown(tree_, condition)) {
      return !FindAll(tree_, branch, Kind::kBreak).empty() ||
             !FindAll(tree_, branch, Kind::kReturn).empty();
    }
    for (const NodeId assignment : FindAll(tree_, branch, Kind::kAssign)) {
      const NodeId left = SkipParens(tree_, Child(tree_, assignment, 0));
      if (IsA(tree_, left, Kind::kDeclRef) &&
          !ReferencesTo(tree_, condition, tree_.at(left).declaration).empty()) {
        return true;
      }
    }
    return false;
  }

  // Each round asks about the same memory: an element that the round has chosen is no lock.
  bool IsTheSamePlace(NodeId call) const {
    const NodeId callee = SkipParens(tree_, Callee(tree_, call));
    if (IsA(tree_, callee, Kind::kMember)) return IsFixed(Child(tree_, callee, 0), 3);
    const bool library = Has(tree_, tree_.at(callee).declaration, kSystem);
    for (const NodeId argument : Arguments(tree_, call)) {
      if (!IsFixed(argument, 3)) return false;
      if (library) break;  // the address comes first
    }
    return true;
  }

  bool IsFixed(NodeId expression, int deep) const {
    const std::vector<NodeId> references = FindAll(tree_, expression, Kind::kDeclRef);
    return std::all_of(references.begin(), references.end(), [&](NodeId reference) {
      const NodeId declaration = tree_.at(reference).declaration;
      if (changed_.count(declaration) > 0) return false;
      if (!IsA(tree_, declaration, Kind::kVariable) || !IsIn(declaration, loop_)) return true;
      const NodeId value = Initialiser(tree_, declaration);
      return deep > 0 && value != kNone && FindAll(tree_, value, Kind::kCall).empty() &&
             IsFixed(value, deep - 1);
    });
  }

  const Tree& tree_;
  NodeId loop_;
  std::set<NodeId> changed_;  // declarations
};

}  // namespace

NodeId WaitingCall(const Tree& tree, NodeId loop) { return Loop(tree, loop).Find(); }

bool IsOfSystemScope(const std::string& canonical) {
  static constexpr std::string_view kNames[] = {
      "atomic<",           "atomic_ref<", "barrier<", "latch<", "counting_semaphore<",
      "binary_semaphore<", "atomic_flag"};
  const std::size_t library = canonical.find("cuda::");
  if (library == std::string::npos) return false;
  const bool names = std::any_of(std::begin(kNames), std::end(kNames), [&](std::string_view name) {
    return canonical.find("::" + std::string(name), library) != std::string::npos;
  });
  // System is what is not written.
  return names && (canonical.find("thread_scope_") == std::string::npos ||
                   canonical.find("thread_scope_system") != std::string::npos);
}

}  // namespace cupilot::source
