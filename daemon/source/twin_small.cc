#include "source/twin_small.h"

#include <array>

namespace cupilot::source {
namespace {

// T is the type, P its pair, R and S the toolkit's own, N is "half" or "bfloat16". Nothing is
// rounded, so that roundings of conversions count only where they give integers.
constexpr std::string_view kDefinitions = R"(
#define CUPILOT_TWIN static inline __host__ __device__
#define CUPILOT_TWIN_DEVICE static inline __device__
CUPILOT_TWIN int cupilot_twin_hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
#define CUPILOT_TWIN_TYPES(T, P, R, S, N) \
  struct T { \
    double v; \
    T() = default; \
    __host__ __device__ T(double a) : v(a) {} \
    __host__ __device__ T(const R& a) : v((double)__##N##2float(a)) {} \
    __host__ __device__ operator double() const { return v; } \
  }; \
  struct P { \
    T x, y; \
    P() = default; \
    __host__ __device__ P(const T& a, const T& b) : x(a), y(b) {} \
    __host__ __device__ P(const S& a) : x((double)__low2float(a)), y((double)__high2float(a)) {} \
  };
#define CUPILOT_TWIN_OPERATOR(T, P, op, name) \
  CUPILOT_TWIN T operator op(T a, T b) { return T(a.v op b.v); } \
  CUPILOT_TWIN T& operator op##=(T& a, T b) { a.v = a.v op b.v; return a; } \
  CUPILOT_TWIN P operator op(P a, P b) { return P(a.x op b.x, a.y op b.y); } \
  CUPILOT_TWIN P& operator op##=(P& a, P b) { a = a op b; return a; } \
  CUPILOT_TWIN T cupilot_twin_h##name(T a, T b) { return a op b; } \
  CUPILOT_TWIN T cupilot_twin_h##name##_rn(T a, T b) { return a op b; }
#define CUPILOT_TWIN_PAIRS(T, P, op, name) \
  CUPILOT_TWIN T cupilot_twin_h##name##_sat(T a, T b) { return cupilot_twin_hsat(a op b); } \
  CUPILOT_TWIN P cupilot_twin_h##name##2(P a, P b) { return a op b; } \
  CUPILOT_TWIN P cupilot_twin_h##name##2_rn(P a, P b) { return a op b; } \
  CUPILOT_TWIN P cupilot_twin_h##name##2_sat(P a, P b) { \
    return P(cupilot_twin_hsat(a.x op b.x), cupilot_twin_hsat(a.y op b.y)); \
  }
#define CUPILOT_TWIN_RELATION(T, P, op, name) \
  CUPILOT_TWIN bool operator op(T a, T b) { return a.v op b.v; } \
  CUPILOT_TWIN bool operator op(P a, P b) { return a.x.v op b.x.v && a.y.v op b.y.v; } \
  CUPILOT_TWIN bool cupilot_twin_h##name(T a, T b) { \
    return a.v == a.v && b.v == b.v && a.v op b.v; \
  } \
  CUPILOT_TWIN bool cupilot_twin_h##name##u(T a, T b) { \
    return a.v != a.v || b.v != b.v || a.v op b.v; \
  } \
  CUPILOT_TWIN_RELATION_OF_PAIRS(T, P, name) \
  CUPILOT_TWIN_RELATION_OF_PAIRS(T, P, name##u)
#define CUPILOT_TWIN_RELATION_OF_PAIRS(T, P, name) \
  CUPILOT_TWIN bool cupilot_twin_hb##name##2(P a, P b) { \
    return cupilot_twin_h##name(a.x, b.x) && cupilot_twin_h##name(a.y, b.y); \
  } \
  CUPILOT_TWIN P cupilot_twin_h##name##2(P a, P b) { \
    return P(T(cupilot_twin_h##name(a.x, b.x) ? 1.0 : 0.0), T(cupilot_twin_h##name(a.y, b.y) ? 1.0 : 0.0)); \
  } \
  CUPILOT_TWIN unsigned int cupilot_twin_h##name##2_mask(P a, P b) { \
    return (cupilot_twin_h##name(a.x, b.x) ? 0xffffu : 0u) | (cupilot_twin_h##name(a.y, b.y) ? 0xffff0000u : 0u); \
  }
#define CUPILOT_TWIN_FUNCTION(T, P, name, value) \
  CUPILOT_TWIN T cupilot_twin_h##name(T a) { return T(value); } \
  CUPILOT_TWIN P cupilot_twin_h2##name(P a) { return P(cupilot_twin_h##name(a.x), cupilot_twin_h##name(a.y)); }
#define CUPILOT_TWIN_NUMBER(T, N, name, type) \
  CUPILOT_TWIN T cupilot_twin_##name##2##N##_rn(type a) { return T((double)a); } \
  CUPILOT_TWIN T cupilot_twin_##name##2##N##_rz(type a) { return T((double)a); } \
  CUPILOT_TWIN T cupilot_twin_##name##2##N##_rd(type a) { return T((double)a); } \
  CUPILOT_TWIN T cupilot_twin_##name##2##N##_ru(type a) { return T((double)a); }
#define CUPILOT_TWIN_INTEGER(T, N, name, type) \
  CUPILOT_TWIN_NUMBER(T, N, name, type) \
  CUPILOT_TWIN type cupilot_twin_##N##2##name##_rn(T a) { return (type)::rint(a.v); } \
  CUPILOT_TWIN type cupilot_twin_##N##2##name##_rz(T a) { return (type)a.v; } \
  CUPILOT_TWIN type cupilot_twin_##N##2##name##_rd(T a) { return (type)::floor(a.v); } \
  CUPILOT_TWIN type cupilot_twin_##N##2##name##_ru(T a) { return (type)::ceil(a.v); }
#define CUPILOT_TWIN_SHUFFLE(T, P, name, lane) \
  CUPILOT_TWIN_DEVICE T name(unsigned int m, T a, lane l, int w = 32) { return T(::name(m, a.v, l, w)); } \
  CUPILOT_TWIN_DEVICE P name(unsigned int m, P a, lane l, int w = 32) { \
    return P(name(m, a.x, l, w), name(m, a.y, l, w)); \
  }
#define CUPILOT_TWIN_LOAD(T, P, name) \
  CUPILOT_TWIN_DEVICE T name(const T* a) { return *a; } \
  CUPILOT_TWIN_DEVICE P name(const P* a) { return *a; }
#define CUPILOT_TWIN_STORE(T, P, name) \
  CUPILOT_TWIN_DEVICE void name(T* a, T b) { *a = b; } \
  CUPILOT_TWIN_DEVICE void name(P* a, P b) { *a = b; }
#define CUPILOT_TWIN_SMALL(T, P, R, S, N) \
  CUPILOT_TWIN_TYPES(T, P, R, S, N) \
  CUPILOT_TWIN T cupilot_twin_hsat(T a) { return T(::fmin(::fmax(a.v, 0.0), 1.0)); } \
  CUPILOT_TWIN T operator+(T a) { return a; } \
  CUPILOT_TWIN T operator-(T a) { return T(-a.v); } \
  CUPILOT_TWIN P operator+(P a) { return a; } \
  CUPILOT_TWIN P operator-(P a) { return P(-a.x, -a.y); } \
  CUPILOT_TWIN T& operator++(T& a) { a.v += 1.0; return a; } \
  CUPILOT_TWIN T& operator--(T& a) { a.v -= 1.0; return a; } \
  CUPILOT_TWIN T operator++(T& a, int) { const T old = a; a.v += 1.0; return old; } \
  CUPILOT_TWIN T operator--(T& a, int) { const T old = a; a.v -= 1.0; return old; } \
  CUPILOT_TWIN_OPERATOR(T, P, +, add) \
  CUPILOT_TWIN_OPERATOR(T, P, -, sub) \
  CUPILOT_TWIN_OPERATOR(T, P, *, mul) \
  CUPILOT_TWIN_OPERATOR(T, P, /, div) \
  CUPILOT_TWIN_PAIRS(T, P, +, add) \
  CUPILOT_TWIN_PAIRS(T, P, -, sub) \
  CUPILOT_TWIN_PAIRS(T, P, *, mul) \
  CUPILOT_TWIN P cupilot_twin_h2div(P a, P b) { return a / b; } \
  CUPILOT_TWIN_RELATION(T, P, ==, eq) \
  CUPILOT_TWIN_RELATION(T, P, !=, ne) \
  CUPILOT_TWIN_RELATION(T, P, <, lt) \
  CUPILOT_TWIN_RELATION(T, P, <=, le) \
  CUPILOT_TWIN_RELATION(T, P, >, gt) \
  CUPILOT_TWIN_RELATION(T, P, >=, ge) \
  CUPILOT_TWIN T cupilot_twin_hfma(T a, T b, T c) { return T(::fma(a.v, b.v, c.v)); } \
  CUPILOT_TWIN T cupilot_twin_hfma_sat(T a, T b, T c) { return cupilot_twin_hsat(cupilot_twin_hfma(a, b, c)); } \
  CUPILOT_TWIN T cupilot_twin_hfma_relu(T a, T b, T c) { \
    const T r = cupilot_twin_hfma(a, b, c); \
    return r.v <= 0.0 ? T(0.0) : r; \
  } \
  CUPILOT_TWIN P cupilot_twin_hfma2(P a, P b, P c) { \
    return P(cupilot_twin_hfma(a.x, b.x, c.x), cupilot_twin_hfma(a.y, b.y, c.y)); \
  } \
  CUPILOT_TWIN P cupilot_twin_hfma2_sat(P a, P b, P c) { \
    return P(cupilot_twin_hfma_sat(a.x, b.x, c.x), cupilot_twin_hfma_sat(a.y, b.y, c.y)); \
  } \
  CUPILOT_TWIN P cupilot_twin_hfma2_relu(P a, P b, P c) { \
    return P(cupilot_twin_hfma_relu(a.x, b.x, c.x), cupilot_twin_hfma_relu(a.y, b.y, c.y)); \
  } \
  CUPILOT_TWIN P cupilot_twin_hcmadd(P a, P b, P c) { \
    return P(T(a.x.v * b.x.v - a.y.v * b.y.v + c.x.v), T(a.x.v * b.y.v + a.y.v * b.x.v + c.y.v)); \
  } \
  CUPILOT_TWIN T cupilot_twin_hneg(T a) { return -a; } \
  CUPILOT_TWIN T cupilot_twin_habs(T a) { return T(::fabs(a.v)); } \
  CUPILOT_TWIN T cupilot_twin_hmax(T a, T b) { return T(::fmax(a.v, b.v)); } \
  CUPILOT_TWIN T cupilot_twin_hmin(T a, T b) { return T(::fmin(a.v, b.v)); } \
  CUPILOT_TWIN T cupilot_twin_hmax_nan(T a, T b) { return a.v != a.v ? a : b.v != b.v ? b : cupilot_twin_hmax(a, b); } \
  CUPILOT_TWIN T cupilot_twin_hmin_nan(T a, T b) { return a.v != a.v ? a : b.v != b.v ? b : cupilot_twin_hmin(a, b); } \
  CUPILOT_TWIN P cupilot_twin_hneg2(P a) { return -a; } \
  CUPILOT_TWIN P cupilot_twin_habs2(P a) { return P(cupilot_twin_habs(a.x), cupilot_twin_habs(a.y)); } \
  CUPILOT_TWIN P cupilot_twin_hmax2(P a, P b) { return P(cupilot_twin_hmax(a.x, b.x), cupilot_twin_hmax(a.y, b.y)); } \
  CUPILOT_TWIN P cupilot_twin_hmin2(P a, P b) { return P(cupilot_twin_hmin(a.x, b.x), cupilot_twin_hmin(a.y, b.y)); } \
  CUPILOT_TWIN P cupilot_twin_hmax2_nan(P a, P b) { \
    return P(cupilot_twin_hmax_nan(a.x, b.x), cupilot_twin_hmax_nan(a.y, b.y)); \
  } \
  CUPILOT_TWIN P cupilot_twin_hmin2_nan(P a, P b) { \
    return P(cupilot_twin_hmin_nan(a.x, b.x), cupilot_twin_hmin_nan(a.y, b.y)); \
  } \
  CUPILOT_TWIN bool cupilot_twin_hisnan(T a) { return a.v != a.v; } \
  CUPILOT_TWIN int cupilot_twin_hisinf(T a) { return a.v - a.v == 0.0 || a.v != a.v ? 0 : a.v > 0.0 ? 1 : -1; } \
  CUPILOT_TWIN P cupilot_twin_hisnan2(P a) { return P(T(a.x.v != a.x.v ? 1.0 : 0.0), T(a.y.v != a.y.v ? 1.0 : 0.0)); } \
  CUPILOT_TWIN_FUNCTION(T, P, sqrt, ::sqrt(a.v)) \
  CUPILOT_TWIN_FUNCTION(T, P, rsqrt, 1.0 / ::sqrt(a.v)) \
  CUPILOT_TWIN_FUNCTION(T, P, rcp, 1.0 / a.v) \
  CUPILOT_TWIN_FUNCTION(T, P, exp, ::exp(a.v)) \
  CUPILOT_TWIN_FUNCTION(T, P, exp2, ::exp2(a.v)) \
  CUPILOT_TWIN_FUNCTION(T, P, exp10, ::pow(10.0, a.v)) \
  CUPILOT_TWIN_FUNCTION(T, P, log, ::log(a.v)) \
  CUPILOT_TWIN_FUNCTION(T, P, log2, ::log2(a.v)) \
  CUPILOT_TWIN_FUNCTION(T, P, log10, ::log10(a.v)) \
  CUPILOT_TWIN_FUNCTION(T, P, sin, ::sin(a.v)) \
  CUPILOT_TWIN_FUNCTION(T, P, cos, ::cos(a.v)) \
  CUPILOT_TWIN_FUNCTION(T, P, tanh, ::tanh(a.v)) \
  CUPILOT_TWIN_FUNCTION(T, P, tanh_approx, ::tanh(a.v)) \
  CUPILOT_TWIN_FUNCTION(T, P, floor, ::floor(a.v)) \
  CUPILOT_TWIN_FUNCTION(T, P, ceil, ::ceil(a.v)) \
  CUPILOT_TWIN_FUNCTION(T, P, trunc, ::trunc(a.v)) \
  CUPILOT_TWIN_FUNCTION(T, P, rint, ::rint(a.v)) \
  CUPILOT_TWIN double cupilot_twin_##N##2float(T a) { return a.v; } \
  CUPILOT_TWIN T cupilot_twin_float2##N(double a) { return T(a); } \
  CUPILOT_TWIN T cupilot_twin_double2##N(double a) { return T(a); } \
  CUPILOT_TWIN_NUMBER(T, N, float, double) \
  CUPILOT_TWIN_INTEGER(T, N, int, int) \
  CUPILOT_TWIN_INTEGER(T, N, uint, unsigned int) \
  CUPILOT_TWIN_INTEGER(T, N, short, short) \
  CUPILOT_TWIN_INTEGER(T, N, ushort, unsigned short) \
  CUPILOT_TWIN_INTEGER(T, N, ll, long long) \
  CUPILOT_TWIN_INTEGER(T, N, ull, unsigned long long) \
  CUPILOT_TWIN signed char cupilot_twin_##N##2char_rz(T a) { return (signed char)a.v; } \
  CUPILOT_TWIN unsigned char cupilot_twin_##N##2uchar_rz(T a) { return (unsigned char)a.v; } \
  CUPILOT_TWIN T cupilot_twin_ushort_as_##N(unsigned short a) { return T(__ushort_as_##N(a)); } \
  CUPILOT_TWIN P cupilot_twin_make_##N##2(T a, T b) { return P(a, b); } \
  CUPILOT_TWIN P cupilot_twin_halves2##N##2(T a, T b) { return P(a, b); } \
  CUPILOT_TWIN P cupilot_twin_##N##2##N##2(T a) { return P(a, a); } \
  CUPILOT_TWIN P cupilot_twin_float2##N##2_rn(double a) { return P(T(a), T(a)); } \
  CUPILOT_TWIN P cupilot_twin_floats2##N##2_rn(double a, double b) { return P(T(a), T(b)); } \
  CUPILOT_TWIN P cupilot_twin_float22##N##2_rn(double2 a) { return P(T(a.x), T(a.y)); } \
  CUPILOT_TWIN double2 cupilot_twin_##N##22float2(P a) { return make_double2(a.x.v, a.y.v); } \
  CUPILOT_TWIN T cupilot_twin_low2##N(P a) { return a.x; } \
  CUPILOT_TWIN T cupilot_twin_high2##N(P a) { return a.y; } \
  CUPILOT_TWIN P cupilot_twin_low2##N##2(P a) { return P(a.x, a.x); } \
  CUPILOT_TWIN P cupilot_twin_high2##N##2(P a) { return P(a.y, a.y); } \
  CUPILOT_TWIN P cupilot_twin_lows2##N##2(P a, P b) { return P(a.x, b.x); } \
  CUPILOT_TWIN P cupilot_twin_highs2##N##2(P a, P b) { return P(a.y, b.y); } \
  CUPILOT_TWIN double cupilot_twin_low2float(P a) { return a.x.v; } \
  CUPILOT_TWIN double cupilot_twin_high2float(P a) { return a.y.v; } \
  CUPILOT_TWIN P cupilot_twin_lowhigh2highlow(P a) { return P(a.y, a.x); } \
  CUPILOT_TWIN_DEVICE T atomicAdd(T* a, T b) { return T(::atomicAdd(&a->v, b.v)); } \
  CUPILOT_TWIN_DEVICE P atomicAdd(P* a, P b) { \
    const T x = atomicAdd(&a->x, b.x); \
    return P(x, atomicAdd(&a->y, b.y)); \
  } \
  CUPILOT_TWIN_SHUFFLE(T, P, __shfl_sync, int) \
  CUPILOT_TWIN_SHUFFLE(T, P, __shfl_xor_sync, int) \
  CUPILOT_TWIN_SHUFFLE(T, P, __shfl_up_sync, unsigned int) \
  CUPILOT_TWIN_SHUFFLE(T, P, __shfl_down_sync, unsigned int) \
  CUPILOT_TWIN_LOAD(T, P, __ldg) \
  CUPILOT_TWIN_LOAD(T, P, __ldca) \
  CUPILOT_TWIN_LOAD(T, P, __ldcg) \
  CUPILOT_TWIN_LOAD(T, P, __ldcs) \
  CUPILOT_TWIN_STORE(T, P, __stcg) \
  CUPILOT_TWIN_STORE(T, P, __stcs)
)";

