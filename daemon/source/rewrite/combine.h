// Operations that combine values in any order: "+" "max" "min" "&" "|" "^". Pure.
#pragma once

#include <string>
#include <string_view>

namespace cupilot::source {

// What atomicAdd and the like combine by; "" for other atomic operations.
std::string CombineOfAtomic(std::string_view function);
// "a combined with b" as an expression.
std::string Combined(const std::string& combine, const std::string& a, const std::string& b);
// What changes nothing that it is combined with; "" where that is not known for the type.
std::string NeutralOf(const std::string& combine, const std::string& type);

}  // namespace cupilot::source
