// Why a case takes as long as it does: its place on the roofline, before and after. Evidence beside
// a verdict, never part of one: what fails here is said in the record, and nothing else.
#pragma once

#include <string>
#include <vector>

#include "protocol/worker_messages.h"
#include "worker/case_plan.h"
#include "worker/floor.h"
#include "worker/program.h"

namespace cupilot::worker {

struct ProfiledCase {
  const protocol::MeasureRequest& request;
  const CasePlan& original;
  const CasePlan& plan;  // the candidate's: the same regions, and its workspaces behind them
  const Program& candidate;
  Traffic traffic;
  double original_us = 0, variant_us = 0;
};

// For the record's metrics:
//   {"source": "cupti" | "static", "reason": why there are no counters,
//    "necessary": {"read": bytes, "written": bytes}, "seconds": what it took,
//    "original": {"bound", "share", "shares", "operations", "launches", "counters"} and "variant":
//    the same; without counters "instructions" in place of them}
// The original's is kept for the candidates that follow. GPUs only.
records::Json ProfileCase(const ProfiledCase& profiled, const records::Json& peaks);

}  // namespace cupilot::worker
