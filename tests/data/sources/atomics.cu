// corpus: swapped
// corpus: kernels 2
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 in=integers(0,15)[n] bins=inout integers(0,0)[16] most=inout integers(0,0)[1]
__global__ void histogram(const int* in, unsigned* bins, int* most, int n) {
  __shared__ unsigned local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&local[in[i] & 15], 1u);
  if (i < n) atomicMax(most, in[i]);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(bins + threadIdx.x, local[threadIdx.x]);
}

// A loop around atomicCAS, as where no such atomic exists.
__device__ void AtomicMultiply(unsigned long long* address, unsigned long long by) {
  unsigned long long old = *address, assumed;
  do {
    assumed = old;
    old = atomicCAS(address, assumed, assumed * by % 1000003);
  } while (assumed != old);
}

// cupilot: tune
// cupilot: workload grid=1 block=64 n=64 product=inout integers(1,1)[4]
__global__ void multiply_up(unsigned long long* product, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) AtomicMultiply(&product[i & 3], i + 1);
}

int main() {
  support::Array<int> in(256, 1, 1), most(1);
  support::Array<unsigned> bins(16);
  support::Array<unsigned long long> product(4, 1);
  histogram<<<4, 64>>>(in.get(), bins.get(), most.get(), 256);
  multiply_up<<<1, 64>>>(product.get(), 64);
  support::Show("bins", bins);
  support::Show("most", most);
  support::Show("product", product);
}
