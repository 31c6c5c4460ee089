// corpus: swapped
// Structures with pointers in them; their values come from a workload file, not from the tag.
#include "support.cuh"

struct Range {
  int begin, end;
  __host__ __device__ int size() const { return end - begin; }
};

struct View {
  const float* data;
  float* result;
  Range range;
  float scale[2];
};

// cupilot: tune
__global__ void scale_view(View view, const Range other) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= view.range.size()) return;
  const int at = view.range.begin + i;
  view.result[at] = view.scale[i % 2] * view.data[at] + other.size();
}

int main() {
  support::Array<float> in(300, 1, 0.5), out(300);
  const View view = {in.get(), out.get(), {20, 270}, {2.0f, -1.0f}};
  scale_view<<<4, 64>>>(view, Range{5, 25});
  support::Show("out", out);
}
