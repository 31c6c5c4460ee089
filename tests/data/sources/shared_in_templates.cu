// corpus: swapped
// Shared memory in device function templates and in a structure of a template.
#include "support.cuh"

template <class T, int Size>
struct Tile {
  T values[Size][Size + 1];
};

template <class T, int Size>
__device__ Tile<T, Size>& SharedTile() {
  __shared__ Tile<T, Size> tile;
  return tile;
}

template <class T>
__device__ T FirstOfBlock(T value) {
  __shared__ T first;
  if (threadIdx.x == 0 && threadIdx.y == 0) first = value;
  __syncthreads();
  return first;
}

// cupilot: tune
// cupilot: workload grid=(2,2) block=(16,16) side=32 in=normal[side*side] out=[side*side]
__global__ void transpose(const float* in, float* out, int side) {
  Tile<float, 16>& tile = SharedTile<float, 16>();
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  tile.values[threadIdx.y][threadIdx.x] = in[y * side + x];
  const double first = FirstOfBlock<double>(tile.values[threadIdx.y][threadIdx.x]);
  const float other = FirstOfBlock(float(blockIdx.x));
  out[(blockIdx.x * 16 + threadIdx.y) * side + blockIdx.y * 16 + threadIdx.x] =
      tile.values[threadIdx.x][threadIdx.y] + float(first) + other;
}

int main() {
  support::Array<float> in(1024, 1, 0.5), out(1024);
  transpose<<<dim3(2, 2), dim3(16, 16)>>>(in.get(), out.get(), 32);
  support::Show("out", out);
}
