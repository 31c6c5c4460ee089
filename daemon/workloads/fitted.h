// Distributions in the place of captured data: what a buffer of them is like, as a workload's fill
// says it, and what is known of it beyond that.
#pragma once

#include <string_view>

#include "device/element.h"
#include "records/workload.h"
#include "workloads/captured.h"

namespace cupilot::workloads {

// A share of zeros from which on data counts as sparse.
inline constexpr double kSparse = 0.2;

struct Fitted {
  records::Fill fill;
  Distribution distribution;
};

// The kind that fits: a constant; sorted values; of integers a permutation or a count from 0 up
// where it is one, else those between the least and the greatest; else normal or uniform,
// whichever's fourth moment is nearer (3 and 1.8 times the squared variance). Of sparse numbers
// that are in no order the fill says how many are zero, and the rest of it is fitted to the others.
//
// The fill says less than the distribution: integers that are not spread evenly stay between their
// bounds but are drawn evenly, and normal numbers leave the range. Integers beyond 63 bits, which
// no fill can say, end at the last one that can be said; where all are beyond, they are bits.
Fitted Fit(std::string_view bytes, const device::ElementType& type);

}  // namespace cupilot::workloads
