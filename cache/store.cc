#include "cache/store.h"

#include <array>

namespace cupilot::cache {

std::string_view TableName(Table table) {
  constexpr std::array<std::string_view, kTableCount> kNames = {
      "projects",    "kernels",    "workloads",  "variants",
      "evaluations", "strategies", "selections", "counters"};
  return kNames[static_cast<std::size_t>(table)];
}

}  // namespace cupilot::cache
