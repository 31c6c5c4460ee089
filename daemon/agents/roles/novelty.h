// Whether a candidate is new: sources that differ in comments, white space and the names that they
// give to things are the same. Works on tokens, without a parser: what it takes for different may
// still be the same (the build's hash finds that out); what it takes for the same is.
#pragma once

#include <string>
#include <string_view>

#include "records/variant.h"

namespace cupilot::agents {

// One line of tokens. Names that the source declares itself (functions, types, parameters,
// variables) are numbered by their first appearance; literals, and all other names, stay.
std::string NormalizedSource(std::string_view source);

// Of the normalised source, launches, workspaces, guard, tunables and includes: what a structure
// is. Without the values of tunables, which the search for numbers finds. 40 hexadecimal digits.
std::string NoveltyKey(const records::Variant& variant);

}  // namespace cupilot::agents
