// Exchanges two nested loops, so that the inner one walks along memory.
#include <algorithm>

#include "source/rewrite/alias.h"
#include "source/rewrite/inspect.h"
#include "source/rewrite/loops.h"
#include "source/rewrite/mechanical.h"
#include "source/rewrite/parameters.h"

namespace cupilot::source {
namespace {

using records::Json;

// Two loops, the inner one all that the outer one has.
struct Nest {
  NodeId outer = kNone;
  NodeId inner = kNone;
};

std::vector<Nest> FindNests(const Draft& draft) {
  const Tree& tree = draft.tree;
  std::vector<Nest> nests;
  Walk(tree, draft.facts.body, [&](NodeId id) {
    if (!IsA(tree, id, Kind::kFor)) return true;
    NodeId body = LoopBody(tree, id);
    if (IsA(tree, body, Kind::kCompound) && tree.at(body).children.size() == 1)
      body = Child(tree, body, 0);
    if (IsA(tree, body, Kind::kFor)) nests.push_back({id, body});
    return true;
  });
  return nests;
}

// How an index moves when a counter grows by one.
enum class Motion { kNone, kUnit, kStride, kUnknown };

Motion Sum(Motion a, Motion b) {
  if (a == Motion::kNone) return b;
  return b == Motion::kNone ? a : Motion::kUnknown;
}

Motion MotionOf(const Draft& draft, NodeId expression, NodeId counter) {
  const Tree& tree = draft.tree;
  const NodeId id = SkipParensAndCasts(tree, expression);
  if (id == kNone) return Motion::kUnknown;
  const Node& node = tree.at(id);
  if (node.kind == Kind::kDeclRef) {
    const NodeId variable = VariableOf(tree, id);
    if (variable == counter) return Motion::kUnit;
    const bool constant = variable != kNone && draft.facts.modifications.count(variable) == 0 &&
                          IsLocalVariable(tree, draft.facts, variable) &&
                          Initialiser(tree, variable) != kNone;
    return constant ? MotionOf(draft, Initialiser(tree, variable), counter) : Motion::kNone;
  }
  if (node.kind == Kind::kBinary) {
    const Motion left = MotionOf(draft, Child(tree, id, 0), counter);
    const Motion right = MotionOf(draft, Child(tree, id, 1), counter);
    if (left == Motion::kNone && right == Motion::kNone) return Motion::kNone;
    if (node.name == "+") return Sum(left, right);
    if (node.name == "-") return right == Motion::kNone ? left : Motion::kUnknown;
    const bool one = left == Motion::kNone || right == Motion::kNone;
    const bool known = left != Motion::kUnknown && right != Motion::kUnknown;
    return node.name == "*" && one && known ? Motion::kStride : Motion::kUnknown;
  }
  Motion all = Motion::kNone;
  for (const NodeId child : node.children) {
    if (child != kNone && MotionOf(draft, child, counter) != Motion::kNone) all = Motion::kUnknown;
  }
  return all;
}

// Of a whole p[i] or a[i][j].
Motion MotionOfSubscript(const Draft& draft, NodeId subscript, NodeId counter) {
  const Tree& tree = draft.tree;
  Motion motion = MotionOf(draft, Child(tree, subscript, 1), counter);
  for (NodeId base = SkipParens(tree, Child(tree, subscript, 0)); IsA(tree, base, Kind::kSubscript);
       base = SkipParens(tree, Child(tree, base, 0))) {
    const Motion row = MotionOf(draft, Child(tree, base, 1), counter);
    motion = Sum(motion, row == Motion::kUnit ? Motion::kStride : row);
  }
  return motion;
}

std::string Squeezed(const Tree& tree, NodeId id) {
  std::string text(tree.TextOf(SkipParensAndCasts(tree, id)));
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

bool StartsAtZero(const Tree& tree, const CountingLoop& loop) {
  const NodeId start = SkipParensAndCasts(tree, loop.start);
  return start != kNone && tree.at(start).value == "0" && !loop.inclusive;
}

// row * width + column with 0 <= column < width: no two pairs of counters give one element.
bool IsRowMajor(const Draft& draft, NodeId index, const CountingLoop& row,
                const CountingLoop& column) {
  const Tree& tree = draft.tree;
  const NodeId id = SkipParensAndCasts(tree, index);
  if (!IsA(tree, id, Kind::kBinary) || tree.at(id).name != "+") return false;
  for (const std::size_t first : {0u, 1u}) {
    const NodeId product = SkipParensAndCasts(tree, Child(tree, id, first));
    const NodeId rest = Child(tree, id, 1 - first);
    if (VariableOf(tree, SkipParensAndCasts(tree, rest)) != column.variable) continue;
    if (!IsA(tree, product, Kind::kBinary) || tree.at(product).name != "*") continue;
    for (const std::size_t side : {0u, 1u}) {
      if (VariableOf(tree, SkipParensAndCasts(tree, Child(tree, product, side))) == row.variable &&
          Squeezed(tree, Child(tree, product, 1 - side)) == Squeezed(tree, column.bound) &&
          StartsAtZero(tree, column)) {
        return true;
      }
    }
  }
  return false;
}

// Whether a store reaches an element of its own for every pair of counters.
bool IsOwnElement(const Draft& draft, NodeId target, const CountingLoop& a, const CountingLoop& b) {
  const Tree& tree = draft.tree;
  const NodeId id = SkipParens(tree, target);
  if (!IsA(tree, id, Kind::kSubscript)) return false;
  const NodeId base = SkipParens(tree, Child(tree, id, 0));
  if (IsA(tree, base, Kind::kSubscript)) {
    const NodeId column = VariableOf(tree, Child(tree, id, 1)),
                 row = VariableOf(tree, Child(tree, base, 1));
    return VariableOf(tree, Child(tree, base, 0)) != kNone &&
           !IsPointerType(tree.at(RootOf(tree, id)).canonical) &&
           ((row == a.variable && column == b.variable) ||
            (row == b.variable && column == a.variable));
  }
  return VariableOf(tree, base) != kNone && (IsRowMajor(draft, Child(tree, id, 1), a, b) ||
                                             IsRowMajor(draft, Child(tree, id, 1), b, a));
}

base::Result<> CheckStore(const Draft& draft, NodeId change, const CountingLoop& outer,
                          const CountingLoop& inner) {
  const Tree& tree = draft.tree;
  const NodeId target = TargetOf(tree, change), root = RootOf(tree, target);
  if (root == kNone || !IsOwnElement(draft, target, outer, inner)) {
    return Declined("'" + std::string(tree.TextOf(change)) +
                    "' may write one element more than once");
  }
  const auto uses = draft.facts.references.find(root);
  for (const NodeId use :
       uses == draft.facts.references.end() ? std::vector<NodeId>{} : uses->second) {
    if (IsInside(tree, use, outer.body) && !IsInside(tree, use, target)) {
      return Declined("the loops also read what they write to '" + tree.at(root).name + "'");
    }
  }
  if (IsA(tree, root, Kind::kParameter)) {
    // A pointer made from the parameter would reach the same elements under another name.
    const NodeId other = FindBelow(tree, outer.body, [&](NodeId id) {
      const NodeId variable = IsA(tree, id, Kind::kDeclRef) ? VariableOf(tree, id) : kNone;
      return IsA(tree, variable, Kind::kVariable) && IsPointerType(tree.at(variable).canonical);
    });
    if (other != kNone) {
      return Declined("'" + tree.at(other).name + "' may point to what the loops write");
    }
    return CheckDisjoint(draft);
  }
  if (IsPointerType(tree.at(root).canonical))
    return Declined("they write through a pointer of their own");
  return {};
}

// The body's effects do not depend on the order of the iterations.
base::Result<> CheckBody(const Draft& draft, const CountingLoop& outer, const CountingLoop& inner) {
  const Tree& tree = draft.tree;
  const std::string jump = JumpIn(draft, inner.body);
  if (!jump.empty()) return Declined("their body has '" + jump + "'");
  const std::vector<Reduction> reductions = ReductionsIn(draft, outer.loop);
  base::Result<> result;
  Walk(tree, inner.body, [&](NodeId id) {
    if (!result) return false;
    const Kind kind = tree.at(id).kind;
    if (kind == Kind::kMemberCall || (kind == Kind::kCall && !IsPure(tree, draft.facts, id))) {
      result = Declined("their body calls something with effects");
    }
    if (!IsModification(tree, id)) return true;
    const NodeId variable = VariableOf(tree, TargetOf(tree, id));
    if (variable == kNone) {
      result = CheckStore(draft, id, outer, inner);
    } else if (!IsInside(tree, variable, inner.body)) {
      const bool sum = std::any_of(reductions.begin(), reductions.end(),
                                   [&](const Reduction& one) { return one.statement == id; });
      if (!sum)
        result =
            Declined("'" + std::string(tree.TextOf(id)) + "' depends on the order of iterations");
    } else if (Has(tree, variable, kReference)) {
      result = Declined("their body changes what a reference names");
    }
    return true;
  });
  return result;
}

struct Exchange {
  CountingLoop outer, inner;
};

base::Result<Exchange> CheckNest(const Draft& draft, const Nest& nest) {
  const Tree& tree = draft.tree;
  Exchange exchange;
  if (!draft.facts.rigid.empty()) return Declined(draft.facts.rigid);
  TRY_ASSIGN(exchange.outer, ReadLoop(draft, nest.outer));
  TRY_ASSIGN(exchange.inner, ReadLoop(draft, nest.inner));
  for (const NodeId part : {exchange.inner.start, exchange.inner.bound}) {
    if (MotionOf(draft, part, exchange.outer.variable) != Motion::kNone) {
      return Declined("the inner loop's range depends on the outer one's counter");
    }
    if (LoadsMemory(tree, draft.facts, part) || !IsPure(tree, draft.facts, part)) {
      return Declined("the inner loop's range is read from memory");
    }
  }
  // The outer loop's head is evaluated once an inner iteration then.
  for (const NodeId part : {exchange.outer.start, exchange.outer.bound}) {
    if (LoadsMemory(tree, draft.facts, part) || !IsPure(tree, draft.facts, part)) {
      return Declined("the outer loop's range is read from memory");
    }
  }
  TRY(CheckBody(draft, exchange.outer, exchange.inner));
  return exchange;
}

// The inner loop jumps where the outer one would walk.
bool WalksBetter(const Draft& draft, const Exchange& exchange) {
  bool better = false;
  for (const NodeId id : FindAll(draft.tree, exchange.inner.body, Kind::kSubscript)) {
    better = better || (MotionOfSubscript(draft, id, exchange.inner.variable) == Motion::kStride &&
                        MotionOfSubscript(draft, id, exchange.outer.variable) == Motion::kUnit);
  }
  return better;
}

bool RoundsDifferently(const Draft& draft, const Exchange& exchange) {
  const std::vector<Reduction> reductions = ReductionsIn(draft, exchange.outer.loop);
  return std::any_of(reductions.begin(), reductions.end(), [&](const Reduction& one) {
    return IsFloating(draft.tree, one.variable) && one.combine.size() == 1;
  });
}

}  // namespace

base::Result<std::vector<Json>> ProposeInterchange(const Draft& draft) {
  const std::vector<Nest> nests = FindNests(draft);
  if (nests.empty()) return Declined("it has no loop whose whole body is another loop");
  std::vector<Json> parameters;
  std::string reason;
  for (std::size_t i = 0; i < nests.size() && i <= 16; ++i) {
    const auto exchange = CheckNest(draft, nests[i]);
    std::string why;
    if (!exchange) {
      why = exchange.error().message;
    } else if (!WalksBetter(draft, *exchange)) {
      why = "the inner loop walks along memory as well as the outer one would";
    } else if (NeedsBitwise(draft) && RoundsDifferently(draft, *exchange)) {
      why = "sums in another order are not equal bit for bit";
    } else {
      parameters.push_back(Json{{"nest", i}});
    }
    if (reason.empty()) reason = why;
  }
  if (parameters.empty()) return Declined(reason);
  return parameters;
}

base::Result<std::string> ApplyInterchange(Draft& draft, const Json& parameters) {
  TRY_ASSIGN(const std::int64_t number, IntegerOf(parameters, "nest", 0));
  const std::vector<Nest> nests = FindNests(draft);
  if (nests.empty()) return Declined("it has no loop whose whole body is another loop");
  if (number < 0 || number >= static_cast<std::int64_t>(nests.size())) {
    return base::Fail(
        base::InvalidArgument("it has " + std::to_string(nests.size()) + " nests of loops"));
  }
  const Nest& nest = nests[static_cast<std::size_t>(number)];
  TRY(CheckNest(draft, nest));
  const Tree& tree = draft.tree;
  const auto begin = [&](NodeId loop) { return tree.at(Child(tree, loop, 0)).begin; };
  const auto end = [&](NodeId loop) { return tree.at(Child(tree, loop, 2)).end; };
  const auto head = [&](NodeId loop) {
    return tree.text.substr(begin(loop), end(loop) - begin(loop));
  };
  Edits edits(tree.text);
  edits.Replace(begin(nest.outer), end(nest.outer), head(nest.inner));
  edits.Replace(begin(nest.inner), end(nest.inner), head(nest.outer));
  TRY(Change(draft, edits));
  return "two nested loops exchanged";
}

}  // namespace cupilot::source
