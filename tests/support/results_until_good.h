// How soon a search finds a good point of a measured space, with several points under way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>
#include <utility>

#include "search/measured.h"
#include "search/strategy.h"

namespace cupilot::search {

// Results, told in the order of asking, up to one within 5 % of the space's best; `in_flight`
// points are asked for before the first of them is told. All that it would try, where none is good.
inline std::size_t ResultsUntilGood(const MeasuredSpace& measured, Strategy& strategy,
                                    std::size_t in_flight) {
  double best = std::numeric_limits<double>::infinity();
  for (const MeasuredRow& row : measured.rows()) {
    best = std::min(best, row.microseconds.value_or(best));
  }
  std::deque<Point> asked;
  for (std::size_t done = 0;; ++done) {
    while (asked.size() < in_flight) {
      auto point = strategy.Next();
      if (!point) break;
      asked.push_back(std::move(*point));
    }
    if (asked.empty()) return done;
    const MeasuredRow* found = measured.Find(asked.front());
    const auto time = found == nullptr ? std::nullopt : found->microseconds;
    if (time && *time <= 1.05 * best) return done + 1;
    if (found != nullptr) strategy.ReportBuild(asked.front(), found->report());
    strategy.Report(asked.front(), time);
    asked.pop_front();
  }
}

}  // namespace cupilot::search
