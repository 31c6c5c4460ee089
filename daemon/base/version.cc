#include "base/version.h"

#include <array>
#include <cstdio>

namespace cupilot::base {

bool IsOlderVersion(const std::string& a, const std::string& b) {
  std::array<int, 3> left{}, right{};
  if (std::sscanf(a.c_str(), "%d.%d.%d", &left[0], &left[1], &left[2]) != 3) return false;
  if (std::sscanf(b.c_str(), "%d.%d.%d", &right[0], &right[1], &right[2]) != 3) return false;
  return left < right;
}

}  // namespace cupilot::base
