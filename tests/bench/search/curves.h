// Best-so-far curves of searches: from their records, as CSV and SVG, and the areas under them.
// Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/json.h"

namespace cupilot::bench {

struct Curve {
  std::string kernel;
  std::string arm;
  // Greatest accepted speedup over the original after each evaluation; 1 before the first.
  std::vector<double> best;
};

// From the record of a search (cupilot.search/1), in the order in which its verdicts came. What was
// declined before it was built, and what was built to the same code as another, is no evaluation.
base::Result<Curve> CurveOf(const records::Json& search);

// Best after so many evaluations; a curve that has ended stays where it is.
double BestAfter(const Curve& curve, std::size_t evaluations);

// Mean over the first `evaluations` of the natural logarithm of the best so far: the area under the
// curve for one evaluation, 0 for a search that found nothing, and the same for two kernels whose
// gains are the same. Of kernels it is averaged.
double AreaUnder(const Curve& curve, std::size_t evaluations);

// "kernel,arm,evaluation,best", a row for each evaluation of each curve.
std::string Csv(const std::vector<Curve>& curves);

// The curves of one kernel as a picture: steps over evaluations, speedups on a logarithmic axis.
std::string Svg(const std::vector<Curve>& curves, const std::string& title);

// A row for each arm in the order of `arms`: areas by kernel, their mean, the last best.
std::string AreaTable(const std::vector<Curve>& curves, const std::vector<std::string>& arms,
                      std::size_t evaluations);

}  // namespace cupilot::bench
