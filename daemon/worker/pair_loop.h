// The order in which original and candidate are timed, and when it ends: what all devices share of
// a measurement. In the runner.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "base/result.h"
#include "records/json.h"
#include "worker/measure.h"

namespace cupilot::worker {

// What decides whether a candidate is clearly slower.
inline constexpr std::size_t kProbePairs = 3;

struct PairSettings {
  double seconds = 2;        // at most, unless there are too few pairs
  double probe_limit = 1.1;  // a candidate that takes so many times the original's time stops
  std::size_t most_pairs = 60;
  bool probe = false;  // no more is asked than how fast it is, roughly
  // Of a probe: a candidate that takes more than so many times the original's time is of no
  // interest; 0: all are.
  double promising = 0;
};
PairSettings PairSettingsOf(const records::Json& request);

struct PairsTaken {
  TimedPairs pairs;
  bool stopped_early = false;
  std::size_t dropped = 0;  // pairs that were taken again
};

// `sample(side, pair)`: microseconds of the original (side 0) or the candidate (side 1). Who comes
// first alternates; pair 0 warms up and does not count. `disturbed`, asked before and after each
// pair, says that what is timed now does not count (the GPU is slowed down): such pairs are taken
// again, but no more than as many as are to be taken, or a GPU that stays so would never end.
// `first`, if it is not null, is a pair that was taken before: it counts, and nothing else warms
// up.
base::Result<PairsTaken> TakePairs(
    const PairSettings& settings,
    const std::function<base::Result<double>(int side, std::size_t pair)>& sample,
    const std::function<bool()>& disturbed = {}, const std::pair<double, double>* first = nullptr);

// More than one launch of a millisecond or longer is off by, unless the driver had something to
// prepare for the first one.
inline constexpr double kOneIsOff = 1.5;

// Whether the candidate takes more than `times` as long as what is of interest.
bool IsFar(const PairSettings& settings, const std::pair<double, double>& pair,
           double times = kOneIsOff);

// As TakePairs(), of a probe of long launches whose first pair is there: a candidate for which
// another one says the same is known well enough (that it is far, or how long both sides take to a
// hundredth), and what is hopeless by that one alone. If the other one says something else, the
// first does not count.
base::Result<PairsTaken> GoOnWithProbe(
    PairSettings settings, const std::pair<double, double>& first,
    const std::function<base::Result<double>(int side, std::size_t pair)>& sample,
    const std::function<bool()>& disturbed = {});

// {"pairs": [[a, b], ...], "stopped_early": ..., "dropped": ...}
records::Json ToJson(const PairsTaken& taken);
PairsTaken PairsFrom(const records::Json& reply);

}  // namespace cupilot::worker
