/* The functions that half and bfloat16 have under the same names. Included once for each, with
 * CUPILOT_SMALL, its pair CUPILOT_SMALL2 and its format CUPILOT_FORMAT defined: no guard. Computed in float,
 * whose places are more than twice as many, and rounded once; NaN results are the one NaN. C++11. */

#define CUPILOT_BITS(v) (CUPILOT_SMALL_RAW(v).x)
#define CUPILOT_OF_BITS(bits) CUPILOT_SMALL(CUPILOT_SMALL_RAW{(unsigned short)(bits)})
#define CUPILOT_ONE(condition) CUPILOT_SMALL((condition) ? 1.0f : 0.0f)

/* Arithmetic. Nothing here is fused unless it says so, so that the forms with _rn are the same. */
CUPILOT_HOST_SMALL CUPILOT_SMALL __hadd(const CUPILOT_SMALL a, const CUPILOT_SMALL b) {
  return CUPILOT_SMALL((float)a + (float)b);
}
CUPILOT_HOST_SMALL CUPILOT_SMALL __hsub(const CUPILOT_SMALL a, const CUPILOT_SMALL b) {
  return CUPILOT_SMALL((float)a - (float)b);
}
CUPILOT_HOST_SMALL CUPILOT_SMALL __hmul(const CUPILOT_SMALL a, const CUPILOT_SMALL b) {
  return CUPILOT_SMALL((float)a * (float)b);
}
CUPILOT_HOST_SMALL CUPILOT_SMALL __hdiv(const CUPILOT_SMALL a, const CUPILOT_SMALL b) {
  return CUPILOT_SMALL((float)a / (float)b);
}
CUPILOT_HOST_SMALL CUPILOT_SMALL __hfma(const CUPILOT_SMALL a, const CUPILOT_SMALL b,
                                        const CUPILOT_SMALL c) {
  return CUPILOT_SMALL(cupilot_host::small_fma((double)(float)a, (double)(float)b, (double)(float)c));
}
CUPILOT_HOST_SMALL CUPILOT_SMALL __hadd_rn(const CUPILOT_SMALL a, const CUPILOT_SMALL b) {
  return __hadd(a, b);
}
CUPILOT_HOST_SMALL CUPILOT_SMALL __hsub_rn(const CUPILOT_SMALL a, const CUPILOT_SMALL b) {
  return __hsub(a, b);
}
CUPILOT_HOST_SMALL CUPILOT_SMALL __hmul_rn(const CUPILOT_SMALL a, const CUPILOT_SMALL b) {
  return __hmul(a, b);
}
CUPILOT_HOST_SMALL bool __hisnan(const CUPILOT_SMALL v) {
  return (CUPILOT_BITS(v) & 0x7fffu) > CUPILOT_FORMAT::infinity;
}
CUPILOT_HOST_SMALL int __hisinf(const CUPILOT_SMALL v) {
  if ((CUPILOT_BITS(v) & 0x7fffu) != CUPILOT_FORMAT::infinity) return 0;
  return (CUPILOT_BITS(v) & 0x8000u) != 0 ? -1 : 1;
}
CUPILOT_HOST_SMALL CUPILOT_SMALL __hneg(const CUPILOT_SMALL v) {
  return CUPILOT_OF_BITS(__hisnan(v) ? 0x7fffu : CUPILOT_BITS(v) ^ 0x8000u);
}
CUPILOT_HOST_SMALL CUPILOT_SMALL __habs(const CUPILOT_SMALL v) {
  return CUPILOT_OF_BITS(__hisnan(v) ? 0x7fffu : CUPILOT_BITS(v) & 0x7fffu);
}
/* Into [0, 1]; NaN becomes 0. */
CUPILOT_HOST_SMALL CUPILOT_SMALL cupilot_host_saturated(const CUPILOT_SMALL v) {
  const float f = (float)v;
  return CUPILOT_SMALL(f > 0.0f ? (f < 1.0f ? f : 1.0f) : 0.0f);
}
CUPILOT_HOST_SMALL CUPILOT_SMALL cupilot_host_relu(const CUPILOT_SMALL v) {
  return (float)v <= 0.0f ? CUPILOT_SMALL(0.0f) : v;
}
CUPILOT_HOST_SMALL CUPILOT_SMALL __hadd_sat(const CUPILOT_SMALL a, const CUPILOT_SMALL b) {
  return cupilot_host_saturated(__hadd(a, b));
}
CUPILOT_HOST_SMALL CUPILOT_SMALL __hsub_sat(const CUPILOT_SMALL a, const CUPILOT_SMALL b) {
  return cupilot_host_saturated(__hsub(a, b));
}
CUPILOT_HOST_SMALL CUPILOT_SMALL __hmul_sat(const CUPILOT_SMALL a, const CUPILOT_SMALL b) {
  return cupilot_host_saturated(__hmul(a, b));
}
CUPILOT_HOST_SMALL CUPILOT_SMALL __hfma_sat(const CUPILOT_SMALL a, const CUPILOT_SMALL b,
                                            const CUPILOT_SMALL c) {
  return cupilot_host_saturated(__hfma(a, b, c));
}
CUPILOT_HOST_SMALL CUPILOT_SMALL __hfma_relu(const CUPILOT_SMALL a, const CUPILOT_SMALL b,
                                             const CUPILOT_SMALL c) {
  return cupilot_host_relu(__hfma(a, b, c));
}

