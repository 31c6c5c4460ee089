// A strategy run on a measured space: what each evaluation gives and what it costs is read from the
// rows. A function of the space and the strategy, and of the clock where one is given.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "search/measured.h"
#include "search/strategy.h"

namespace cupilot::search {

// Seconds since any moment. Where it is given, the time that the strategy itself takes counts too.
using ReplayClock = std::function<double()>;

struct ReplayRun {
  struct Improvement {
    double seconds = 0;       // since the start, when the evaluation ended
    double microseconds = 0;  // the best time from then on
  };
  std::vector<Improvement> improvements;
  std::uint64_t evaluations = 0;  // points with a row, each once
  std::uint64_t failed = 0;       // of them
  std::uint64_t repeated = 0;     // asked for again: costs nothing, gives the same
  std::uint64_t unknown = 0;      // visits of points without a row: cost nothing, give nothing
  double seconds = 0;             // all evaluations, and the strategy where there is a clock
  double search_seconds = 0;      // the strategy alone; 0 without a clock
  double longest_step = 0;        // the same, for one point
  bool exhausted = false;         // the strategy had nothing more to try
};

// Until the next evaluation would end after the budget, the strategy has no more points, or it has
// asked for 10,000 points in a row that are not new or not known. Evaluations cost what their rows
// say; where no row of the space says anything, a second each.
ReplayRun Replay(const MeasuredSpace& measured, Strategy& strategy, double budget_seconds,
                 const ReplayClock& clock);

// What an evaluation of this row costs in a replay. What ran was built: where its row does not say
// how long that took, as long as the others took in the mean.
class ReplayCost {
 public:
  explicit ReplayCost(const MeasuredSpace& measured);
  double Of(const MeasuredRow& row) const;
  double mean() const { return mean_; }

 private:
  bool known_ = false;
  double mean_ = 1;
  double mean_build_ = 0;  // of rows that say it
};

}  // namespace cupilot::search
