// corpus: declined "'picture' is a texture"
// corpus: declined "'tex1Dfetch' reads a texture" in texture_functions.cuh
// corpus: nvcc-only (the host device has no textures)
#include "support.cuh"
#include "texture_functions.cuh"

// cupilot: tune
__global__ void sample(cudaTextureObject_t picture, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<float>(picture, float(i % 16), float(i / 16));
}

struct Pictures {
  unsigned long long handles[2];
};

// cupilot: tune
__global__ void sample_hidden(Pictures pictures, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = Fetch(pictures.handles[1], i);
}

int main() {
  support::Array<float> out(256);
  const Pictures none = {{0, 0}};
  sample_hidden<<<1, 1>>>(none, out.get(), 0);
  sample<<<1, 1>>>(0, out.get(), 0);
  support::Show("out", out);
}