/* The other one of NaN and a number; -0 is less than +0. */
CUPILOT_HOST_SMALL CUPILOT_SMALL __hmax(const CUPILOT_SMALL a, const CUPILOT_SMALL b) {
  if (__hisnan(a)) return __hisnan(b) ? CUPILOT_OF_BITS(0x7fffu) : b;
  if (__hisnan(b) || (float)a > (float)b) return a;
  if ((float)a < (float)b) return b;
  return (CUPILOT_BITS(a) & 0x8000u) != 0 ? b : a;
}
CUPILOT_HOST_SMALL CUPILOT_SMALL __hmin(const CUPILOT_SMALL a, const CUPILOT_SMALL b) {
  if (__hisnan(a)) return __hisnan(b) ? CUPILOT_OF_BITS(0x7fffu) : b;
  if (__hisnan(b) || (float)a < (float)b) return a;
  if ((float)a > (float)b) return b;
  return (CUPILOT_BITS(a) & 0x8000u) != 0 ? a : b;
}
CUPILOT_HOST_SMALL CUPILOT_SMALL __hmax_nan(const CUPILOT_SMALL a, const CUPILOT_SMALL b) {
  return __hisnan(a) || __hisnan(b) ? CUPILOT_OF_BITS(0x7fffu) : __hmax(a, b);
}
CUPILOT_HOST_SMALL CUPILOT_SMALL __hmin_nan(const CUPILOT_SMALL a, const CUPILOT_SMALL b) {
  return __hisnan(a) || __hisnan(b) ? CUPILOT_OF_BITS(0x7fffu) : __hmin(a, b);
}

/* Comparisons: false with NaN; those with u are true with NaN. Of pairs: as 1 and 0, as bits, and whether
 * both hold. */
#define CUPILOT_COMPARE(name, op)                                                                   \
  CUPILOT_HOST_SMALL bool __h##name(const CUPILOT_SMALL a, const CUPILOT_SMALL b) {                 \
    return !__hisnan(a) && !__hisnan(b) && (float)a op (float)b;                                    \
  }                                                                                                 \
  CUPILOT_HOST_SMALL bool __h##name##u(const CUPILOT_SMALL a, const CUPILOT_SMALL b) {              \
    return __hisnan(a) || __hisnan(b) || (float)a op (float)b;                                      \
  }                                                                                                 \
  CUPILOT_COMPARE_PAIR(name)                                                                        \
  CUPILOT_COMPARE_PAIR(name##u)
#define CUPILOT_COMPARE_PAIR(name)                                                                  \
  CUPILOT_HOST_SMALL CUPILOT_SMALL2 __h##name##2(const CUPILOT_SMALL2 a, const CUPILOT_SMALL2 b) {  \
    return CUPILOT_SMALL2(CUPILOT_ONE(__h##name(a.x, b.x)), CUPILOT_ONE(__h##name(a.y, b.y)));      \
  }                                                                                                 \
  CUPILOT_HOST_SMALL unsigned int __h##name##2_mask(const CUPILOT_SMALL2 a, const CUPILOT_SMALL2 b) { \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);         \
  }                                                                                                 \
  CUPILOT_HOST_SMALL bool __hb##name##2(const CUPILOT_SMALL2 a, const CUPILOT_SMALL2 b) {           \
    return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                              \
  }
CUPILOT_COMPARE(eq, ==)
CUPILOT_COMPARE(ne, !=)
CUPILOT_COMPARE(lt, <)
CUPILOT_COMPARE(le, <=)
CUPILOT_COMPARE(gt, >)
CUPILOT_COMPARE(ge, >=)
#undef CUPILOT_COMPARE_PAIR
#undef CUPILOT_COMPARE
CUPILOT_HOST_SMALL CUPILOT_SMALL2 __hisnan2(const CUPILOT_SMALL2 v) {
  return CUPILOT_SMALL2(CUPILOT_ONE(__hisnan(v.x)), CUPILOT_ONE(__hisnan(v.y)));
}

