/* Numbers of 16 bits: their bits from and to larger types, in every rounding mode. Everything that half
 * and bfloat16 share is written once, here and in small_float_functions.h. C++11. */
#ifndef CUPILOT_HOST_CRT_SMALL_FLOATS_H_
#define CUPILOT_HOST_CRT_SMALL_FLOATS_H_

#include "../cuda_runtime.h"

#define CUPILOT_HOST_SMALL static __inline__ __host__ __device__

namespace cupilot_host {

struct half_format {
  static constexpr int fraction = 10; /* bits */
  static constexpr int bias = 15;
  static constexpr unsigned int infinity = 0x7c00u;
};
struct bfloat16_format {
  static constexpr int fraction = 7;
  static constexpr int bias = 127;
  static constexpr unsigned int infinity = 0x7f80u;
};

enum class rounding { nearest, zero, up, down };

/* In any mode, from double, which holds every float exactly. There is one NaN. */
template <class Format>
__host__ __device__ inline unsigned short small_bits(double value, rounding mode) {
  unsigned long long bits;
  memcpy(&bits, &value, sizeof(bits));
  const unsigned int sign = (unsigned int)(bits >> 63) << 15;
  const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  unsigned long long number = bits & 0xfffffffffffffull;
  if (exponent == 1024) return (unsigned short)(number == 0 ? sign | Format::infinity : 0x7fffu);
  if (exponent > -1023) number |= 1ull << 52;
  const bool away = mode == (sign != 0 ? rounding::down : rounding::up);
  const int least = 1 - Format::bias; /* of normal numbers; below it the last place stays where it is */
  unsigned long long result = Format::infinity;
  if (exponent <= Format::bias) {
    int drop = 52 - Format::fraction + (exponent < least ? least - exponent : 0);
    if (drop > 54) drop = 54;
    result = number >> drop;
    const unsigned long long rest = number & ((1ull << drop) - 1), middle = 1ull << (drop - 1);
    const bool more = mode == rounding::nearest
                          ? rest > middle || (rest == middle && (result & 1) != 0)
                          : away && rest != 0;
    /* A carry goes on into the exponent, and from the largest number into infinity. */
    if (more) ++result;
    if (exponent > least) result += (unsigned long long)(exponent - least) << Format::fraction;
  } else if (mode != rounding::nearest && !away) {
    result = Format::infinity - 1;
  }
  return (unsigned short)(sign | (unsigned int)result);
}

/* One of two; a conditional expression would become a branch where floating-point arithmetic is in it. */
__host__ __device__ inline unsigned int small_select(bool first, unsigned int a, unsigned int b) {
  const unsigned int mask = 0u - (unsigned int)first;
  return (a & mask) | (b & ~mask);
}

/* To nearest, without branches, so that loops of it are vectorised. */
__host__ __device__ inline unsigned short small_bits_of(half_format, float value) {
  unsigned int bits;
  memcpy(&bits, &value, sizeof(bits));
  const unsigned int sign = bits >> 16 & 0x8000u;
  bits &= 0x7fffffffu;
  /* Numbers below 2^-14 are rounded by the addition of what moves their last place to a float's. */
  float shifted;
  memcpy(&shifted, &bits, sizeof(shifted));
  shifted += 0.5f;
  unsigned int small;
  memcpy(&small, &shifted, sizeof(small));
  small -= 0x3f000000u;
  const unsigned int normal = (bits + 0xfffu + (bits >> 13 & 1u) - (112u << 23)) >> 13;
  const unsigned int finite = small_select(bits < 0x38800000u, small, normal);
  const unsigned int number = sign | small_select(bits < 0x47800000u, finite, 0x7c00u);
  return (unsigned short)small_select(bits > 0x7f800000u, 0x7fffu, number);
}
__host__ __device__ inline unsigned short small_bits_of(bfloat16_format, float value) {
  unsigned int bits;
  memcpy(&bits, &value, sizeof(bits));
  const unsigned int number = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return (unsigned short)small_select((bits & 0x7fffffffu) > 0x7f800000u, 0x7fffu, number);
}

template <class Format>
__host__ __device__ inline unsigned short small_bits_of(Format, double value) {
  const int shift = 52 - Format::fraction;
  const unsigned long long lowest = (unsigned long long)(1024 - Format::bias) << 52;
  const unsigned long long highest = (unsigned long long)(1024 + Format::bias) << 52;
  const unsigned long long infinity = 0x7ffull << 52;
  unsigned long long bits;
  memcpy(&bits, &value, sizeof(bits));
  const unsigned int sign = (unsigned int)(bits >> 48) & 0x8000u;
  bits &= ~(1ull << 63);
  const unsigned long long unit = lowest + ((unsigned long long)shift << 52);
  double shifted, mover;
  memcpy(&shifted, &bits, sizeof(shifted));
  memcpy(&mover, &unit, sizeof(mover));
  shifted += mover;
  unsigned long long small;
  memcpy(&small, &shifted, sizeof(small));
  small -= unit;
  const unsigned long long normal = (bits + ((1ull << (shift - 1)) - 1) + (bits >> shift & 1) -
                                     ((unsigned long long)(1023 - Format::bias) << 52)) >> shift;
  const unsigned int finite = small_select(bits < lowest, (unsigned int)small, (unsigned int)normal);
  const unsigned int number = sign | small_select(bits < highest, finite, Format::infinity);
  return (unsigned short)small_select(bits > infinity, 0x7fffu, number);
}

__host__ __device__ inline float small_value(half_format, unsigned short bits) {
  const unsigned int sign = (bits & 0x8000u) << 16, rest = bits & 0x7fffu;
  const float below = (float)(int)(rest & 0x3ffu) * 5.9604644775390625e-8f; /* 2^-24 */
  unsigned int small;
  memcpy(&small, &below, sizeof(small));
  const unsigned int normal = (rest << 13) + (112u << 23);
  const unsigned int finite = small_select(rest < 0x400u, small, normal);
  const unsigned int number = sign | small_select(rest < 0x7c00u, finite, 0x7f800000u);
  const unsigned int word = small_select(rest > 0x7c00u, 0x7fffffffu, number);
  float value;
  memcpy(&value, &word, sizeof(value));
  return value;
}
__host__ __device__ inline float small_value(bfloat16_format, unsigned short bits) {
  const unsigned int word = (unsigned int)bits << 16;
  float value;
  memcpy(&value, &word, sizeof(value));
  return value;
}

/* a * b + c of small numbers for one rounding that follows: the product is exact, the sum is rounded to
 * odd, so that what was lost still decides. */
__host__ __device__ inline double small_fma(double a, double b, double c) {
  const double product = a * b, sum = product + c;
  const double of_product = sum - c, of_c = sum - of_product;
  const double lost = (product - of_product) + (c - of_c);
  long long bits;
  memcpy(&bits, &sum, sizeof(bits));
  /* Something was lost of a finite sum (else it is 0 or NaN), and the last place is even: towards that. */
  const long long step = (lost > 0.0) == (sum > 0.0) ? 1 : -1;
  const long long inexact = (long long)(lost < 0.0) | (long long)(lost > 0.0);
  bits += step & (0 - (inexact & ~bits & 1));
  double odd;
  memcpy(&odd, &bits, sizeof(odd));
  return odd;
}

/* To integers, what does not fit becomes the nearest that does. NaN becomes 0, of 64 bits 2^63. */
template <class To>
__host__ __device__ inline To small_to_integer(float v) {
  const bool is_signed = (To)-1 < (To)0;
  const int bits = (int)sizeof(To) * 8;
  if (!(v == v)) return bits == 64 ? (To)(1ull << 63) : (To)0;
  const To most = (To)(~0ull >> (64 - bits + (is_signed ? 1 : 0)));
  const To least = is_signed ? (To)(-most - 1) : (To)0;
  const double limit = bits == 64 && !is_signed ? 18446744073709551616.0
                                                : (double)(1ull << (bits - (is_signed ? 1 : 0)));
  if ((double)v >= limit) return most;
  if (is_signed ? (double)v <= -limit : v <= 0.0f) return least;
  return (To)v;
}

}  // namespace cupilot_host

#endif
