// What the store keeps of the work on one kernel: cupilot.job/1.
#pragma once

#include <vector>

#include "records/json.h"
#include "records/variant.h"
#include "search/kernel_search.h"
#include "service/elsewhere.h"
#include "service/pool.h"

namespace cupilot::service {

struct JobRecord {
  Elsewhere elsewhere;
  PoolAdvice advice;
  std::vector<search::Opinion> opinions;
  double spent_seconds = 0;
  records::Json search;  // KernelSearch::ToJson()
  records::Json models;  // ModelPhase::ToJson(); null: none was asked yet
};

records::Json ToJson(const JobRecord& record);
base::Result<JobRecord> ParseJobRecord(const records::Json& json);

}  // namespace cupilot::service
