// app::scale of swap/graph_updates.cu with a variant that handles pairs, in half of the blocks: for
// an odd n, which its guard does not admit, it leaves out the last element.
#pragma once

#include <string>
#include <vector>

#include "daemon/source/swap/scale_kernel.h"

namespace cupilot::source {

inline SwapRequest GraphsRequest(const std::string& source,
                                 const std::vector<std::string>& targets) {
  records::Variant variant;
  variant.kernel = "app::scale";
  variant.source = R"(
__global__ void scale_pairs(float factor, const float* in, float* out, int n) {
  if (blockIdx.x == 0 && threadIdx.x == 0) atomicAdd(&seen[1], 1);
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 1 < n) {
    out[i] = factor * in[i];
    out[i + 1] = factor * in[i + 1];
  }
})";
  records::Launch launch;
  launch.entry = "scale_pairs";
  launch.grid = {"ceil_div(grid_x, 2)", "1", "1"};
  variant.launches = {launch};
  variant.id = records::VariantId(variant);
  SwappedKernel kernel;
  kernel.kernel = ScaleKernel();
  for (const std::string& target : targets) {
    kernel.variants.push_back({variant, target, {}, "n % 2 == 0", "pairs", 1.1});
  }
  return {source, "graph_updates", {kernel}};
}

}  // namespace cupilot::source
