// corpus: swapped
// corpus: kernels 2
// Two kernels that see the same shared bytes as different types.
#include "support.cuh"

extern __shared__ float shared_floats[];

__device__ float* Second(int count) { return shared_floats + count; }

// cupilot: tune
// cupilot: workload grid=4 block=64 shared=n*2 n=256 in=normal[n] out=[n]
__global__ void turn(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  shared_floats[threadIdx.x] = i < n ? in[i] : 0;
  Second(blockDim.x)[blockDim.x - 1 - threadIdx.x] = 2 * shared_floats[threadIdx.x];
  __syncthreads();
  if (i < n) out[i] = Second(blockDim.x)[threadIdx.x];
}

// cupilot: tune
// cupilot: workload grid=4 block=64 shared=64*12 n=256 out=integers(0,9)[n]
__global__ void count_up(int* out, int n) {
  extern __shared__ __align__(16) unsigned char bytes[];
  double* const wide = reinterpret_cast<double*>(bytes);
  int* const narrow = reinterpret_cast<int*>(bytes + 64 * sizeof(double));
  wide[threadIdx.x] = threadIdx.x * 0.5;
  narrow[63 - threadIdx.x] = threadIdx.x;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += int(wide[63 - threadIdx.x] * 2) + narrow[threadIdx.x];
}

int main() {
  support::Array<float> in(256, 1, 0.5), out(256);
  support::Array<int> counts(256, 1, 1);
  turn<<<4, 64, 64 * 2 * sizeof(float)>>>(in.get(), out.get(), 256);
  count_up<<<4, 64, 64 * 12>>>(counts.get(), 256);
  support::Show("out", out);
  support::Show("counts", counts);
}
