// The kernels of launches/launches.cu: `tuned`, whose variant always runs, and `missed`, whose
// guard never holds.
#pragma once

#include <string>
#include <vector>

#include "daemon/source/swap/scale_kernel.h"

namespace cupilot::source {

inline SwappedKernel LaunchedKernel(const std::string& name, const std::string& guard,
                                    const std::vector<std::string>& targets) {
  SwappedKernel swapped;
  records::Kernel& kernel = swapped.kernel;
  kernel.name = "bench::" + name;
  kernel.namespaces = {"bench"};
  kernel.parameters = {MakeParameter("out", "int *", records::ParameterKind::kPointer, 8),
                       MakeParameter("n", "int", records::ParameterKind::kInteger, 4)};
  records::Variant variant;
  variant.kernel = kernel.name;
  variant.source = "__global__ void " + name + "_v(int* out, int n) { if (n < 0) *out = n + 1; }";
  variant.entry = name + "_v";
  variant.id = records::VariantId(variant);
  for (const std::string& target : targets) {
    swapped.variants.push_back({variant, target, {}, guard, name, 1.1});
  }
  return swapped;
}

// The guards ask what published ones ask: sizes, geometry, alignment, ranges.
inline SwapRequest LaunchesRequest(const std::string& source,
                                   const std::vector<std::string>& targets) {
  const std::string geometry =
      "grid_x == 1 && grid_y == 1 && grid_z == 1 && block_x == 32 && block_y == 1 && block_z == 1 "
      "&& shared_bytes == 0 && aligned(out, 4) && disjoint(out, 4, out, 0)";
  return {source,
          "launches",
          {LaunchedKernel("tuned", "n >= 1 && n <= 4096 && " + geometry, targets),
           LaunchedKernel("missed", geometry + " && n == 4096", targets)}};
}

}  // namespace cupilot::source
