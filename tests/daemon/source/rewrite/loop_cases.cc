#include "tests/daemon/source/rewrite/loop_cases.h"

namespace cupilot::source {
namespace {

// Weights of an expression, steps of two, a bound that belongs to the range.
constexpr const char* kSharpened = R"(
__constant__ float mask[5][3];
// cupilot: tune
// cupilot: workload w grid=(4,8) block=(32,4) w=120 h=32 picture=normal[w*h] sharp=[w*h] global:mask=normal[15]
__global__ void sharpened(const float* picture, float* sharp, int w, int h) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, l = blockIdx.y * blockDim.y + threadIdx.y;
  if (c >= w || l >= h) return;
  float value = 0.0f;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i < 3; i += 2) {
      int row = min(max(l + j, 0), h - 1), column = min(max(c + i, 0), w - 1);
      value += mask[j + 2][(i + 2) / 2] * picture[row * w + column];
    }
  sharp[l * w + c] = value;
}
)";

// A nest beside a loop that is none, and an inner loop of unknown length beside it.
constexpr const char* kPairs = R"(
// cupilot: tune
// cupilot: workload w grid=4 block=64 n=11 rows=integers(-9,9)[256*4] tables=integers(0,5)[16] out=[256]
__global__ void pairs(const int* rows, const int* tables, int* out, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int kept[4], sum = 0;
  for (int k = 0; k < 4; ++k) kept[k] = rows[t * 4 + k];
  for (unsigned int a = 0; a < 4; ++a) {
    for (unsigned int b = 0; b < 4; ++b) sum += kept[a] * kept[b] * tables[a * 4 + b];
    sum ^= a;
  }
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < 2; ++j) sum += k * j;
  out[t] = sum;
}
)";

constexpr const char* kUnevenRows = R"(
// cupilot: tune
// cupilot: workload w grid=2 block=32 n=17 in=normal[64*n] out=[64]
__global__ void uneven_rows(const float* in, float* out, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < 4; ++j) sum += in[t * n + i] * j;
  out[t] = sum;
}
)";

// Of a pull between points: a product of roots below.
constexpr const char* kPulls = R"(
// cupilot: tune
// cupilot: workload w grid=4 block=64 n=256 at=uniform(-1,1)[n] charge=uniform(0.5,2)[n] pull=[n]
__global__ void pulls(const float* at, const float* charge, float* pull, int n) {
  int me = blockIdx.x * blockDim.x + threadIdx.x;
  if (me >= n) return;
  float sum = 0.0f;
  for (int other = 0; other < n; ++other) {
    float gap = at[other] - at[me];
    const float far = sqrtf(gap * gap + 0.25f);
    sum += 2.0f * gap * charge[other] / (far * (far * far));
  }
  pull[me] = sum;
}
)";

constexpr const char* kUnitLengths = R"(
// cupilot: tune
// cupilot: workload w grid=8 block=64 n=512 u=uniform(0.5,2)[n] v=uniform(-2,2)[n] unit=[n]
__global__ void unit_lengths(const float* u, const float* v, float* unit, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) unit[i] = (u[i] - v[i]) / sqrtf(u[i] * u[i] + v[i] * v[i]);
}
)";

constexpr const char* kDeviations = R"(
// cupilot: tune
// cupilot: workload w grid=8 block=64 n=512 squares=uniform(0.5,2)[n] out=[n]
__global__ void deviations(const float* squares, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float root = sqrtf(squares[i]);
  out[i] = 1.0f / root + root;
}
)";

constexpr TechniqueCase kLoopCases[] = {
    {"full_unrolling", "mask", "sharpened", kSharpened, "{}", "const int j = -2"},
    {"full_unrolling", "beside", "pairs", kPairs, "{}", "const unsigned int b = 3"},
    {"full_unrolling", "unknown", "uneven_rows", kUnevenRows, "{}", "no nest", true},
    {"thread_coarsening", "rows_written_out", "sharpened", kSharpened,
     R"({"form":"jammed","x":1,"y":4,"stride":"element","loops":"unrolled"})", "const int j = 2"},
    {"reciprocal_root", "pulls", "pulls", kPulls, "{}", "* (far * (far * far))"},
    {"reciprocal_root", "units", "unit_lengths", kUnitLengths, "{}", "* rsqrtf(u[i]"},
    {"reciprocal_root", "otherwise", "deviations", kDeviations, "{}", "otherwise, too", true},
};

}  // namespace

std::span<const TechniqueCase> LoopCases() { return kLoopCases; }

}  // namespace cupilot::source
