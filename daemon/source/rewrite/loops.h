// Counting loops and the sums that they form: what techniques on loops look for. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "source/rewrite/draft.h"

namespace cupilot::source {

// for (T i = start; i < bound; i += step), or <=; nothing but the head changes i, and bound keeps
// its value while the loop runs.
struct CountingLoop {
  NodeId loop = kNone;
  NodeId variable = kNone;
  NodeId start = kNone;
  NodeId bound = kNone;
  NodeId body = kNone;
  std::int64_t step = 1;
  bool inclusive = false;
};

// kUnsupported with the reason for any other loop. Says nothing about the body's jumps.
base::Result<CountingLoop> ReadLoop(const Draft& draft, NodeId loop);

// The first jump, barrier, lambda or switch at or below a statement that keeps copies of it from
// standing one after the other; "" if there is none.
std::string JumpIn(const Draft& draft, NodeId statement);

// v += e, v = v + e, v = fmaf(a, b, v), v = fmaxf(v, e) and the like, as a statement of its own.
struct Reduction {
  NodeId statement = kNone;
  NodeId variable = kNone;
  std::string combine;  // "+" "*" "&" "|" "^", or the function: "fmaxf"
};
std::optional<Reduction> ReductionOf(const Draft& draft, NodeId expression);

// The reductions below `loop` into local scalars declared outside it that it uses in no other way,
// all of one variable in the same way.
std::vector<Reduction> ReductionsIn(const Draft& draft, NodeId loop);

// Whether partial results would change what rounding does to the variable.
bool IsFloating(const Tree& tree, NodeId variable);
// Whether results must be equal to the original's bit for bit.
bool NeedsBitwise(const Draft& draft);

// The text of a statement with its semicolon.
std::string StatementText(const Tree& tree, NodeId statement);

}  // namespace cupilot::source
