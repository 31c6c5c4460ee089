// corpus: swapped
// Classes with operator(), static members, friends found by their arguments, and operators.
#include "support.cuh"

namespace geometry2 {

class Vector {
 public:
  __host__ __device__ Vector(float x, float y) : x_(x), y_(y) {}
  __device__ static Vector Unit() { return Vector(1, 0); }
  __device__ float operator[](int i) const { return i == 0 ? x_ : y_; }
  __device__ Vector& operator+=(const Vector& other) {
    x_ += other.x_;
    y_ += other.y_;
    return *this;
  }
  __device__ Vector operator-() const { return Vector(-x_, -y_); }
  __device__ explicit operator float() const { return x_ * x_ + y_ * y_; }
  friend __device__ float Dot(const Vector& a, const Vector& b) { return a.x_ * b.x_ + a.y_ * b.y_; }
  friend __device__ Vector operator*(float factor, const Vector& a);
  friend void Print(const Vector& vector) { std::printf("(%g, %g)\n", vector.x_, vector.y_); }

 private:
  float x_, y_;
};

__device__ Vector operator*(float factor, const Vector& a) { return Vector(factor * a.x_, factor * a.y_); }
__device__ Vector operator+(Vector a, const Vector& b) { return a += b; }
__device__ float Length(const Vector& a) { return sqrtf(float(a)); }

struct Rotator {
  int quarter;
  __device__ Vector operator()(const Vector& v) const;
};
__device__ Vector Rotator::operator()(const Vector& v) const {
  return quarter % 2 == 0 ? v : Vector(-v[1], v[0]);
}

}  // namespace geometry2

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 in=normal[n] out=[n]
__global__ void measure(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  geometry2::Vector v(in[i], 2.0f);
  v += -geometry2::Vector::Unit();
  const geometry2::Rotator rotate = {i};
  out[i] = Dot(rotate(v), 0.5f * v + v) + Length(v);
}

int main() {
  support::Array<float> in(256, 1, 0.25), out(256);
  measure<<<4, 64>>>(in.get(), out.get(), 256);
  support::Show("out", out);
  Print(geometry2::Vector(3, 4));
}
