// Runs the arms of kernels from their recordings, or live, and says what came out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tests/bench/search/curves.h"
#include "tests/bench/search/live.h"
#include "tests/bench/search/options.h"

namespace cupilot::bench {

struct Comparison {
  std::vector<Curve> curves;     // of arms that ended
  std::int64_t evaluations = 0;  // the most of a recording's budget
  int open_requests = 0;
};

using Say = std::function<void(const std::string& line)>;

// From recordings alone. kNotFound with what is missing, or where nothing was recorded.
base::Result<Comparison> CompareRecorded(loop::Loop& loop, const base::Clock& clock,
                                         const Options& options, const Say& say);
// With this machine; writes the recordings, of arms whose requests are open beside them as
// ARM.jsonl.zst.part.
base::Result<Comparison> CompareLive(loop::Loop& loop, const base::Clock& clock,
                                     const Options& options, LiveMachine& machine, const Say& say);

}  // namespace cupilot::bench
