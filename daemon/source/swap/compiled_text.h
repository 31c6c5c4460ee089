// Whether two compiles of a source say the same about a kernel, decided without a parser on what
// their compiler makes of the text: preprocessed, so that no macro and no directive can hide
// anything. All that can change what the kernel's text means (another overload, a specialisation, a
// namespace) has a name that the text looks up, or is of the few kinds that are always looked at
// (operators, using-directives, #pragma). What a compile says about a set of names is the hash of
// the declarations of these names and of those kinds, in their order, each with its scope.
//
// Errs towards "changed". Pure functions; 2,000 lines of text take about a millisecond.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "records/compiler_text.h"
#include "records/kernel.h"

namespace cupilot::source {

// In the place of names: all of a text matters.
inline constexpr std::string_view kAnyName = "*";

// The names that texts look up (a kernel's closure_source, a variant's source), and those that are
// looked up by what is written without a name. Sorted.
std::vector<std::string> NamesLookedUp(const std::vector<std::string_view>& texts);

// The parts of each pass. A text that cannot be split (brackets that do not match), or that has too
// many parts to be kept by the daemon (20,000), is one part that is always looked at.
std::vector<records::PassSummary> Summarise(const std::vector<records::CompilerPass>& passes);

// Whether a kernel's text means something by numbers of lines that no token shows: then any edit of
// its files may be one of the kernel. (__LINE__ and __COUNTER__ are numbers in tokens.)
bool HasHiddenLines(const records::Kernel& kernel);

// What the passes say about the names: declarations, and the user's macros of these names that are
// live at the end, behind which variants stand.
std::string HashOfTokens(const std::vector<records::PassSummary>& passes,
                         const std::vector<std::string>& names);

// Names of the user's macros that are live at the end of a pass.
std::set<std::string> UserMacrosOf(const std::vector<records::PassSummary>& passes);

// The tags in a file of the user, with what each stands above: compilers do not see them. Empty:
// the file has none.
std::string HashOfTags(std::string_view text);

}  // namespace cupilot::source
