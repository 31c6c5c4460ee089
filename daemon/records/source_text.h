// A variant's text as all compilers read it alike: the first two phases of translation are done
// here, once, where it is taken in. Only the result is checked, hashed, kept, built and published.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cupilot::records {

// Lines end with '\n' alone. Lines that a backslash joins, also with blanks behind it as GCC and
// clang have it, are one; the empty lines behind it keep the numbers of all others. Form feeds and
// vertical tabs are blanks, a byte order mark at the beginning is gone.
//
// kInvalidArgument, "line 3: ...", for what compilers do not read alike: trigraphs, other control
// characters, separators of lines and marks of direction of Unicode, text that is no UTF-8, a //
// comment that goes on behind its line, and a backslash that would join lines of the result. The
// result of a result is the same.
base::Result<std::string> ResolveText(std::string_view text);

}  // namespace cupilot::records
