// The errors that a verification measured, by case (records::CaseResult): its parts put together,
// and taken over into what was measured. Pure.
#pragma once

#include <vector>

#include "records/evaluation.h"

namespace cupilot::evaluate {

// Results of the same cases get the errors of `verified`.
void MergeErrors(const std::vector<records::CaseResult>& verified,
                 std::vector<records::CaseResult>& measured);

// The greater errors of two parts of a verification; cases that `verified` lacks are added.
void AddErrors(const std::vector<records::CaseResult>& part,
               std::vector<records::CaseResult>& verified);

}  // namespace cupilot::evaluate
