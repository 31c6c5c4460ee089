/* Half precision: stored in 16 bits, computed in more and rounded after each operation, to nearest even,
 * as a device does it. C++11. */
#ifndef CUPILOT_HOST_CUDA_FP16_H_
#define CUPILOT_HOST_CUDA_FP16_H_

#include "crt/small_floats.h"

struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};

struct __attribute__((aligned(2))) __half {
  __half() = default;
  __host__ __device__ __half(const __half_raw& raw) : bits(raw.x) {}
  __host__ __device__ __half(float v) : bits(cupilot_host::small_bits_of(cupilot_host::half_format(), v)) {}
  __host__ __device__ __half(double v) : bits(cupilot_host::small_bits_of(cupilot_host::half_format(), v)) {}
  __host__ __device__ __half(short v) : __half((double)v) {}
  __host__ __device__ __half(unsigned short v) : __half((double)v) {}
  __host__ __device__ __half(int v) : __half((double)v) {}
  __host__ __device__ __half(unsigned int v) : __half((double)v) {}
  __host__ __device__ __half(long v) : __half(cupilot_host::odd_double((long long)v)) {}
  __host__ __device__ __half(unsigned long v) : __half(cupilot_host::odd_double((unsigned long long)v)) {}
  __host__ __device__ __half(long long v) : __half(cupilot_host::odd_double((long long)v)) {}
  __host__ __device__ __half(unsigned long long v) : __half(cupilot_host::odd_double((unsigned long long)v)) {}
  __host__ __device__ operator __half_raw() const { return __half_raw{bits}; }
  __host__ __device__ operator float() const {
    return cupilot_host::small_value(cupilot_host::half_format(), bits);
  }
  /* Towards zero; what does not fit becomes the nearest that does. */
  __host__ __device__ operator char() const { return cupilot_host::small_to_integer<char>(*this); }
  __host__ __device__ operator signed char() const { return cupilot_host::small_to_integer<signed char>(*this); }
  __host__ __device__ operator unsigned char() const { return cupilot_host::small_to_integer<unsigned char>(*this); }
  __host__ __device__ operator short() const { return cupilot_host::small_to_integer<short>(*this); }
  __host__ __device__ operator unsigned short() const { return cupilot_host::small_to_integer<unsigned short>(*this); }
  __host__ __device__ operator int() const { return cupilot_host::small_to_integer<int>(*this); }
  __host__ __device__ operator unsigned int() const { return cupilot_host::small_to_integer<unsigned int>(*this); }
  __host__ __device__ operator long() const { return cupilot_host::small_to_integer<long>(*this); }
  __host__ __device__ operator unsigned long() const { return cupilot_host::small_to_integer<unsigned long>(*this); }
  __host__ __device__ operator long long() const { return cupilot_host::small_to_integer<long long>(*this); }
  __host__ __device__ operator unsigned long long() const { return cupilot_host::small_to_integer<unsigned long long>(*this); }
  __host__ __device__ operator bool() const { return (bits & 0x7fffu) != 0; }

  unsigned short bits;
};
typedef __half half;
typedef __half __nv_half;

struct __attribute__((aligned(4))) __half2 {
  __half2() = default;
  __host__ __device__ __half2(const __half& a, const __half& b) : x(a), y(b) {}
  __host__ __device__ __half2(const __half2_raw& raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
  __host__ __device__ operator __half2_raw() const { return __half2_raw{x.bits, y.bits}; }

  __half x, y;
};
typedef __half2 half2;
typedef __half2 __nv_half2;

#define CUPILOT_SMALL __half
#define CUPILOT_SMALL2 __half2
#define CUPILOT_SMALL_RAW __half_raw
#define CUPILOT_FORMAT cupilot_host::half_format
#include "crt/small_float_functions.h"
#undef CUPILOT_FORMAT
#undef CUPILOT_SMALL_RAW
#undef CUPILOT_SMALL2
#undef CUPILOT_SMALL

/* Conversions: rn nearest even, rz to zero, ru up, rd down. */
CUPILOT_HOST_SMALL __half __double2half(const double v) { return __half(v); }
CUPILOT_HOST_SMALL __half __float2half(const float v) { return __half(v); }
CUPILOT_HOST_SMALL __half __float2half_rn(const float v) { return __half(v); }
CUPILOT_HOST_SMALL float __half2float(const __half v) { return (float)v; }
#define CUPILOT_ROUNDED(v, mode) \
  __half(__half_raw{cupilot_host::small_bits<cupilot_host::half_format>(v, cupilot_host::rounding::mode)})
#define CUPILOT_TO_SMALL(from, type)                                                                \
  CUPILOT_HOST_SMALL __half __##from##2half_rn(const type v) { return __half(v); }                                      \
  CUPILOT_TO_SMALL_DIRECTED(from, type)
#define CUPILOT_TO_SMALL_DIRECTED(from, type)                                                       \
  CUPILOT_HOST_SMALL __half __##from##2half_rz(const type v) {                                                        \
    return CUPILOT_ROUNDED(CUPILOT_SOURCE(v), zero);                                                \
  }                                                                                                 \
  CUPILOT_HOST_SMALL __half __##from##2half_rd(const type v) {                                                        \
    return CUPILOT_ROUNDED(CUPILOT_SOURCE(v), down);                                                \
  }                                                                                                 \
  CUPILOT_HOST_SMALL __half __##from##2half_ru(const type v) {                                                        \
    return CUPILOT_ROUNDED(CUPILOT_SOURCE(v), up);                                                  \
  }
