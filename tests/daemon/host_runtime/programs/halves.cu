// Numbers of 16 bits, half and bfloat16, against the nearest of all values that they have.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>
#include <limits>
#include <random>

#include "checks.h"

using checks::Buffer;
using checks::Make;

namespace {

using Bits = unsigned short;

struct Half {
  using Number = __half;
  using Pair = __half2;
  static constexpr int kFraction = 10, kExponents = 5;
  static Bits BitsOf(Number v) { return __half_as_ushort(v); }
  static Number Of(unsigned int bits) { return __ushort_as_half(static_cast<Bits>(bits)); }
};
struct Bfloat16 {
  using Number = __nv_bfloat16;
  using Pair = __nv_bfloat162;
  static constexpr int kFraction = 7, kExponents = 8;
  static Bits BitsOf(Number v) { return __bfloat16_as_ushort(v); }
  static Number Of(unsigned int bits) { return __ushort_as_bfloat16(static_cast<Bits>(bits)); }
};

template <class K>
constexpr unsigned int Infinity() {
  return ((1u << K::kExponents) - 1) << K::kFraction;
}
constexpr unsigned int kNan = 0x7fff;

// By the formats' definition: sign, exponent, fraction. What infinity's bits would be as a number is
// where overflow begins.
template <class K>
long double Magnitude(unsigned int bits) {
  const int exponent = static_cast<int>(bits >> K::kFraction);
  const int fraction = static_cast<int>(bits & ((1u << K::kFraction) - 1));
  const int last = 1 - ((1 << (K::kExponents - 1)) - 1) - K::kFraction;
  return exponent == 0 ? std::ldexp(static_cast<long double>(fraction), last)
                       : std::ldexp(static_cast<long double>((1 << K::kFraction) + fraction),
                                    last + exponent - 1);
}
template <class K>
const std::vector<long double>& Magnitudes() {
  static const std::vector<long double> all = [] {
    std::vector<long double> values;
    for (unsigned int bits = 0; bits <= Infinity<K>(); ++bits) values.push_back(Magnitude<K>(bits));
    return values;
  }();
  return all;
}
template <class K>
long double ValueOf(unsigned int bits) {
  if ((bits & 0x7fff) > Infinity<K>()) return NAN;
  const long double size = (bits & 0x7fff) == Infinity<K>() ? INFINITY : Magnitude<K>(bits & 0x7fff);
  return (bits & 0x8000) != 0 ? -size : size;
}

enum class Mode { kNearest, kZero, kUp, kDown };

// The bits of v + rest, where |rest| is less than half of v's last place.
template <class K>
Bits Rounded(long double v, long double rest = 0, Mode mode = Mode::kNearest) {
  if (std::isnan(v)) return kNan;
  const unsigned int sign = std::signbit(v) ? 0x8000 : 0;
  if (std::isinf(v)) return static_cast<Bits>(sign | Infinity<K>());
  const long double size = std::fabs(v), more = sign != 0 ? -rest : rest;
  const auto& all = Magnitudes<K>();
  // low <= size < high, or the largest number and infinity.
  auto above = static_cast<unsigned int>(std::upper_bound(all.begin(), all.end(), size) - all.begin());
  above = std::min(above, Infinity<K>());
  unsigned int low = above - 1, high = above;
  if (size == all[low] && more < 0) --low, --high;
  if (size == all[low] && more == 0) return static_cast<Bits>(sign | low);
  const bool away = mode == (sign != 0 ? Mode::kDown : Mode::kUp);
  bool up = away;
  if (mode == Mode::kNearest) {
    const long double middle = (all[low] + all[high]) / 2;
    up = size > middle || (size == middle && (more > 0 || (more == 0 && low % 2 == 1)));
  }
  return static_cast<Bits>(sign | (up ? high : low));
}

// Numbers of every kind: a third is special or small, the others are any bits.
template <class K>
std::vector<typename K::Number> AnyNumbers(std::size_t count, unsigned int seed) {
  std::mt19937 random(seed);
  const unsigned int special[] = {0,      0x8000, Infinity<K>(), Infinity<K>() | 0x8000, kNan, 1,
                                  0x8001, Infinity<K>() - 1, Infinity<K>() - 0x8001,
                                  ((1u << (K::kExponents - 1)) - 1) << K::kFraction /* 1.0 */};
  std::vector<typename K::Number> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned int r = random();
    numbers.push_back(K::Of(i % 6 == 0   ? special[r % (sizeof special / sizeof *special)]
                            : i % 6 == 1 ? r & 0x80ff
                                         : r >> 16));
  }
  return numbers;
}

