#include "tests/daemon/source/rewrite/technique_cases.h"

#include <vector>

#include "tests/daemon/source/rewrite/combination_cases.h"
#include "tests/daemon/source/rewrite/loop_cases.h"
#include "tests/daemon/source/rewrite/shared_memory_cases.h"

namespace cupilot::source {
namespace {

constexpr const char* kBlend = R"(
// cupilot: tune
// cupilot: workload w grid=32 block=256 n=8192 share=0.25 left=normal[n] right=normal[n] mixed=[n]
__global__ void blend(const float* left, const float* right, float* mixed, float share, int n) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= n) return;
  mixed[at] = left[at] + share * (right[at] - left[at]);
}
)";

constexpr const char* kRowPeaks = R"(
// cupilot: tune
// cupilot: workload w grid=64 block=128 width=300 values=normal[64*width] peaks=[64]
__global__ void row_peaks(const float* values, float* peaks, int width) {
  __shared__ float best[128];
  const float* row = values + blockIdx.x * width;
  float mine = row[0];
  for (int k = threadIdx.x; k < width; k += blockDim.x) mine = fmaxf(mine, row[k]);
  best[threadIdx.x] = mine;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) best[threadIdx.x] = fmaxf(best[threadIdx.x], best[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) peaks[blockIdx.x] = best[0];
}
)";

constexpr const char* kOwnRows = R"(
// cupilot: tune
// cupilot: workload w grid=16 block=64 from=normal[1024] to=[1024]
__global__ void own_rows(const float* from, float* to) {
  to[blockIdx.x * 64 + threadIdx.x] = 2.0f * from[threadIdx.x * 16 + blockIdx.x];
}
)";

constexpr const char* kGradient = R"(
// cupilot: tune
// cupilot: workload w grid=(8,16) block=(16,8) w=120 h=125 image=normal[w*h] slope=[w*h]
__global__ void gradient(const float* image, float* slope, int w, int h) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int line = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= w || line >= h) return;
  float before = image[line * w + max(column - 1, 0)];
  float after = image[line * w + min(column + 1, w - 1)];
  slope[line * w + column] = 0.5f * (after - before);
}
)";

constexpr const char* kPolynomial = R"(
// cupilot: tune
// cupilot: workload w grid=16 block=128 n=2000 degree=9 coefficients=normal[degree] points=uniform(-1,1)[n] results=[n]
__global__ void polynomial(const float* coefficients, const float* points, float* results, int degree,
                           int n) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p < n) {
    float x = 0.0f;  // as an axis is called
    for (int d = 0; d < degree; ++d) x = x * points[p] + coefficients[d];
    results[p] = x;
  }
}
)";

constexpr const char* kByteCounts = R"(
// cupilot: tune
// cupilot: workload w grid=64 block=256 n=16384 bytes=integers(0,255)[n] counts=inout constant(0)[256]
__global__ void byte_counts(const unsigned char* bytes, int* counts, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) atomicAdd(&counts[bytes[at]], 1);
}
)";

constexpr const char* kLastDigits = R"(
// cupilot: tune
// cupilot: workload w grid=64 block=256 n=16384 numbers=integers(0,100000)[n] digits=inout constant(0)[10]
__global__ void last_digits(const unsigned int* numbers, unsigned int* digits, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= n) return;
  atomicAdd(&digits[numbers[at] % 10u], 1u);
}
)";

constexpr const char* kTickets = R"(
// cupilot: tune
// cupilot: workload w grid=16 block=64 n=1024 numbers=integers(0,9)[n] next=inout constant(0)[10] seats=[n]
__global__ void tickets(const unsigned char* numbers, int* next, int* seats, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) seats[at] = atomicAdd(&next[numbers[at]], 1);
}
)";

constexpr const char* kDots = R"(
// cupilot: tune
// cupilot: workload w grid=8 block=64 rows=500 width=131 a=normal[rows*width] b=normal[rows*width] sums=[rows] largest=[rows]
__global__ void dots(const float* a, const float* b, float* sums, float* largest, int rows, int width) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f, top = -1e30f;
  for (int k = 0; k < width; ++k) {
    float product = a[row * width + k] * b[row * width + k];
    sum += product;
    top = fmaxf(top, product);
  }
  sums[row] = sum;
  largest[row] = top;
}
)";

