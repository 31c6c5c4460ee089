// corpus: swapped
// corpus: kernels 2
#include "support.cuh"
#include "template_weight.cuh"

// cupilot: tune
// cupilot: workload grid=(2,2) block=(4,4) n=32 a=normal[n*n] b=normal[n*n] c=[n*n]
template <class T, class S, template <class> class PolicyOf = mat::Policy>
__global__ void multiply(const T* a, const T* b, T* c, int n) {
  const int row = (blockIdx.y * blockDim.y + threadIdx.y) * mat::Get<0, S>::value;
  const int column = (blockIdx.x * blockDim.x + threadIdx.x) * mat::Get<1, S>::value;
  mat::Product<T, S, PolicyOf> product;
  for (int k = 0; k < n; ++k) product.Step(a + row * n + k, b + k * n + column, n, 1);
  for (int r = 0; r < mat::Get<0, S>::value; ++r) {
    for (int s = 0; s < mat::Get<1, S>::value; ++s) c[(row + r) * n + column + s] = product.sums(r, s);
  }
}

int main() {
  typedef mat::Shape<mat::Int<4>, mat::Int<4> > Square;
  typedef mat::Shape<mat::Int<2>, mat::Int<4> > Flat;
  support::Array<float> a(1024, 1, 0.125), b(1024, -1, 0.25), c(1024);
  support::Array<double> x(1024, 1, 0.1), y(1024, 2, 0.3), z(1024);
  multiply<float, Square><<<dim3(2, 2), dim3(4, 4)>>>(a.get(), b.get(), c.get(), 32);
  multiply<double, Flat><<<dim3(2, 4), dim3(4, 4)>>>(x.get(), y.get(), z.get(), 32);
  support::Show("c", c);
  support::Show("z", z);
}
