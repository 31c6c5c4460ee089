// The numbers that a source names.
#pragma once

#include <string_view>
#include <vector>

namespace cupilot::worker {

// Literals of source text: numbers, and characters as numbers. Each once, in ascending order;
// no more than so many, and none that every text has (0 and 1).
std::vector<double> LiteralsOf(std::string_view source);

}  // namespace cupilot::worker
