// What the threads of a block make of one value each: found by running the statements for all
// threads of a block of known size, with how often each value counts in place of the values. Says
// nothing about blocks that have another size. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "source/rewrite/draft.h"

namespace cupilot::source {

// A value that each thread brings: a local variable, or the thread's own place in a shared array.
struct ThreadValue {
  NodeId variable = kNone;
  NodeId place = kNone;  // of an array: the subscript that names the thread's place
  std::string type;      // without const
};

struct BlockCombination {
  std::string combine;  // "+" "max" "min" "&" "|" "^": associative and commutative
  bool even = false;    // each thread's value counts the same in each result
};

// `constants` are variables that the statements may use besides the values. `statements` combine
// the values in one way only, by a flow that does not depend on them, and end in atomic operations
// of the same kind at places that are the same for all threads and blocks along x. So they do with
// combined values what they would do with one set of values after the other. kUnsupported with the
// reason for all else.
base::Result<BlockCombination> CombinationOf(const Draft& draft, std::span<const NodeId> constants,
                                             std::span<const ThreadValue> values,
                                             std::span<const NodeId> statements);

}  // namespace cupilot::source
