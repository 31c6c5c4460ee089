// Promises to the compiler in a variant's source: what is then undefined where it does not hold.
// The gate tries some launches; the guard speaks of all.
#pragma once

#include <string>
#include <string_view>

#include "records/kernel.h"
#include "records/variant.h"

namespace cupilot::source {

// The first promise of the variant's source that neither the original's text makes as well nor the
// guard states ("line 3 of the variant: ..."); empty if there is none. The guard states
//   __builtin_assume_aligned(p, 16)  by aligned(p, 16) or more,
//   __builtin_assume(n % 4 == 0)     by the same condition, of signed integers without arithmetic
//                                    that can overflow,
// where p and n are parameters of the entry that it stands in, are the kernel's of these names, and
// nothing assigns to them. The original makes the same assumption by the same words, and the same
// place unreachable by a function body of the same words.
std::string ForbiddenPromise(const records::Kernel& kernel, const records::Variant& variant);

// The same of promises that stand in `expanded`, the source with its macros expanded, alone.
std::string PromiseOfMacro(std::string_view source, std::string_view expanded);

}  // namespace cupilot::source