constexpr std::string_view kHalf =
    "CUPILOT_TWIN_SMALL(cupilot_twin_half, cupilot_twin_half2, __half, __half2, half)\n";
constexpr std::string_view kBfloat16 =
    "CUPILOT_TWIN_SMALL(cupilot_twin_bfloat16, cupilot_twin_bfloat162, __nv_bfloat16, "
    "__nv_bfloat162, bfloat16)\n";

// h and h2 with one of these are functions of the toolkit's.
constexpr std::array<std::string_view, 17> kFunctions = {
    "sqrt", "rsqrt", "rcp",  "exp",   "exp2", "exp10", "log",  "log2",       "log10",
    "sin",  "cos",   "tanh", "floor", "ceil", "trunc", "rint", "tanh_approx"};

}  // namespace

std::string SmallType(std::string_view word) {
  for (const std::string_view half : {"half", "__half", "__nv_half"}) {
    if (word == half) return "cupilot_twin_half";
    if (word == std::string(half) + "2") return "cupilot_twin_half2";
  }
  for (const std::string_view bfloat16 : {"nv_bfloat16", "__nv_bfloat16"}) {
    if (word == bfloat16) return "cupilot_twin_bfloat16";
    if (word == std::string(bfloat16) + "2") return "cupilot_twin_bfloat162";
  }
  return {};
}

std::string SmallFunction(std::string_view word) {
  const auto twin = [](std::string_view name) { return "cupilot_twin_" + std::string(name); };
  if (word == "make_half2" || word == "make_bfloat162") return twin(word);
  if (word.starts_with("__")) {
    const std::string_view name = word.substr(2);
    const bool other = name == "host__" || name.starts_with("hilo") ||
                       name.starts_with("half_raw") || name.starts_with("half2_raw") ||
                       name.ends_with("_raw");
    const bool small = name.find("half") != std::string_view::npos ||
                       name.find("bfloat16") != std::string_view::npos || name.starts_with("h") ||
                       name == "low2float" || name == "lowhigh2highlow";
    return small && !other ? twin(name) : "";
  }
  std::string_view stem = word;
  if (!stem.starts_with("h")) return {};
  stem.remove_prefix(stem.starts_with("h2") ? 2 : 1);
  for (const std::string_view name : kFunctions) {
    if (name == stem) return twin(word);
  }
  return {};
}

std::string SmallDefinitions(bool half, bool bfloat16) {
  std::string text;
  if (half || bfloat16) text += kDefinitions;
  if (half) text += kHalf;
  if (bfloat16) text += kBfloat16;
  return text;
}

}  // namespace cupilot::source
