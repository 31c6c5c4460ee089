// Launches: geometry, sizes that are no multiple of the block, function pointers, several threads.
#include <thread>

#include "checks.h"

using checks::Buffer;
using checks::Make;

__global__ void Geometry(unsigned int* out) {
  const unsigned int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned int at = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
  out[at] = ((((threadIdx.x * 10 + threadIdx.y) * 10 + threadIdx.z) * 10 + blockIdx.x) * 10 + blockIdx.y) * 10 +
            blockIdx.z;
}
CASE(three_dimensions) {
  for (const dim3 grid : {dim3(1), dim3(5), dim3(2, 3), dim3(1, 4), dim3(2, 3, 4), dim3(1, 1, 6)}) {
    for (const dim3 block : {dim3(1), dim3(9), dim3(4, 3), dim3(1, 7), dim3(2, 3, 4), dim3(1, 1, 5)}) {
      std::vector<unsigned int> expected;
      for (unsigned int bz = 0; bz < grid.z; ++bz)
        for (unsigned int by = 0; by < grid.y; ++by)
          for (unsigned int bx = 0; bx < grid.x; ++bx)
            for (unsigned int z = 0; z < block.z; ++z)
              for (unsigned int y = 0; y < block.y; ++y)
                for (unsigned int x = 0; x < block.x; ++x)
                  expected.push_back(((((x * 10 + y) * 10 + z) * 10 + bx) * 10 + by) * 10 + bz);
      Buffer<unsigned int> out(expected.size());
      Geometry<<<grid, block>>>(out);
      SAME_ALL(out.Read(), expected);
    }
  }
}

__global__ void Dimensions(int* out) {
  if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z == 0) {
    const int values[6] = {static_cast<int>(gridDim.x),  static_cast<int>(gridDim.y),  static_cast<int>(gridDim.z),
                           static_cast<int>(blockDim.x), static_cast<int>(blockDim.y), static_cast<int>(blockDim.z)};
    for (int i = 0; i < 6; ++i) out[i] = values[i] + warpSize - 32;
  }
}
CASE(dimensions) {
  Buffer<int> out(6);
  Dimensions<<<dim3(3, 4, 5), dim3(6, 7, 8)>>>(out);
  SAME_ALL(out.Read(), (std::vector<int>{3, 4, 5, 6, 7, 8}));
  Dimensions<<<2, 11>>>(out);
  SAME_ALL(out.Read(), (std::vector<int>{2, 1, 1, 11, 1, 1}));
}

__global__ void IfInside(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += i;
}
__global__ void ReturnOutside(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] += i;
}
__global__ void GridStride(int* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) out[i] += i;
}
CASE(sizes_that_are_no_multiple) {
  for (const int n : {1, 31, 32, 33, 1000, 1023, 1025}) {
    for (const int block : {1, 32, 100, 256}) {
      const int grid = (n + block - 1) / block;
      // One element more than the kernel may write.
      Buffer<int> out(n + 1, 7);
      IfInside<<<grid, block>>>(out, n);
      ReturnOutside<<<grid, block>>>(out, n);
      GridStride<<<3, block>>>(out, n);
      SAME_ALL(out.Read(), Make<int>(n + 1, [=](int i) { return i < n ? 7 + 3 * i : 7; }));
    }
  }
}

__global__ void Wide(unsigned long long* out, unsigned long long n) {
  const unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i == n - 1) *out = i;
}
CASE(more_threads_than_an_int_counts) {
  Buffer<unsigned long long> out(1);
  const unsigned long long n = (1ull << 31) + 777;
  Wide<<<static_cast<unsigned int>((n + 1023) / 1024), 1024>>>(out, n);
  SAME(out.Read()[0], n - 1);
}
__global__ void Wrapped(unsigned int* out, unsigned int n) {
  const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == n) atomicAdd(out, 1u);
}
CASE(indices_that_wrap) {
  Buffer<unsigned int> out(1);
  // 2^32 threads and 1024 more: the unsigned index 5 is met twice.
  Wrapped<<<(1u << 22) + 1, 1024>>>(out, 5);
  SAME(out.Read()[0], 2u);
}

__global__ void One(int* out) { *out += 1; }
__global__ void Ten(int* out) { *out += 10; }
void LaunchBy(void (*kernel)(int*), int* out) { kernel<<<1, 1>>>(out); }
template <void (*Kernel)(int*)>
void LaunchTemplate(int* out) {
  Kernel<<<1, 1>>>(out);
}
CASE(function_pointers_and_the_call_of_the_runtime) {
  Buffer<int> out(1);
  LaunchBy(One, out);
  LaunchBy(&Ten, out);
  LaunchTemplate<One>(out);
  int* pointer = out;
  void* arguments[] = {&pointer};
  WORKS(cudaLaunchKernel(reinterpret_cast<const void*>(&Ten), dim3(1), dim3(1), arguments, 0, nullptr));
  WORKS(cudaLaunchKernel(One, dim3(1), dim3(1), arguments));
  SAME(out.Read()[0], 23);
}

__global__ void Consume(int* out, int a, int b) { *out = 10 * a + b; }
int Next(int& state) { return ++state; }
int Launching(int* inner) {
  One<<<1, 1>>>(inner);
  return 4;
}
CASE(arguments_and_configuration_are_evaluated_once) {
  Buffer<int> out(1), inner(1);
  int state = 0;
  Consume<<<Next(state), 1>>>(out, 7, 8);
  SAME(state, 1);
  SAME(out.Read()[0], 78);
  // A launch inside an argument of a launch.
  Consume<<<1, 1>>>(out, Launching(inner), 2);
  SAME(out.Read()[0], 42);
  SAME(inner.Read()[0], 1);
}
CASE(launch_as_a_statement) {
  Buffer<int> out(1);
  for (int i = 0; i < 3; ++i) One<<<1, 1>>>(out);
  if (out.Read()[0] == 3)
    Ten<<<1, 1>>>(out);
  else
    One<<<1, 1>>>(out);
  SAME(out.Read()[0], 13);
  const dim3 grid(1), block(1);
  One<<<grid, block, 0, nullptr>>>(out);
  One<<<grid, block, 0>>>(out);
  SAME(out.Read()[0], 15);
}

__global__ void Accumulate(int* out, int n) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&sum, i);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
CASE(launches_from_several_threads) {
  constexpr int kThreads = 4, kBlocks = 8, n = 500;
  std::vector<std::vector<int>> results(kThreads);
  std::vector<int> errors(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Buffer<int> out(kBlocks), ones(n);
      for (int round = 0; round < 20; ++round) {
        Accumulate<<<kBlocks, 64>>>(out, n + t);
        IfInside<<<(n + 63) / 64, 64>>>(ones, n);
      }
      errors[t] = cudaGetLastError();
      results[t] = out.Read();
      SAME_ALL(ones.Read(), Make<int>(n, [](int i) { return 20 * i; }));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < kThreads; ++t) {
    SAME(errors[t], 0);
    SAME_ALL(results[t], std::vector<int>(kBlocks, (n + t) * (n + t - 1) / 2));
  }
}

int main(int argc, char** argv) { return checks::Main(argc, argv); }
