// corpus: declined "its assembly reads '%globaltimer'"
// corpus: declined "its assembly reads '%smid'"
// corpus: declined "its assembly uses 'atom.'"
// corpus: declined "it sleeps"
// corpus: nvcc-only (the host device runs no PTX)
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 out=[n]
__global__ void now(unsigned long long* out, int n) {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  if (threadIdx.x < n) out[threadIdx.x] = time;
}

__device__ unsigned Multiprocessor() {
  unsigned id;
  asm("mov.u32 %0, %smid;" : "=r"(id));
  return id;
}

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 out=[n]
__global__ void where(unsigned* out, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = Multiprocessor();
}

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 out=integers(0,9)[n]
__global__ void add(unsigned* out, int n) {
  unsigned old;
  asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(out), "r"(n) : "memory");
  if (n < 0) out[0] = old;
}

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 out=integers(0,9)[n]
__global__ void rest(unsigned* out, int n) {
  __nanosleep(100);
  if (threadIdx.x < n) out[threadIdx.x] += 1;
}

int main() {
  support::Array<unsigned> out(32);
  support::Array<unsigned long long> times(32);
  now<<<1, 32>>>(times.get(), 32);
  where<<<1, 32>>>(out.get(), 32);
  add<<<1, 32>>>(out.get(), 32);
  rest<<<1, 32>>>(out.get(), 32);
  support::Check(cudaDeviceSynchronize());
}
