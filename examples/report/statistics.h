// Paired comparison of times.
#pragma once

#include <vector>

struct Ratio {
  double before = 0;  // medians, microseconds
  double after = 0;
  double speedup = 0;  // geometric mean of before/after over the pairs
  double low = 0;      // 95 % interval of it: Student's t on the logarithms of the pairs' ratios
  double high = 0;
};

// The i-th elements belong to one pair of runs, made one directly after the other. Needs two pairs.
Ratio ComparePairs(const std::vector<double>& before, const std::vector<double>& after);

// Of at least one value.
double Median(std::vector<double> values);
