#include "evaluate/case_errors.h"

#include <algorithm>

namespace cupilot::evaluate {

void MergeErrors(const std::vector<records::CaseResult>& verified,
                 std::vector<records::CaseResult>& measured) {
  for (records::CaseResult& result : measured) {
    for (const records::CaseResult& errors : verified) {
      if (errors.name != result.name) continue;
      result.error = errors.error;
      result.original_error = errors.original_error;
    }
  }
}

void AddErrors(const std::vector<records::CaseResult>& part,
               std::vector<records::CaseResult>& verified) {
  for (const records::CaseResult& result : part) {
    const auto known =
        std::find_if(verified.begin(), verified.end(),
                     [&](const records::CaseResult& v) { return v.name == result.name; });
    if (known == verified.end()) {
      verified.push_back(result);
      continue;
    }
    if (result.error > known->error) known->error = result.error;
    if (result.original_error > known->original_error) {
      known->original_error = result.original_error;
    }
  }
}

}  // namespace cupilot::evaluate
