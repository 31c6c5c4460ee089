// The stage "measure": original and candidate in turn in one process, on exchanged buffers.
#pragma once

#include <utility>
#include <vector>

#include "base/result.h"
#include "protocol/worker_messages.h"

namespace cupilot::worker {

base::Result<protocol::MeasureReply> Measure(const protocol::MeasureRequest& request);

// Microseconds of the original and of the candidate, measured one after the other.
using TimedPairs = std::vector<std::pair<double, double>>;

struct PairedRatio {
  double original_us = 0;
  double variant_us = 0;
  double speedup = 0;
  double low = 0;
  double high = 0;
};

// 95 % interval of the ratio from pairs of times: the trimmed mean of the logarithms (10 % at each
// end) with Yuen's winsorised error and Student's t. Needs three pairs. Pure.
PairedRatio RatioOf(const TimedPairs& pairs);

// Whether the candidate is slower than `limit` times the original in every pair. Pure.
bool LosesProbe(const TimedPairs& pairs, double limit);

// Whether further pairs are not worth their time: the candidate is slower for certain (which may
// reject, never accept), or the time is spent. `seconds`: at most, unless there are too few. Pure.
bool EnoughPairs(const TimedPairs& pairs, double spent_seconds, double seconds);

}  // namespace cupilot::worker
