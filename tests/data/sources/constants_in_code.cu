// corpus: swapped
// corpus: flags --expt-relaxed-constexpr
// constexpr tables, static constants, enumerations and a static data member.
#include "support.cuh"

enum Colour { kRed, kGreen = 5, kBlue };
enum class Level : short { kLow = -3, kHigh = 300 };
constexpr int kSizes[] = {3, 1, 4, 1, 5};
static const float kGain = 0.75f;
static const int kLast = sizeof(kSizes) / sizeof(kSizes[0]) - 1;
struct Limits {
  static constexpr int kMost = 50;
  enum { kLeast = 2 };
};
constexpr int Power(int base, int exponent) { return exponent == 0 ? 1 : base * Power(base, exponent - 1); }

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 out=[n]
__global__ void constants(float* out, int n) {
  static const int kLocal[4] = {1, 10, 100, 1000};
  constexpr int kCube = Power(3, 3);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int value = kLocal[i & 3] + kSizes[kLast] + kCube + int(Level::kHigh) + int(Level::kLow);
  switch (Colour(i % 7)) {
    case kRed: value += Limits::kLeast; break;
    case kGreen: value -= kBlue; break;
    default: value += Limits::kMost;
  }
  out[i] = kGain * value;
}

int main() {
  support::Array<float> out(256);
  constants<<<4, 64>>>(out.get(), 256);
  support::Show("out", out);
}