constexpr const char* kRunning = R"(
// cupilot: tune
// cupilot: workload w grid=4 block=64 rows=256 last=36 in=integers(-50,50)[rows*37] out=[rows*37]
__global__ void running(const int* in, int* out, int rows, unsigned int last) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    int total = 0;
    for (unsigned int k = 0; k <= last; k += 2)
      out[row * 37 + k] = total += in[row * 37 + k];
    for (unsigned int k = 1; k < last; k += 2) out[row * 37 + k] = 7;
  }
}
)";

constexpr const char* kFirstNegative = R"(
// cupilot: tune
// cupilot: workload w grid=4 block=64 width=50 in=normal[256*width] found=[256]
__global__ void first_negative(const float* in, int* found, int width) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int k = 0;
  for (int c = 0; c < width; ++c) {
    if (in[row * width + c] < 0.0f) break;
    ++k;
  }
  found[row] = k;
}
)";

constexpr const char* kBounded = R"(
// cupilot: tune
// cupilot: workload w grid=4 block=64 in=normal[256] out=[256]
__global__ void __launch_bounds__(64) bounded(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = -in[i];
}
)";

constexpr const char* kGather = R"(
// cupilot: tune
// cupilot: workload w grid=8 block=128 n=1024 m=500 where=indices(0,m)[n] table=normal[m] scale=normal[n] taken=[n]
__global__ void gather(const int* where, const float* table, const float* scale, float* taken, int n,
                       int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  taken[i] = table[where[i]] * scale[i] + table[m - 1];
}
)";

constexpr const char* kAlternate = R"(
// cupilot: tune
// cupilot: workload w grid=4 block=64 a=normal[256] b=normal[256] out=[256]
__global__ void alternate(const float* a, const float* b, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 2 == 0) a = b;
  out[i] = a[i];
}
)";

constexpr const char* kColumnFirst = R"(
// cupilot: tune
// cupilot: workload w grid=2 block=32 h=24 w=40 images=normal[64*h*w] weights=normal[h*w] out=[64]
__global__ void column_first(const float* images, const float* weights, float* out, int h, int w) {
  int image = blockIdx.x * blockDim.x + threadIdx.x;
  const float* pixels = images + image * h * w;
  float sum = 0.0f;
  for (int x = 0; x < w; ++x) {
    for (int y = 0; y < h; ++y) {
      sum += pixels[y * w + x] * weights[y * w + x];
    }
  }
  out[image] = sum;
}
)";

constexpr const char* kTurned = R"(
// cupilot: tune
// cupilot: workload w grid=4 block=32 in=normal[128*64] out=[128]
__global__ void turned(const float* in, float* out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float tile[8][8];
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) tile[j][i] = in[t * 64 + j * 8 + i];
  float norm = 0.0f;
  for (int i = 0; i < 7; ++i) norm = fmaxf(norm, tile[i][i + 1] - tile[i + 1][i]);
  out[t] = norm;
}
)";

constexpr const char* kTriangle = R"(
// cupilot: tune
// cupilot: workload w grid=2 block=32 n=20 m=normal[n*n] out=[64]
__global__ void triangle(const float* m, float* out, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = t;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      sum += m[j * n + i];
    }
  }
  out[t] = sum;
}
)";

constexpr const char* kSmoothed = R"(
// cupilot: tune
// cupilot: workload w grid=1 block=1 h=12 w=16 plane=inout normal[h*w]
__global__ void smoothed(float* plane, int h, int w) {
  const float* above = plane - w;
  if (blockIdx.x * blockDim.x + threadIdx.x > 0) return;
  for (int x = 0; x < w; ++x) {
    for (int y = 0; y < h; ++y) {
      plane[y * w + x] = y > 0 ? 0.5f * above[y * w + x] : 1.0f;
    }
  }
}
)";

constexpr const char* kTileTurn = R"(
// cupilot: tune
// cupilot: workload w grid=(4,4) block=(16,16) n=64 in=normal[n*n] out=[n*n]
__global__ void tile_turn(const float* in, float* out, int n) {
  __shared__ float tile[16][16];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
)";

