/* Half precision: stored in 16 bits, computed in float and rounded after each operation, to nearest even,
 * as a device does it. C++11. */
#ifndef CUPILOT_HOST_CUDA_FP16_H_
#define CUPILOT_HOST_CUDA_FP16_H_

#include "cuda_runtime.h"

#define CUPILOT_HOST_HALF static __inline__ __host__ __device__

struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};

namespace cupilot_host {

/* From double, which holds every float and every sum and product of two halves exactly, so that nothing
 * is rounded twice. */
CUPILOT_HOST_HALF unsigned short half_bits(double value) {
  unsigned long long bits;
  memcpy(&bits, &value, sizeof(bits));
  const unsigned int sign = (unsigned int)(bits >> 63) << 15;
  const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  unsigned long long fraction = bits & 0xfffffffffffffull;
  if (exponent == 1024) {
    return (unsigned short)(fraction == 0 ? sign | 0x7c00u : 0x7fffu);  /* infinity, or the one NaN */
  }
  if (exponent > 15) return (unsigned short)(sign | 0x7c00u);
  if (exponent < -25) return (unsigned short)sign;
  fraction |= 1ull << 52;
  /* Below 2^-14 the last place stays where it is. */
  const int drop = exponent < -14 ? 42 + (-14 - exponent) : 42;
  unsigned long long kept = fraction >> drop;
  const unsigned long long rest = fraction & ((1ull << drop) - 1), middle = 1ull << (drop - 1);
  if (rest > middle || (rest == middle && (kept & 1) != 0)) ++kept;
  /* A carry goes on into the exponent, and from the largest number into infinity. */
  const unsigned int base = exponent < -14 ? 0u : (unsigned int)(exponent + 14) << 10;
  return (unsigned short)(sign | (base + (unsigned int)kept));
}

CUPILOT_HOST_HALF float half_value(unsigned short bits) {
  const unsigned int sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31u;
  const unsigned int fraction = bits & 0x3ffu;
  if (exponent == 0) {
    const float small = (float)fraction * 5.9604644775390625e-8f;  /* 2^-24 */
    return sign != 0 ? -small : small;
  }
  const unsigned int word =
      sign | (exponent == 31 ? 0x7f800000u : (exponent + 112u) << 23) | fraction << 13;
  float value;
  memcpy(&value, &word, sizeof(value));
  return value;
}

}  // namespace cupilot_host

struct __attribute__((aligned(2))) __half {
  __half() = default;
  __host__ __device__ __half(const __half_raw& raw) : bits(raw.x) {}
  __host__ __device__ __half(float v) : bits(cupilot_host::half_bits(v)) {}
  __host__ __device__ __half(double v) : bits(cupilot_host::half_bits(v)) {}
  __host__ __device__ __half(int v) : bits(cupilot_host::half_bits(v)) {}
  __host__ __device__ __half(unsigned int v) : bits(cupilot_host::half_bits(v)) {}
  __host__ __device__ __half(long long v) : bits(cupilot_host::half_bits((double)v)) {}
  __host__ __device__ __half(unsigned long long v) : bits(cupilot_host::half_bits((double)v)) {}
  __host__ __device__ operator float() const { return cupilot_host::half_value(bits); }
  __host__ __device__ operator __half_raw() const { return __half_raw{bits}; }

  unsigned short bits;
};
typedef __half half;
typedef __half __nv_half;

struct __attribute__((aligned(4))) __half2 {
  __half2() = default;
  __host__ __device__ __half2(const __half& a, const __half& b) : x(a), y(b) {}

  __half x, y;
};
typedef __half2 half2;
typedef __half2 __nv_half2;

