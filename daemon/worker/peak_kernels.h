// The kernels that find a GPU's peaks, as text for the driver's own compiler. Pure.
#pragma once

#include <string>
#include <vector>

namespace cupilot::worker {

// cupilot_read(from, words, to): sums everything, so that every byte must be read.
// cupilot_write(to, words): 16 bytes a word. cupilot_empty(). For every GPU since Volta.
std::string MemoryKernels();

// One instruction over and over, in chains that do not wait for each other.
struct RateKernel {
  const char* pipe;           // "fp32"
  std::string text;           // a module with cupilot_rate(rounds, seed, to)
  double operations_a_round;  // of one thread
};

// Those that a GPU of this compute capability (10 * major + minor) can run.
std::vector<RateKernel> RateKernels(int capability);

}  // namespace cupilot::worker
