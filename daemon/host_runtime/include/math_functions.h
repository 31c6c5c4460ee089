/* Arithmetic of device code that the C library does not have. expf, sqrtf, fmaf and their relatives are
 * the C library's own. Intrinsics (__expf, ...) are at least as exact as on a device. */
#ifndef CUPILOT_HOST_MATH_FUNCTIONS_H_
#define CUPILOT_HOST_MATH_FUNCTIONS_H_

#include "crt/host_defines.h"
#include "crt/library_functions.h"

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

/* Conversions by rounding mode: rn nearest even, rz to zero, ru up, rd down. Out of range and NaN
 * saturate as on a device. */
namespace cupilot_host {
template <class To>
__device__ inline To saturated(double v, double low, double high, To lowest, To highest) {
  if (!(v == v)) return To(0);
  if (v <= low) return lowest;
  if (v >= high) return highest;
  return (To)v;
}
__device__ inline int to_int(double v) {
  return saturated<int>(v, -2147483648.0, 2147483647.0, -2147483647 - 1, 2147483647);
}
__device__ inline unsigned int to_uint(double v) {
  return saturated<unsigned int>(v, 0.0, 4294967295.0, 0u, 4294967295u);
}
__device__ inline long long to_longlong(double v) {
  return saturated<long long>(v, -9223372036854775808.0, 9223372036854775807.0,
                              -9223372036854775807LL - 1, 9223372036854775807LL);
}
}  // namespace cupilot_host
CUPILOT_HOST_INTRINSIC int __float2int_rn(float v) { return cupilot_host::to_int(nearbyint(v)); }
CUPILOT_HOST_INTRINSIC int __float2int_rz(float v) { return cupilot_host::to_int(trunc(v)); }
CUPILOT_HOST_INTRINSIC int __float2int_ru(float v) { return cupilot_host::to_int(ceil(v)); }
CUPILOT_HOST_INTRINSIC int __float2int_rd(float v) { return cupilot_host::to_int(floor(v)); }
CUPILOT_HOST_INTRINSIC unsigned int __float2uint_rn(float v) {
  return cupilot_host::to_uint(nearbyint(v));
}
CUPILOT_HOST_INTRINSIC unsigned int __float2uint_rz(float v) {
  return cupilot_host::to_uint(trunc(v));
}
CUPILOT_HOST_INTRINSIC int __double2int_rn(double v) { return cupilot_host::to_int(nearbyint(v)); }
CUPILOT_HOST_INTRINSIC int __double2int_rz(double v) { return cupilot_host::to_int(trunc(v)); }
CUPILOT_HOST_INTRINSIC int __double2int_ru(double v) { return cupilot_host::to_int(ceil(v)); }
CUPILOT_HOST_INTRINSIC int __double2int_rd(double v) { return cupilot_host::to_int(floor(v)); }
CUPILOT_HOST_INTRINSIC long long __float2ll_rn(float v) {
  return cupilot_host::to_longlong(nearbyint(v));
}
CUPILOT_HOST_INTRINSIC long long __float2ll_rz(float v) {
  return cupilot_host::to_longlong(trunc(v));
}
CUPILOT_HOST_INTRINSIC float __int2float_rn(int v) { return (float)v; }
CUPILOT_HOST_INTRINSIC float __int2float_rz(int v) { return (float)v; }
CUPILOT_HOST_INTRINSIC float __uint2float_rn(unsigned int v) { return (float)v; }
CUPILOT_HOST_INTRINSIC double __int2double_rn(int v) { return (double)v; }
CUPILOT_HOST_INTRINSIC float __double2float_rn(double v) { return (float)v; }
CUPILOT_HOST_INTRINSIC float __ll2float_rn(long long v) { return (float)v; }
CUPILOT_HOST_INTRINSIC double __ll2double_rn(long long v) { return (double)v; }

#endif
