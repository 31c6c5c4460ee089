// What of records may be private: contents that a program had, and what was computed of them.
#pragma once

#include <string>

#include "records/evaluation.h"
#include "records/kernel.h"
#include "records/workload.h"

namespace cupilot::records {

// Whether a case has contents of a file (what a program was seen to have is one, "blob:...") or a
// structure's bytes. All other contents are made up.
bool HoldsData(const Workload& workload);

// Whether it is a letter of a text ("title[3]" of type char); a char alone is an answer.
bool IsLetter(const Parameter::Member& member);
// "title" of "title[3]", "info.title" of "info.title[3]".
std::string ArrayOf(const Parameter::Member& member);

// The evaluation without what its texts say of single elements. Its guard is for reading only.
Evaluation WithoutElementValues(Evaluation evaluation);

}  // namespace cupilot::records