constexpr const char* kTwoStages = R"(
// cupilot: tune
// cupilot: workload w grid=16 block=64 in=integers(0,1000)[1024] out=[1024]
__global__ void two_stages(const int* in, int* out) {
  __shared__ int stage[2][8][8], sums[8][2];
  int r = threadIdx.x / 8, c = threadIdx.x % 8, first = blockIdx.x * 64;
  stage[0][r][c] = in[first + threadIdx.x];
  if (c < 2) sums[r][c] = 0;
  __syncthreads();
  stage[1][c][r] = stage[0][r][c] * 3;
  atomicAdd(&sums[r][c % 2], stage[0][r][c]);
  __syncthreads();
  out[first + threadIdx.x] = stage[1][r][c] + sums[c][1] - sums[r][0];
}
)";

constexpr const char* kFlat = R"(
// cupilot: tune
// cupilot: workload w grid=4 block=64 in=normal[256] out=[256]
__global__ void flat(const float* in, float* out) {
  __shared__ float tile[8][8];
  float* cells = &tile[0][0];
  cells[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x % 8][threadIdx.x / 8];
}
)";

constexpr const char* kMidpoints = R"(
// cupilot: tune
// cupilot: workload w grid=16 block=128 n=2048 low=normal[n] high=normal[n] middle=[n]
__global__ void midpoints(const double* low, const double* high, double* middle, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    middle[i] = 0.5 * (low[i] + high[i]);
  }
}
)";

constexpr const char* kGrouped = R"(
#include <cooperative_groups.h>
// cupilot: tune
// cupilot: workload w grid=8 block=128 in=normal[1024] out=[1024]
__global__ void grouped(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
  cooperative_groups::this_thread_block().sync();
  out[i] += in[i];
}
)";

constexpr const char* kShortened = R"(
// cupilot: tune
// cupilot: workload w grid=8 block=128 n=1024 in=normal[n] out=[n]
__global__ void shortened(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  n -= 3;
  if (i < n) out[i] = -in[i];
}
)";

constexpr const char* kAhead = R"(
// cupilot: tune
// cupilot: workload w grid=64 block=256 n=16384 bytes=integers(0,255)[n] counts=inout constant(0)[256]
__global__ void ahead(const unsigned char* bytes, int* counts, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= n) return;
  bytes += at;
  atomicAdd(&counts[*bytes], 1);
}
)";

constexpr const char* kPositive = R"(
// cupilot: tune
// cupilot: workload w grid=8 block=128 n=1024 in=normal[n] out=inout normal[n]
__global__ void positive(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = in[i];
  if (value < 0.0f) return;
  out[i] = value;
}
)";

