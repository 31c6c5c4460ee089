// corpus: swapped
// corpus: kernels 2
#include "support.cuh"

/* This is not a tag: cupilot: tune */
// A comment that speaks of __global__ void nothing(int* data) { data[0] = 1; } and of <<<1, 2>>>.

/*
 * cupilot: tune
 * cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
 */
__global__ void /* } */ doubled(int* data /* , int lost */, int n) // {
{
  int i = blockIdx.x * /* blockIdx.y */ blockDim.x + threadIdx.x;  // "
  // "unbalanced ( { [
  if (i < n) data[i] *= 2; /* ' */
  // the comment below ends in a backslash \
  data[0] = 77;
}

// Between the tag and the kernel:
// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 \
//   data=integers(0,9)[n]
// a remark,
/* and another */
__global__ void lowered(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i]--;
}

int main() {
  support::Array<int> data(256, 1, 1);
  doubled<<<4 /* blocks */, 64 /* threads */>>>(data.get(), /* n */ 256);
  lowered<<<4, 64>>>(data.get(), 256);
  support::Show("data", data);
}
