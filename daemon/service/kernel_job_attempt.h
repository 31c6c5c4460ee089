// A candidate of a kernel's job that is under way. Of the files of KernelJob alone.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "records/evaluation.h"
#include "records/variant.h"
#include "search/kernel_search.h"
#include "service/kernel_job.h"

namespace cupilot::service {

struct KernelJob::Attempt {
  int id = 0;
  search::Candidate candidate;
  records::Variant variant;          // once it was made
  const Attempt* same_as = nullptr;  // an earlier one that makes the same variant
  bool begun = false;
  bool built = false;
  bool ended = false;
  bool probed = false;  // ended with a look, and no verdict
  std::string code;     // of same_code_: others of it take this one's result
  search::Outcome outcome;
  std::optional<records::Evaluation> evaluation;
  std::optional<base::Error> failure;  // of the environment
};

// Why a job has ended.
inline constexpr const char* kNothingLeft = "nothing is left to try";
inline constexpr const char* kTimeUsedUp = "its time is used up";
inline constexpr const char* kEvaluationsUsedUp = "its evaluations are used up";

// The reason of an outcome that says what a probe saw.
inline constexpr const char* kNotProven = "not_proven";

}  // namespace cupilot::service
