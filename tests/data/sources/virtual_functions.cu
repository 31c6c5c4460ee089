// corpus: declined "is virtual"
#include "support.cuh"

struct Shape {
  __device__ virtual float Area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float Area() const override { return side * side; }
};

__device__ float AreaOf(const Shape& shape) { return shape.Area(); }

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=normal[n]
__global__ void areas(float* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Square square(data[i]);
  data[i] = AreaOf(square);
}

int main() {
  support::Array<float> data(256, 1, 0.5);
  areas<<<4, 64>>>(data.get(), 256);
  support::Show("data", data);
}