constexpr TechniqueCase kCases[] = {
    {"block_size", "elements", "blend", kBlend, R"({"x":64,"y":1,"z":1})", "\"64\""},
    {"block_size", "strided", "row_peaks", kRowPeaks, R"({"x":32,"y":1,"z":1})", "\"32\""},
    {"block_size", "fixed", "own_rows", kOwnRows, R"({"x":32})", "uses its place otherwise", true},
    {"thread_coarsening", "pixels", "gradient", kGradient, R"({"form":"sequential","x":1,"y":4})",
     "* 4"},
    {"thread_coarsening", "loops", "polynomial", kPolynomial, R"({"form":"jammed","x":8})", "* 8"},
    {"thread_coarsening", "pixels_apart", "gradient", kGradient,
     R"({"form":"sequential","x":2,"y":4,"stride":"block"})", "* (int)blockDim.y"},
    {"thread_coarsening", "loops_apart", "polynomial", kPolynomial,
     R"({"form":"jammed","x":4,"stride":"block"})", "* (int)blockDim.x"},
    {"thread_coarsening", "barrier", "row_peaks", kRowPeaks, R"({"form":"sequential","x":4})",
     "wait for each other", true},
    {"thread_coarsening", "group", "grouped", kGrouped, R"({"form":"sequential","x":4})",
     "uses cooperative groups", true},
    {"thread_coarsening", "changed", "shortened", kShortened, R"({"form":"sequential","x":4})",
     "changes its parameter 'n'", true},
    {"thread_coarsening", "changed_jammed", "shortened", kShortened, R"({"form":"jammed","x":4})",
     "changes its parameter 'n'", true},
    {"grid_stride", "line", "blend", kBlend, R"({"blocks_per_sm":1})", "+= gridDim.x * blockDim.x"},
    {"grid_stride", "plane", "gradient", kGradient, R"({"blocks_per_sm":2})",
     "+= gridDim.x * blockDim.x"},
    {"grid_stride", "barrier", "tile_turn", kTileTurn, R"({"blocks_per_sm":1})",
     "wait for each other", true},
    {"grid_stride", "changed", "shortened", kShortened, R"({"blocks_per_sm":1})",
     "changes its parameter 'n'", true},
    {"vectorized_access", "floats", "blend", kBlend, R"({"width":4})", "float4"},
    {"vectorized_access", "doubles", "midpoints", kMidpoints, R"({"width":2})", "double2"},
    {"vectorized_access", "neighbours", "gather", kGather, R"({"width":4})",
     "is not only used at the thread's own element", true},
    {"vectorized_access", "changed", "shortened", kShortened, R"({"width":4})",
     "changes its parameter 'n'", true},
    {"vectorized_access", "leaves", "positive", kPositive, R"({"width":4})",
     "a condition of its own", true},
    {"private_atomics", "bytes", "byte_counts", kByteCounts, R"({"scope":"thread","items":256})",
     "256"},
    {"private_atomics", "digits", "last_digits", kLastDigits, R"({"scope":"thread","items":256})",
     "256"},
    {"private_atomics", "bytes_of_a_block", "byte_counts", kByteCounts,
     R"({"scope":"block","items":8})", "__shared__ int cupilot_own[256]"},
    {"private_atomics", "digits_of_a_block", "last_digits", kLastDigits,
     R"({"scope":"block","items":4})", "__syncthreads"},
    {"private_atomics", "result_used", "tickets", kTickets, R"({"scope":"thread","items":64})",
     "uses what an atomic operation returns", true},
    {"private_atomics", "changed", "ahead", kAhead, R"({"scope":"thread","items":256})",
     "changes its parameter 'bytes'", true},
    {"unrolling", "parts", "dots", kDots, R"({"factor":8,"accumulators":2})", "cupilot_part"},
    {"unrolling", "in_order", "running", kRunning, R"({"factor":4,"accumulators":1})",
     "(unsigned int)(last) - (unsigned int)k >= 6u"},
    {"unrolling", "leaves", "first_negative", kFirstNegative, R"({"factor":4})", "'break'", true},
    {"launch_bounds", "line", "blend", kBlend, R"({"min_blocks":4})", "__launch_bounds__(256, 4)"},
    {"launch_bounds", "plane", "gradient", kGradient, R"({"min_blocks":0})",
     "__launch_bounds__(128)"},
    {"launch_bounds", "bounded", "bounded", kBounded, R"({"min_blocks":1})",
     "has launch bounds already", true},
    {"restrict_readonly", "marked", "gradient", kGradient, R"({"loads":"restrict"})",
     "float* __restrict__ slope"},
    {"restrict_readonly", "loads", "gather", kGather, R"({"loads":"restrict_ldg"})",
     "__ldg(&table[__ldg(&where[i])])"},
    {"restrict_readonly", "changed", "alternate", kAlternate, R"({"loads":"restrict"})",
     "gives 'a' another value", true},
    {"loop_interchange", "sum", "column_first", kColumnFirst, R"({"nest":0})",
     "for (int y = 0; y < h; ++y) {\n    for (int x = 0; x < w; ++x)"},
    {"loop_interchange", "store", "turned", kTurned, R"({"nest":0})",
     "for (int j = 0; j < 8; ++j)\n    for (int i = 0; i < 8; ++i) tile"},
    {"loop_interchange", "triangle", "triangle", kTriangle, R"({"nest":0})",
     "range depends on the outer", true},
    {"loop_interchange", "alias", "smoothed", kSmoothed, R"({"nest":0})",
     "may point to what the loops write", true},
    {"shared_padding", "tile", "tile_turn", kTileTurn, R"({"pad":1})", "tile[16][17]"},
    {"shared_padding", "several", "two_stages", kTwoStages, R"({"pad":16})",
     "stage[2][8][24], sums[8][18]"},
    {"shared_padding", "pointer", "flat", kFlat, R"({"pad":1})", "element by element", true},
};

}  // namespace

std::span<const TechniqueCase> TechniqueCases() {
  static const std::vector<TechniqueCase> kAll = [] {
    std::vector<TechniqueCase> all(std::begin(kCases), std::end(kCases));
    for (const auto cases : {SharedMemoryCases(), CombinationCases(), LoopCases()}) {
      all.insert(all.end(), cases.begin(), cases.end());
    }
    return all;
  }();
  return kAll;
}

}  // namespace cupilot::source
