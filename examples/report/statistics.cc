#include "statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace {

// Two-sided 95 % quantile of Student's t with n degrees of freedom.
double StudentQuantile(std::size_t n) {
  constexpr std::array kTable = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                 2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  return n == 0               ? INFINITY
         : n <= kTable.size() ? kTable[n - 1]
                              : 1.96 + 2.5 / static_cast<double>(n);
}

}  // namespace

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

Ratio ComparePairs(const std::vector<double>& before, const std::vector<double>& after) {
  Ratio ratio;
  const std::size_t n = std::min(before.size(), after.size());
  if (n < 2) return ratio;
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < n; ++i) sum += std::log(before[i] / after[i]);
  const double mean = sum / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double d = std::log(before[i] / after[i]) - mean;
    squares += d * d;
  }
  const double error = std::sqrt(squares / static_cast<double>(n - 1) / static_cast<double>(n));
  const double half = StudentQuantile(n - 1) * error;
  ratio.before = Median(before);
  ratio.after = Median(after);
  ratio.speedup = std::exp(mean);
  ratio.low = std::exp(mean - half);
  ratio.high = std::exp(mean + half);
  return ratio;
}
