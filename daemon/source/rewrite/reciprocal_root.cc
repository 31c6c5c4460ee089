// Division by roots becomes multiplication with reciprocal roots: GPUs have an instruction for
// these, and none for exact roots and quotients, which take a dozen each and a branch (CUDA C++
// Programming Guide, on the throughput of arithmetic instructions).
#include <algorithm>
#include <set>

#include "source/rewrite/inspect.h"
#include "source/rewrite/loops.h"
#include "source/rewrite/mechanical.h"

namespace cupilot::source {
namespace {

using records::Json;

struct RootDivisions {
  std::vector<NodeId> divisions;
  std::set<NodeId> roots;  // calls that become reciprocal
};

bool IsPlainFloat(const Tree& tree, NodeId id) {
  const std::string& type = tree.at(id).canonical;
  return type == "float" || type == "const float";
}

// The root that a local variable is from its declaration on, kNone for others.
NodeId RootIn(const Draft& draft, NodeId variable) {
  const Tree& tree = draft.tree;
  if (variable == kNone || !IsLocalVariable(tree, draft.facts, variable)) return kNone;
  if (!IsPlainFloat(tree, variable) || draft.facts.modifications.count(variable) > 0 ||
      draft.facts.address_taken.count(variable) > 0) {
    return kNone;
  }
  return SkipParens(tree, Initialiser(tree, variable));
}

bool IsRoot(const Tree& tree, NodeId id) {
  const std::string name = SystemCallee(tree, id);
  return (name == "sqrtf" || name == "sqrt") && IsPlainFloat(tree, id) &&
         Arguments(tree, id).size() == 1 && IsPlainFloat(tree, Arguments(tree, id)[0]);
}

// The factors of a product, kNone among them for what is none.
void FactorsOf(const Tree& tree, NodeId id, std::vector<NodeId>& factors) {
  id = SkipParens(tree, id);
  if (IsA(tree, id, Kind::kBinary) && tree.at(id).name == "*") {
    FactorsOf(tree, Child(tree, id, 0), factors);
    FactorsOf(tree, Child(tree, id, 1), factors);
  } else {
    factors.push_back(id);
  }
}

base::Result<RootDivisions> FindRootDivisions(const Draft& draft) {
  const Tree& tree = draft.tree;
  RootDivisions found;
  std::set<NodeId> used;  // references within divisors
  std::set<NodeId> variables;
  for (const NodeId id : FindAll(tree, draft.facts.body, Kind::kBinary)) {
    if (tree.at(id).name != "/" || !IsPlainFloat(tree, id)) continue;
    std::vector<NodeId> factors;
    FactorsOf(tree, Child(tree, id, 1), factors);
    std::set<NodeId> roots, named, references;
    const bool fits = std::all_of(factors.begin(), factors.end(), [&](NodeId factor) {
      const NodeId variable = VariableOf(tree, factor);
      const NodeId root = variable == kNone ? factor : RootIn(draft, variable);
      if (root == kNone || !IsRoot(tree, root)) return false;
      roots.insert(root);
      if (variable != kNone) {
        named.insert(variable);
        references.insert(factor);
      }
      return true;
    });
    if (!fits) continue;
    found.divisions.push_back(id);
    found.roots.insert(roots.begin(), roots.end());
    variables.insert(named.begin(), named.end());
    used.insert(references.begin(), references.end());
  }
  if (found.divisions.empty()) return Declined("it divides by no square root");
  for (const NodeId variable : variables) {
    for (const NodeId reference : draft.facts.references.at(variable)) {
      if (used.count(reference) == 0) {
        return Declined("it uses the square root '" + tree.at(variable).name + "' otherwise, too");
      }
    }
  }
  if (NeedsBitwise(draft)) return Declined("its results must be equal bit for bit");
  return found;
}

}  // namespace

base::Result<std::vector<Json>> ProposeReciprocalRoot(const Draft& draft) {
  TRY(FindRootDivisions(draft));
  if (draft.device == "host") {
    return Declined("processors have exact roots and quotients, and no exact reciprocal roots");
  }
  return std::vector<Json>{Json::object()};
}

base::Result<std::string> ApplyReciprocalRoot(Draft& draft, const Json&) {
  TRY_ASSIGN(const RootDivisions found, FindRootDivisions(draft));
  const Tree& tree = draft.tree;
  Edits edits(tree.text);
  for (const NodeId id : found.roots) {
    const Node& callee = tree.at(Callee(tree, id));
    edits.Replace(callee.begin, callee.end, "rsqrtf");
  }
  for (const NodeId id : found.divisions) {
    const Node& divisor = tree.at(Child(tree, id, 1));
    edits.Replace(tree.at(Child(tree, id, 0)).end, divisor.begin, " * ");
  }
  TRY(Change(draft, edits));
  return std::string("reciprocal roots");
}

}  // namespace cupilot::source
