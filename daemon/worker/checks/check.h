// The checks of the gate's stage "verify" (design, section 6): what is asked of the arena after a
// candidate ran on one fill of one case. One file and one row each; a row's order is its cost, and
// the first that finds something ends the verification.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "protocol/worker_messages.h"
#include "worker/case_plan.h"
#include "worker/fill_recipe.h"
#include "worker/reference.h"

namespace cupilot::worker {

struct Finding {
  std::string reason;  // of records::kReasons; empty: nothing wrong
  std::string detail;
};

// Before the candidate ran, the arena held the inputs, and kPoison in outputs and workspaces.
struct Observation {
  const protocol::CandidateSet& set;
  const CasePlan& original;
  const CasePlan& plan;  // the same regions, and the candidate's workspaces behind them
  const OriginalResult& reference;
  const GateFill* fill;  // null: the workload's own
  std::span<const std::byte> after;
};

// The greatest rms error over fills and outputs, in units of the error rule.
struct Errors {
  double candidate = 0;
  double original = 0;
};

struct CheckRow {
  const char* name;  // in the evaluation's record
  const char* what;  // that holds where the check passes
  Finding (*run)(const Observation& seen, Errors& errors);
};

extern const std::vector<CheckRow> kChecks;

Finding CheckRedZones(const Observation& seen, Errors& errors);
Finding CheckInputs(const Observation& seen, Errors& errors);
Finding CheckWritten(const Observation& seen, Errors& errors);
Finding CheckValues(const Observation& seen, Errors& errors);

// How the values of an output are compared: the first of these that the workload and the reference
// allow.
enum class Equality { kTolerance, kErrorRule, kBits };
Equality EqualityOf(const protocol::CandidateSet& set, const Region& region,
                    const ReferenceOutput& reference);

// "'out'[17]", " (fill wide, case '1080p', seed 1)": for details.
std::string Where(const Region& region, std::size_t element);
std::string FillName(const Observation& seen);

}  // namespace cupilot::worker
