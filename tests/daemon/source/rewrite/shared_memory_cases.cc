#include "tests/daemon/source/rewrite/shared_memory_cases.h"

namespace cupilot::source {
namespace {

// Writes across; sides that are no multiple of a tile, nor of the block.
constexpr const char* kTurnedPlane = R"(
// cupilot: tune
// cupilot: workload w grid=(7,13) block=(16,8) columns=107 lines=101 gain=0.5 plane=normal[columns*lines] shift=normal[columns] turned=[columns*lines]
__global__ void turned_plane(const float* plane, const float* shift, float* turned, float gain,
                             int columns, int lines) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, l = blockIdx.y * blockDim.y + threadIdx.y;
  if (c >= columns || l >= lines) return;
  const float value = gain * plane[l * columns + c];
  const int target = c * lines + l;
  turned[target] = value + shift[c];
}
)";

// Reads across, in layers, through a pointer of its own; every thread works.
constexpr const char* kLayers = R"(
// cupilot: tune
// cupilot: workload w grid=(4,8,3) block=(16,8) side=64 old=integers(0,100)[3*side*side] fresh=[3*side*side] marks=[3*side*side]
__global__ void layers(const unsigned char* old, unsigned char* fresh, short* marks, unsigned int side) {
  unsigned int i = threadIdx.x + blockDim.x * blockIdx.x;
  unsigned int j = threadIdx.y + blockDim.y * blockIdx.y;
  unsigned int layer = threadIdx.z + blockDim.z * blockIdx.z;
  const unsigned char* from = old + (size_t)layer * side * side;
  unsigned char seen = from[i * side + j];
  for (int k = 0; k < 3; ++k) seen += k * from[j * side + i];
  fresh[(layer * side + j) * side + i] = seen;
  if (seen > 50) marks[(layer * side + j) * side + i] = -seen;
}
)";

// What is written decides what is written.
constexpr const char* kOnlyLarge = R"(
// cupilot: tune
// cupilot: workload w grid=(4,4) block=(8,8) n=32 in=normal[n*n] out=inout normal[n*n]
__global__ void only_large(const float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  float value = in[y * n + x];
  if (value > 0.5f) out[x * n + y] = value;
}
)";

// It is a matter of the launch's shape, not of memory: x runs across everywhere.
constexpr const char* kAcross = R"(
// cupilot: tune
// cupilot: workload w grid=(4,4) block=(8,8) n=32 in=normal[n*n] out=[n*n]
__global__ void across(const float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) out[x * n + y] = 2.0f * in[x * n + y];
}
)";

// A sum of products with a bias and a scale; no side is a multiple of a tile.
constexpr const char* kWeightedProducts = R"(
// cupilot: tune
// cupilot: workload w grid=(5,4) block=(16,16) rows=53 columns=75 inner=37 left=normal[rows*inner] right=normal[inner*columns] bias=normal[columns] scale=normal[inner] out=[rows*columns]
__global__ void weighted_products(const float* left, const float* right, const float* bias, const float* scale,
                         float* out, int rows, int columns, int inner) {
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows || c >= columns) return;
  float total = bias[c];
  for (int i = 0; i < inner; ++i) {
    float product = left[r * inner + i] * right[i * columns + c];
    total += product * scale[i];
  }
  out[r * columns + c] = total;
}
)";

// Distances of all pairs, the smallest and how many are small: two results, rows along x, no guard.
constexpr const char* kPairDistances = R"(
// cupilot: tune
// cupilot: workload w grid=(8,12) block=(8,4) dims=19 a=integers(-9,9)[64*dims] b=integers(-9,9)[48*dims] near=[64*48] low=[64*48]
__global__ void pair_distances(const int* a, const int* b, int* near, int* low, unsigned int dims) {
  const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned int j = blockIdx.y * blockDim.y + threadIdx.y;
  const int* mine = a + i * dims;
  int sum = 0, least;
  least = 100;
  for (unsigned int d = 0; d < dims; ++d) {
    int difference = mine[d] - b[j * dims + d];
    sum += difference < 0 ? -difference : difference;
    least = min(least, difference + (int)(d % 3u) + (int)(i % 2u));
  }
  near[j * 64 + i] = sum;
  if (least < 0) low[j * 64 + i] = least; else low[j * 64 + i] = 0;
}
)";

// Its length differs from thread to thread.
constexpr const char* kLower = R"(
// cupilot: tune
// cupilot: workload w grid=(2,2) block=(16,16) n=32 a=normal[n*n] b=normal[n*n] out=[n*n]
__global__ void lower(const float* a, const float* b, float* out, int n) {
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int i = 0; i < r; ++i) sum += a[r * n + i] * b[i * n + c];
  out[r * n + c] = sum;
}
)";

// Each thread reads elements of its own.
constexpr const char* kBoxes = R"(
// cupilot: tune
// cupilot: workload w grid=(2,2) block=(16,16) n=32 in=normal[n*(n+5)] out=[n*n]
__global__ void boxes(const float* in, float* out, int n) {
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int i = 0; i < 5; ++i) sum += in[r * n + c + i];
  out[r * n + c] = sum;
}
)";

constexpr TechniqueCase kSharedCases[] = {
    {"shared_staging", "store", "turned_plane", kTurnedPlane, R"({"tile":32,"rows":4})",
     "[32][33]"},
    {"shared_staging", "store_small", "turned_plane", kTurnedPlane, R"({"tile":8,"rows":8})",
     "[8][9]"},
    {"shared_staging", "load", "layers", kLayers, R"({"tile":16,"rows":2})",
     "unsigned char cupilot_tile_0[16][20]"},
    {"shared_staging", "decides", "only_large", kOnlyLarge, R"({"tile":32,"rows":4})",
     "not only written", true},
    {"shared_staging", "alike", "across", kAcross, R"({"tile":32,"rows":4})",
     "run across memory along threadIdx.x alike", true},
    {"shared_tiling", "products", "weighted_products", kWeightedProducts,
     R"({"tile_m":32,"tile_n":64,"tile_k":8,"rows_per_thread":4,"columns_per_thread":8})",
     "cupilot_tiled_s0[8][36]"},
    {"shared_tiling", "products_small", "weighted_products", kWeightedProducts,
     R"({"tile_m":6,"tile_n":15,"tile_k":5,"rows_per_thread":2,"columns_per_thread":3})",
     "cupilot_tiled_s1[5][15]"},
    {"shared_tiling", "distances", "pair_distances", kPairDistances,
     R"({"tile_m":16,"tile_n":32,"tile_k":16,"rows_per_thread":2,"columns_per_thread":4})",
     "__syncthreads"},
    {"shared_tiling", "length", "lower", kLower,
     R"({"tile_m":16,"tile_n":16,"tile_k":8,"rows_per_thread":2,"columns_per_thread":2})",
     "length is not the same", true},
    {"shared_tiling", "own", "boxes", kBoxes,
     R"({"tile_m":16,"tile_n":16,"tile_k":8,"rows_per_thread":2,"columns_per_thread":2})",
     "each thread reads another", true},
};

}  // namespace

std::span<const TechniqueCase> SharedMemoryCases() { return kSharedCases; }

}  // namespace cupilot::source
