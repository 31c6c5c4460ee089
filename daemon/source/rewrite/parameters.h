// Reading a step's parameters. The table in search/techniques says what each may be.
#pragma once

#include <string>

#include "base/result.h"
#include "records/json.h"

namespace cupilot::source {

// An integer parameter, `otherwise` where it is not given; kInvalidArgument for anything else.
inline base::Result<std::int64_t> IntegerOf(const records::Json& parameters, const char* name,
                                            std::int64_t otherwise) {
  const auto it = parameters.find(name);
  if (it == parameters.end()) return otherwise;
  if (!it->is_number_integer()) {
    return base::Fail(base::InvalidArgument(std::string(name) + ": an integer is needed"));
  }
  return it->get<std::int64_t>();
}

inline std::string WordOf(const records::Json& parameters, const char* name,
                          const std::string& otherwise) {
  const auto it = parameters.find(name);
  return it != parameters.end() && it->is_string() ? it->get<std::string>() : otherwise;
}

}  // namespace cupilot::source
