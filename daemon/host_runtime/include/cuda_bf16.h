/* The upper 16 bits of a float, computed in more and rounded after each operation, to nearest even, as a
 * device does it. C++11. */
#ifndef CUPILOT_HOST_CUDA_BF16_H_
#define CUPILOT_HOST_CUDA_BF16_H_

#include "crt/small_floats.h"
#include "cuda_fp16.h"

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __nv_bfloat162_raw {
  unsigned short x, y;
};

struct __attribute__((aligned(2))) __nv_bfloat16 {
  __nv_bfloat16() = default;
  __host__ __device__ __nv_bfloat16(const __nv_bfloat16_raw& raw) : bits(raw.x) {}
  __host__ __device__ __nv_bfloat16(float v) : bits(cupilot_host::small_bits_of(cupilot_host::bfloat16_format(), v)) {}
  __host__ __device__ __nv_bfloat16(double v) : bits(cupilot_host::small_bits_of(cupilot_host::bfloat16_format(), v)) {}
  __host__ __device__ __nv_bfloat16(short v) : __nv_bfloat16((double)v) {}
  __host__ __device__ __nv_bfloat16(unsigned short v) : __nv_bfloat16((double)v) {}
  __host__ __device__ __nv_bfloat16(int v) : __nv_bfloat16((double)v) {}
  __host__ __device__ __nv_bfloat16(unsigned int v) : __nv_bfloat16((double)v) {}
  __host__ __device__ __nv_bfloat16(long v) : __nv_bfloat16(cupilot_host::odd_double((long long)v)) {}
  __host__ __device__ __nv_bfloat16(unsigned long v) : __nv_bfloat16(cupilot_host::odd_double((unsigned long long)v)) {}
  __host__ __device__ __nv_bfloat16(long long v) : __nv_bfloat16(cupilot_host::odd_double((long long)v)) {}
  __host__ __device__ __nv_bfloat16(unsigned long long v) : __nv_bfloat16(cupilot_host::odd_double((unsigned long long)v)) {}
  __host__ __device__ explicit __nv_bfloat16(const __half& v) : __nv_bfloat16((float)v) {}
  __host__ __device__ operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{bits}; }
  __host__ __device__ operator float() const {
    return cupilot_host::small_value(cupilot_host::bfloat16_format(), bits);
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
typedef __nv_bfloat16 nv_bfloat16;

struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat162() = default;
  __host__ __device__ __nv_bfloat162(const __nv_bfloat16& a, const __nv_bfloat16& b) : x(a), y(b) {}
  __host__ __device__ __nv_bfloat162(const __nv_bfloat162_raw& raw) : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
  __host__ __device__ operator __nv_bfloat162_raw() const { return __nv_bfloat162_raw{x.bits, y.bits}; }

  __nv_bfloat16 x, y;
};
typedef __nv_bfloat162 nv_bfloat162;

#define CUPILOT_SMALL __nv_bfloat16
#define CUPILOT_SMALL2 __nv_bfloat162
#define CUPILOT_SMALL_RAW __nv_bfloat16_raw
#define CUPILOT_FORMAT cupilot_host::bfloat16_format
#include "crt/small_float_functions.h"
#undef CUPILOT_FORMAT
#undef CUPILOT_SMALL_RAW
#undef CUPILOT_SMALL2
#undef CUPILOT_SMALL

/* Conversions: rn nearest even, rz to zero, ru up, rd down. */
CUPILOT_HOST_SMALL __nv_bfloat16 __double2bfloat16(const double v) { return __nv_bfloat16(v); }
CUPILOT_HOST_SMALL __nv_bfloat16 __float2bfloat16(const float v) { return __nv_bfloat16(v); }
CUPILOT_HOST_SMALL __nv_bfloat16 __float2bfloat16_rn(const float v) { return __nv_bfloat16(v); }
CUPILOT_HOST_SMALL float __bfloat162float(const __nv_bfloat16 v) { return (float)v; }
#define CUPILOT_ROUNDED(v, mode) \
  __nv_bfloat16(__nv_bfloat16_raw{cupilot_host::small_bits<cupilot_host::bfloat16_format>(v, cupilot_host::rounding::mode)})
#define CUPILOT_TO_SMALL(from, type)                                                                \
  CUPILOT_HOST_SMALL __nv_bfloat16 __##from##2bfloat16_rn(const type v) { return __nv_bfloat16(v); }                                      \
  CUPILOT_TO_SMALL_DIRECTED(from, type)
