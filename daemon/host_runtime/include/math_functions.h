/* Arithmetic of device code that the C library does not have. expf, sqrtf, fmaf and their relatives are
 * the C library's own. Intrinsics (__expf, ...) are at least as exact as on a device. */
#ifndef CUPILOT_HOST_MATH_FUNCTIONS_H_
#define CUPILOT_HOST_MATH_FUNCTIONS_H_

#include "crt/host_defines.h"
#include "crt/library_functions.h"
#include "device_functions.h"

#define CUPILOT_HOST_BOTH static __inline__ __host__ __device__

/* min and max of every pair of arithmetic types that CUDA has. */
CUPILOT_HOST_BOTH int min(int a, int b) { return b < a ? b : a; }
CUPILOT_HOST_BOTH int max(int a, int b) { return a < b ? b : a; }
CUPILOT_HOST_BOTH unsigned int min(unsigned int a, unsigned int b) { return b < a ? b : a; }
CUPILOT_HOST_BOTH unsigned int max(unsigned int a, unsigned int b) { return a < b ? b : a; }
CUPILOT_HOST_BOTH unsigned int min(int a, unsigned int b) { return min((unsigned int)a, b); }
CUPILOT_HOST_BOTH unsigned int max(int a, unsigned int b) { return max((unsigned int)a, b); }
CUPILOT_HOST_BOTH unsigned int min(unsigned int a, int b) { return min(a, (unsigned int)b); }
CUPILOT_HOST_BOTH unsigned int max(unsigned int a, int b) { return max(a, (unsigned int)b); }
CUPILOT_HOST_BOTH long min(long a, long b) { return b < a ? b : a; }
CUPILOT_HOST_BOTH long max(long a, long b) { return a < b ? b : a; }
CUPILOT_HOST_BOTH unsigned long min(unsigned long a, unsigned long b) { return b < a ? b : a; }
CUPILOT_HOST_BOTH unsigned long max(unsigned long a, unsigned long b) { return a < b ? b : a; }
CUPILOT_HOST_BOTH unsigned long min(long a, unsigned long b) { return min((unsigned long)a, b); }
CUPILOT_HOST_BOTH unsigned long max(long a, unsigned long b) { return max((unsigned long)a, b); }
CUPILOT_HOST_BOTH unsigned long min(unsigned long a, long b) { return min(a, (unsigned long)b); }
CUPILOT_HOST_BOTH unsigned long max(unsigned long a, long b) { return max(a, (unsigned long)b); }
CUPILOT_HOST_BOTH long long min(long long a, long long b) { return b < a ? b : a; }
CUPILOT_HOST_BOTH long long max(long long a, long long b) { return a < b ? b : a; }
CUPILOT_HOST_BOTH unsigned long long min(unsigned long long a, unsigned long long b) {
  return b < a ? b : a;
}
CUPILOT_HOST_BOTH unsigned long long max(unsigned long long a, unsigned long long b) {
  return a < b ? b : a;
}
CUPILOT_HOST_BOTH unsigned long long min(long long a, unsigned long long b) {
  return min((unsigned long long)a, b);
}
CUPILOT_HOST_BOTH unsigned long long max(long long a, unsigned long long b) {
  return max((unsigned long long)a, b);
}
CUPILOT_HOST_BOTH unsigned long long min(unsigned long long a, long long b) {
  return min(a, (unsigned long long)b);
}
CUPILOT_HOST_BOTH unsigned long long max(unsigned long long a, long long b) {
  return max(a, (unsigned long long)b);
}
CUPILOT_HOST_BOTH float min(float a, float b) { return fminf(a, b); }
CUPILOT_HOST_BOTH float max(float a, float b) { return fmaxf(a, b); }
CUPILOT_HOST_BOTH double min(double a, double b) { return fmin(a, b); }
CUPILOT_HOST_BOTH double max(double a, double b) { return fmax(a, b); }
CUPILOT_HOST_BOTH double min(float a, double b) { return fmin(a, b); }
CUPILOT_HOST_BOTH double max(float a, double b) { return fmax(a, b); }
CUPILOT_HOST_BOTH double min(double a, float b) { return fmin(a, b); }
CUPILOT_HOST_BOTH double max(double a, float b) { return fmax(a, b); }
CUPILOT_HOST_BOTH int umin(int a, int b) { return (int)min((unsigned int)a, (unsigned int)b); }
CUPILOT_HOST_BOTH int umax(int a, int b) { return (int)max((unsigned int)a, (unsigned int)b); }