template <class K>
void SameBits(const char* what, typename K::Number actual, Bits expected, long double a = 0,
              long double b = 0, long double c = 0) {
  const Bits bits = K::BitsOf(actual);
  if (bits == expected) return;
  std::cerr << what << " of " << a << " " << b << " " << c << "\n";
  SAME(bits, expected);
}

}  // namespace

template <class K>
void CheckEveryValue() {
  for (unsigned int bits = 0; bits < 0x10000; ++bits) {
    const float value = static_cast<float>(K::Of(bits));
    const long double expected = ValueOf<K>(bits);
    if (std::isnan(expected)) {
      SAME(std::isnan(value), true);
      SAME(K::BitsOf(typename K::Number(value)), static_cast<Bits>(kNan));
      continue;
    }
    SAME(static_cast<long double>(value), expected);
    SAME(K::BitsOf(typename K::Number(value)), static_cast<Bits>(bits));
    SAME(K::BitsOf(typename K::Number(static_cast<double>(value))), static_cast<Bits>(bits));
  }
}
CASE(every_value_goes_to_float_and_back) {
  CheckEveryValue<Half>();
  CheckEveryValue<Bfloat16>();
}

// All places where rounding decides: between neighbours, in the middle, and right beside both.
template <class K, class To>
void CheckRounding(To to_small) {
  const auto& all = Magnitudes<K>();
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    const auto low = static_cast<float>(all[i]), middle = static_cast<float>((all[i] + all[i + 1]) / 2);
    for (const float v : {low, std::nextafter(low, INFINITY), std::nextafter(middle, 0.0f), middle,
                          std::nextafter(middle, INFINITY)}) {
      to_small(v);
      to_small(-v);
    }
  }
  for (const float v : {INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, NAN}) to_small(v);
}
CASE(floats_are_rounded_in_every_mode) {
  CheckRounding<Half>([](float v) {
    SameBits<Half>("rn", __float2half_rn(v), Rounded<Half>(v), v);
    SameBits<Half>("double", __double2half(v), Rounded<Half>(v), v);
    SameBits<Half>("rz", __float2half_rz(v), Rounded<Half>(v, 0, Mode::kZero), v);
    SameBits<Half>("ru", __float2half_ru(v), Rounded<Half>(v, 0, Mode::kUp), v);
    SameBits<Half>("rd", __float2half_rd(v), Rounded<Half>(v, 0, Mode::kDown), v);
  });
  CheckRounding<Bfloat16>([](float v) {
    SameBits<Bfloat16>("rn", __float2bfloat16_rn(v), Rounded<Bfloat16>(v), v);
    SameBits<Bfloat16>("double", __double2bfloat16(v), Rounded<Bfloat16>(v), v);
    SameBits<Bfloat16>("rz", __float2bfloat16_rz(v), Rounded<Bfloat16>(v, 0, Mode::kZero), v);
    SameBits<Bfloat16>("ru", __float2bfloat16_ru(v), Rounded<Bfloat16>(v, 0, Mode::kUp), v);
    SameBits<Bfloat16>("rd", __float2bfloat16_rd(v), Rounded<Bfloat16>(v, 0, Mode::kDown), v);
  });
}
CASE(doubles_are_rounded_once) {
  // To float it would be the middle, of which the even neighbour is below.
  for (const double v : {1.0 + 0x1p-11 + 0x1p-40, 1.0 + 0x1p-8 + 0x1p-40, 0x1p-25 + 0x1p-60}) {
    SameBits<Half>("half", __double2half(v), Rounded<Half>(v), v);
    SameBits<Bfloat16>("bfloat16", __double2bfloat16(v), Rounded<Bfloat16>(v), v);
  }
}

