// corpus: swapped
// corpus: standards 17 20
// if constexpr, structured bindings, fold expressions, inline variables and nested namespaces.
#include "support.cuh"

namespace shapes::flat {
struct Point {
  int x, y;
};
inline constexpr int kOffset = 3;
template <class... T>
__device__ constexpr int Sum(T... values) {
  return (0 + ... + values);
}
template <int Which>
__device__ int Pick(Point point) {
  if constexpr (Which == 0) {
    return point.x;
  } else {
    return point.y;
  }
}
}  // namespace shapes::flat

namespace shapes {
// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 out=integers(0,9)[n]
__global__ void modern(int* out, [[maybe_unused]] int n) {
  using namespace flat;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (const Point point{i, 2 * i}; point.x < n) {
    const auto [x, y] = point;
    out[i] = Sum(x, y, kOffset, 1'000) + Pick<1>(point);
  }
}
}  // namespace shapes

int main() {
  support::Array<int> out(256);
  shapes::modern<<<4, 64>>>(out.get(), 256);
  support::Show("out", out);
}