/* Conversions. */
CUPILOT_HOST_HALF __half __float2half(float v) { return __half(v); }
CUPILOT_HOST_HALF __half __float2half_rn(float v) { return __half(v); }
CUPILOT_HOST_HALF __half __double2half(double v) { return __half(v); }
CUPILOT_HOST_HALF float __half2float(__half v) { return (float)v; }
CUPILOT_HOST_HALF __half __int2half_rn(int v) { return __half(v); }
CUPILOT_HOST_HALF __half __uint2half_rn(unsigned int v) { return __half(v); }
CUPILOT_HOST_HALF int __half2int_rn(__half v) { return (int)rintf((float)v); }
CUPILOT_HOST_HALF int __half2int_rz(__half v) { return (int)(float)v; }
CUPILOT_HOST_HALF int __half2int_rd(__half v) { return (int)floorf((float)v); }
CUPILOT_HOST_HALF int __half2int_ru(__half v) { return (int)ceilf((float)v); }
CUPILOT_HOST_HALF unsigned short __half_as_ushort(__half v) { return v.bits; }
CUPILOT_HOST_HALF short __half_as_short(__half v) { return (short)v.bits; }
CUPILOT_HOST_HALF __half __ushort_as_half(unsigned short v) { return __half(__half_raw{v}); }
CUPILOT_HOST_HALF __half __short_as_half(short v) { return __ushort_as_half((unsigned short)v); }
CUPILOT_HOST_HALF __half2 make_half2(__half x, __half y) { return __half2(x, y); }
CUPILOT_HOST_HALF __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
CUPILOT_HOST_HALF __half2 __half2half2(__half v) { return __half2(v, v); }
CUPILOT_HOST_HALF __half2 __float2half2_rn(float v) { return __half2(__half(v), __half(v)); }
CUPILOT_HOST_HALF __half2 __floats2half2_rn(float x, float y) {
  return __half2(__half(x), __half(y));
}
CUPILOT_HOST_HALF __half2 __float22half2_rn(float2 v) { return __floats2half2_rn(v.x, v.y); }
CUPILOT_HOST_HALF float2 __half22float2(__half2 v) { return make_float2((float)v.x, (float)v.y); }
CUPILOT_HOST_HALF __half __low2half(__half2 v) { return v.x; }
CUPILOT_HOST_HALF __half __high2half(__half2 v) { return v.y; }
CUPILOT_HOST_HALF float __low2float(__half2 v) { return (float)v.x; }
CUPILOT_HOST_HALF float __high2float(__half2 v) { return (float)v.y; }
CUPILOT_HOST_HALF __half2 __low2half2(__half2 v) { return __half2(v.x, v.x); }
CUPILOT_HOST_HALF __half2 __high2half2(__half2 v) { return __half2(v.y, v.y); }
CUPILOT_HOST_HALF __half2 __lowhigh2highlow(__half2 v) { return __half2(v.y, v.x); }

/* Arithmetic. Quotients and roots of floats of so few places are not rounded twice either. */
CUPILOT_HOST_HALF __half __hadd(__half a, __half b) { return __half((float)a + (float)b); }
CUPILOT_HOST_HALF __half __hsub(__half a, __half b) { return __half((float)a - (float)b); }
CUPILOT_HOST_HALF __half __hmul(__half a, __half b) { return __half((float)a * (float)b); }
CUPILOT_HOST_HALF __half __hdiv(__half a, __half b) { return __half((float)a / (float)b); }
CUPILOT_HOST_HALF __half __hfma(__half a, __half b, __half c) {
  return __half((double)(float)a * (double)(float)b + (double)(float)c);
}
CUPILOT_HOST_HALF __half __hneg(__half v) {
  return __ushort_as_half((unsigned short)(v.bits ^ 0x8000u));
}
CUPILOT_HOST_HALF __half __habs(__half v) {
  return __ushort_as_half((unsigned short)(v.bits & 0x7fffu));
}
CUPILOT_HOST_HALF bool __hisnan(__half v) { return (v.bits & 0x7fffu) > 0x7c00u; }
CUPILOT_HOST_HALF int __hisinf(__half v) {
  return (v.bits & 0x7fffu) != 0x7c00u ? 0 : (v.bits & 0x8000u) != 0 ? -1 : 1;
}
CUPILOT_HOST_HALF __half __hmax(__half a, __half b) { return __half(fmaxf((float)a, (float)b)); }
CUPILOT_HOST_HALF __half __hmin(__half a, __half b) { return __half(fminf((float)a, (float)b)); }
CUPILOT_HOST_HALF __half __hadd_sat(__half a, __half b) {
  return __half(fminf(fmaxf((float)__hadd(a, b), 0.0f), 1.0f));
}
CUPILOT_HOST_HALF bool __heq(__half a, __half b) { return (float)a == (float)b; }
CUPILOT_HOST_HALF bool __hne(__half a, __half b) { return (float)a != (float)b; }
CUPILOT_HOST_HALF bool __hlt(__half a, __half b) { return (float)a < (float)b; }
CUPILOT_HOST_HALF bool __hle(__half a, __half b) { return (float)a <= (float)b; }
CUPILOT_HOST_HALF bool __hgt(__half a, __half b) { return (float)a > (float)b; }
CUPILOT_HOST_HALF bool __hge(__half a, __half b) { return (float)a >= (float)b; }

