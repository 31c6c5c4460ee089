// Functions of the runtime with which a kernel depends on, or changes, more than its arguments and
// what they point to. No tunable kernel calls one, and no variant may.
#pragma once

#include <string>
#include <string_view>

namespace cupilot::source {

// What `name`, a function of a system header, does: "reads a clock". Empty: nothing of the kind.
// Clocks are more than a nuisance: with one a variant could see that it is watched.
std::string BeyondArguments(std::string_view name);

}  // namespace cupilot::source
