// corpus: swapped
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=(2,3,2) block=(8,4,2) nx=16 ny=12 nz=4 in=integers(0,9)[nx*ny*nz] out=[nx*ny*nz]
__global__ void rotate(const int* in, int* out, int nx, int ny, int nz) {
  const uint3 thread = threadIdx;
  const dim3 size = blockDim;
  int x = blockIdx.x * size.x + thread.x;
  int y = blockIdx.y * size.y + thread.y;
  int z = blockIdx.z * size.z + thread.z;
  if (x < nx && y < ny && z < nz) {
    out[(x * ny + y) * nz + z] = in[(z * ny + y) * nx + x] + 1000 * int(gridDim.y) + warpSize;
  }
}

int main() {
  support::Array<int> in(768, 1, 1), out(768);
  const dim3 grid(2, 3, 2);
  rotate<<<grid, dim3(8, 4, 2)>>>(in.get(), out.get(), 16, 12, 4);
  support::Show("out", out);
}