/* Functions that glibc has only in versions that declare them themselves. */
#if !defined(__GLIBC_PREREQ) || !__GLIBC_PREREQ(2, 42)
CUPILOT_HOST_BOTH double rsqrt(double v) { return 1.0 / sqrt(v); }
CUPILOT_HOST_BOTH float rsqrtf(float v) { return 1.0f / sqrtf(v); }
#endif
#if !defined(__GLIBC_PREREQ) || !__GLIBC_PREREQ(2, 41)
CUPILOT_HOST_BOTH double sinpi(double v) { return sin(M_PI * (v - 2.0 * floor(v / 2.0))); }
CUPILOT_HOST_BOTH double cospi(double v) { return cos(M_PI * (v - 2.0 * floor(v / 2.0))); }
CUPILOT_HOST_BOTH float sinpif(float v) { return (float)sinpi((double)v); }
CUPILOT_HOST_BOTH float cospif(float v) { return (float)cospi((double)v); }
#endif
CUPILOT_HOST_BOTH float rsqrt(float v) { return rsqrtf(v); }
CUPILOT_HOST_BOTH void sincospif(float v, float* s, float* c) {
  *s = sinpif(v);
  *c = cospif(v);
}
CUPILOT_HOST_BOTH double rcbrt(double v) { return 1.0 / cbrt(v); }
CUPILOT_HOST_BOTH float rcbrtf(float v) { return 1.0f / cbrtf(v); }
CUPILOT_HOST_BOTH float rhypotf(float a, float b) { return 1.0f / hypotf(a, b); }
CUPILOT_HOST_BOTH double rhypot(double a, double b) { return 1.0 / hypot(a, b); }
CUPILOT_HOST_BOTH float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
CUPILOT_HOST_BOTH float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
CUPILOT_HOST_BOTH double norm3d(double a, double b, double c) { return sqrt(a * a + b * b + c * c); }
CUPILOT_HOST_BOTH double normcdf(double v) { return 0.5 * erfc(-v * M_SQRT1_2); }
CUPILOT_HOST_BOTH float normcdff(float v) { return (float)normcdf((double)v); }
CUPILOT_HOST_BOTH float fdividef(float a, float b) { return a / b; }
CUPILOT_HOST_BOTH float saturate(float v) { return fminf(fmaxf(v, 0.0f), 1.0f); }

/* Fast intrinsics. */
#define CUPILOT_HOST_INTRINSIC static __inline__ __device__
/* The C library declares these names for itself, with C linkage: ours are the same functions. */
#if defined(__clang__) || !defined(__GNUC__)
#define CUPILOT_HOST_LIBRARY_NAME extern "C" inline __device__
#else
#define CUPILOT_HOST_LIBRARY_NAME extern "C" inline __attribute__((always_inline)) __device__
#endif
CUPILOT_HOST_LIBRARY_NAME float __expf(float v) noexcept { return expf(v); }
CUPILOT_HOST_LIBRARY_NAME float __exp10f(float v) noexcept { return exp10f(v); }
CUPILOT_HOST_LIBRARY_NAME float __logf(float v) noexcept { return logf(v); }
CUPILOT_HOST_LIBRARY_NAME float __log2f(float v) noexcept { return log2f(v); }
CUPILOT_HOST_LIBRARY_NAME float __log10f(float v) noexcept { return log10f(v); }
CUPILOT_HOST_LIBRARY_NAME float __powf(float a, float b) noexcept { return powf(a, b); }
CUPILOT_HOST_LIBRARY_NAME float __sinf(float v) noexcept { return sinf(v); }
CUPILOT_HOST_LIBRARY_NAME float __cosf(float v) noexcept { return cosf(v); }
CUPILOT_HOST_LIBRARY_NAME float __tanf(float v) noexcept { return tanf(v); }
CUPILOT_HOST_LIBRARY_NAME void __sincosf(float v, float* s, float* c) noexcept { sincosf(v, s, c); }
CUPILOT_HOST_INTRINSIC float __fdividef(float a, float b) { return a / b; }
CUPILOT_HOST_INTRINSIC float __saturatef(float v) { return saturate(v); }
CUPILOT_HOST_INTRINSIC float __frcp_rn(float v) { return 1.0f / v; }
CUPILOT_HOST_INTRINSIC float __fsqrt_rn(float v) { return sqrtf(v); }
CUPILOT_HOST_INTRINSIC float __frsqrt_rn(float v) { return 1.0f / sqrtf(v); }
CUPILOT_HOST_INTRINSIC float __fdiv_rn(float a, float b) { return a / b; }
CUPILOT_HOST_INTRINSIC double __ddiv_rn(double a, double b) { return a / b; }
CUPILOT_HOST_INTRINSIC double __drcp_rn(double v) { return 1.0 / v; }
CUPILOT_HOST_INTRINSIC double __dsqrt_rn(double v) { return sqrt(v); }
CUPILOT_HOST_INTRINSIC float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
CUPILOT_HOST_INTRINSIC double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
/* Results of these are never fused into a multiply-add: the empty statement hides them from it. */
#if defined(__x86_64__)
#define CUPILOT_HOST_ROUNDED(v) __asm__("" : "+x"(v))
#else
#define CUPILOT_HOST_ROUNDED(v) __asm__("" : "+m"(v))
#endif
CUPILOT_HOST_INTRINSIC float __fadd_rn(float a, float b) {
  float result = a + b;
  CUPILOT_HOST_ROUNDED(result);
  return result;
}
CUPILOT_HOST_INTRINSIC float __fsub_rn(float a, float b) {
  float result = a - b;
  CUPILOT_HOST_ROUNDED(result);
  return result;
}
CUPILOT_HOST_INTRINSIC float __fmul_rn(float a, float b) {
  float result = a * b;
  CUPILOT_HOST_ROUNDED(result);
  return result;
}
CUPILOT_HOST_INTRINSIC double __dadd_rn(double a, double b) {
  double result = a + b;
  CUPILOT_HOST_ROUNDED(result);
  return result;
}
CUPILOT_HOST_INTRINSIC double __dsub_rn(double a, double b) {
  double result = a - b;
  CUPILOT_HOST_ROUNDED(result);
  return result;
}
CUPILOT_HOST_INTRINSIC double __dmul_rn(double a, double b) {
  double result = a * b;
  CUPILOT_HOST_ROUNDED(result);
  return result;
}

