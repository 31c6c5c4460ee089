// The gate's rule for floating results (design, section 6): errors against the double twin, counted
// in units of what rounding can do. NUMERICS.md says why, and what it decides. Pure.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "device/element.h"

namespace cupilot::worker {

struct Layout;

// For the elements of one output on one fill.
struct Expected {
  std::vector<double> exact;      // d: the twin's result; not finite: the original's value counts
  std::vector<double> unit;       // kappa + u_a |d| + smallest number of the output's type
  std::vector<double> rest = {};  // what d lost when it was rounded to double; empty: nothing
  double reach = 1;               // inputs that reach one of them, measured (reach.h)
  // What rounding to a type of the output that is narrower than the arithmetic does to an honest
  // result: no error of its arithmetic, and taken off. Of |d|, and of the smallest numbers.
  double storage = 0;
  double smallest_storage = 0;
  // Half and bfloat16 arithmetic: the limits leave less room, since what is next in precision is
  // only 3 bits away, not 13. And what overflows, or becomes no number at the edge of a function's
  // domain, where the twin does not, may be as the twin is.
  bool narrow = false;

  double StorageOf(std::size_t i) const {
    return storage == 0 ? 0 : storage * std::fabs(exact[i]) + smallest_storage;
  }
  // Of a result y: how far from d, without what storing it does.
  double ErrorOf(double y, std::size_t i) const {
    const double error = std::fabs((y - exact[i]) - (rest.empty() ? 0 : rest[i]));
    return std::max(0.0, error - StorageOf(i));
  }
  // How far two results may be apart that are both within so many units.
  double Apart(double units, std::size_t i) const { return units * unit[i] + 2 * StorageOf(i); }
};

// What of `expected` follows from the output's type and the roundoff of the widest arithmetic.
void DescribeRounding(const device::ElementType& output, double roundoff, Expected& expected);
// `kappa`: rms of what moves an element whose exact value is `exact` when inputs are rounded.
double UnitOf(double kappa, double exact, double roundoff, const device::ElementType& output);

struct Rho {
  double rms = 0;
  double max = 0;
  std::size_t worst = 0;     // element
  std::size_t elements = 0;  // that have an exact value; 0: many
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
// each; a variance: the mean's square) an honest sum in order has many equal terms. Their roundings
// are alike as long as the sum stays between two powers of two: up to a unit of roundoff each,
// where those of random terms cancel to the root of their number. A unit of such outputs counts
// them all.
// `terms_of_zeros`: what zeros amount to, 0 where they add nothing.
void CountEqualTerms(const std::vector<double>& terms_of_zeros, double m, double roundoff,
                     Expected& expected);
// `m`: inputs of one output; `dense`: dense fill or probe; `narrow`: as in Expected. The rms of few
// elements may be far from what it is of many: a scalar's is one draw.
Limits LimitsOf(const Rho& original, double m, bool dense, bool narrow = false);

// Whether the original is right on the exact integers; where it is not (their squares have too many
// bits), they are a dense fill like others.
bool IsExact(const Rho& original);

bool Passes(const Rho& candidate, const Limits& limits);

}  // namespace cupilot::worker
