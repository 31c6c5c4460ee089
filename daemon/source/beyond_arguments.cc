#include "source/beyond_arguments.h"

#include <array>
#include <utility>

namespace cupilot::source {
namespace {

using BeyondRow = std::pair<std::string_view, std::string_view>;
constexpr std::array<BeyondRow, 15> kBeyondFunctions = {{
    {"printf", "prints"},
    {"vprintf", "prints"},
    {"clock", "reads a clock"},
    {"clock64", "reads a clock"},
    {"__clock", "reads a clock"},
    {"__clock64", "reads a clock"},
    {"__clockhi", "reads a clock"},
    {"__globaltimer", "reads a clock"},
    {"now", "reads a clock"},  // of std::chrono
    {"__nanosleep", "sleeps"},
    {"__threadfence_system", "orders memory across devices"},
    {"malloc", "allocates memory on the device"},
    {"free", "frees memory on the device"},
    {"__prof_trigger", "triggers a profiler"},
    {"__brkpt", "stops in a debugger"},
}};

}  // namespace

std::string BeyondArguments(std::string_view name) {
  for (const auto& [function, what] : kBeyondFunctions) {
    if (function == name) return std::string(what);
  }
  return {};
}

}  // namespace cupilot::source
