// The order in which original and candidate are timed, and when it ends: what all devices share of
// a measurement. In the runner.
#pragma once

#include <cstddef>
#include <functional>

#include "base/result.h"
#include "records/json.h"
#include "worker/measure.h"

namespace cupilot::worker {

struct PairSettings {
  double seconds = 2;        // at most, unless there are too few pairs
  double probe_limit = 1.1;  // a candidate that takes so many times the original's time stops
  std::size_t most_pairs = 60;
};
PairSettings PairSettingsOf(const records::Json& request);

struct PairsTaken {
  TimedPairs pairs;
  bool stopped_early = false;
};

// `sample(side, pair)`: microseconds of the original (side 0) or the candidate (side 1). Who comes
// first alternates; pair 0 warms up and does not count.
base::Result<PairsTaken> TakePairs(
    const PairSettings& settings,
    const std::function<base::Result<double>(int side, std::size_t pair)>& sample);

// {"pairs": [[a, b], ...], "stopped_early": ...}
records::Json ToJson(const PairsTaken& taken);
PairsTaken PairsFrom(const records::Json& reply);

}  // namespace cupilot::worker
