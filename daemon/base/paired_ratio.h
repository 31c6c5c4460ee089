// How much faster one thing is than another, from times that were taken in turn. Pure.
#pragma once

#include <utility>
#include <vector>

namespace cupilot::base {

// Times of the one and of the other, measured one right after the other, in any unit; positive.
using TimedPairs = std::vector<std::pair<double, double>>;

struct PairedRatio {
  double first = 0;  // medians, in the unit of the pairs
  double second = 0;
  double ratio = 0;  // of the first to the second: above 1 where the second is faster
  double low = 0;    // of the 95 % interval
  double high = 0;
};

// The trimmed mean of the logarithms (10 % at each end) with Yuen's winsorised error and Student's
// t. Needs three pairs.
PairedRatio RatioOf(const TimedPairs& pairs);

// The median of the pairs' ratios, for so few that a single disturbed one would decide their mean
// (of 1500 probes of the GEMM beside proofs on an H200 two said 1.8x and 2.1x where 1.4x and 1.04x
// are right). Needs one.
double MedianRatioOf(const TimedPairs& pairs);

}  // namespace cupilot::base
