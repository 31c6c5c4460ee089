// Text as columns of a terminal. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cupilot::client {

enum class Charset { kAscii, kUnicode };

// Unicode where the environment's locale (LC_ALL, LC_CTYPE, LANG) is one of UTF-8.
Charset CharsetOfEnvironment();

// `text` as it can be shown: what would move the cursor is a blank, what is no UTF-8, or none of
// ASCII where only that is shown, a question mark. At most `columns` wide: what is cut off at the
// end shows by a mark.
std::string Fit(std::string_view text, int columns, Charset charset);
// The same, cut at its beginning: of a qualified name the end says most.
std::string FitEnd(std::string_view text, int columns, Charset charset);
// Filled up with blanks behind, or before.
std::string Left(std::string_view text, int columns, Charset charset);
std::string Right(std::string_view text, int columns, Charset charset);
// Columns of `text` as Fit() would show all of it.
int Columns(std::string_view text, Charset charset);
// Lines of at most `columns`, broken at blanks where there are some; further ones are indented as
// the first is, and two more.
std::vector<std::string> Wrap(std::string_view text, int columns, Charset charset);

// A curve of at most `columns` characters, from 1 (the original) to its greatest value. Nothing of
// nothing.
std::string Sparkline(std::span<const double> values, int columns, Charset charset);

}  // namespace cupilot::client
