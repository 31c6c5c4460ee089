// The rules of whitelist.cc that are about words.
#pragma once

#include <string>
#include <string_view>

namespace cupilot::source {

// What is wrong with the words of a variant's source, or of it with its macros expanded ("line 3 of
// the variant: 'throw'"), empty if nothing is: directives and their disguises, keywords of host
// code, attributes, unbalanced brackets, names of what differs from build to build. It is
// ResolveText's (records/source_text.h).
std::string ForbiddenWords(std::string_view source);

// One of the compiler's functions ("__builtin_popcount") that compute, and say the same in all
// places.
bool IsBuiltInOfDevices(std::string_view name);

}  // namespace cupilot::source
