// The set of numbers as bits.
// cupilot: tune
// cupilot: workload all grid=(2) block=(64) n=120 number=integers(0,4194303)[n] words=inout integers(0,0)[131072]
__global__ void bitmap(const int* number, unsigned* words, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicOr(&words[number[i] >> 5], 1u << (number[i] & 31));
}