#define CUPILOT_TO_SMALL_DIRECTED(from, type)                                                       \
  CUPILOT_HOST_SMALL __nv_bfloat16 __##from##2bfloat16_rz(const type v) {                                                        \
    return CUPILOT_ROUNDED(CUPILOT_SOURCE(v), zero);                                                \
  }                                                                                                 \
  CUPILOT_HOST_SMALL __nv_bfloat16 __##from##2bfloat16_rd(const type v) {                                                        \
    return CUPILOT_ROUNDED(CUPILOT_SOURCE(v), down);                                                \
  }                                                                                                 \
  CUPILOT_HOST_SMALL __nv_bfloat16 __##from##2bfloat16_ru(const type v) {                                                        \
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
  CUPILOT_HOST_SMALL type __bfloat162##to##_rn(const __nv_bfloat16 v) {                                                          \
    return cupilot_host::small_to_integer<type>(rintf((float)v));                                   \
  }                                                                                                 \
  CUPILOT_HOST_SMALL type __bfloat162##to##_rz(const __nv_bfloat16 v) {                                                          \
    return cupilot_host::small_to_integer<type>((float)v);                                          \
  }                                                                                                 \
  CUPILOT_HOST_SMALL type __bfloat162##to##_rd(const __nv_bfloat16 v) {                                                          \
    return cupilot_host::small_to_integer<type>(floorf((float)v));                                  \
  }                                                                                                 \
  CUPILOT_HOST_SMALL type __bfloat162##to##_ru(const __nv_bfloat16 v) {                                                          \
    return cupilot_host::small_to_integer<type>(ceilf((float)v));                                   \
  }
CUPILOT_FROM_SMALL(short, short)
CUPILOT_FROM_SMALL(ushort, unsigned short)
CUPILOT_FROM_SMALL(int, int)
CUPILOT_FROM_SMALL(uint, unsigned int)
CUPILOT_FROM_SMALL(ll, long long)
CUPILOT_FROM_SMALL(ull, unsigned long long)
#undef CUPILOT_FROM_SMALL
CUPILOT_HOST_SMALL signed char __bfloat162char_rz(const __nv_bfloat16 v) {
  return cupilot_host::small_to_integer<signed char>((float)v);
}
CUPILOT_HOST_SMALL unsigned char __bfloat162uchar_rz(const __nv_bfloat16 v) {
  return cupilot_host::small_to_integer<unsigned char>((float)v);
}
CUPILOT_HOST_SMALL unsigned short __bfloat16_as_ushort(const __nv_bfloat16 v) { return v.bits; }
CUPILOT_HOST_SMALL short __bfloat16_as_short(const __nv_bfloat16 v) { return (short)v.bits; }
CUPILOT_HOST_SMALL __nv_bfloat16 __ushort_as_bfloat16(const unsigned short v) { return __nv_bfloat16(__nv_bfloat16_raw{v}); }
CUPILOT_HOST_SMALL __nv_bfloat16 __short_as_bfloat16(const short v) { return __nv_bfloat16(__nv_bfloat16_raw{(unsigned short)v}); }

/* Pairs. */
CUPILOT_HOST_SMALL __nv_bfloat162 make_bfloat162(const __nv_bfloat16 x, const __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
CUPILOT_HOST_SMALL __nv_bfloat162 __halves2bfloat162(const __nv_bfloat16 x, const __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
CUPILOT_HOST_SMALL __nv_bfloat162 __bfloat162bfloat162(const __nv_bfloat16 v) { return __nv_bfloat162(v, v); }
CUPILOT_HOST_SMALL __nv_bfloat162 __float2bfloat162_rn(const float v) { return __nv_bfloat162(__nv_bfloat16(v), __nv_bfloat16(v)); }
CUPILOT_HOST_SMALL __nv_bfloat162 __floats2bfloat162_rn(const float x, const float y) {
  return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(y));
}
CUPILOT_HOST_SMALL __nv_bfloat162 __float22bfloat162_rn(const float2 v) { return __floats2bfloat162_rn(v.x, v.y); }
CUPILOT_HOST_SMALL float2 __bfloat1622float2(const __nv_bfloat162 v) {
  return make_float2((float)v.x, (float)v.y);
}
CUPILOT_HOST_SMALL __nv_bfloat16 __low2bfloat16(const __nv_bfloat162 v) { return v.x; }
CUPILOT_HOST_SMALL __nv_bfloat16 __high2bfloat16(const __nv_bfloat162 v) { return v.y; }
CUPILOT_HOST_SMALL __nv_bfloat162 __low2bfloat162(const __nv_bfloat162 v) { return __nv_bfloat162(v.x, v.x); }
CUPILOT_HOST_SMALL __nv_bfloat162 __high2bfloat162(const __nv_bfloat162 v) { return __nv_bfloat162(v.y, v.y); }
CUPILOT_HOST_SMALL __nv_bfloat162 __lows2bfloat162(const __nv_bfloat162 a, const __nv_bfloat162 b) { return __nv_bfloat162(a.x, b.x); }
CUPILOT_HOST_SMALL __nv_bfloat162 __highs2bfloat162(const __nv_bfloat162 a, const __nv_bfloat162 b) { return __nv_bfloat162(a.y, b.y); }

#endif
