// The kernels of launches/launches.cu: `tuned`, whose variant always runs, `missed`, whose guard
// never holds, and `sized`, with a variant for each of three sizes, of which the last one runs.
#pragma once

#include <string>
#include <vector>

#include "daemon/source/swap/scale_kernel.h"

namespace cupilot::source {

inline SwappedKernel LaunchedKernel(const std::string& name, const std::vector<std::string>& guards,
                                    const std::vector<std::string>& targets) {
  SwappedKernel swapped;
  records::Kernel& kernel = swapped.kernel;
  kernel.name = "bench::" + name;
  kernel.namespaces = {"bench"};
  kernel.parameters = {MakeParameter("out", "int *", records::ParameterKind::kPointer, 8),
                       MakeParameter("n", "int", records::ParameterKind::kInteger, 4)};
  for (std::size_t i = 0; i < guards.size(); ++i) {
    records::Variant variant;
    variant.kernel = kernel.name;
    variant.entry = name + "_" + std::to_string(i);
    variant.source = "__global__ void " + variant.entry +
                     "(int* out, int n) { if (n < 0) *out = " + std::to_string(i) + "; }";
    variant.id = records::VariantId(variant);
    for (const std::string& target : targets) {
      swapped.variants.push_back({variant, target, {}, guards[i], name, 1.1});
    }
  }
  return swapped;
}

// The guards ask what published ones ask: sizes, geometry, alignment, ranges.
inline SwapRequest LaunchesRequest(const std::string& source,
                                   const std::vector<std::string>& targets) {
  const std::string geometry =
      "grid_x == 1 && grid_y == 1 && grid_z == 1 && block_x == 32 && block_y == 1 && block_z == 1 "
      "&& shared_bytes == 0 && aligned(out, 4) && disjoint(out, 4, out, 0)";
  return {
      source,
      "launches",
      {LaunchedKernel("tuned", {"n >= 1 && n <= 4096 && " + geometry}, targets),
       LaunchedKernel("missed", {geometry + " && n == 4096"}, targets),
       LaunchedKernel("sized",
                      {geometry + " && n > 1024 && n <= 4096", geometry + " && n > 64 && n <= 1024",
                       geometry + " && n >= 1 && n <= 64"},
                      targets)}};
}

}  // namespace cupilot::source