template <class T>
struct Arithmetic {
  T sum, difference, product, quotient, fused, most, least, sum_saturated, fused_relu;
};
template <class T>
__global__ void Compute(const T* a, const T* b, const T* c, Arithmetic<T>* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i].sum = a[i] + b[i];
  out[i].difference = a[i] - b[i];
  out[i].product = a[i] * b[i];
  out[i].quotient = a[i] / b[i];
  out[i].fused = __hfma(a[i], b[i], c[i]);
  out[i].most = __hmax(a[i], b[i]);
  out[i].least = __hmin(a[i], b[i]);
  out[i].sum_saturated = __hadd_sat(a[i], b[i]);
  out[i].fused_relu = __hfma_relu(a[i], b[i], c[i]);
}
template <class K>
void CheckArithmetic() {
  using T = typename K::Number;
  constexpr int kCount = 100000;
  std::vector<T> a = AnyNumbers<K>(kCount, 1), b = AnyNumbers<K>(kCount + 1, 2),
                 c = AnyNumbers<K>(kCount + 2, 3);
  b.erase(b.begin());
  c.erase(c.begin(), c.begin() + 2);
  // Every other sum nearly cancels, or is next to the middle of two numbers.
  for (std::size_t i = 0; i < kCount; i += 2) {
    const unsigned int near = K::BitsOf(a[i] * b[i]) ^ (i % 4 == 0 ? 0x8000 : 0);
    if (i % 3 != 0) c[i] = K::Of(near + i % 5);
  }
  Buffer<Arithmetic<T>> results(kCount);
  Buffer<T> in_a(a), in_b(b), in_c(c);
  Compute<T><<<(kCount + 255) / 256, 256>>>(in_a, in_b, in_c, results, kCount);
  const std::vector<Arithmetic<T>> all = results.Read();
  for (std::size_t i = 0; i < kCount; ++i) {
    const long double x = ValueOf<K>(K::BitsOf(a[i])), y = ValueOf<K>(K::BitsOf(b[i])),
                      z = ValueOf<K>(K::BitsOf(c[i]));
    const Arithmetic<T>& r = all[i];
    SameBits<K>("sum", r.sum, Rounded<K>(x + y), x, y);
    SameBits<K>("difference", r.difference, Rounded<K>(x - y), x, y);
    SameBits<K>("product", r.product, Rounded<K>(x * y), x, y);
    SameBits<K>("quotient", r.quotient, Rounded<K>(x / y), x, y);
    // The product is exact; what the sum loses is known exactly, too.
    const long double product = x * y, sum = product + z;
    const long double back = sum - z, lost = (product - back) + (z - (sum - back));
    const Bits fused = Rounded<K>(sum, std::isfinite(sum) ? lost : 0);
    SameBits<K>("fused", r.fused, fused, x, y, z);
    SameBits<K>("fused, then relu", r.fused_relu,
                std::isnan(sum) ? kNan : ValueOf<K>(fused) > 0 ? fused : 0, x, y, z);
    if (std::isnan(x) || std::isnan(y)) {
      const Bits other = std::isnan(x) ? std::isnan(y) ? kNan : K::BitsOf(b[i]) : K::BitsOf(a[i]);
      SameBits<K>("most", r.most, other, x, y);
      SameBits<K>("least", r.least, other, x, y);
    } else {
      const bool first = x > y || (x == y && !std::signbit(x));
      SameBits<K>("most", r.most, K::BitsOf(first ? a[i] : b[i]), x, y);
      const bool second = x > y || (x == y && std::signbit(y));
      SameBits<K>("least", r.least, K::BitsOf(second ? b[i] : a[i]), x, y);
    }
    const long double rounded = ValueOf<K>(Rounded<K>(x + y));
    SameBits<K>("sum in [0, 1]", r.sum_saturated,
                rounded > 0 ? Rounded<K>(std::min<long double>(rounded, 1)) : 0, x, y);
    if (checks::Failures() > 20) return;
  }
}
CASE(arithmetic_is_rounded_once) {
  CheckArithmetic<Half>();
  CheckArithmetic<Bfloat16>();
}

