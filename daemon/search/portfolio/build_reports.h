// What the compiler says of points (a thread's registers and local memory, a block's static shared
// memory): of those that were built as it was, of others as it is expected by them. A cost model
// has to know it before anything is built: it decides how many blocks find room. Pure.
#pragma once

#include <unordered_map>
#include <vector>

#include "search/portfolio/history.h"
#include "search/portfolio/learned_number.h"
#include "search/portfolio/scales.h"
#include "search/resources.h"

namespace cupilot::search {

class BuildReports {
 public:
  explicit BuildReports(const Features& features) : features_(features) {}

  // A point was built; without registers (the host device, an old record) it says nothing.
  void Learn(const Point& point, const BuildReport& report);
  // Of a point and its features, of which the facts become those with this build.
  void Tell(const Point& point, std::vector<float>& features) const;

 private:
  // All 0 while nothing is known of any point. Seconds are not told.
  BuildReport Of(const Point& point, const std::vector<float>& features) const;

  const Features& features_;
  std::unordered_map<Point, BuildReport, PointHash> known_;
  LearnedNumber log_registers_, log_local_, log_shared_;  // log(1 + x)
  int turn_ = 0;                                          // whose it is to be fitted
};

}  // namespace cupilot::search
