// The stage "measure": original and candidate in turn in one process, on exchanged buffers.
#pragma once

#include "base/paired_ratio.h"
#include "base/result.h"
#include "protocol/worker_messages.h"

namespace cupilot::worker {

base::Result<protocol::MeasureReply> Measure(const protocol::MeasureRequest& request);

// {"device", "artifacts": folder}: begins a GPU's process for PrepareDevice(), which may load what
// lies in the folder and makes its context meanwhile. Takes as long as the driver takes to open.
base::Result<records::Json> BeginDevice(const records::Json& params);

// The stage's process of a GPU and the contents of the set's first case, for who measures a
// candidate of it next: both are made while its first candidates are built. The set has no
// variant; of an original's artifact that is not there yet the folder counts. Where it is, and the
// case has much data, the original is timed for the first looks. {"prepared": bool}
base::Result<records::Json> PrepareDevice(const records::Json& params);

// Microseconds of the original and of the candidate, measured one after the other.
using TimedPairs = base::TimedPairs;

// Whether the candidate is slower than `limit` times the original in every pair. Pure.
bool LosesProbe(const TimedPairs& pairs, double limit);

// Whether further pairs are not worth their time: the candidate is slower for certain (which may
// reject, never accept), or the time is spent. `seconds`: at most, unless there are too few. Pure.
bool EnoughPairs(const TimedPairs& pairs, double spent_seconds, double seconds);

}  // namespace cupilot::worker
