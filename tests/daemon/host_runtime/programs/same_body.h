// A body that runs twice, as a kernel and thread after thread in plain loops of the host, over many
// geometries and sizes. What both leave must be the same.
#pragma once

#include "checks.h"

namespace checks {

constexpr int kOutputs = 1 << 15;  // places before and after `out`
constexpr int kUntouched = -123456789;

// Threads that meet at one place add up, so that their order does not matter.
__host__ __device__ inline void Mark(int* out, long place, int value) {
  place = place < -kOutputs ? -kOutputs : place >= kOutputs ? kOutputs - 1 : place;
#ifdef __CUDA_ARCH__
  atomicAdd(out + place, value);
#else
  __atomic_fetch_add(out + place, value, __ATOMIC_RELAXED);
#endif
}

struct Sizes {
  int n, m;
  unsigned int u;
  long w;
};

using Kernel = void (*)(int*, int, int, unsigned int, long);
using Thread = void (*)(uint3, uint3, dim3, dim3, int*, int, int, unsigned int, long);

inline const std::vector<int>& Before() {
  static const std::vector<int> before(2 * kOutputs, kUntouched);
  return before;
}
inline std::vector<int> InLoops(Thread thread, dim3 grid, dim3 block, const Sizes& s) {
  std::vector<int> out = Before();
  uint3 b, t;
  for (b.z = 0; b.z < grid.z; ++b.z)
    for (b.y = 0; b.y < grid.y; ++b.y)
      for (b.x = 0; b.x < grid.x; ++b.x)
        for (t.z = 0; t.z < block.z; ++t.z)
          for (t.y = 0; t.y < block.y; ++t.y)
            for (t.x = 0; t.x < block.x; ++t.x)
              thread(t, b, block, grid, out.data() + kOutputs, s.n, s.m, s.u, s.w);
  return out;
}

inline void CheckBody(const char* file, int line, const char* name, Kernel kernel, Thread thread) {
  const dim3 geometries[][2] = {{dim3(1), dim3(1)},
                                {dim3(1), dim3(64)},
                                {dim3(5), dim3(32)},
                                {dim3(7), dim3(13)},
                                {dim3(3, 2), dim3(8, 4)},
                                {dim3(4, 3), dim3(16, 2)},
                                {dim3(2, 2, 2), dim3(4, 3, 2)},
                                {dim3(1, 6), dim3(33, 1)}};
  const Sizes sizes[] = {{0, 0, 0, 0},
                         {1, 1, 1, 1},
                         {-3, 7, 3, -1},
                         {17, 3, 29, 50},
                         {64, 64, 64, 64},
                         {100, -5, 90, 91},
                         {100000, 6, 70000, 1l << 40}};
  Buffer<int> out(2 * kOutputs);
  for (const auto& [grid, block] : geometries) {
    for (const Sizes& s : sizes) {
      const std::vector<int> expected = InLoops(thread, grid, block, s);
      cudaMemcpy(out, Before().data(), 2 * kOutputs * sizeof(int), cudaMemcpyHostToDevice);
      kernel<<<grid, block>>>(out + kOutputs, s.n, s.m, s.u, s.w);
      const std::vector<int> actual = out.Read();
      const int errors = Failures();
      SameAll(file, line, name, actual, expected);
      if (Failures() == errors) continue;
      std::cerr << "  grid " << grid.x << "," << grid.y << "," << grid.z << " block " << block.x
                << "," << block.y << "," << block.z << " n " << s.n << " m " << s.m << " u " << s.u
                << " w " << s.w << " (places from " << -kOutputs << ")\n";
      return;
    }
  }
}

}  // namespace checks

#define PARAMETERS int *out, int n, int m, unsigned int u, long w
#define UNUSED (void)out, (void)n, (void)m, (void)u, (void)w
// The names of the built-in variables are parameters of the host's function.
#define BODY(name, ...)                                                                   \
  __global__ void name(PARAMETERS) { __VA_ARGS__ }                                        \
  static void name##_thread(uint3 threadIdx, uint3 blockIdx, dim3 blockDim, dim3 gridDim, \
                            PARAMETERS) {                                                 \
    UNUSED, (void)threadIdx, (void)blockIdx, (void)blockDim, (void)gridDim;               \
    __VA_ARGS__                                                                           \
  }                                                                                       \
  CASE(name##_case) { checks::CheckBody(__FILE__, __LINE__, #name, name, name##_thread); }
