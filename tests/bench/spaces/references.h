// What the kernels of this folder compute, on the processor, in double where they use float: one
// element at a time, so that a sample of a large output can be checked.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tests/bench/spaces/benchmark.h"

namespace cupilot::spaces {

// The value that component `index` of the output must have; NaN: rounding decides it.
using Expected = std::function<double(std::int64_t index)>;

// kInvalidArgument: no kernel of this name. What a whole output is needed for is computed here.
base::Result<Expected> ReferenceOf(const Benchmark& benchmark, const Memory& memory);

// Stretches of the output `out` that are looked at, with the values expected there.
class ResultCheck {
 public:
  // Everything where that is little, else stretches at random, the first and the last one.
  static base::Result<ResultCheck> Make(const Benchmark& benchmark, const Memory& memory);
  // Nothing wrong: empty; else the first place that is: "out[17] is 0.5, not 0.75".
  base::Result<std::string> Look(const Memory& memory, device::Device& device) const;

 private:
  struct Stretch {
    std::int64_t begin = 0;  // element
    std::vector<double> values;
  };
  const Region* output_ = nullptr;
  std::vector<Stretch> stretches_;
  double tolerance_ = 0;  // of values; 0: integers
};

}  // namespace cupilot::spaces