template <class K>
void CheckComparisons() {
  const auto a = AnyNumbers<K>(6000, 4), b = AnyNumbers<K>(6000, 5);
  for (std::size_t i = 0; i + 1 < a.size(); ++i) {
    const auto &u = a[i], v = i % 4 == 0 ? a[i] : b[i];
    const float x = static_cast<float>(u), y = static_cast<float>(v);
    const bool ordered = !std::isnan(x) && !std::isnan(y);
    SAME(__heq(u, v), x == y);
    SAME(__hne(u, v), ordered && x != y);
    SAME(__hneu(u, v), x != y);
    SAME(__hequ(u, v), !ordered || x == y);
    SAME(__hlt(u, v), x < y);
    SAME(__hltu(u, v), !(x >= y));
    SAME(__hle(u, v), x <= y);
    SAME(__hgt(u, v), x > y);
    SAME(__hge(u, v), x >= y);
    SAME(__hgeu(u, v), !(x < y));
    SAME(u == v, x == y);
    SAME(u != v, x != y);
    SAME(u < v, x < y);
    SAME(static_cast<bool>(u), x != 0);
    SAME(__hisnan(u), std::isnan(x));
    SAME(__hisinf(u), std::isinf(x) ? (x > 0 ? 1 : -1) : 0);
    const typename K::Pair p(u, a[i + 1]), q(v, b[i + 1]);
    SAME(__hlt2_mask(p, q), (u < v ? 0xffffu : 0u) | (a[i + 1] < b[i + 1] ? 0xffff0000u : 0u));
    SAME(__hbge2(p, q), u >= v && a[i + 1] >= b[i + 1]);
    SAME(static_cast<float>(__heq2(p, q).x), u == v ? 1.0f : 0.0f);
    SAME(static_cast<float>(__hgtu2(p, q).y), a[i + 1] <= b[i + 1] ? 0.0f : 1.0f);
  }
}
CASE(comparisons_with_and_without_order) {
  CheckComparisons<Half>();
  CheckComparisons<Bfloat16>();
}

template <class K>
void CheckPairs() {
  using T = typename K::Number;
  const auto a = AnyNumbers<K>(2000, 6), b = AnyNumbers<K>(2000, 7), c = AnyNumbers<K>(2000, 8);
  const auto both = [](typename K::Pair pair, T x, T y) {
    SAME(K::BitsOf(pair.x), K::BitsOf(x));
    SAME(K::BitsOf(pair.y), K::BitsOf(y));
  };
  for (std::size_t i = 0; i + 1 < a.size(); i += 2) {
    const typename K::Pair p(a[i], a[i + 1]), q(b[i], b[i + 1]), r(c[i], c[i + 1]);
    both(p + q, a[i] + b[i], a[i + 1] + b[i + 1]);
    both(__hadd2(p, q), a[i] + b[i], a[i + 1] + b[i + 1]);
    both(__hsub2(p, q), a[i] - b[i], a[i + 1] - b[i + 1]);
    both(__hmul2(p, q), a[i] * b[i], a[i + 1] * b[i + 1]);
    both(__h2div(p, q), a[i] / b[i], a[i + 1] / b[i + 1]);
    both(__hfma2(p, q, r), __hfma(a[i], b[i], c[i]), __hfma(a[i + 1], b[i + 1], c[i + 1]));
    both(__hmax2(p, q), __hmax(a[i], b[i]), __hmax(a[i + 1], b[i + 1]));
    both(__hneg2(p), -a[i], -a[i + 1]);
    both(h2sqrt(p), hsqrt(a[i]), hsqrt(a[i + 1]));
    both(__lowhigh2highlow(p), a[i + 1], a[i]);
    both(__hcmadd(p, q, r),
         __hfma(-a[i + 1], b[i + 1], __hfma(a[i], b[i], c[i])),
         __hfma(a[i + 1], b[i], __hfma(a[i], b[i + 1], c[i + 1])));
    const typename K::Pair before = p;
    typename K::Pair step = p;
    both(step++, before.x, before.y);
    both(step, before.x + T(1), before.y + T(1));
  }
}
CASE(pairs_do_the_same_twice) {
  CheckPairs<Half>();
  CheckPairs<Bfloat16>();
  const __half2 pair = __floats2half2_rn(1.5f, -2.0f);
  SAME(__half22float2(pair).x, 1.5f);
  SAME(__half22float2(pair).y, -2.0f);
  SAME(__high2float(__halves2half2(__high2half(pair), __low2half(pair))), 1.5f);
  SAME(__low2float(__high2half2(pair)), -2.0f);
  SAME(__high2float(__lows2half2(pair, __float2half2_rn(7))), 7.0f);
  const __nv_bfloat162 other = __float22bfloat162_rn(make_float2(1.5f, -2.0f));
  SAME(__bfloat1622float2(other).y, -2.0f);
  SAME(__low2float(__bfloat162bfloat162(__high2bfloat16(other))), -2.0f);
}

