// Several iterations of the innermost loops become one, and sums are kept in several parts.
#include <algorithm>
#include <set>

#include "source/rewrite/inspect.h"
#include "source/rewrite/loops.h"
#include "source/rewrite/mechanical.h"
#include "source/rewrite/parameters.h"

namespace cupilot::source {
namespace {

using records::Json;

struct Unrollable {
  CountingLoop loop;
  std::vector<Reduction> reductions;
};

bool HasLoopInside(const Tree& tree, NodeId loop) {
  return FindBelow(tree, LoopBody(tree, loop),
                   [&](NodeId id) { return IsLoop(tree.at(id).kind); }) != kNone;
}

// The innermost loops that can be unrolled; the reason where there is none.
base::Result<std::vector<Unrollable>> FindLoops(const Draft& draft) {
  const Tree& tree = draft.tree;
  std::vector<Unrollable> found;
  std::string reason;
  Walk(tree, draft.facts.body, [&](NodeId id) {
    if (!IsLoop(tree.at(id).kind) || HasLoopInside(tree, id)) return true;
    const auto loop = ReadLoop(draft, id);
    std::string why = loop ? "" : loop.error().message;
    if (loop) {
      const std::string jump = JumpIn(draft, loop->body);
      if (!jump.empty()) why = "a loop with '" + jump + "' in its body";
    }
    if (why.empty()) {
      found.push_back({*loop, ReductionsIn(draft, id)});
    } else if (reason.empty()) {
      reason = why;
    }
    return true;
  });
  if (found.empty()) {
    return base::Fail(base::Unsupported(
        reason.empty() ? "it has no loop" : "it has no innermost loop to unroll: " + reason));
  }
  return found;
}

bool AnyReduction(const std::vector<Unrollable>& loops) {
  return std::any_of(loops.begin(), loops.end(),
                     [](const Unrollable& one) { return !one.reductions.empty(); });
}

// What a partial result begins with, so that combining it changes nothing else.
std::string Neutral(const Tree& tree, const Reduction& reduction) {
  const bool floating = IsFloating(tree, reduction.variable);
  if (reduction.combine == "+") return floating ? "-0.0" : "0";  // -0 + x is x, for every x
  if (reduction.combine == "*") return "1";
  if (reduction.combine == "&") return "~0";
  if (reduction.combine == "|" || reduction.combine == "^") return "0";
  return tree.at(reduction.variable).name;  // an extremum: the value so far
}

class UnrollWriter {
 public:
  UnrollWriter(const Draft& draft, const Unrollable& one, int factor, bool partial, int number)
      : tree_(draft.tree), one_(one), factor_(factor) {
    prefix_ = FreshPrefix(tree_, "part") + "_" + std::to_string(number) + "_";
    if (partial) {
      for (const Reduction& reduction : one.reductions) variables_.insert(reduction.variable);
    }
  }

  std::string Run() const {
    const CountingLoop& loop = one_.loop;
    const Node& variable = tree_.at(loop.variable);
    const std::string& name = variable.name;
    const std::string bound = "(" + std::string(tree_.TextOf(loop.bound)) + ")";
    const bool wide = variable.type_bytes == 8 || Bytes(loop.bound) == 8;
    const std::string distance = wide ? "(unsigned long long)" : "(unsigned int)";
    const std::string compare = loop.inclusive ? " <= " : " < ";
    const std::string step = name + " += " + std::to_string(loop.step);
    std::string text = "{\n" + Declarations() + Type(variable) + " " + name + " = " +
                       std::string(tree_.TextOf(loop.start)) + ";\n";
    // The distance to the bound as an unsigned number: neither it nor the counter overflows.
    text += "for (; " + name + compare + bound + " && " + distance + bound + " - " + distance +
            name + (loop.inclusive ? " >= " : " > ") + std::to_string((factor_ - 1) * loop.step) +
            "u; " + step + ") {\n";
    for (int copy = 0; copy < factor_; ++copy) {
      text += Body(copy) + "\n" + (copy + 1 < factor_ ? step + ";\n" : "");
    }
    text += "}\n" + Combination();
    text += "for (; " + name + compare + bound + "; " + step + ") " + Body(0) + "\n}";
    return text;
  }

