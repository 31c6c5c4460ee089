// What is put in front of a text, and changed in it, so that clang parses headers that were
// preprocessed for g++.
#pragma once

#include <string>

namespace cupilot::source {

// Declarations for clang's predefines: the function that kernel launches are bound to, and
// stand-ins for built-ins of g++ that clang lacks.
std::string Prelude(bool preprocessed);

// Replaces uses of g++ built-ins that no declaration can stand in for, without moving a byte of the
// rest.
void PatchForClang(std::string& text);

// `k<<<{4, 2}, {32}>>>` is bound to a function of any arguments, which takes no braces:
// parentheses in their place, for clang only.
void PatchLaunches(std::string& text);

}  // namespace cupilot::source
