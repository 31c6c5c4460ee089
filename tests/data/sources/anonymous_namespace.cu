// corpus: swapped
// corpus: kernels 2
#include "support.cuh"

namespace {

const int kShift = 3;

__device__ int Mixed(int value) { return (value << kShift) ^ value; }

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 in=integers(0,100)[n] out=[n]
__global__ void mix(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = Mixed(in[i]);
}

}  // namespace

namespace image {
namespace {

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 out=integers(0,100)[n]
__global__ void mix(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += Mixed(i);
}

}  // namespace

void Run(int* out, int n) { mix<<<4, 64>>>(out, n); }

}  // namespace image

int main() {
  support::Array<int> in(256, 1, 2), out(256);
  mix<<<4, 64>>>(in.get(), out.get(), 256);
  image::Run(out.get(), 256);
  support::Show("out", out);
}
