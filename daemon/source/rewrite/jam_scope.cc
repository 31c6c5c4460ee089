#include "source/rewrite/jam_scope.h"

#include "source/rewrite/inspect.h"

namespace cupilot::source {
namespace {

bool HasJump(const Tree& tree, NodeId loop) {
  return FindBelow(tree, LoopBody(tree, loop), [&](NodeId id) {
           const Kind kind = tree.at(id).kind;
           return kind == Kind::kBreak || kind == Kind::kContinue || kind == Kind::kReturn;
         }) != kNone;
}

}  // namespace

JamScope::JamScope(const Draft& draft, Axes axes)
    : draft_(draft), axes_(axes), sums_(GlobalIndices(draft)) {
  FindIndices();
  const Tree& tree = draft.tree;
  const Facts& facts = draft.facts;
  for (bool changed = true; changed;) {
    changed = false;
    for (const NodeId variable : FindAll(tree, facts.body, Kind::kVariable)) {
      if (!IsLocalVariable(tree, facts, variable)) continue;
      const NodeId value = Initialiser(tree, variable);
      if (value != kNone) {
        // A value that comes out of a change of memory is each thread's own.
        const bool own = StoresMemory(tree, facts, value);
        changed |= Raise(variable, own ? axes_ : Of(value));
      }
    }
    for (const auto& [variable, changes] : facts.modifications) {
      if (!IsLocalVariable(tree, facts, variable)) continue;
      for (const NodeId change : changes) {
        // What a pointer points to is not the pointer.
        const bool itself =
            IsModification(tree, change) && VariableOf(tree, TargetOf(tree, change)) == variable;
        if (IsPointerType(tree.at(variable).canonical) && !itself) continue;
        bool wrapped = false;
        Axes along = Of(change) | ControlOf(change, variable, wrapped);
        if (wrapped || StoresMemory(tree, facts, change)) along = axes_;
        changed |= Raise(variable, along);
      }
    }
  }
}

void JamScope::FindIndices() {
  const Tree& tree = draft_.tree;
  const Facts& facts = draft_.facts;
  for (const NodeId variable : FindAll(tree, facts.body, Kind::kVariable)) {
    const NodeId value = Initialiser(tree, variable);
    if (value == kNone || !IsLocalVariable(tree, facts, variable)) continue;
    if (!IsIntegerType(tree.at(variable).canonical) || Has(tree, variable, kReference)) continue;
    if (facts.modifications.count(variable) > 0 || facts.address_taken.count(variable) > 0)
      continue;
    const NodeId other = FindBelow(tree, value, [&](NodeId id) {
      const Node& node = tree.at(id);
      switch (node.kind) {
        case Kind::kBinary:
        case Kind::kParen:
        case Kind::kCast:
        case Kind::kIntLiteral:
        case Kind::kMember:
          return false;
        case Kind::kUnary:
          return node.name != "-" && node.name != "+";
        case Kind::kDeclRef: {
          if (IsBuiltInVariable(tree, id)) return false;
          const NodeId used = VariableOf(tree, id);
          if (used == kNone) return true;
          // What it is computed from must not change between here and a use.
          const bool constant = IsA(tree, used, Kind::kParameter) || indices_.count(used) > 0 ||
                                Has(tree, used, kConstexpr);
          return !constant || facts.modifications.count(used) > 0;
        }
        default:
          return true;
      }
    });
    if (other == kNone) indices_.insert(variable);
  }
}

bool JamScope::Raise(NodeId variable, Axes axes) {
  Axes& held = variables_[variable];
  const Axes before = held;
  held |= axes & axes_;
  return held != before;
}

Axes JamScope::OfVariable(NodeId variable) const {
  const auto found = variables_.find(variable);
  return found == variables_.end() ? 0 : found->second;
}

Axes JamScope::Of(NodeId root) const {
  const Tree& tree = draft_.tree;
  Axes along = 0;
  if (root == kNone) return along;
  Walk(tree, root, [&](NodeId id) {
    for (const GlobalIndex& index : sums_) {
      if (index.sum == id) {
        along |= index.axis == 'x' ? kAlongX : index.axis == 'y' ? kAlongY : 0;
        return false;
      }
    }
    const NodeId variable = IsA(tree, id, Kind::kDeclRef) ? VariableOf(tree, id) : kNone;
    if (variable != kNone) along |= OfVariable(variable);
    return true;
  });
  return along & axes_;
}

// What decides whether the change is made, within the scope in which the variable lives. `wrapped`:
// the change lies in a statement that runs once for each thread.
Axes JamScope::ControlOf(NodeId change, NodeId variable, bool& wrapped) const {
  const Tree& tree = draft_.tree;
  Axes along = 0;
  for (NodeId at = change; at != kNone && at != draft_.facts.body; at = tree.at(at).parent) {
    const NodeId parent = tree.at(at).parent;
    const Kind kind = parent == kNone ? Kind::kTranslationUnit : tree.at(parent).kind;
    if (kind == Kind::kIf) {
      const Axes condition = Of(Condition(tree, parent));
      along |= condition;
      if (condition != 0 && !IsInside(tree, variable, parent)) wrapped = true;
    } else if (IsLoop(kind)) {
      along |= Of(Condition(tree, parent));
      const bool outside = !IsInside(tree, variable, LoopBody(tree, parent));
      if (outside && !IsUniformLoop(parent)) wrapped = true;
    } else if (kind == Kind::kSwitch || kind == Kind::kConditional) {
      if (!IsInside(tree, variable, parent)) wrapped = true;
    } else if (kind == Kind::kBinary &&
               (tree.at(parent).name == "&&" || tree.at(parent).name == "||")) {
      wrapped = true;
    }
    // The variable's own scope ends here.
    if (IsA(tree, parent, Kind::kCompound) && IsInside(tree, variable, parent) &&
        !IsA(tree, variable, Kind::kParameter)) {
      break;
    }
  }
  return along;
}

bool JamScope::IsUniformLoop(NodeId loop) const {
  const Tree& tree = draft_.tree;
  const Kind kind = tree.at(loop).kind;
  if (kind != Kind::kFor && kind != Kind::kWhile && kind != Kind::kDo) return false;
  if (HasJump(tree, loop)) return false;
  const NodeId condition = Condition(tree, loop);
  if (condition == kNone || Of(condition) != 0 || !IsPure(tree, draft_.facts, condition))
    return false;
  if (kind != Kind::kFor) return true;
  const NodeId init = Child(tree, loop, 0), step = Child(tree, loop, 2);
  for (const NodeId part : {init, step}) {
    if (part == kNone) continue;
    if (Of(part) != 0 || StoresMemory(tree, draft_.facts, part)) return false;
  }
  return true;
}

Axes JamScope::Repeats(NodeId statement) const {
  const Tree& tree = draft_.tree;
  if (StoresMemory(tree, draft_.facts, statement)) return axes_;
  return Of(statement);
}

}  // namespace cupilot::source