#define CUPILOT_SOURCE(v) (double)(v)
CUPILOT_TO_SMALL_DIRECTED(float, float)
CUPILOT_TO_SMALL(short, short)
CUPILOT_TO_SMALL(ushort, unsigned short)
CUPILOT_TO_SMALL(int, int)
CUPILOT_TO_SMALL(uint, unsigned int)
#undef CUPILOT_SOURCE
#define CUPILOT_SOURCE(v) cupilot_host::odd_double(v)
CUPILOT_TO_SMALL(ll, long long)
CUPILOT_TO_SMALL(ull, unsigned long long)
#undef CUPILOT_SOURCE
#undef CUPILOT_TO_SMALL
#undef CUPILOT_TO_SMALL_DIRECTED
#undef CUPILOT_ROUNDED
#define CUPILOT_FROM_SMALL(to, type)                                                                \
  CUPILOT_HOST_SMALL type __half2##to##_rn(const __half v) {                                                          \
    return cupilot_host::small_to_integer<type>(rintf((float)v));                                   \
  }                                                                                                 \
  CUPILOT_HOST_SMALL type __half2##to##_rz(const __half v) {                                                          \
    return cupilot_host::small_to_integer<type>((float)v);                                          \
  }                                                                                                 \
  CUPILOT_HOST_SMALL type __half2##to##_rd(const __half v) {                                                          \
    return cupilot_host::small_to_integer<type>(floorf((float)v));                                  \
  }                                                                                                 \
  CUPILOT_HOST_SMALL type __half2##to##_ru(const __half v) {                                                          \
    return cupilot_host::small_to_integer<type>(ceilf((float)v));                                   \
  }
CUPILOT_FROM_SMALL(short, short)
CUPILOT_FROM_SMALL(ushort, unsigned short)
CUPILOT_FROM_SMALL(int, int)
CUPILOT_FROM_SMALL(uint, unsigned int)
CUPILOT_FROM_SMALL(ll, long long)
CUPILOT_FROM_SMALL(ull, unsigned long long)
#undef CUPILOT_FROM_SMALL
CUPILOT_HOST_SMALL signed char __half2char_rz(const __half v) {
  return cupilot_host::small_to_integer<signed char>((float)v);
}
CUPILOT_HOST_SMALL unsigned char __half2uchar_rz(const __half v) {
  return cupilot_host::small_to_integer<unsigned char>((float)v);
}
CUPILOT_HOST_SMALL unsigned short __half_as_ushort(const __half v) { return v.bits; }
CUPILOT_HOST_SMALL short __half_as_short(const __half v) { return (short)v.bits; }
CUPILOT_HOST_SMALL __half __ushort_as_half(const unsigned short v) { return __half(__half_raw{v}); }
CUPILOT_HOST_SMALL __half __short_as_half(const short v) { return __half(__half_raw{(unsigned short)v}); }

/* Pairs. */
CUPILOT_HOST_SMALL __half2 make_half2(const __half x, const __half y) { return __half2(x, y); }
CUPILOT_HOST_SMALL __half2 __halves2half2(const __half x, const __half y) { return __half2(x, y); }
CUPILOT_HOST_SMALL __half2 __half2half2(const __half v) { return __half2(v, v); }
CUPILOT_HOST_SMALL __half2 __float2half2_rn(const float v) { return __half2(__half(v), __half(v)); }
CUPILOT_HOST_SMALL __half2 __floats2half2_rn(const float x, const float y) {
  return __half2(__half(x), __half(y));
}
CUPILOT_HOST_SMALL __half2 __float22half2_rn(const float2 v) { return __floats2half2_rn(v.x, v.y); }
CUPILOT_HOST_SMALL float2 __half22float2(const __half2 v) {
  return make_float2((float)v.x, (float)v.y);
}
CUPILOT_HOST_SMALL __half __low2half(const __half2 v) { return v.x; }
CUPILOT_HOST_SMALL __half __high2half(const __half2 v) { return v.y; }
CUPILOT_HOST_SMALL __half2 __low2half2(const __half2 v) { return __half2(v.x, v.x); }
CUPILOT_HOST_SMALL __half2 __high2half2(const __half2 v) { return __half2(v.y, v.y); }
CUPILOT_HOST_SMALL __half2 __lows2half2(const __half2 a, const __half2 b) { return __half2(a.x, b.x); }
CUPILOT_HOST_SMALL __half2 __highs2half2(const __half2 a, const __half2 b) { return __half2(a.y, b.y); }

#endif
