// The gate's rule for floating results (design, section 6): errors against the double twin, counted
// in units of what rounding can do. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "device/element.h"

namespace cupilot::worker {

struct Layout;

// For the elements of one output on one fill.
struct Expected {
  std::vector<double> exact;  // d: the twin's result; not finite: the original's value counts
  std::vector<double> unit;   // kappa + u_s |d| + smallest normal number
  double reach = 1;           // inputs that reach one of them, measured (reach.h)
};

struct Rho {
  double rms = 0;
  double max = 0;
  std::size_t worst = 0;  // element
};

// `original`: where it is not finite, the candidate must be of the same class and sign.
Rho RhoOf(const std::vector<double>& values, const std::vector<double>& original,
          const Expected& expected);

// The same for all components of two arrays of `type`, on all processors. The result does not
// depend on their number.
Rho RhoOf(const std::byte* values, const std::byte* original, const device::ElementType& type,
          const Expected& expected);

struct Limits {
  double rms;
  double max;
};
// How many inputs reach one of the outputs that `expected` is of: what was measured, and at least
// all inputs over all outputs.
double InputsOfOneOutput(const Layout& layout, const Expected& expected);
// On a sparse fill, where a kernel makes something of zeros (a softmax: the same exponential of
// each) an honest sum in order has many equal terms. Their roundings are alike as long as the sum
// stays between two powers of two: up to a third of `m` units of roundoff in all, where random
// terms give the root of it. A unit of such outputs counts that. `background`: the results for
// zeros alone.
void CountEqualTerms(const std::vector<double>& background, double m, double roundoff,
                     Expected& expected);
// `m`: inputs of one output; `dense`: dense fill or probe.
Limits LimitsOf(const Rho& original, double m, bool dense);

bool Passes(const Rho& candidate, const Limits& limits);

}  // namespace cupilot::worker
