// Versions of cuPilot: three numbers with dots between them.
#pragma once

#include <string>

namespace cupilot::base {

// Whether version `a` comes before `b`, by their numbers: "0.9.1" before "0.10.0". What is none is
// not older.
bool IsOlderVersion(const std::string& a, const std::string& b);

}  // namespace cupilot::base