/* Functions, each rounded once from double, and of both of a pair. */
#define CUPILOT_FUNCTION(name, expression)                                                          \
  CUPILOT_HOST_SMALL CUPILOT_SMALL h##name(const CUPILOT_SMALL small) {                             \
    const double v = (double)(float)small;                                                          \
    return CUPILOT_SMALL(expression);                                                               \
  }                                                                                                 \
  CUPILOT_HOST_SMALL CUPILOT_SMALL2 h2##name(const CUPILOT_SMALL2 v) {                              \
    return CUPILOT_SMALL2(h##name(v.x), h##name(v.y));                                              \
  }
CUPILOT_FUNCTION(sqrt, ::sqrt(v))
CUPILOT_FUNCTION(rsqrt, 1.0 / ::sqrt(v))
CUPILOT_FUNCTION(rcp, 1.0 / v)
CUPILOT_FUNCTION(exp, ::exp(v))
CUPILOT_FUNCTION(exp2, ::exp2(v))
CUPILOT_FUNCTION(exp10, ::exp10(v))
CUPILOT_FUNCTION(log, ::log(v))
CUPILOT_FUNCTION(log2, ::log2(v))
CUPILOT_FUNCTION(log10, ::log10(v))
CUPILOT_FUNCTION(sin, ::sin(v))
CUPILOT_FUNCTION(cos, ::cos(v))
CUPILOT_FUNCTION(tanh, ::tanh(v))
CUPILOT_FUNCTION(tanh_approx, ::tanh(v))
CUPILOT_FUNCTION(floor, ::floor(v))
CUPILOT_FUNCTION(ceil, ::ceil(v))
CUPILOT_FUNCTION(trunc, ::trunc(v))
CUPILOT_FUNCTION(rint, ::nearbyint(v))
#undef CUPILOT_FUNCTION

/* Pairs: each half by itself. */
#define CUPILOT_PAIR1(name, one)                                                                    \
  CUPILOT_HOST_SMALL CUPILOT_SMALL2 name(const CUPILOT_SMALL2 v) {                                  \
    return CUPILOT_SMALL2(one(v.x), one(v.y));                                                      \
  }
#define CUPILOT_PAIR2(name, one)                                                                    \
  CUPILOT_HOST_SMALL CUPILOT_SMALL2 name(const CUPILOT_SMALL2 a, const CUPILOT_SMALL2 b) {          \
    return CUPILOT_SMALL2(one(a.x, b.x), one(a.y, b.y));                                            \
  }
#define CUPILOT_PAIR3(name, one)                                                                    \
  CUPILOT_HOST_SMALL CUPILOT_SMALL2 name(const CUPILOT_SMALL2 a, const CUPILOT_SMALL2 b,            \
                                         const CUPILOT_SMALL2 c) {                                  \
    return CUPILOT_SMALL2(one(a.x, b.x, c.x), one(a.y, b.y, c.y));                                  \
  }
CUPILOT_PAIR1(__hneg2, __hneg)
CUPILOT_PAIR1(__habs2, __habs)
CUPILOT_PAIR2(__hadd2, __hadd)
CUPILOT_PAIR2(__hadd2_rn, __hadd)
CUPILOT_PAIR2(__hadd2_sat, __hadd_sat)
CUPILOT_PAIR2(__hsub2, __hsub)
CUPILOT_PAIR2(__hsub2_rn, __hsub)
CUPILOT_PAIR2(__hsub2_sat, __hsub_sat)
CUPILOT_PAIR2(__hmul2, __hmul)
CUPILOT_PAIR2(__hmul2_rn, __hmul)
CUPILOT_PAIR2(__hmul2_sat, __hmul_sat)
CUPILOT_PAIR2(__h2div, __hdiv)
CUPILOT_PAIR2(__hmax2, __hmax)
CUPILOT_PAIR2(__hmin2, __hmin)
CUPILOT_PAIR2(__hmax2_nan, __hmax_nan)
CUPILOT_PAIR2(__hmin2_nan, __hmin_nan)
CUPILOT_PAIR3(__hfma2, __hfma)
CUPILOT_PAIR3(__hfma2_sat, __hfma_sat)
CUPILOT_PAIR3(__hfma2_relu, __hfma_relu)
#undef CUPILOT_PAIR1
#undef CUPILOT_PAIR2
#undef CUPILOT_PAIR3
/* a * b + c of complex numbers. */
CUPILOT_HOST_SMALL CUPILOT_SMALL2 __hcmadd(const CUPILOT_SMALL2 a, const CUPILOT_SMALL2 b,
                                           const CUPILOT_SMALL2 c) {
  const CUPILOT_SMALL real = __hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x));
  const CUPILOT_SMALL imaginary = __hfma(a.y, b.x, __hfma(a.x, b.y, c.y));
  return CUPILOT_SMALL2(real, imaginary);
}
CUPILOT_HOST_SMALL float __low2float(const CUPILOT_SMALL2 v) { return (float)v.x; }
CUPILOT_HOST_SMALL float __high2float(const CUPILOT_SMALL2 v) { return (float)v.y; }
CUPILOT_HOST_SMALL CUPILOT_SMALL2 __lowhigh2highlow(const CUPILOT_SMALL2 v) {
  return CUPILOT_SMALL2(v.y, v.x);
}

