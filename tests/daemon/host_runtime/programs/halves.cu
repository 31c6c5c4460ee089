// Half precision, against the nearest of all values that it has.
#include <cuda_fp16.h>

#include <cmath>

#include "checks.h"

using checks::Buffer;

namespace {

// By the format's definition: sign, five bits of exponent, ten of fraction.
double ValueOf(unsigned int bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31), fraction = static_cast<int>(bits & 1023);
  const double size =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}
// The finite value next to v >= 0, the even one of two; as if there were one more above the
// largest.
unsigned int NearestTo(double v) {
  unsigned int best = 0;
  for (unsigned int bits = 0; bits <= 0x7c00; ++bits) {
    const double distance = std::fabs(ValueOf(bits) - v), least = std::fabs(ValueOf(best) - v);
    if (distance < least || (distance == least && bits % 2 == 0)) best = bits;
  }
  return best;
}

}  // namespace

CASE(every_value_goes_to_float_and_back) {
  for (unsigned int bits = 0; bits < 0x10000; ++bits) {
    const __half value = __ushort_as_half(static_cast<unsigned short>(bits));
    if ((bits & 0x7fff) > 0x7c00) {
      SAME(__hisnan(value) && std::isnan(__half2float(value)), true);
      continue;
    }
    if ((bits & 0x7fff) == 0x7c00) {
      SAME(std::isinf(__half2float(value)), true);
    } else {
      SAME(static_cast<double>(__half2float(value)), ValueOf(bits));
    }
    SAME(__half_as_ushort(__float2half(__half2float(value))), static_cast<unsigned short>(bits));
  }
}

CASE(floats_become_the_nearest_value) {
  for (const double v : {0.0,
                         1.0,
                         1.0 / 3,
                         0.1,
                         2049.0,
                         2051.0,
                         65504.0,
                         65519.9,
                         65520.0,
                         1e6,
                         5.97e-8,
                         2.98e-8,
                         2.9802322387695312e-8,
                         2.99e-8,
                         6.1e-5,
                         6.103515625e-5,
                         6.09e-5,
                         1e-9,
                         3.14159265,
                         1000.25,
                         1000.75}) {
    const unsigned int expected = NearestTo(v);
    SAME(__half_as_ushort(__double2half(v)), static_cast<unsigned short>(expected));
    SAME(__half_as_ushort(__double2half(-v)), static_cast<unsigned short>(expected | 0x8000));
  }
}

__global__ void Polynomial(const __half* in, __half* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half x = in[i];
  out[i] = __hfma(x, x, __float2half(0.5f)) - x / half(3.0f) + __hmax(x, half(0));
}
__global__ void Pairs(const __half2* in, __half2* out) {
  const __half2 v = in[threadIdx.x];
  out[threadIdx.x] = __hfma2(v, __half2half2(__low2half(v)), __floats2half2_rn(1.0f, -1.0f)) + v;
}
CASE(kernels_compute_in_half) {
  std::vector<__half> values;
  for (int i = 0; i < 100; ++i) values.push_back(__half(0.37f * static_cast<float>(i - 50)));
  Buffer<__half> in(values), out(values.size());
  Polynomial<<<2, 64>>>(in, out, 100);
  const auto near = [](double v) {
    const unsigned int bits = NearestTo(std::fabs(v)) | (std::signbit(v) ? 0x8000u : 0u);
    return ValueOf(bits);
  };
  std::vector<__half> result = out.Read();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = __half2float(values[i]);
    const double expected = near(near(near(x * x + 0.5) - near(x / 3.0)) + std::fmax(x, 0.0));
    SAME(static_cast<double>(__half2float(result[i])), expected);
  }
  Buffer<__half2> pairs(std::vector<__half2>(4, __floats2half2_rn(1.5f, 2.5f))), sums(4);
  Pairs<<<1, 4>>>(pairs, sums);
  for (const __half2 sum : sums.Read()) {
    SAME(__low2float(sum), 4.75f);
    SAME(__high2float(sum), 5.25f);
  }
}

__global__ void Reverse(__half* values) {
  values[threadIdx.x] = __shfl_xor_sync(0xffffffffu, values[threadIdx.x], 31);
}
CASE(halves_are_exchanged_in_a_warp) {
  std::vector<__half> values;
  for (int i = 0; i < 32; ++i) values.push_back(__half(i));
  Buffer<__half> data(values);
  Reverse<<<1, 32>>>(data);
  const std::vector<__half> result = data.Read();
  for (std::size_t i = 0; i < 32; ++i) {
    SAME(__half2float(result[i]), 31.0f - static_cast<float>(i));
  }
}

int main(int argc, char** argv) { return checks::Main(argc, argv); }
