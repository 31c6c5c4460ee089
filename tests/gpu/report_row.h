// Rows that a program tells its `test` as they come: one line each, NAME RESULT FIGURES DETAIL with
// tabs between them, which `rows` of support.sh adds to the report.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>

#include "records/json.h"

namespace cupilot::gpu_tests {

// `result`: "passed", "failed" or "skipped".
inline void PrintRow(const std::string& name, const std::string& result, const std::string& detail,
                     const records::Json& figures = records::Json::object()) {
  std::string line = detail;
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  std::printf("%s\t%s\t%s\t%s\n", name.c_str(), result.c_str(), figures.dump().c_str(),
              line.c_str());
  std::fflush(stdout);
}

}  // namespace cupilot::gpu_tests
