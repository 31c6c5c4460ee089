// Kernels that fail. Each case prints what a program sees of it.
#include <cooperative_groups.h>

#include <cassert>

#include "checks.h"

using checks::Buffer;

__global__ void HalfAtBarrier(int* data) {
  if (threadIdx.x < 5) __syncthreads();
  data[threadIdx.x] = 1;
}
__global__ void EndBeforeBarrier(int* data, int n) {
  if (threadIdx.x >= n) return;
  __syncthreads();
  data[threadIdx.x] = 1;
}
__global__ void BarrierAndWarp(int* data) {
  if (threadIdx.x < 16) {
    data[threadIdx.x] = __shfl_xor_sync(0xffffffffu, 1, 1);
  } else {
    __syncthreads();
  }
}
__global__ void LaneMissing(int* data) {
  if (threadIdx.x % 2 == 0) data[threadIdx.x] = __ballot_sync(0xffffffffu, 1);
  __syncthreads();
}
__global__ void Works(int* data) { *data = 5; }

__host__ __device__ int Positive(int value) {
  assert(value > 0);
  return value;
}
template <class T>
__global__ void Asserts(T* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i < n);
  data[i] = i;
}
__global__ void AssertsInFunction(int* data) {
  const int at = threadIdx.y * blockDim.x + threadIdx.x;
  data[at] = Positive(11 - at);
}
__global__ void AssertsBetweenBarriers(int* data) {
  __shared__ int box[64];
  box[threadIdx.x] = threadIdx.x;
  __syncthreads();
  assert(box[63 - threadIdx.x] != 23);
  __syncthreads();
  data[threadIdx.x] = box[threadIdx.x];
}
__global__ void Traps(int* data) {
  if (threadIdx.x == 3) __trap();
  data[threadIdx.x] = 1;
}
__global__ void GridThatWaits(int* data) {
  cooperative_groups::this_grid().sync();
  *data = 1;
}
__global__ void BlocksThatEnd(int* data) {
  if (blockIdx.x == 0) return;
  cooperative_groups::this_grid().sync();
  *data = 1;
}

void Report(int* data) {
  std::cout << "launch: " << cudaGetErrorName(cudaGetLastError()) << "\n";
  std::cout << "synchronize: " << cudaGetErrorName(cudaDeviceSynchronize()) << "\n";
  std::cout << "again: " << cudaGetErrorName(cudaGetLastError()) << "\n";
  int value = 0;
  std::cout << "copy: " << cudaGetErrorName(cudaMemcpy(&value, data, 4, cudaMemcpyDeviceToHost)) << "\n";
  void* more = nullptr;
  std::cout << "malloc: " << cudaGetErrorName(cudaMalloc(&more, 4)) << "\n";
  std::cout << "memset: " << cudaGetErrorName(cudaMemset(data, 0, 4)) << "\n";
  Works<<<1, 1>>>(data);
  std::cout << "next: " << cudaGetErrorName(cudaGetLastError()) << "\n";
  std::cout << "text: " << cudaGetErrorString(cudaGetLastError()) << "\n";
}

CASE(some_threads_at_a_barrier) {
  Buffer<int> data(32);
  HalfAtBarrier<<<3, 32>>>(data);
  Report(data);
}
CASE(threads_end_before_a_barrier) {
  Buffer<int> data(64);
  EndBeforeBarrier<<<1, 64>>>(data, 40);
  Report(data);
}
CASE(barrier_and_warp_operation) {
  Buffer<int> data(32);
  BarrierAndWarp<<<1, 32>>>(data);
  Report(data);
}
CASE(lane_missing) {
  Buffer<int> data(32);
  LaneMissing<<<1, 32>>>(data);
  Report(data);
}
CASE(all_threads_reach_the_barrier) {
  Buffer<int> data(64);
  EndBeforeBarrier<<<1, 64>>>(data, 64);
  Report(data);
}

CASE(assertion) {
  Buffer<int> data(256);
  Asserts<<<4, 64>>>(static_cast<int*>(data), 200);
  Report(data);
}
CASE(assertion_in_a_function) {
  Buffer<int> data(64);
  Positive(1);
  AssertsInFunction<<<1, dim3(8, 8)>>>(data);
  Report(data);
}
CASE(assertion_between_barriers) {
  Buffer<int> data(64);
  AssertsBetweenBarriers<<<1, 64>>>(data);
  Report(data);
}
CASE(assertion_of_the_host) {
  Buffer<int> data(64);
  AssertsBetweenBarriers<<<1, 16>>>(data);
  Positive(-1);
}
CASE(trap) {
  Buffer<int> data(64);
  Traps<<<1, 64>>>(data);
  Report(data);
}
CASE(grid_barrier_in_a_plain_launch) {
  Buffer<int> data(1);
  GridThatWaits<<<2, 32>>>(data);
  Report(data);
}
CASE(grid_barrier_that_a_block_does_not_reach) {
  Buffer<int> data(1);
  int* pointer = data;
  void* arguments[] = {&pointer};
  cudaLaunchCooperativeKernel(BlocksThatEnd, dim3(3), dim3(32), arguments);
  Report(data);
}

CASE(object_of_another_version) {
  static int old_kernel = 0;
  static const cupilot_host_kernel kernels[] = {{"Old", "Old", &old_kernel, nullptr, 1024, 0, 0, 0, nullptr}};
  static const cupilot_host_module module = {1, "host-x86-64", kernels, 1, nullptr, 0};
  cupilot_host_register(&module);
  cudaLaunchKernel(&old_kernel, dim3(1), dim3(1), nullptr, 0, nullptr);
  std::cout << "launch: " << cudaGetErrorName(cudaGetLastError()) << "\n";
}

int main(int argc, char** argv) { return checks::Main(argc, argv); }
