// Values in the place of names in an expression's text. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cupilot::source {

using NamedValues = std::vector<std::pair<std::string, std::int64_t>>;

std::string Substitute(const std::string& text, const NamedValues& values);

}  // namespace cupilot::source