/* Conversions by rounding mode: rn nearest even, rz to zero, ru up, rd down. What is out of range becomes the
 * nearest that is not; NaN becomes 0 where a float goes to 32 bits, else the number of which only the sign
 * is set, as on a device. */
namespace cupilot_host {
template <class To>
__device__ inline To to_integer(double v, To of_nan) {
  const bool is_signed = (To)-1 < (To)0;
  const int bits = (int)sizeof(To) * 8;
  if (!(v == v)) return of_nan;
  const To most = (To)(~0ull >> (64 - bits + (is_signed ? 1 : 0)));
  const double limit = is_signed ? (double)(1ull << (bits - 1)) : 2.0 * (double)(1ull << (bits - 1));
  if (v >= limit) return most;
  if (is_signed ? v <= -limit : v <= 0.0) return is_signed ? (To)(-most - 1) : (To)0;
  return (To)v;
}

/* Integers as doubles; what does not fit is kept in the last place, for one rounding that follows. */
__host__ __device__ inline double odd_double(unsigned long long v) {
  int shift = 0;
  while ((v >> shift) >= (1ull << 53)) ++shift;
  const unsigned long long rest = v & ((1ull << shift) - 1);
  return (double)((v >> shift) | (rest != 0 ? 1 : 0)) * (double)(1ull << shift);
}
__host__ __device__ inline double odd_double(long long v) {
  return v < 0 ? -odd_double(0ull - (unsigned long long)v) : odd_double((unsigned long long)v);
}
__host__ __device__ inline double odd_double(int v) { return v; }
__host__ __device__ inline double odd_double(unsigned int v) { return v; }
__host__ __device__ inline double odd_double(double v) { return v; }

__host__ __device__ inline float float_down(double v) {
  const float near = (float)v;
  return (double)near > v ? nextafterf(near, -INFINITY) : near;
}
__host__ __device__ inline float float_up(double v) {
  const float near = (float)v;
  return (double)near < v ? nextafterf(near, INFINITY) : near;
}
__host__ __device__ inline float float_to_zero(double v) { return v < 0 ? float_up(v) : float_down(v); }
/* The double next to an integer, and on which side of the integer it is. */
template <class From>
__host__ __device__ inline double double_down(From v) {
  const double near = (double)v;
  return (cupilot_host_int128)near > (cupilot_host_int128)v ? nextafter(near, -INFINITY) : near;
}
template <class From>
__host__ __device__ inline double double_up(From v) {
  const double near = (double)v;
  return (cupilot_host_int128)near < (cupilot_host_int128)v ? nextafter(near, INFINITY) : near;
}
template <class From>
__host__ __device__ inline double double_to_zero(From v) {
  return v < 0 ? double_up(v) : double_down(v);
}
}  // namespace cupilot_host
#define CUPILOT_HOST_TO_INTEGER(from, F, to, To, of_nan)                                            \
  CUPILOT_HOST_INTRINSIC To __##from##2##to##_rn(F v) {                                             \
    return cupilot_host::to_integer<To>(nearbyint(v), of_nan);                                      \
  }                                                                                                 \
  CUPILOT_HOST_INTRINSIC To __##from##2##to##_rz(F v) {                                             \
    return cupilot_host::to_integer<To>(trunc(v), of_nan);                                          \
  }                                                                                                 \
  CUPILOT_HOST_INTRINSIC To __##from##2##to##_ru(F v) {                                             \
    return cupilot_host::to_integer<To>(ceil(v), of_nan);                                           \
  }                                                                                                 \
  CUPILOT_HOST_INTRINSIC To __##from##2##to##_rd(F v) {                                             \
    return cupilot_host::to_integer<To>(floor(v), of_nan);                                          \
  }
