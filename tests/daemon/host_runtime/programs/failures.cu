// Kernels that fail. Each case prints what a program sees of it.
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

CASE(object_of_another_version) {
  static int old_kernel = 0;
  static const cupilot_host_kernel kernels[] = {{"Old", "Old", &old_kernel, nullptr, 1024, 0, 0, 0, nullptr}};
  static const cupilot_host_module module = {1, "host-x86-64", kernels, 1, nullptr, 0};
  cupilot_host_register(&module);
  cudaLaunchKernel(&old_kernel, dim3(1), dim3(1), nullptr, 0, nullptr);
  std::cout << "launch: " << cudaGetErrorName(cudaGetLastError()) << "\n";
}

int main(int argc, char** argv) { return checks::Main(argc, argv); }
