#include "source/rewrite/facts.h"

#include <algorithm>
#include <functional>

namespace cupilot::source {

namespace {

// Names of the system's functions that tie a kernel to its arrangement of threads.
bool IsRigidCall(std::string_view name) {
  static constexpr std::string_view kPrefixes[] = {
      "__shfl",         "__ballot",       "__any",         "__all",          "__syncwarp",
      "__activemask",   "__match",        "__reduce_",     "__threadfence",  "__nanosleep",
      "clock",          "printf",         "__trap",        "assert",         "__assert",
      "__syncthreads_", "__barrier_sync", "__globaltimer", "__prof_trigger", "malloc",
      "free",           "__cluster",      "__nvvm"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool IsWarpExchange(std::string_view name) {
  return name.starts_with("__shfl") || name == "__syncwarp";
}

bool IsAtomic(std::string_view name) { return name.starts_with("atomic"); }

// A value is used unless its expression is a statement by itself.
bool ValueIsUsed(const Tree& tree, NodeId expression) {
  NodeId node = expression;
  for (NodeId parent = tree.at(node).parent; parent != kNone; parent = tree.at(node).parent) {
    const Node& above = tree.at(parent);
    if (above.kind == Kind::kParen) {
      node = parent;
      continue;
    }
    if (above.kind == Kind::kCompound) return false;
    if (above.kind == Kind::kIf) return Child(tree, parent, 1) == node;
    if (IsLoop(above.kind)) return Child(tree, parent, above.children.size() - 1) != node;
    return true;
  }
  return false;
}

class Collector {
 public:
  Collector(const Tree& tree, Facts& facts) : tree_(tree), facts_(facts) {}

  void Kernel(NodeId body) {
    Walk(tree_, body, [&](NodeId id) {
      Common(id);
      Local(id);
      return true;
    });
  }

 private:
  void Rigid(const std::string& why, bool warp = false) {
    if (facts_.rigid.empty()) facts_.rigid = why;
    if (!warp && facts_.rigid_besides_warps.empty()) facts_.rigid_besides_warps = why;
  }

  // What counts in the kernel and in all that it calls.
  void Common(NodeId id) {
    const Node& node = tree_.at(id);
    if (node.kind == Kind::kAsm) Rigid("it has inline assembly");
    if (node.kind == Kind::kGoto || node.kind == Kind::kLabel) Rigid("it jumps with goto");
    if (node.kind == Kind::kLambda) Rigid("it has a lambda");
    if (node.kind == Kind::kVariable && (node.flags & kVolatile) != 0) Rigid("it uses volatile");
    if (node.kind == Kind::kVariable && (node.flags & kStatic) != 0 &&
        (node.flags & (kConst | kConstexpr | kSharedAttr)) == 0) {
      Rigid("it has a static variable");
    }
    if (node.canonical.find("cooperative_groups") != std::string::npos) {
      Rigid("it uses cooperative groups");
    }
    if (node.kind == Kind::kDeclRef && node.declaration != kNone) {
      const Node& named = tree_.at(node.declaration);
      if ((named.flags & kSystem) != 0 && named.name == "warpSize") Rigid("it depends on warps");
    }
    if (node.kind == Kind::kCall) CallOf(id);
  }

  void CallOf(NodeId id) {
    const std::string name = SystemCallee(tree_, id);
    if (!name.empty()) {
      if (IsRigidCall(name)) Rigid("it calls " + name, IsWarpExchange(name));
      if (IsAtomic(name)) {
        facts_.atomics = true;
        if (ValueIsUsed(tree_, id)) facts_.atomic_result_used = true;
      }
      return;
    }
    const NodeId callee = UserCallee(tree_, id);
    if (callee == kNone || Body(tree_, callee) == kNone) {
      if (tree_.at(id).name.empty() || callee != kNone) {
        Rigid("it calls something that cannot be followed");
      }
      return;
    }
    if (!visited_.insert(callee).second) return;
    Walk(tree_, Body(tree_, callee), [&](NodeId node) {
      Common(node);
      Inside(callee, node);
      return true;
    });
  }

  // Additional facts from inside a device function.
  void Inside(NodeId function, NodeId id) {
    if (IndexOf(tree_, id)) facts_.device_index = true;
    const bool atomic = tree_.at(id).kind == Kind::kCall && IsAtomic(SystemCallee(tree_, id));
    if (IsBarrierCall(tree_, id) || atomic) facts_.device_effects = true;
    if (!IsModification(tree_, id)) return;
    const NodeId target = TargetOf(tree_, id);
    const NodeId root = RootOf(tree_, target);
    const bool own = root != kNone && tree_.at(root).kind == Kind::kVariable &&
                     Contains(tree_, function, root) && (tree_.at(root).flags & kSharedAttr) == 0 &&
                     !IsPointerType(tree_.at(root).canonical) &&
                     (tree_.at(root).flags & kReference) == 0;
    const bool parameter = root != kNone && tree_.at(root).kind == Kind::kParameter &&
                           VariableOf(tree_, target) == root &&
                           (tree_.at(root).flags & kReference) == 0;
    if (!own && !parameter) facts_.device_effects = true;
  }

  // Facts of the kernel's own statements.
  void Local(NodeId id) {
    const Node& node = tree_.at(id);
    if (IsBarrierCall(tree_, id)) facts_.barrier = true;
    if (node.kind == Kind::kVariable && (node.flags & kSharedAttr) != 0) {
      facts_.shared = true;
      if ((node.flags & kExtern) != 0) facts_.dynamic_shared = true;
    }
    if (node.kind == Kind::kVariable && (node.flags & kReference) != 0) {
      const NodeId root = RootOf(tree_, Child(tree_, id, 0));
      if (root != kNone) {
        facts_.address_taken.insert(root);
        facts_.written.insert(root);
      } else {
        facts_.writes_unknown = true;
      }
    }
    if (node.kind == Kind::kDeclRef) {
      const NodeId variable = VariableOf(tree_, id);
      if (variable != kNone) Reference(variable, id);
    }
    if (IsModification(tree_, id)) Change(id, TargetOf(tree_, id));
    if (node.kind == Kind::kUnary && node.name == "&") {
      const NodeId root = RootOf(tree_, Child(tree_, id, 0));
      if (root != kNone) facts_.address_taken.insert(root);
    }
    if (node.kind == Kind::kMemberCall) {
      const NodeId root = RootOf(tree_, Child(tree_, Child(tree_, id, 0), 0));
      if (root != kNone) {
        facts_.modifications[root].push_back(id);
        facts_.address_taken.insert(root);
      }
    }
    if (node.kind == Kind::kCall) CallArguments(id);
  }

  void Reference(NodeId variable, NodeId id) {
    facts_.references[variable].push_back(id);
    if (tree_.at(variable).canonical.find('[') == std::string::npos) return;
    // An array that is not subscripted at once becomes a pointer to who knows where.
    NodeId parent = tree_.at(id).parent;
    while (parent != kNone && tree_.at(parent).kind == Kind::kParen)
      parent = tree_.at(parent).parent;
    if (parent != kNone && tree_.at(parent).kind != Kind::kSubscript) {
      facts_.address_taken.insert(variable);
    }
  }

  void Change(NodeId id, NodeId target) {
    const NodeId variable = VariableOf(tree_, target);
    if (variable != kNone) {
      facts_.modifications[variable].push_back(id);
      return;
    }
    const NodeId root = RootOf(tree_, target);
    if (root == kNone) {
      facts_.writes_unknown = true;
      return;
    }
    facts_.modifications[root].push_back(id);
    facts_.written.insert(root);
  }

  void CallArguments(NodeId id) {
    const std::string name = SystemCallee(tree_, id);
    const std::vector<NodeId> arguments = Arguments(tree_, id);
    if (!name.empty() && !IsAtomic(name)) return;
    const NodeId callee = UserCallee(tree_, id);
    const std::vector<NodeId> parameters =
        callee == kNone ? std::vector<NodeId>{} : Parameters(tree_, callee);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (!name.empty() && i > 0) break;  // an atomic writes behind its first argument
      NodeId argument = SkipParensAndCasts(tree_, arguments[i]);
      if (argument == kNone) continue;
      if (tree_.at(argument).kind == Kind::kUnary && tree_.at(argument).name == "&") {
        argument = Child(tree_, argument, 0);
      } else if (name.empty()) {
        const std::string type =
            i < parameters.size() ? tree_.at(parameters[i]).canonical : std::string();
        const bool reference =
            i < parameters.size() && (tree_.at(parameters[i]).flags & kReference);
        if (!reference && (!IsPointerType(type) || type.starts_with("const "))) continue;
        if (reference && type.starts_with("const ")) continue;
        if (reference && VariableOf(tree_, argument) != kNone) {
          facts_.modifications[VariableOf(tree_, argument)].push_back(id);
          facts_.address_taken.insert(VariableOf(tree_, argument));
        }
      }
      const NodeId root = RootOf(tree_, argument);
      if (root == kNone) {
        facts_.writes_unknown = true;
      } else {
        facts_.written.insert(root);
      }
    }
  }

  const Tree& tree_;
  Facts& facts_;
  std::set<NodeId> visited_;
};

// A local pointer that was computed from a parameter stands for it: both count as written.
void FollowPointers(const Tree& tree, Facts& facts) {
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<NodeId> roots(facts.written.begin(), facts.written.end());
    for (NodeId variable : roots) {
      if (tree.at(variable).kind != Kind::kVariable) continue;
      if (!IsPointerType(tree.at(variable).canonical)) continue;
      std::vector<NodeId> values = {Child(tree, variable, 0)};
      const auto found = facts.modifications.find(variable);
      if (found != facts.modifications.end()) {
        for (NodeId change : found->second) {
          if (tree.at(change).kind == Kind::kAssign) values.push_back(Child(tree, change, 1));
        }
      }
      for (NodeId value : values) {
        if (value == kNone) continue;
        NodeId inner = SkipParensAndCasts(tree, value);
        if (inner != kNone && tree.at(inner).kind == Kind::kUnary && tree.at(inner).name == "&") {
          inner = Child(tree, inner, 0);
        }
        const NodeId root = RootOf(tree, inner);
        if (root == kNone) {
          changed = changed || !facts.writes_unknown;
          facts.writes_unknown = true;
        } else if (facts.written.insert(root).second) {
          changed = true;
        }
      }
    }
  }
}

}  // namespace

Facts FactsOf(const Tree& tree, NodeId function) {
  Facts facts;
  facts.function = function;
  facts.body = Body(tree, function);
  const Node& node = tree.at(function);
  if ((node.flags & kTemplate) != 0) facts.rigid = "it is a template";
  if (facts.body == kNone) {
    facts.rigid = facts.rigid_besides_warps = "its body is not in this text";
    return facts;
  }
  const std::string head = tree.text.substr(node.begin, tree.at(facts.body).begin - node.begin);
  facts.launch_bounds = head.find("launch_bounds") != std::string::npos;
  for (NodeId parameter : Parameters(tree, function)) {
    if ((tree.at(parameter).flags & kVolatile) != 0) facts.rigid = "it uses volatile";
  }
  facts.rigid_besides_warps = facts.rigid;
  Collector(tree, facts).Kernel(facts.body);
  FollowPointers(tree, facts);
  return facts;
}

bool IsLocalVariable(const Tree& tree, const Facts& facts, NodeId variable) {
  const Node& node = tree.at(variable);
  return node.kind == Kind::kVariable && (node.flags & (kSharedAttr | kStatic | kExtern)) == 0 &&
         Contains(tree, facts.body, variable);
}

namespace {

bool IsConstMember(const Tree& tree, NodeId callee) {
  const NodeId function = callee == kNone ? kNone : tree.at(callee).declaration;
  if (!IsA(tree, function, Kind::kFunction) || Has(tree, function, kSystem)) return false;
  const std::size_t after =
      tree.text.find_first_not_of(" \t\r\n", tree.at(function).parameters_end + 1);
  return tree.text.compare(after, 5, "const") == 0;
}

}  // namespace

NodeId OwnChange(const Tree& tree, const Facts& facts, NodeId variable) {
  const auto changes = facts.modifications.find(variable);
  if (changes == facts.modifications.end()) return kNone;
  for (const NodeId change : changes->second) {
    if (IsModification(tree, change)) {
      if (OwnerOf(tree, TargetOf(tree, change)) == variable) return change;
    } else if (IsA(tree, change, Kind::kMemberCall)) {
      const NodeId callee = Callee(tree, change);
      if (!IsConstMember(tree, callee) && OwnerOf(tree, callee) == variable) return change;
    } else {
      return change;  // a call that it is given to by reference
    }
  }
  return kNone;
}

bool IsBarrierCall(const Tree& tree, NodeId expression) {
  return tree.at(expression).kind == Kind::kCall &&
         SystemCallee(tree, expression) == "__syncthreads";
}

bool ContainsBarrier(const Tree& tree, NodeId statement) {
  return FindBelow(tree, statement, [&](NodeId id) { return IsBarrierCall(tree, id); }) != kNone;
}

bool IsPure(const Tree& tree, const Facts& facts, NodeId expression) {
  return FindBelow(tree, expression, [&](NodeId id) {
           const Node& node = tree.at(id);
           if (IsModification(tree, id) || node.kind == Kind::kLambda) return true;
           if (node.kind == Kind::kMemberCall) return true;
           if (node.kind != Kind::kCall) return false;
           const std::string name = SystemCallee(tree, id);
           if (name.empty()) return facts.device_effects || facts.device_index;
           return IsAtomic(name) || name == "__syncthreads" || name.starts_with("sincos") ||
                  name == "modff" || name == "frexpf" || name == "modf" || name == "frexp";
         }) == kNone;
}

namespace {

// Whether a place in memory belongs to this thread alone: a local variable or a local array.
bool IsOwnPlace(const Tree& tree, const Facts& facts, NodeId place) {
  const NodeId root = RootOf(tree, place);
  if (root == kNone) return false;
  if (tree.at(root).kind == Kind::kParameter) return VariableOf(tree, place) == root;
  if (!IsLocalVariable(tree, facts, root)) return false;
  if ((tree.at(root).flags & kReference) != 0) return false;
  return !IsPointerType(tree.at(root).canonical) || VariableOf(tree, place) == root;
}

}  // namespace

bool LoadsMemory(const Tree& tree, const Facts& facts, NodeId expression) {
  return FindBelow(tree, expression, [&](NodeId id) {
           const Node& node = tree.at(id);
           if (node.kind == Kind::kSubscript || (node.kind == Kind::kUnary && node.name == "*") ||
               (node.kind == Kind::kMember && (node.flags & kArrow) != 0)) {
             return !IsOwnPlace(tree, facts, id);
           }
           if (node.kind == Kind::kDeclRef) {
             const NodeId variable = VariableOf(tree, id);
             if (variable == kNone) return false;
             const Node& named = tree.at(variable);
             const bool global = named.kind == Kind::kVariable &&
                                 !Contains(tree, facts.function, variable) &&
                                 (named.flags & (kConstexpr | kConst | kSystem)) == 0;
             return global || (named.flags & kReference) != 0 ||
                    ((named.flags & kSharedAttr) != 0 &&
                     named.canonical.find('[') == std::string::npos);
           }
           // A user's function may read globals or what its arguments point to.
           return node.kind == Kind::kCall && UserCallee(tree, id) != kNone;
         }) != kNone;
}

bool StoresMemory(const Tree& tree, const Facts& facts, NodeId statement) {
  return FindBelow(tree, statement, [&](NodeId id) {
           if (IsModification(tree, id)) return !IsOwnPlace(tree, facts, TargetOf(tree, id));
           if (tree.at(id).kind != Kind::kCall) return tree.at(id).kind == Kind::kMemberCall;
           const std::string name = SystemCallee(tree, id);
           return name.empty() ? facts.device_effects : IsAtomic(name);
         }) != kNone;
}

}  // namespace cupilot::source