CUPILOT_HOST_TO_INTEGER(float, float, int, int, 0)
CUPILOT_HOST_TO_INTEGER(float, float, uint, unsigned int, 0u)
CUPILOT_HOST_TO_INTEGER(float, float, ll, long long, (long long)(1ull << 63))
CUPILOT_HOST_TO_INTEGER(float, float, ull, unsigned long long, 1ull << 63)
CUPILOT_HOST_TO_INTEGER(double, double, int, int, (int)(1u << 31))
CUPILOT_HOST_TO_INTEGER(double, double, uint, unsigned int, 1u << 31)
CUPILOT_HOST_TO_INTEGER(double, double, ll, long long, (long long)(1ull << 63))
CUPILOT_HOST_TO_INTEGER(double, double, ull, unsigned long long, 1ull << 63)
#undef CUPILOT_HOST_TO_INTEGER
#define CUPILOT_HOST_TO_FLOAT(from, From)                                                           \
  CUPILOT_HOST_INTRINSIC float __##from##2float_rn(From v) { return (float)v; }                     \
  CUPILOT_HOST_INTRINSIC float __##from##2float_rz(From v) {                                        \
    return cupilot_host::float_to_zero(cupilot_host::odd_double(v));                                \
  }                                                                                                 \
  CUPILOT_HOST_INTRINSIC float __##from##2float_ru(From v) {                                        \
    return cupilot_host::float_up(cupilot_host::odd_double(v));                                     \
  }                                                                                                 \
  CUPILOT_HOST_INTRINSIC float __##from##2float_rd(From v) {                                        \
    return cupilot_host::float_down(cupilot_host::odd_double(v));                                   \
  }
CUPILOT_HOST_TO_FLOAT(int, int)
CUPILOT_HOST_TO_FLOAT(uint, unsigned int)
CUPILOT_HOST_TO_FLOAT(ll, long long)
CUPILOT_HOST_TO_FLOAT(ull, unsigned long long)
CUPILOT_HOST_TO_FLOAT(double, double)
#undef CUPILOT_HOST_TO_FLOAT
#define CUPILOT_HOST_TO_DOUBLE(from, From)                                                          \
  CUPILOT_HOST_INTRINSIC double __##from##2double_rn(From v) { return (double)v; }                  \
  CUPILOT_HOST_INTRINSIC double __##from##2double_rz(From v) {                                      \
    return cupilot_host::double_to_zero(v);                                                         \
  }                                                                                                 \
  CUPILOT_HOST_INTRINSIC double __##from##2double_ru(From v) { return cupilot_host::double_up(v); } \
  CUPILOT_HOST_INTRINSIC double __##from##2double_rd(From v) { return cupilot_host::double_down(v); }
CUPILOT_HOST_TO_DOUBLE(ll, long long)
CUPILOT_HOST_TO_DOUBLE(ull, unsigned long long)
#undef CUPILOT_HOST_TO_DOUBLE
CUPILOT_HOST_INTRINSIC double __int2double_rn(int v) { return (double)v; }
CUPILOT_HOST_INTRINSIC double __uint2double_rn(unsigned int v) { return (double)v; }

#endif
