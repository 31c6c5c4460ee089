// In which format a kernel computes: what its rounding errors are counted in.
#pragma once

#include "source/syntax/tree.h"
#include "source/twin_names.h"

namespace cupilot::source {

// The widest format of the text's arithmetic; kNoFormat where no floating type is mentioned.
//
// Where loops (or atomic additions) accumulate, these decide: the error of a result is theirs. An
// operation is as wide as its operands that are no constants: "x * 0.5" of a float x is float
// arithmetic, whatever the language says. A text that only moves and converts counts as the widest
// type that it mentions.
Format ArithmeticOf(const Tree& tree);

}  // namespace cupilot::source
