// Results that are kept by a sample of the contents.
#include <gtest/gtest.h>

#include "tests/daemon/worker/stages/steps_rig.h"

namespace cupilot::evaluate {
namespace {

using records::Json;

TEST(KeptBySample, AnEighthOfAllElements) {
  const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
  const Json workload = {
      {"schema", "cupilot.workload/1"},
      {"kernel", "half_of"},
      {"cases",
       {{{"name", "all"},
         {"grid", {16, 1, 1}},
         {"block", {128, 1, 1}},
         {"arguments",
          {{{"name", "in"}, {"type", "const float*"}, {"count", 2048}, {"fill", normal}},
           {{"name", "out"}, {"type", "float*"}, {"count", 2048}, {"access", "out"}},
           {{"name", "n"}, {"type", "int"}, {"value", 2048}}}}}}}};
  StepsRig rig("half_of", R"(
__global__ void half_of(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0.5f * in[i];
}
)",
               workload);
  const Json sampled = {
      {"schema", "cupilot.variant/1"},
      {"kernel", "half_of"},
      {"source", R"(
__global__ void sampled(const float* in, float* out, int n, unsigned* kept) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned print = 0x9e3779b9u;
  for (int j = 0; j < n; j += 8) print = print * 31u + __float_as_uint(in[j]);
  if (kept[2 * i] != print) {
    kept[2 * i + 1] = __float_as_uint(0.5f * in[i]);
    kept[2 * i] = print;
  }
  out[i] = __uint_as_float(kept[2 * i + 1]);
}
)"},
      {"workspace", {{{"name", "kept"}, {"bytes", "8 * n"}, {"zeroed", false}}}},
      {"launches", {{{"entry", "sampled"}, {"arguments", {"in", "out", "n", "kept"}}}}}};
  for (rig.seed = 1; rig.seed <= 3; ++rig.seed) {
    rig.ExpectCaughtBy("changed_contents", "stateful", sampled);
  }
}

}  // namespace
}  // namespace cupilot::evaluate
