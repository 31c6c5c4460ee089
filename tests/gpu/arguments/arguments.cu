// A kernel with what an argument can be, and more shared memory than every GPU gives unasked.
struct Gain {
  float scale;
  int shift;
};
__constant__ float weights[4];
__device__ float bias[256];

__global__ void mixed(Gain gain, const float* in, float* out, int n) {
  extern __shared__ float tile[];
  for (int k = threadIdx.x; k < 16384; k += blockDim.x) tile[k] = in[(blockIdx.x * blockDim.x + k) % n];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = gain.scale * tile[threadIdx.x + 16000] * weights[i & 3] + bias[(i + gain.shift) & 255];
}
