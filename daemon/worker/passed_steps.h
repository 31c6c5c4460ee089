// Which steps of a verification have passed, for a later try of the same request where this one is
// cut off (VerifyRequest::passed): what they ask depends on the request alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "records/evaluation.h"
#include "records/json.h"
#include "worker/checks/check.h"

namespace cupilot::worker {

struct PassedCase {
  records::Json steps = records::Json::object();  // by name what each took, as in VerifyReply
  std::vector<records::Check> notes;
  Errors errors;        // so far
  bool exact = true;    // all runs gave the original's bits
  bool varies = false;  // the original did not repeat its own (KnownToVary)
};

using PassedSteps = std::map<std::string, PassedCase>;  // by case

records::Json ToJson(const PassedSteps& passed);
// Of a case that cannot be read nothing has passed.
PassedSteps ParsePassedSteps(const records::Json& json);

}  // namespace cupilot::worker
