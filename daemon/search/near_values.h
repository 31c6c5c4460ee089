// What won on kernels like one says of the values of its own tunables: names that people use again
// (block sizes, tiles) mean the same. Pure.
#pragma once

#include <vector>

#include "records/kernel.h"
#include "search/number_space.h"

namespace cupilot::search {

// The best values of another kernel's tunables.
struct NearChampion {
  double distance = 0;  // of its features from this kernel's (records::Distance)
  Values values;
};

// Proposals for a kernel with these tunables, the most promising first. Where at least so many
// champions have one of their names, first what is learned of all of them: of each name the mean,
// the nearer a kernel the more it counts (kernel regression: E. Nadaraya, On estimating regression,
// 1964), of positive values on a logarithmic scale. Then each champion itself, the nearest first.
// What none says is as the source has it; values need not be among those that a tunable lists.
inline constexpr std::size_t kEnoughToLearn = 4;
std::vector<Values> ValuesLike(std::vector<NearChampion> near,
                               const std::vector<records::Tunable>& tunables);

}  // namespace cupilot::search
