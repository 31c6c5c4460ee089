// corpus: swapped
// corpus: kernels 8
// corpus: standards 14 17 20
// corpus: flags --extended-lambda
// Several lambdas of one template, in functions that other files cannot see, of templates and of
// classes: each is a kernel of its own.
#include "support.cuh"

namespace loops {

// cupilot: tune
template <typename Result, class F>
__global__ void fill(Result* out, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = f(i);
}

template <class F>
void Fill(support::Array<float>& out, F f) {
  fill<<<4, 64>>>(out.get(), 256, f);
  support::Show("out", out);
}

}  // namespace loops

namespace {

struct Line {
  char name;
  double slope, offset;
};

__device__ float half_of(int i) { return 0.5f * i; }

void InUnnamed(support::Array<float>& out) {
  const Line line = {'x', 2.0, -1.0};
  loops::Fill(out, [] __device__(int i) { return 3.0f * i; });
  // Constants, and equal types in another order than they are declared.
  const int low = 3, high = 200;
  int more = out.count(), less = more / 2;
  loops::Fill(out, [=] __device__(int i) {
    return i > high ? less : (i < low ? more + high : less - more);
  });
  loops::Fill(out, [more] __device__(int i) { return i * low + more; });
  loops::Fill(out, [line] __device__(int i) { return float(line.slope * i + line.offset); });
}

}  // namespace

static void Hidden(support::Array<float>& out, float scale) {
  loops::Fill(out, [=, first = scale + 1] __device__(int i) { return first + scale * half_of(i); });
}

template <typename T>
void OfTemplate(support::Array<float>& out, T factor) {
  loops::Fill(out, [=] __device__(int i) { return float(factor * i); });
}

class Filter {
 public:
  explicit Filter(int width) : width_(width) {}
  void Run(support::Array<float>& out) const {
    const int width = width_;
    loops::Fill(out, [width] __device__(int i) { return float(i / width); });
  }

 private:
  int width_;
};

int main() {
  support::Array<float> out(256, 0, 0);
  InUnnamed(out);
  Hidden(out, 1.5f);
  OfTemplate(out, 3);
  OfTemplate(out, 0.25);
  Filter(7).Run(out);
}
