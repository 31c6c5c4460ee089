// CUDA's attributes, which only clang understands: taken out of the text. Lexical; pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "source/lower/edits.h"
#include "source/syntax/lexer.h"

namespace cupilot::source {

// Blanks __attribute__((global)), ((device)), ((launch_bounds(...))) and their kind everywhere, and
// makes the bare word __noinline__ an attribute. `tokens`: the text's.
void RemoveCudaAttributes(std::string_view text, const std::vector<Token>& tokens, Edits& edits);

// The first argument of launch_bounds or __launch_bounds__ in `declaration`; empty if it has none.
std::string LaunchBoundOf(std::string_view declaration);

}  // namespace cupilot::source
