// Every header of the host device, in the standards that programs are written in: prints what it computed.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda.h>
#include <cuda/atomic>
#include <cuda/std/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <crt/host_defines.h>
#include <device_launch_parameters.h>
#include <math_constants.h>
#include <sm_30_intrinsics.h>
#include <sm_60_atomic_functions.h>
#include <vector_functions.h>
#include <vector_types.h>
#include <cassert>
#include <cstdio>

namespace cg = cooperative_groups;

template <class T>
__global__ void Kernel(T* out, int* count, cuda::atomic<int>* all) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  assert(count != nullptr);
  const int sum = cg::reduce(tile, 1, cg::plus<int>());
  out[threadIdx.x] = T(static_cast<float>(cg::inclusive_scan(tile, sum)));
  cuda::atomic_ref<int, cuda::thread_scope_block>(*count).fetch_add(1);
  ++*all;
  __syncthreads();
  if (threadIdx.x == 0) printf("%d %d %g\n", *count, all->load(), static_cast<double>(static_cast<float>(out[31])));
}

int main() {
  __half* halves = nullptr;
  __nv_bfloat16* others = nullptr;
  int* count = nullptr;
  cuda::atomic<int>* all = nullptr;
  cudaMallocManaged(&halves, 32 * sizeof(__half));
  cudaMallocManaged(&others, 32 * sizeof(__nv_bfloat16));
  cudaMallocManaged(&count, sizeof(int));
  cudaMallocManaged(&all, sizeof(int));
  *count = 0;
  *all = 0;
  Kernel<<<1, 32>>>(halves, count, all);
  Kernel<<<1, 32>>>(others, count, all);
  return cudaDeviceSynchronize();
}
