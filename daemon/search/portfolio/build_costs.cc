#include "search/portfolio/build_costs.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace cupilot::search {

double BuildCosts::WorthOf(const Point& point) const {
  if (!log_seconds_.IsFitted()) return 1;
  std::vector<float> features;
  features_.Of(point, features);
  return std::min(1.0, std::exp(log_seconds_.middle() - log_seconds_.Of(features)));
}

void BuildCosts::Learn(const Point& point, double seconds) {
  if (!(seconds > 0)) return;
  std::vector<float> features;
  features_.Of(point, features);
  log_seconds_.Learn(features, std::log(seconds));
}

}  // namespace cupilot::search
