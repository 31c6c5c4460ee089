// Distributions in the place of captured data: what a buffer of them is like, as a workload's fill
// says it.
#pragma once

#include <string_view>

#include "device/element.h"
#include "records/workload.h"

namespace cupilot::workloads {

struct Fitted {
  records::Fill fill;
  double zeros = 0;  // share of the values
};

// The kind that fits: a constant, sorted values, a permutation or a count from 0 up where it is
// one, else normal or uniform (whichever's fourth moment is nearer: 3 and 1.8 times the squared
// variance), integers between the least and the greatest.
Fitted Fit(std::string_view bytes, const device::ElementType& type);

}  // namespace cupilot::workloads
