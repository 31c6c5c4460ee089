// Sums over whole fields.
#pragma once

#include "device_array.h"

namespace solver {

// Adds the sum of the squares of `values` to *sum, which is memory of the device.
template <class Real>
void AddSumOfSquares(const DeviceArray<Real>& values, double* sum);

}  // namespace solver