/* Operators. */
#define CUPILOT_OPERATOR(op, one, two)                                                              \
  CUPILOT_HOST_SMALL CUPILOT_SMALL operator op(const CUPILOT_SMALL& a, const CUPILOT_SMALL& b) {    \
    return one(a, b);                                                                               \
  }                                                                                                 \
  CUPILOT_HOST_SMALL CUPILOT_SMALL& operator op##=(CUPILOT_SMALL& a, const CUPILOT_SMALL& b) {      \
    return a = one(a, b);                                                                           \
  }                                                                                                 \
  CUPILOT_HOST_SMALL CUPILOT_SMALL2 operator op(const CUPILOT_SMALL2& a, const CUPILOT_SMALL2& b) { \
    return two(a, b);                                                                               \
  }                                                                                                 \
  CUPILOT_HOST_SMALL CUPILOT_SMALL2& operator op##=(CUPILOT_SMALL2& a, const CUPILOT_SMALL2& b) {   \
    return a = two(a, b);                                                                           \
  }
CUPILOT_OPERATOR(+, __hadd, __hadd2)
CUPILOT_OPERATOR(-, __hsub, __hsub2)
CUPILOT_OPERATOR(*, __hmul, __hmul2)
CUPILOT_OPERATOR(/, __hdiv, __h2div)
#undef CUPILOT_OPERATOR
#define CUPILOT_OPERATOR(op, one, two)                                                              \
  CUPILOT_HOST_SMALL bool operator op(const CUPILOT_SMALL& a, const CUPILOT_SMALL& b) {             \
    return one(a, b);                                                                               \
  }                                                                                                 \
  CUPILOT_HOST_SMALL bool operator op(const CUPILOT_SMALL2& a, const CUPILOT_SMALL2& b) {           \
    return two(a, b);                                                                               \
  }
CUPILOT_OPERATOR(==, __heq, __hbeq2)
CUPILOT_OPERATOR(!=, __hneu, __hbneu2)
CUPILOT_OPERATOR(<, __hlt, __hblt2)
CUPILOT_OPERATOR(<=, __hle, __hble2)
CUPILOT_OPERATOR(>, __hgt, __hbgt2)
CUPILOT_OPERATOR(>=, __hge, __hbge2)
#undef CUPILOT_OPERATOR
CUPILOT_HOST_SMALL CUPILOT_SMALL operator+(const CUPILOT_SMALL& v) { return v; }
CUPILOT_HOST_SMALL CUPILOT_SMALL operator-(const CUPILOT_SMALL& v) { return __hneg(v); }
CUPILOT_HOST_SMALL CUPILOT_SMALL2 operator+(const CUPILOT_SMALL2& v) { return v; }
CUPILOT_HOST_SMALL CUPILOT_SMALL2 operator-(const CUPILOT_SMALL2& v) { return __hneg2(v); }
#define CUPILOT_STEP(op, type, add)                                                                 \
  CUPILOT_HOST_SMALL type& operator op(type& v) { return v = add; }                                 \
  CUPILOT_HOST_SMALL type operator op(type& v, int) {                                               \
    const type before = v;                                                                          \
    v = add;                                                                                        \
    return before;                                                                                  \
  }
CUPILOT_STEP(++, CUPILOT_SMALL, __hadd(v, CUPILOT_SMALL(1.0f)))
CUPILOT_STEP(--, CUPILOT_SMALL, __hsub(v, CUPILOT_SMALL(1.0f)))
CUPILOT_STEP(++, CUPILOT_SMALL2, __hadd2(v, CUPILOT_SMALL2(CUPILOT_SMALL(1.0f), CUPILOT_SMALL(1.0f))))
CUPILOT_STEP(--, CUPILOT_SMALL2, __hsub2(v, CUPILOT_SMALL2(CUPILOT_SMALL(1.0f), CUPILOT_SMALL(1.0f))))
#undef CUPILOT_STEP

static __inline__ __device__ CUPILOT_SMALL atomicAdd(CUPILOT_SMALL* address, CUPILOT_SMALL value) {
  return cupilot_host::update(address, cupilot_host::add_to<CUPILOT_SMALL>{value});
}
/* Both halves, each by itself on a device; at once here. */
static __inline__ __device__ CUPILOT_SMALL2 atomicAdd(CUPILOT_SMALL2* address, CUPILOT_SMALL2 value) {
  return cupilot_host::update(address, cupilot_host::add_to<CUPILOT_SMALL2>{value});
}

#undef CUPILOT_ONE
#undef CUPILOT_OF_BITS
#undef CUPILOT_BITS