// To integers: what does not fit becomes the nearest that does.
template <class To>
To Clamped(long double v, To of_nan) {
  if (std::isnan(v)) return of_nan;
  const long double low = static_cast<long double>(std::numeric_limits<To>::min());
  const long double high = static_cast<long double>(std::numeric_limits<To>::max());
  return v <= low ? std::numeric_limits<To>::min()
         : v >= high ? std::numeric_limits<To>::max()
                     : static_cast<To>(v);
}
CASE(every_value_becomes_an_integer) {
  for (unsigned int bits = 0; bits < 0x10000; ++bits) {
    const __half h = Half::Of(bits);
    const __nv_bfloat16 b = Bfloat16::Of(bits);
    const long double v = ValueOf<Half>(bits), w = ValueOf<Bfloat16>(bits);
    SAME(__half2int_rn(h), Clamped<int>(std::nearbyint(v), 0));
    SAME(__half2int_rz(h), Clamped<int>(std::trunc(v), 0));
    SAME(__half2short_rd(h), Clamped<short>(std::floor(v), 0));
    SAME(__half2ushort_ru(h), Clamped<unsigned short>(std::ceil(v), 0));
    SAME(__half2uint_rn(h), Clamped<unsigned int>(std::nearbyint(v), 0));
    SAME(__half2ll_rn(h), Clamped<long long>(std::nearbyint(v), LLONG_MIN));
    SAME(static_cast<int>(__half2char_rz(h)), static_cast<int>(Clamped<signed char>(std::trunc(v), 0)));
    SAME(static_cast<int>(h), Clamped<int>(std::trunc(v), 0));
    SAME(__bfloat162int_rn(b), Clamped<int>(std::nearbyint(w), 0));
    SAME(__bfloat162uint_rz(b), Clamped<unsigned int>(std::trunc(w), 0));
    SAME(__bfloat162ll_ru(b), Clamped<long long>(std::ceil(w), LLONG_MIN));
    SAME(__bfloat162ull_rd(b), Clamped<unsigned long long>(std::floor(w), 1ull << 63));
    if (checks::Failures() > 20) return;
  }
}
CASE(integers_are_rounded_once) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 50000; ++i) {
    const unsigned long long any = random() >> (i % 64);
    // Next to the middle of two numbers, far beyond what a double holds.
    const unsigned long long v = i % 2 == 0 ? any : (((any | 1) << 40) + (1ull << 62)) + any % 3 - 1;
    const auto s = static_cast<long long>(i % 3 == 0 ? ~v : v);
    const auto n = static_cast<int>(s);
    SameBits<Half>("int", __int2half_rn(n), Rounded<Half>(n), n);
    SameBits<Half>("int, down", __int2half_rd(n), Rounded<Half>(n, 0, Mode::kDown), n);
    SameBits<Half>("long long", __ll2half_rn(s), Rounded<Half>(s), s);
    SameBits<Bfloat16>("int", __int2bfloat16_rn(n), Rounded<Bfloat16>(n), n);
    SameBits<Bfloat16>("long long", __ll2bfloat16_rn(s), Rounded<Bfloat16>(s), s);
    SameBits<Bfloat16>("long long, up", __ll2bfloat16_ru(s), Rounded<Bfloat16>(s, 0, Mode::kUp), s);
    SameBits<Bfloat16>("unsigned", __ull2bfloat16_rz(v), Rounded<Bfloat16>(v, 0, Mode::kZero), v);
    SameBits<Bfloat16>("constructed", __nv_bfloat16(v), Rounded<Bfloat16>(v), v);
    if (checks::Failures() > 20) return;
  }
}

