// Text with holes, for generated code: Filled("int @0 = @1;", {"x", "3"}).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace cupilot::source {

// `pattern` with each "@" and digit replaced by that part. At most ten parts; an "@" without a part
// stays as it is.
inline std::string Filled(std::string_view pattern, std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::size_t part =
        i + 1 < pattern.size() ? static_cast<std::size_t>(pattern[i + 1] - '0') : parts.size();
    if (pattern[i] == '@' && part < parts.size()) {
      text += *(parts.begin() + part);
      ++i;
    } else {
      text += pattern[i];
    }
  }
  return text;
}

}  // namespace cupilot::source
