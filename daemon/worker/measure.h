// The stage "measure": original and candidate in turn in one process, on exchanged buffers.
#pragma once

#include "base/result.h"
#include "protocol/worker_messages.h"

namespace cupilot::worker {

base::Result<protocol::MeasureReply> Measure(const protocol::MeasureRequest& request);

struct PairedRatio {
  double original_us = 0;
  double variant_us = 0;
  double speedup = 0;
  double low = 0;
  double high = 0;
};

// 95 % interval of the ratio from pairs of times: the trimmed mean of the logarithms (10 % at each
// end) with Yuen's winsorised error and Student's t. Needs three pairs. Pure.
PairedRatio RatioOf(const std::vector<std::pair<double, double>>& pairs);

}  // namespace cupilot::worker