CUPILOT_HOST_HALF __half hsqrt(__half v) { return __half(sqrtf((float)v)); }
CUPILOT_HOST_HALF __half hrsqrt(__half v) { return __half(1.0 / sqrt((double)(float)v)); }
CUPILOT_HOST_HALF __half hrcp(__half v) { return __half(1.0f / (float)v); }
CUPILOT_HOST_HALF __half hexp(__half v) { return __half(exp((double)(float)v)); }
CUPILOT_HOST_HALF __half hexp2(__half v) { return __half(exp2((double)(float)v)); }
CUPILOT_HOST_HALF __half hlog(__half v) { return __half(log((double)(float)v)); }
CUPILOT_HOST_HALF __half hlog2(__half v) { return __half(log2((double)(float)v)); }
CUPILOT_HOST_HALF __half hsin(__half v) { return __half(sin((double)(float)v)); }
CUPILOT_HOST_HALF __half hcos(__half v) { return __half(cos((double)(float)v)); }
CUPILOT_HOST_HALF __half htanh(__half v) { return __half(tanh((double)(float)v)); }
CUPILOT_HOST_HALF __half hfloor(__half v) { return __half(floorf((float)v)); }
CUPILOT_HOST_HALF __half hceil(__half v) { return __half(ceilf((float)v)); }
CUPILOT_HOST_HALF __half htrunc(__half v) { return __half(truncf((float)v)); }
CUPILOT_HOST_HALF __half hrint(__half v) { return __half(rintf((float)v)); }

CUPILOT_HOST_HALF __half operator+(const __half& a, const __half& b) { return __hadd(a, b); }
CUPILOT_HOST_HALF __half operator-(const __half& a, const __half& b) { return __hsub(a, b); }
CUPILOT_HOST_HALF __half operator*(const __half& a, const __half& b) { return __hmul(a, b); }
CUPILOT_HOST_HALF __half operator/(const __half& a, const __half& b) { return __hdiv(a, b); }
CUPILOT_HOST_HALF __half operator+(const __half& v) { return v; }
CUPILOT_HOST_HALF __half operator-(const __half& v) { return __hneg(v); }
CUPILOT_HOST_HALF __half& operator+=(__half& a, const __half& b) { return a = a + b; }
CUPILOT_HOST_HALF __half& operator-=(__half& a, const __half& b) { return a = a - b; }
CUPILOT_HOST_HALF __half& operator*=(__half& a, const __half& b) { return a = a * b; }
CUPILOT_HOST_HALF __half& operator/=(__half& a, const __half& b) { return a = a / b; }
CUPILOT_HOST_HALF bool operator==(const __half& a, const __half& b) { return __heq(a, b); }
CUPILOT_HOST_HALF bool operator!=(const __half& a, const __half& b) { return __hne(a, b); }
CUPILOT_HOST_HALF bool operator<(const __half& a, const __half& b) { return __hlt(a, b); }
CUPILOT_HOST_HALF bool operator<=(const __half& a, const __half& b) { return __hle(a, b); }
CUPILOT_HOST_HALF bool operator>(const __half& a, const __half& b) { return __hgt(a, b); }
CUPILOT_HOST_HALF bool operator>=(const __half& a, const __half& b) { return __hge(a, b); }

/* Pairs. */
#define CUPILOT_HOST_HALF_PAIR(name, one)                         \
  CUPILOT_HOST_HALF __half2 name(__half2 a, __half2 b) {          \
    return __half2(one(a.x, b.x), one(a.y, b.y));                 \
  }
CUPILOT_HOST_HALF_PAIR(__hadd2, __hadd)
CUPILOT_HOST_HALF_PAIR(__hsub2, __hsub)
CUPILOT_HOST_HALF_PAIR(__hmul2, __hmul)
CUPILOT_HOST_HALF_PAIR(__h2div, __hdiv)
CUPILOT_HOST_HALF_PAIR(__hmax2, __hmax)
CUPILOT_HOST_HALF_PAIR(__hmin2, __hmin)
#undef CUPILOT_HOST_HALF_PAIR
CUPILOT_HOST_HALF __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return __half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
CUPILOT_HOST_HALF __half2 __hneg2(__half2 v) { return __half2(__hneg(v.x), __hneg(v.y)); }
CUPILOT_HOST_HALF __half2 __habs2(__half2 v) { return __half2(__habs(v.x), __habs(v.y)); }
CUPILOT_HOST_HALF __half2 h2sqrt(__half2 v) { return __half2(hsqrt(v.x), hsqrt(v.y)); }
CUPILOT_HOST_HALF __half2 h2exp(__half2 v) { return __half2(hexp(v.x), hexp(v.y)); }
CUPILOT_HOST_HALF __half2 operator+(const __half2& a, const __half2& b) { return __hadd2(a, b); }
CUPILOT_HOST_HALF __half2 operator-(const __half2& a, const __half2& b) { return __hsub2(a, b); }
CUPILOT_HOST_HALF __half2 operator*(const __half2& a, const __half2& b) { return __hmul2(a, b); }
CUPILOT_HOST_HALF __half2 operator/(const __half2& a, const __half2& b) { return __h2div(a, b); }
CUPILOT_HOST_HALF __half2& operator+=(__half2& a, const __half2& b) { return a = a + b; }
CUPILOT_HOST_HALF __half2& operator*=(__half2& a, const __half2& b) { return a = a * b; }
CUPILOT_HOST_HALF __half2 operator-(const __half2& v) { return __hneg2(v); }

#undef CUPILOT_HOST_HALF

#endif