 private:
  std::int64_t Bytes(NodeId expression) const {
    const std::string& type = tree_.at(expression).canonical;
    return type.find("long") != std::string::npos ? 8 : 4;
  }
  static std::string Type(const Node& variable) {
    std::string type = variable.canonical;
    return type.starts_with("const ") ? type.substr(6) : type;
  }
  std::string Partial(NodeId variable, int copy) const {
    return prefix_ + tree_.at(variable).name + "_" + std::to_string(copy);
  }
  const Reduction& OneOf(NodeId variable) const {
    return *std::find_if(one_.reductions.begin(), one_.reductions.end(),
                         [&](const Reduction& r) { return r.variable == variable; });
  }

  std::string Declarations() const {
    std::string text;
    for (const NodeId variable : variables_) {
      for (int copy = 1; copy < factor_; ++copy) {
        text += Type(tree_.at(variable)) + " " + Partial(variable, copy) + " = " +
                Neutral(tree_, OneOf(variable)) + ";\n";
      }
    }
    return text;
  }

  std::string Combination() const {
    std::string text;
    for (const NodeId variable : variables_) {
      const std::string& name = tree_.at(variable).name;
      const std::string& combine = OneOf(variable).combine;
      for (int copy = 1; copy < factor_; ++copy) {
        text += combine.size() == 1
                    ? name + " " + combine + "= " + Partial(variable, copy) + ";\n"
                    : name + " = " + combine + "(" + name + ", " + Partial(variable, copy) + ");\n";
      }
    }
    return text;
  }

  // Braces keep what a copy declares to itself.
  std::string Body(int copy) const {
    Edits edits(tree_.text);
    const NodeId body = one_.loop.body;
    Walk(tree_, body, [&](NodeId id) {
      const NodeId variable = IsA(tree_, id, Kind::kDeclRef) ? VariableOf(tree_, id) : kNone;
      if (copy > 0 && variables_.count(variable) > 0) {
        edits.Replace(tree_.at(id).begin, tree_.at(id).end, Partial(variable, copy));
      }
      return true;
    });
    const std::string text = edits.Apply(tree_.at(body).begin, tree_.at(body).end);
    return IsA(tree_, body, Kind::kCompound) ? text : "{ " + text + "; }";
  }

  const Tree& tree_;
  const Unrollable& one_;
  int factor_;
  std::string prefix_;
  std::set<NodeId> variables_;
};

}  // namespace

base::Result<std::vector<Json>> ProposeUnrolling(const Draft& draft) {
  TRY_ASSIGN(const std::vector<Unrollable> loops, FindLoops(draft));
  std::vector<Json> parameters;
  if (AnyReduction(loops) && !NeedsBitwise(draft)) {
    for (const int factor : {8, 4, 16})
      parameters.push_back(Json{{"factor", factor}, {"accumulators", 2}});
  }
  for (const int factor : {4, 8, 2})
    parameters.push_back(Json{{"factor", factor}, {"accumulators", 1}});
  return parameters;
}

base::Result<std::string> ApplyUnrolling(Draft& draft, const Json& parameters) {
  TRY_ASSIGN(const std::int64_t factor, IntegerOf(parameters, "factor", 4));
  TRY_ASSIGN(const std::int64_t accumulators, IntegerOf(parameters, "accumulators", 1));
  if (factor < 2 || factor > 64) return base::Fail(base::InvalidArgument("factor must be 2 to 64"));
  if (accumulators < 1 || accumulators > 2) {
    return base::Fail(base::InvalidArgument("accumulators must be 1 or 2"));
  }
  TRY_ASSIGN(const std::vector<Unrollable> loops, FindLoops(draft));
  if (accumulators == 2 && !AnyReduction(loops)) {
    return base::Fail(
        base::Unsupported("no innermost loop forms a sum that could be kept in parts"));
  }
  Edits edits(draft.tree.text);
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const Node& at = draft.tree.at(loops[i].loop.loop);
    // A loop's node ends before the semicolon of its body.
    const std::size_t next = draft.tree.text.find_first_not_of(" \n", at.end);
    const bool semicolon = next != std::string::npos && draft.tree.text[next] == ';';
    edits.Replace(at.begin, semicolon ? static_cast<std::uint32_t>(next + 1) : at.end,
                  UnrollWriter(draft, loops[i], static_cast<int>(factor), accumulators == 2,
                               static_cast<int>(i))
                      .Run());
  }
  TRY(Change(draft, edits));
  return std::to_string(factor) + " iterations of inner loops at once" +
         (accumulators == 2 ? ", sums in parts" : "");
}

}  // namespace cupilot::source
