// CUDA's attributes, which only clang understands: taken out of the text. Lexical; pure.
#pragma once

#include <string>
#include <string_view>

#include "source/lower/edits.h"

namespace cupilot::source {

// Blanks __attribute__((global)), ((device)), ((launch_bounds(...))) and their kind everywhere, and
// makes the bare word __noinline__ an attribute.
void RemoveCudaAttributes(std::string_view text, Edits& edits);

// The first argument of launch_bounds or __launch_bounds__ in `declaration`; empty if it has none.
std::string LaunchBoundOf(std::string_view declaration);

}  // namespace cupilot::source
