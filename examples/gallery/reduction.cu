// The sum of an array: a tree in shared memory a block, one atomic addition a block.
#include "gallery.h"

#ifndef REDUCTION_BLOCK
#define REDUCTION_BLOCK 256
#endif

// cupilot: tune
#ifdef GALLERY_LARGE
// cupilot: workload 8M grid=32768 block=256 n=8388608 in=uniform(0,1)[n] out=inout constant(0)[1]
#else
// cupilot: workload 256K grid=1024 block=256 n=262144 in=uniform(0,1)[n] out=inout constant(0)[1]
#endif
// cupilot: tunable REDUCTION_BLOCK = 32, 64, 128, 256, 512
// cupilot: launch block=(REDUCTION_BLOCK) grid=(ceil_div(n,REDUCTION_BLOCK))
__global__ void sum_reduction(const float* in, float* out, int n) {
  __shared__ float partial[REDUCTION_BLOCK];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  partial[threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int step = REDUCTION_BLOCK / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) {
      partial[threadIdx.x] += partial[threadIdx.x + step];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, partial[0]);
}

Timing RunReduction(const Options& options) {
  const int n = kReductionElements;
  std::vector<float> in = NormalValues(n, 8, 0.5f, 0.1f);
  DeviceBuffer<float> device_in(in), device_out(1);
  const double time = MedianMicroseconds(options, [&] { device_out.Set({0.0f}); }, [&] {
    const int blocks = (n + REDUCTION_BLOCK - 1) / REDUCTION_BLOCK;
    sum_reduction<<<blocks, REDUCTION_BLOCK>>>(device_in.get(), device_out.get(), n);
  });
  WriteOutput(options, "reduction", device_out.Get());
  WriteReference(options, "reduction", {in}, 1, n, 1, [](const Inputs& source, auto& out, int) {
    out[0] = 0;
    for (double value : source[0]) out[0] += value;
  });
  return {"reduction", time};
}
