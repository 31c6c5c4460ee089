// The judge says, before a device is used, whether a candidate looks like the same function as the
// original. Votes order candidates and drop what a clear majority refuses; nothing is accepted by
// them.
#pragma once

#include <span>
#include <string>

#include "agents/roles/role.h"
#include "records/kernel.h"
#include "records/variant.h"
#include "records/workload.h"

namespace cupilot::agents {

struct JudgeInputs {
  records::Kernel kernel;
  records::Workload workload;
  bool bitwise = false;
  records::Variant variant;
};

enum class SameFunction { kNo, kUnsure, kYes };
struct Vote {
  SameFunction same = SameFunction::kUnsure;
  std::string why;
};

// Of vote `number` (from 0): requests of a candidate differ in their sample alone.
ModelRequest JudgeRequest(const JudgeInputs& inputs, int number, const RoleSettings& settings);
Answer<Vote> ReadVote(const std::string& text);

struct Tally {
  double score = 0;   // (yes - no) / votes, -1 to 1: the greater ones first
  bool drop = false;  // at least two, and more than two thirds, said no
};
// An answer that could not be read counts as unsure.
Tally CountVotes(std::span<const Vote> votes);

// What its template is given.
records::Json JudgeData(const JudgeInputs& inputs);

}  // namespace cupilot::agents
