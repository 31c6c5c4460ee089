// What is lost by trusting the cost model on a measured space: it sees random points, ranks all
// others without building them, and the best of those that it ranks first is compared with the best
// of all others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include "search/measured.h"
#include "search/portfolio/build_costs.h"
#include "search/portfolio/build_reports.h"
#include "search/portfolio/cost_model.h"
#include "search/portfolio/feasibility.h"
#include "search/portfolio/history.h"
#include "search/portfolio/scales.h"
#include "search/random_numbers.h"

namespace cupilot::search {

struct ModelRegret {
  double first = 0;   // of the one that it ranks first: 0.1 is 10 % slower than the best
  double of_ten = 0;  // of the best of the first ten
};

// `known`: points with a time that it sees, fewer than there are. `facts`: of the space, or null.
// `reports`: it is told what the compiler said of them, too.
inline ModelRegret RegretOf(const MeasuredSpace& measured, const PointFacts* facts, bool reports,
                            std::size_t known, std::uint64_t seed) {
  std::vector<const MeasuredRow*> rows;
  for (const MeasuredRow& row : measured.rows()) {
    if (row.microseconds) rows.push_back(&row);
  }
  std::mt19937_64 random(seed);
  Shuffle(rows, random);
  History history;
  const Scales scales(measured.space());
  const Features features(measured.space(), scales, facts);
  const Feasibility feasibility(features, true);
  const BuildCosts build_costs(features);
  BuildReports build_reports(features);
  const Commons commons{measured.space(), history, feasibility, build_costs, build_reports, random};
  CostModel model(commons, scales, features);
  for (std::size_t i = 0; i < known; ++i) {
    if (reports) build_reports.Learn(rows[i]->point, rows[i]->report());
    model.Learn(*history.Put(rows[i]->point, rows[i]->microseconds, Failure::kUnknown));
  }
  std::vector<std::pair<double, double>> ranked;  // what it expects, what it is
  double best = *rows[known]->microseconds;
  for (std::size_t i = known; i < rows.size(); ++i) {
    ranked.emplace_back(model.Predict(rows[i]->point), *rows[i]->microseconds);
    best = std::min(best, ranked.back().second);
  }
  const auto end =
      ranked.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(ranked.size(), 10));
  std::partial_sort(ranked.begin(), end, ranked.end());
  const auto fastest = std::min_element(
      ranked.begin(), end, [](const auto& a, const auto& b) { return a.second < b.second; });
  return {ranked.front().second / best - 1, fastest->second / best - 1};
}

}  // namespace cupilot::search
