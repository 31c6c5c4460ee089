// What single words and preprocessor lines of C++ text are. Pure.
#pragma once

#include <string>
#include <string_view>

namespace cupilot::source {

// Whether a word has a meaning of its own to the compiler: keywords, CUDA's attributes.
bool IsKeyword(std::string_view word);

// Words before a parenthesis that is no parameter list: alignas, __launch_bounds__.
bool IsAttributeWord(std::string_view word);

// A directive's text without comments and with single blanks; empty if it cannot be read alone (a
// comment or a raw string may go on in the next line).
std::string PlainDirective(std::string_view directive);

}  // namespace cupilot::source
