#include "base/paired_ratio.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace cupilot::base {
namespace {

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// Two-sided 95 % quantile of Student's t (Cornish-Fisher expansion around the normal quantile).
double StudentQuantile(double n) {
  constexpr double z = 1.959963984540054;
  const double g1 = (z * z * z + z) / 4;
  const double g2 = (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / 96;
  const double g3 = (3 * std::pow(z, 7) + 19 * std::pow(z, 5) + 17 * z * z * z - 15 * z) / 384;
  return n < 3 ? 4.303 : z + g1 / n + g2 / (n * n) + g3 / (n * n * n);
}

}  // namespace

PairedRatio RatioOf(const TimedPairs& pairs) {
  PairedRatio ratio;
  std::vector<double> a, b, logs;
  for (const auto& [first, second] : pairs) {
    a.push_back(first);
    b.push_back(second);
    logs.push_back(std::log(first / second));
  }
  std::sort(logs.begin(), logs.end());
  const std::size_t n = logs.size(), cut = n / 10, kept = n - 2 * cut;
  double mean = 0, winsorised = 0;
  for (std::size_t i = cut; i < n - cut; ++i) mean += logs[i] / static_cast<double>(kept);
  double centre = 0;
  const auto clamp = [&](std::size_t i) { return logs[std::clamp(i, cut, n - cut - 1)]; };
  for (std::size_t i = 0; i < n; ++i) centre += clamp(i) / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) winsorised += (clamp(i) - centre) * (clamp(i) - centre);
  const double variance = winsorised / static_cast<double>(n - 1);
  const double share = static_cast<double>(kept) / static_cast<double>(n);
  const double error = std::sqrt(variance / static_cast<double>(n)) / share;
  const double half = StudentQuantile(static_cast<double>(kept - 1)) * error;
  ratio.first = Median(a);
  ratio.second = Median(b);
  ratio.ratio = std::exp(mean);
  ratio.low = std::exp(mean - half);
  ratio.high = std::exp(mean + half);
  return ratio;
}

double MedianRatioOf(const TimedPairs& pairs) {
  std::vector<double> ratios;
  ratios.reserve(pairs.size());
  for (const auto& [first, second] : pairs) ratios.push_back(first / second);
  std::sort(ratios.begin(), ratios.end());
  const std::size_t n = ratios.size();
  return std::sqrt(ratios[(n - 1) / 2] * ratios[n / 2]);
}

}  // namespace cupilot::base
