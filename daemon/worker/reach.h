// How many inputs reach one output: the error rule's m, as the double twin shows it. A layout alone
// says it of a sum; of a softmax, which has as many outputs as inputs, it does not.
//
// Inputs are moved at random, each with a probability. Of outputs that m inputs reach, the share
// 1 - (1 - p)^m moves with them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"

namespace cupilot::worker {

struct Layout;

// Moves some of `count` input components, of which the first is number `first` of its array: zeros
// too, since what a kernel makes of them may be no zero (an exponential).
void MoveSome(double* values, std::int64_t first, std::int64_t count, std::uint64_t stream,
              double density);

// Whether one floating input is as the gate's sparse fills make it. `contents`: by region.
bool HasManyZeros(const Layout& layout, const std::vector<std::vector<std::byte>>& contents);
// Whether floating inputs add up to nothing, so that what a kernel subtracts a mean from stays
// zero.
bool IsBalanced(const Layout& layout, const std::vector<std::vector<std::byte>>& contents);

// Results that stay as they are when an input is shifted as a whole: of kernels that subtract a
// mean or the greatest value, for which zeros are no zeros.
void KeepUnshifted(const std::vector<double>& before, const std::vector<double>& after,
                   std::vector<double>& terms_of_zeros);

// Of results that are none of rounding in another order.
double ShareMoved(const std::vector<double>& before, const std::vector<double>& after);

// The share of outputs that are not what they were, for each array of outputs, when each input is
// moved with probability `density`.
using SharesMoved = std::function<base::Result<std::vector<double>>(double density)>;

// By array of outputs; at least 1. `inputs`: of all arrays together. Asks for few densities: 2 for
// elements that have an input of their own, 10 for a sum of 2^26; of small cases for each several
// times, so that each call must draw anew.
base::Result<std::vector<double>> MeasureReach(double inputs, const SharesMoved& shares_moved);

}  // namespace cupilot::worker
