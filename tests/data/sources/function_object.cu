// corpus: swapped
// A function object with a base class and private members as a parameter.
#include <vector>

#include "support.cuh"

class Scaled {
 public:
  __host__ __device__ explicit Scaled(float factor) : factor_(factor) {}
  std::vector<float> OnHost(const std::vector<float>& in) const {  // no device code may see this
    std::vector<float> out;
    for (size_t i = 0; i < in.size(); ++i) out.push_back(factor_ * in[i]);
    return out;
  }

 protected:
  float factor_;
};

class Curve : private Scaled {
 public:
  __host__ __device__ Curve(float factor, float bend) : Scaled(factor), bend_(bend) {}
  using Scaled::OnHost;
  __device__ float operator()(float x) const { return factor_ * x + bend_ * x * x; }

 private:
  float bend_;
};

// cupilot: tune
__global__ void bend(const float* in, float* out, int n, Curve curve) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = curve(in[i]);
}

int main() {
  support::Array<float> in(256, -3, 0.25), out(256);
  const Curve curve(2.0f, 0.5f);
  bend<<<4, 64>>>(in.get(), out.get(), 256, curve);
  support::Show("out", out);
  std::printf("host %g\n", double(curve.OnHost(std::vector<float>(in.Read(), in.Read() + 8))[5]));
}