#define CHECK_FUNCTION(name, expression) \
  SameBits<K>(#name, name(K::Of(bits)), Rounded<K>(expression), v)
template <class K>
void CheckFunctions() {
  for (unsigned int bits = 0; bits < 0x10000; bits += 1) {
    const long double v = ValueOf<K>(bits);
    CHECK_FUNCTION(hsqrt, std::sqrt(v));
    CHECK_FUNCTION(hrcp, 1 / v);
    CHECK_FUNCTION(hrsqrt, 1 / std::sqrt(v));
    CHECK_FUNCTION(hexp, std::exp(v));
    CHECK_FUNCTION(hexp2, std::exp2(v));
    CHECK_FUNCTION(hlog, std::log(v));
    CHECK_FUNCTION(hlog10, std::log10(v));
    CHECK_FUNCTION(hsin, std::sin(v));
    CHECK_FUNCTION(hcos, std::cos(v));
    CHECK_FUNCTION(htanh, std::tanh(v));
    CHECK_FUNCTION(hfloor, std::floor(v));
    CHECK_FUNCTION(hrint, std::nearbyint(v));
    if (checks::Failures() > 20) return;
  }
}
CASE(functions_of_every_value) {
  CheckFunctions<Half>();
  CheckFunctions<Bfloat16>();
}

template <class T>
__global__ void Reverse(T* values) {
  values[threadIdx.x] = __shfl_xor_sync(0xffffffffu, values[threadIdx.x], 31);
}
template <class T, class Of>
void CheckExchange(Of of) {
  std::vector<T> values;
  for (int i = 0; i < 32; ++i) values.push_back(of(i));
  Buffer<T> data(values);
  Reverse<T><<<1, 32>>>(static_cast<T*>(data));
  const std::vector<T> result = data.Read();
  for (int i = 0; i < 32; ++i) SAME(result[i] == of(31 - i), true);
}
CASE(numbers_are_exchanged_in_a_warp) {
  CheckExchange<__half>([](int i) { return __half(i); });
  CheckExchange<__half2>([](int i) { return __half2(__half(i), __half(-i)); });
  CheckExchange<__nv_bfloat16>([](int i) { return __nv_bfloat16(i); });
  CheckExchange<__nv_bfloat162>([](int i) { return __nv_bfloat162(__nv_bfloat16(i), __nv_bfloat16(7)); });
}

template <class K>
__global__ void Add(typename K::Number* one, typename K::Pair* two) {
  using T = typename K::Number;
  atomicAdd(one, T(1.0f));
  atomicAdd(two, typename K::Pair(T(1.0f), T(threadIdx.x % 2 == 0 ? 0.5f : -0.5f)));
}
template <class K>
void CheckAtomic() {
  // The neighbour of the one that is added to is left alone.
  Buffer<typename K::Number> one(2, typename K::Number(0.0f));
  Buffer<typename K::Pair> two(1, typename K::Pair(typename K::Number(0.0f), typename K::Number(0.0f)));
  Add<K><<<4, 32>>>(static_cast<typename K::Number*>(one), static_cast<typename K::Pair*>(two));
  SAME(static_cast<float>(one.Read()[0]), 128.0f);
  SAME(static_cast<float>(one.Read()[1]), 0.0f);
  SAME(__low2float(two.Read()[0]), 128.0f);
  SAME(__high2float(two.Read()[0]), 0.0f);
}
CASE(atomic_sums) {
  CheckAtomic<Half>();
  CheckAtomic<Bfloat16>();
}

int main(int argc, char** argv) { return checks::Main(argc, argv); }
