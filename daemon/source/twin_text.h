// The text of the double twin: types, functions and literals exchanged, token by token.
#pragma once

#include <cstddef>
#include <string>

#include "source/syntax/tree.h"

namespace cupilot::source {

struct WideText {
  std::string text;
  std::size_t own_begin = 0, own_end = 0;  // what it defines beside the original's text
};

// `doubles`: double becomes long double, and float double.
WideText Widen(const Tree& original, bool doubles);

// What still computes in a type that was to be exchanged, by its text; empty: nothing. `tree` is
// that of `twin`.
std::string NotWidened(const Tree& tree, const WideText& twin, bool doubles);

}  // namespace cupilot::source
