// Small projects for the test of edit histories. "//|" stands where a declaration may be put;
// "//<" and "//>" stand around one that no kernel reaches; "/*~*/" stands before a number that only
// host code reads, "/*!*/" before one that a kernel depends on. They are comments: the text is
// compiled as it is.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace cupilot::source {

// File name -> text; "main.cu" is the source.
using ProjectText = std::map<std::string, std::string>;

inline std::vector<ProjectText> ProjectsToEdit() {
  std::vector<ProjectText> projects;
  projects.push_back({{"main.cu", R"(#include <cstdio>
#include <cstdlib>
#define TILE /*!*/ 16
#define CHECKED(call)                                        \
  do {                                                       \
    if ((call) != cudaSuccess) std::abort();                 \
  } while (0)

namespace image {
//|
constexpr int kRadius = /*!*/ 2;
//|
struct Pixel {
  float red, green;
  int alpha;
};
//|
__device__ float Luma(Pixel p) { return p.red * /*!*/ 3 + p.green; }
//|
__device__ float Clamp(float x, float low, float high) {
  return x < low ? low : x > high ? high : x;
}
//|
// cupilot: tune
__global__ void Blur(const Pixel* in, float* out, int width) {
  // One row.
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = -kRadius; i <= kRadius; ++i) {
    sum += Luma(in[x + i]) * TILE;
  }
  out[x] = Clamp(sum, /*!*/ 0, 255.0f);
}
//|
//<
struct Options {
  int rounds = /*~*/ 3;
  bool Verbose() const { return rounds > /*~*/ 5; }
};
//>
//|
//<
static void Fill(float* values, int count) {
  for (int i = 0; i < count; ++i) values[i] = static_cast<float>(i % /*~*/ 7);
}
//>
//|
void Run(const Pixel* in, float* out, int width) {
  const int block = /*~*/ 128;
  Blur<<<width / block, block>>>(in, out, width);
  CHECKED(cudaGetLastError());
}
//|
}  // namespace image
//|
int main(int argc, char** argv) {
  std::printf("%d %s {\n", argc, argv[0]);
  return argc > /*~*/ 4 ? 1 : 0;
}
)"}});
  projects.push_back({{"main.cu", R"(#include "vec.h"
#include <cmath>
//|
template <class T>
struct Traits {
  static constexpr int kScale = /*!*/ 4;
};
//|
template <>
struct Traits<float> {
  static constexpr int kScale = /*!*/ 8;
};
//|
template <class T>
__device__ T Square(T x) {
  return x * x;
}
//|
namespace detail {
//|
__device__ inline float Norm(Vec v) { return sqrtf(Square(v.x) + Square(v.y)); }
//|
}  // namespace detail
//|
// cupilot: tune
__global__ void Normalise(const Vec* in, Vec* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float length = detail::Norm(in[i]) + /*!*/ 1;
    out[i] = in[i] * (Traits<float>::kScale / length) + in[i];
  }
}
//|
// cupilot: tune
// cupilot: require n > 0
__global__ void Lengths(const Vec* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = detail::Norm(in[i]);
}
//|
//<
class Timer {
 public:
  explicit Timer(int limit) : limit_(limit) {}
  bool operator<(const Timer& other) const { return limit_ < other.limit_; }
  double Seconds() const { return limit_ * /*~*/ 2.5; }

 private:
  int limit_ = /*~*/ 0;
};
//>
//|
//<
template <class F>
void Repeat(F f, int rounds) {
  for (int i = 0; i < rounds + /*~*/ 1; ++i) f(i);
}
//>
//|
void Launch(const Vec* in, Vec* out, float* lengths, int n) {
  Repeat([&](int round) {
    Normalise<<<n / /*~*/ 64, 64>>>(in, out, n + round);
    Lengths<<<n / 64, 64>>>(in, lengths, n);
  }, /*~*/ 10);
}
)"},
                      {"vec.h", R"(#pragma once
//|
struct Vec {
  float x, y;
};
//|
__host__ __device__ inline Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y}; }
//|
__host__ __device__ inline Vec operator*(Vec a, float s) { return {a.x * s, a.y * s}; }
//|
//<
inline bool AlmostEqual(double a, double b) { return a - b < /*~*/ 3; }
//>
//|
//<
enum class Order { kRows = /*~*/ 1, kColumns };
//>
//|
)"}});
  projects.push_back({{"main.cu", R"(#include "config.h"
#include "reduce.h"
#ifndef BLOCK
#define BLOCK /*!*/ 128
#endif
extern "C" {
int version_of_this(void);
}
//|
namespace {
//|
__constant__ float weights[4] = {1, 2, /*!*/ 3, 4};
//|
//<
int calls = /*~*/ 0;
//>
//|
}  // namespace
//|
//<
static int Rounded(int n) { return (n + /*~*/ 31) / 32 * 32; }
//>
//|
// cupilot: tune
extern "C" __global__ void reduce(const float* in, float* out, int n) {
  __shared__ float tile[BLOCK];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  tile[threadIdx.x] = i < n ? in[i] * weights[i % 4] : 0.0f;
  __syncthreads();
  for (int step = BLOCK / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) {
      tile[threadIdx.x] = Combine<Sum>(tile[threadIdx.x], tile[threadIdx.x + step]);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = tile[0] * config::kGain;
}
//|
int version_of_this(void) { return /*~*/ 12; }
//|
void Start(const float* in, float* out, int n) {
  ++calls;
  reduce<<<Rounded(n) / BLOCK, BLOCK>>>(in, out, n);
}
//|
)"},
                      {"config.h", R"(#ifndef CONFIG_H
#define CONFIG_H
//|
namespace config {
//|
constexpr float kGain = /*!*/ 2;
//|
//<
constexpr int kRetries = /*~*/ 5;
//>
//|
//<
struct Paths {
  const char* input = "in/*.bin";
  int depth = /*~*/ 3;
};
//>
//|
}  // namespace config
//|
#endif
)"},
                      {"reduce.h", R"(#pragma once
//|
struct Sum {
  template <class T>
  __device__ static T Apply(T a, T b) { return a + b * /*!*/ 1; }
};
//|
struct Most {
  template <class T>
  __device__ static T Apply(T a, T b) { return a > b ? a : b; }
};
//|
template <class Op, class T>
__device__ T Combine(T a, T b) {
  return Op::Apply(a, b);
}
//|
//<
template <class T>
T HostSum(const T* values, int n) {
  T sum = /*~*/ 0;
  for (int i = 0; i < n; ++i) sum += values[i];
  return sum;
}
//>
//|
)"}});
  return projects;
}

}  // namespace cupilot::source
