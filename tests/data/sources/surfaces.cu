// corpus: declined "'canvas' is a surface"
// corpus: declined "'surf2Dwrite' writes a surface"
// corpus: nvcc-only (the host device has no surfaces)
#include "support.cuh"

// cupilot: tune
__global__ void draw(cudaSurfaceObject_t canvas, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) surf2Dwrite(float(x), canvas, x * 4, y);
}

typedef unsigned long long Handle;

// cupilot: tune
__global__ void draw_hidden(Handle handle, int width) {
  if (threadIdx.x < width) surf2Dwrite(1.0f, handle, threadIdx.x * 4, 0);
}

int main() {
  draw<<<1, 1>>>(0, 0, 0);
  draw_hidden<<<1, 1>>>(0, 0);
  std::printf("%d\n", int(cudaDeviceSynchronize()));
}
