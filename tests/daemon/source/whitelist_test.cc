#include "source/whitelist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "source/whitelist_rules.h"
#include "tests/daemon/source/toolkit_for_tests.h"

namespace cupilot::source {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class WhitelistTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { UseSourceTreeToolkit(); }
  static void TearDownTestSuite() { DropSourceTreeToolkit(); }

  static records::Parameter Parameter(const std::string& type, const std::string& name) {
    records::Parameter parameter;
    parameter.name = name;
    parameter.type = parameter.canonical = type;
    const bool pointer = type.ends_with("*");
    parameter.kind = pointer ? records::ParameterKind::kPointer : records::ParameterKind::kInteger;
    parameter.bytes = pointer ? 8 : 4;
    parameter.is_signed = !pointer;
    return parameter;
  }

  protocol::CheckVariantReply Check(const std::string& source, const std::string& entry = "v") {
    protocol::CheckVariantRequest request;
    request.kernel.parameters = {Parameter("const float *", "in"), Parameter("float *", "out"),
                                 Parameter("int", "n")};
    request.kernel.closure_macros = macros_;
    request.variant.guard = guard_;
    request.variant.launches = launches_;
    request.variant.workspace = workspace_;
    if (!launches_.empty()) return CheckIt(std::move(request), source, "");
    return CheckIt(std::move(request), source, entry);
  }

  static protocol::CheckVariantReply CheckIt(protocol::CheckVariantRequest request,
                                             const std::string& source, const std::string& entry) {
    request.kernel.name = "image::k";
    request.kernel.base_name = "k";
    request.kernel.namespaces = {"image"};
    request.kernel.closure_source = R"(#include <cuda_runtime.h>
#include <cassert>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
namespace image {
struct Plain { int i; };
__device__ int pick(int i) { switch (i) { case 0: return 3; default: __builtin_unreachable(); } }
__device__ float helper(float x) { return x * 2.0f; }
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = helper(in[i]) + __logf(in[i]);
}
}
)";
    request.variant.kernel = "image::k";
    request.variant.source = source;
    request.variant.entry = entry;
    request.variant.id = records::VariantId(request.variant);
    auto reply = CheckVariant(request);
    EXPECT_TRUE(reply.has_value()) << (reply ? "" : reply.error().message);
    return reply ? *reply : protocol::CheckVariantReply{};
  }

  void Refuses(const std::string& source, const std::string& reason, const std::string& part = "") {
    const auto reply = Check(source);
    EXPECT_FALSE(reply.passed) << source;
    EXPECT_EQ(reply.reason, reason) << source << "\n" << reply.detail;
    EXPECT_THAT(reply.detail, HasSubstr(part)) << source;
  }

  void Passes(const std::string& source) {
    const auto reply = Check(source);
    EXPECT_TRUE(reply.passed) << source << "\n" << reply.reason << ": " << reply.detail;
  }

  std::string macros_, guard_;
  std::vector<records::Launch> launches_;
  std::vector<records::Workspace> workspace_;
};

constexpr const char* kPlain =
    "__global__ void v(const float* in, float* out, int n) { if (n > 0) out[0] = in[0]; }\n";

TEST_F(WhitelistTest, PassesDeviceCode) {
  const auto reply = Check(R"(
constexpr int kTile = 16;
__constant__ float table[2] = {1.0f, 2.0f};
using Real = float;
enum Mode { kFirst, kSecond };
struct Sum {
  Real value;
  __device__ void Add(Real x) { value += x; }
  static constexpr int kWidth = 4;
};
template <class T>
__device__ __forceinline__ T twice(T x) { return x + x; }
static_assert(kTile == 16, "");
__global__ void __launch_bounds__(256) v(const float* __restrict__ in, float* out, int n) {
  extern __shared__ float tile[];
  __shared__ float still[kTile];
#pragma unroll (kTile - 12)
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    Sum sum{};
    sum.Add(helper(__ldg(in + i)) + sqrtf(twice(table[i & 1])) + fmaxf(in[i], 0.0f));
    tile[threadIdx.x] = __shfl_down_sync(0xffffffffu, sum.value, 1);
    still[threadIdx.x % kTile] = __logf(tile[0]) + std::max(1, n) + min(n, 3);
    __syncthreads();
    atomicAdd(out + i, tile[threadIdx.x]);
  }
})");
  EXPECT_TRUE(reply.passed) << reply.reason << ": " << reply.detail;
  ASSERT_THAT(reply.entries, SizeIs(1));
  EXPECT_THAT(reply.entries[0], ::testing::MatchesRegex("image::cupilot_[0-9a-f]+::v"));
}

// What is only looked at is built beside an original without a body.
TEST_F(WhitelistTest, SaysTheClosureWithoutWhatTheVariantDoesNotNeed) {
  const auto reply = Check(kPlain);
  ASSERT_TRUE(reply.passed) << reply.detail;
  EXPECT_THAT(reply.bare_closure, HasSubstr("float helper(float x) { return x * 2.0f; }\n"
                                            "__global__ void k(const float* in, float* out, int n) "
                                            "{}\n}\n"));
  EXPECT_THAT(reply.bare_closure, HasSubstr("#include <cstdlib>\nnamespace image {\n"));
  EXPECT_EQ(Check("void host() {}").bare_closure, "");
}

// A number becomes an address, and an address a function of the C library.
TEST_F(WhitelistTest, RefusesWhatCouldBeCalledWithoutItsName) {
  const std::string begin = "__global__ void v(const float* in, float* out, int n) {\n";
  for (const char* body : {
           "  void (*original)(const float*, float*, int) = k;\n",
           "  auto p = &helper; out[0] = in[0];\n",
           "  auto p = (float (*)(float))(unsigned long long)n; out[0] = in[0];\n",
           "  auto& p = *reinterpret_cast<float (*)(float)>(out); out[0] = in[0];\n",
           "  decltype(&helper) p; memcpy(&p, &in, 8);\n",
           "  union { float (*f)(float); unsigned long long number; } u; u.number = n;\n",
           "  auto f = +[](float x) { return x; }; out[0] = f(in[0]);\n",
       }) {
    Refuses(begin + body + "}\n", "forbidden_construct", "function");
  }
  for (const char* declaration : {
           "using F = float(float);\n",
           "template <class F> __device__ float call(F f, float x) { return f(x); }\n"
           "__device__ float g(float x) { return call(helper, x); }\n",
           "struct S { float (*f)(float); };\n",
           "struct S { float f; }; __device__ float (S::*m)() = nullptr;\n",
           "template <float (*f)(float)> struct S { };\n",
       }) {
    Refuses(declaration + std::string(kPlain), "forbidden_construct");
  }
}

TEST_F(WhitelistTest, TakesFunctionObjectsAndArrays) {
  const auto reply = Check(
      "struct Twice { __device__ float operator()(float x) const { return helper(x) * 2.0f; } };\n"
      "template <class F> __device__ float call(F f, float x) { return f(x); }\n"
      "__device__ float sum(float (*rows)[4], const float (&row)[4]) {\n"
      "  return rows[1][2] + row[3];\n}\n"
      "__global__ void v(const float* in, float* out, int n) {\n"
      "  __shared__ float rows[2][4];\n  rows[0][0] = in[0];\n"
      "  auto half = [=](float x) { return x * 0.5f; };\n"
      "  out[0] = call(Twice(), in[0]) + call(half, in[1]) + sum(rows, rows[1]);\n}\n");
  EXPECT_TRUE(reply.passed) << reply.detail;
}

TEST(HasFunctionType, OfTypesAsClangPrintsThem) {
  for (const char* type :
       {"int (*)(const char *)", "int (const char *)", "int (&)(int)", "float (S::*)(float) const",
        "std::integral_constant<int (*)(const char *), &system>", "Box<int (int)>",
        "int (*const[4])(int)", "void (*)(int (*)[4])"}) {
    EXPECT_TRUE(HasFunctionType(type)) << type;
  }
  for (const char* type :
       {"float (*)[4]", "const float (&)[4]", "Box<(Mode)2>", "(lambda at text.cu:3:4)", "float *",
        "(anonymous namespace)::S", "Box<(anonymous namespace)::S, 4>", "int"}) {
    EXPECT_FALSE(HasFunctionType(type)) << type;
  }
}

TEST_F(WhitelistTest, RefusesHostCode) {
  Refuses(std::string(kPlain) + "void host() {}", "forbidden_construct");
  Refuses(std::string(kPlain) + "__host__ __device__ void both() {}", "forbidden_construct");
  Refuses(std::string(kPlain) + "__attribute__((constructor)) __device__ void early() {}",
          "forbidden_construct", "constructor");
  Refuses(std::string(kPlain) + "int counter = 3;", "forbidden_construct");
  Refuses(std::string(kPlain) + "extern int counter;", "forbidden_construct", "extern");
  Refuses(std::string(kPlain) + "__device__ int counter;", "forbidden_construct");
  Refuses(std::string(kPlain) + "const float start = sqrtf(2.0f);", "forbidden_construct",
          "run time");
  Refuses(std::string(kPlain) + "struct S { S() {} };", "forbidden_construct");
  Refuses(std::string(kPlain) + "struct S { static int shared; };", "forbidden_construct");
}

TEST_F(WhitelistTest, RefusesWaysOutOfTheNamespace) {
  Refuses(std::string(kPlain) + "} void escaped() {} namespace other {", "forbidden_construct");
  Refuses(std::string(kPlain) + "} __device__ void escaped() {} __device__ void f() {",
          "forbidden_construct", "bracket");
  Refuses(std::string(kPlain) + "\n#define out in\n", "forbidden_construct", "directive");
  Refuses(std::string(kPlain) + "\n#pragma once\n", "forbidden_construct", "directive");
  Refuses(std::string(kPlain) + "\n#pragma unrolled\n", "forbidden_construct", "directive");
  Refuses(std::string(kPlain) + "\n#pragma unroll /*\n*/\n", "forbidden_construct", "directive");
  Refuses(std::string(kPlain) + "\n%:define out in\n", "forbidden_construct");
  Refuses(std::string(kPlain) + "_Pragma(\"once\")", "forbidden_construct", "_Pragma");
  Refuses(std::string(kPlain) + "asm(\".section .init_array\");", "forbidden_construct", "asm");
  Refuses(std::string(kPlain) + "// a comment \\\nint x;", "forbidden_construct",
          "a comment that a backslash joins");
}

std::string Body(const std::string& text) {
  return "__global__ void v(const float* in, float* out, int n) { " + text + " }\n";
}

// What kernels are written with, and what a copy of one therefore has.
TEST_F(WhitelistTest, TakesWhatKernelsAreWrittenWith) {
  Passes(Body("using namespace image; out[0] = helper(in[0]);"));
  Passes(Body("namespace own = ::image; out[0] = own::helper(in[0]);"));
  Passes("namespace own = image;\nusing namespace own;\n" + std::string(kPlain));
  Passes(Body("static const int kTens[4] = {1, 10, 100, 1000}; out[0] = kTens[n & 3];"));
  Passes(Body("const char letters[] = R\"(__global__ {)\"; out[0] = letters[n & 7];"));
  Passes(Body("const char letters[] = R\"x(a)b)x\"; out[0] = letters[n & 3];"));
  Passes("__attribute__((used, flatten)) " + std::string(kPlain));
  Passes("[[gnu::noinline, gnu::hot]] " + std::string(kPlain));
  Passes(Body("auto count = [n]() mutable { return ++n; }; out[0] = count();"));
}

TEST_F(WhitelistTest, RefusesWhatOnlyLooksLikeIt) {
  const std::string reason = "forbidden_construct", plain = kPlain;
  for (const char* text :
       {"namespace own { }", "namespace own = image { }", "inline namespace a {}", "namespace { }",
        "using namespace image { }", "namespace a::b { }", "namespace [[gnu::used]] own { }"}) {
    Refuses(text + (";\n" + plain), reason, "'namespace'");
  }
  Refuses(Body("static const float start = in[0]; out[0] = start;"), reason,
          "computed at run time");
  Refuses(Body("static const float& one = *in; out[0] = one;"), reason, "static");
  Refuses(Body("static float* const kept[1] = {}; static float* other; out[0] = *other;"), reason,
          "static");
  Refuses("struct S { mutable int n; };\n" +
              Body("static const S s = {0}; out[0] = s.n++ > 9 ? 0 : in[0];"),
          reason, "mutable");
  Refuses(Body("const char* t = R\"(\" , \")\"; out[0] = t[n];"), reason, "raw string");
  Refuses(Body("const char* t = R\"(\n)\"; out[0] = t[n];"), reason, "raw string");
  Refuses(Body("const char* t = R\"(\\)\"; out[0] = t[n];"), reason, "raw string");
  Refuses("[[gnu::constructor]] " + plain, reason, "constructor");
  Refuses("[[gnu::aligned(\"\\x10\"[0]), gnu::pure]] " + plain, reason, "an attribute with a text");
  Refuses(Body("char c [[gnu::aligned(sizeof(int[2])), gnu::cleanup(helper)]] = 0; out[0] = c;"),
          reason, "cleanup");
  Refuses("struct S { alignas(8) mutable int n; };\n" +
              Body("static const S s = {0}; out[0] = s.n++ > 9 ? 0 : in[0];"),
          reason, "mutable");
  for (const char* kept :
       {"static constexpr int&& n = 0;", "constexpr int&& n = 0;",
        "struct R { int&& n; };\nconstexpr R r{0};",
        "template <class T> struct R { T&& n; };\ntemplate <class T> constexpr R<T> r{T(0)};\n"
        "__device__ int f() { return ++r<int>.n; }",
        "template <class T> struct H { static constexpr T t{}; };"}) {
    Refuses(std::string(kept) + "\n" + plain, reason, "written");
  }
  Refuses(
      "template <class T> __device__ T f() { static constexpr T&& t = T(0); return t; }\n" + plain,
      reason, "written");
  Refuses("[[using gnu: constructor]] " + plain, reason, "attribute");
  Refuses("[[gnu :: optimize(\"Ofast\")]] " + plain, reason, "optimize");
}

TEST_F(WhitelistTest, RefusesOtherSpellings) {
  Refuses("[ [ gnu :: constructor ] ] __device__ void early() {}\n" + std::string(kPlain),
          "forbidden_construct", "line 1 of the variant: the attribute");
  Refuses("<:<:gnu::constructor:>:> __device__ void early() {}\n" + std::string(kPlain),
          "forbidden_construct", "'<'");
  Refuses(std::string(kPlain) + "// one\n/* two", "forbidden_construct",
          "line 3 of the variant: a comment that is not closed");
  Refuses(std::string(kPlain) + "constexpr char kQuote = '\n;", "forbidden_construct",
          "line 2 of the variant: a literal that is not closed");
  Refuses(std::string(kPlain) + "__device__ void f() <% %>", "forbidden_construct", "line 2");
  Refuses(std::string(kPlain) + "\\u0061sm(\"\");", "forbidden_construct", "line 2");
  for (const char* number : {"0c''FF", "1''2'", "1' '", "1'.5", "1.'5"}) {
    Refuses(std::string(kPlain) + "constexpr int kOne = " + number + ";", "forbidden_construct",
            "line 2 of the variant: a number with a '");
  }
  Passes("constexpr int kMany = 1'000'000;\n" + std::string(kPlain));
  Passes("template <class T> struct Holds { T t; };\nusing It = Holds<::image::Plain>;\n" +
         std::string(kPlain));
}

// What the compiler sees counts, whoever's macros stand between.
TEST_F(WhitelistTest, LooksThroughMacros) {
  macros_ =
      "#define EARLY __attribute__((constructor))\n#define JOIN(a, b) a##b\n"
      "#define PRAGMA(x) _Pragma(#x)\n#define BOTH __host__ __device__\n"
      "#define SURELY(x) __builtin_assume(x)\n#define FAST SURELY\n#define TILE 16\n";
  Refuses("EARLY __device__ void early() {}\n" + std::string(kPlain), "forbidden_construct",
          "line 1 of the variant: the attribute 'constructor'");
  Refuses(std::string(kPlain) + "JOIN(as, m)(\"\");", "forbidden_construct", "line 2");
  Refuses(std::string(kPlain) + "__CONCAT(as, m)(\"\");", "forbidden_construct", "line 2");
  Refuses("PRAGMA(GCC optimize(\"Ofast\"))\n" + std::string(kPlain), "forbidden_construct",
          "_Pragma");
  Refuses("JOIN(_Prag, ma)(\"GCC optimize\")\n" + std::string(kPlain), "forbidden_construct",
          "_Pragma");
  Refuses("BOTH void both() {}\n" + std::string(kPlain), "forbidden_construct");
  Refuses(Body("FAST(n == 4); out[0] = in[0];"), "forbidden_construct", "'FAST' promises");
  Passes(Body("__shared__ float t[TILE]; t[threadIdx.x] = in[0]; out[0] = JOIN(t, )[0];"));
}

TEST_F(WhitelistTest, RefusesObjectsThatRunCode) {
  const std::string dies = "struct D { int i; __device__ ~D() { i = 1; } };\n";
  for (const char* object :
       {"const D d{0};", "const D d[2] = {};", "struct H { D d; }; const H h{};",
        "struct H : D {}; const H h{};", "using E = const D; E d{0};",
        "constexpr const D& d = D{0};", "inline const D d{0};",
        "struct R { const D& d; }; const R r{D{0}};",
        "template <int> const D d{0}; __device__ int f() { return d<1>.i; }",
        "struct H { static constexpr D d{0}; };", "struct H { inline static const D d{0}; };"}) {
    const auto reply = Check(dies + object + "\n" + kPlain);
    EXPECT_FALSE(reply.passed) << object;
  }
  Refuses(dies + "const D d{0};\n" + kPlain, "forbidden_construct",
          "line 2 of the variant: an object that is made or destroyed by code of its own");
  const std::string born = "struct B { int i; __device__ B() : i(1) {} };\n";
  // Device code that a host's constant would need is an error to clang itself.
  Refuses(born + "const B b;\n" + kPlain, "build_failed", "line 2 of the variant");
  Refuses(born + Body("static const B b; out[0] = in[0];"), "build_failed",
          "line 2 of the variant");
  Refuses("const float two = 2.0f, four = two * two;\n" + std::string(kPlain),
          "forbidden_construct", "line 1");
  Passes(born + dies +
         "struct Point { float x, y; };\nconst Point kOrigin = {1.0f, 2.0f};\n"
         "constexpr float kTable[2] = {1.0f, 2.0f};\nconst int kTwo = 1 + 1;\n"
         "template <class T> constexpr T kOne = T(1);\n" +
         Body("B b; D d{b.i}; __shared__ Point p; p.x = kOne<float>; out[0] = in[0] + p.x + d.i;"));
}

// Not even where the compiler that reads it here finds that nothing is to be run.
TEST_F(WhitelistTest, RefusesWhatAnotherCompilerMayComputeLater) {
  const std::string reason = "forbidden_construct", plain = kPlain;
  for (const char* object :
       {"struct T { int x = true ? 1 : f(); };\nconst T t{};",
        "struct T { int x = 1; };\nstruct U { T t; };\n__device__ const U u[2] = {};",
        "struct T { int x = 1; };\ninline __device__ int g() { static const T t{}; return t.x; "
        "}"}) {
    Refuses("__device__ inline int f() { return 1; }\n" + std::string(object) + "\n" + plain,
            reason, "made or destroyed by code of its own");
  }
  Refuses(Body("static const int c = true ? 1 : (n > 0); out[0] = c;"), reason,
          "computed at run time");
  Passes("struct T { int x = 1; };\nconstexpr T t{};\n" +
         Body("T here; static constexpr T there{}; out[0] = here.x + there.x + t.x;"));
}

TEST_F(WhitelistTest, RefusesWhatDiffersFromBuildToBuild) {
  const std::string reason = "forbidden_construct";
  for (const char* word : {"__FILE__[0]",
                           "__LINE__",
                           "__COUNTER__",
                           "__VERSION__[0]",
                           "__BASE_FILE__[0]",
                           "__TIME__[0]",
                           "__INCLUDE_LEVEL__",
                           "__PRETTY_FUNCTION__[0]",
                           "__func__[0]",
                           "__FUNCTION__[0]",
                           "__builtin_FILE()[0]",
                           "__builtin_LINE()",
                           "__builtin_COLUMN()",
                           "__builtin_FUNCTION()[0]",
                           "__builtin_constant_p(n)",
                           "__builtin_is_constant_evaluated()",
                           "__CUDA_ARCH__",
                           "__cplusplus",
                           "__GNUC__",
                           "__clang_major__",
                           "__OPTIMIZE__",
                           "__has_builtin(__builtin_expect)",
                           "linux"}) {
    Refuses(Body(std::string("out[0] = ") + word + ";"), reason, "differs from build to build");
  }
  Passes(Body("assert(n > 0); out[0] = in[0] * __builtin_inff() + FLT_MAX;"));
  Refuses(Body("if (n < 0) __assert_fail(\"\", \"\", __func__[0], \"\"); out[0] = in[0];"), reason,
          "differs from build to build");
}

TEST_F(WhitelistTest, RefusesPromisesThatTheGuardDoesNotState) {
  const std::string reason = "forbidden_construct";
  Refuses(Body("__builtin_assume(n == 4); out[0] = in[0];"), reason, "line 1 of the variant");
  Refuses(Body("if (n != 4) __builtin_unreachable(); out[0] = in[0];"), reason, "unreachable");
  Refuses(Body("out[0] = *(const float*)__builtin_assume_aligned(in, 64);"), reason, "aligned");
  Refuses("__device__ [[noreturn]] void f();\n" + std::string(kPlain), reason, "noreturn");
  Refuses(Body("[[assume(n == 4)]]; out[0] = in[0];"), reason, "assume");
  Refuses("__device__ __attribute__((const)) int f(int* p) { return *p; }\n" + std::string(kPlain),
          reason, "const");
  Passes(Body("if (n < 0) __builtin_trap(); out[0] = __builtin_expect(n, 4) ? in[0] : 0;"));

  const std::string aligned =
      Body("in = (const float*)__builtin_assume_aligned(in, 16); out[0] = in[0];");
  guard_ = "n > 4 && (aligned(in, 32) && n % 4 == 0)";
  Passes(aligned);
  Passes(Body("__builtin_assume(n % 4 == 0); out[0] = in[0];"));
  Refuses(Body("n += 1; __builtin_assume(n % 4 == 0); out[n] = in[0];"), reason, "assume");
  Refuses(Body("++in; const float* p = (const float*)__builtin_assume_aligned(in, 16);"
               " out[0] = *p;"),
          reason, "aligned");
  Refuses(Body("out = (float*)__builtin_assume_aligned(out, 16); out[0] = in[0];"), reason,
          "aligned");
  guard_ = "aligned(in, 8)";
  Refuses(aligned, reason, "aligned");
  guard_ = "n > 4 || aligned(in, 16)";
  Refuses(aligned, reason, "aligned");
  // The entry's `in` has to be the kernel's.
  guard_ = "aligned(in, 16)";
  launches_.emplace_back();
  launches_[0].entry = "v";
  launches_[0].arguments = {"out", "out", "n"};
  Refuses(aligned, reason, "aligned");
}

// Of floating scalars the gate tries the workload's only.
TEST_F(WhitelistTest, RefusesCasesOfScalarsThatTheGuardDoesNotState) {
  const auto body = [](const std::string& text) {
    return "__global__ void v(const float* in, float* out, int n, float a) { " + text + " }\n";
  };
  launches_.emplace_back();
  launches_[0].entry = "v";
  launches_[0].arguments = {"in", "out", "n", {{"type", "float"}, {"value", "n"}}};
  const std::string reason = "forbidden_construct", what = "a case of its own";
  Refuses(body("out[0] = a == 3.0f ? 0.0f : in[0];"), reason, what);
  Refuses(body("const float b = a * 2; if (3.0f < b) out[0] = 0; else out[0] = in[0];"), reason,
          what);
  Passes(body("if (in[0] < a) out[0] = fmaxf(in[0], a);"));
  guard_ = "a != 3";
  Passes(body("out[0] = a == 3.0f ? 0.0f : in[0];"));
}

// Who reaches the end of a function without its value has promised not to.
TEST_F(WhitelistTest, RefusesEndsThatReturnNothing) {
  Refuses("__device__ float twice(float x, int n) {\n  if (n > 0) return 2 * x;\n}\n" +
              Body("out[0] = twice(in[0], n);"),
          "forbidden_construct", "line 1 of the variant: a function whose end is reached");
  Refuses("template <class T> __device__ T twice(T x, int n) {\n  if (n > 0) return 2 * x;\n}\n" +
              Body("out[0] = twice(in[0], n);"),
          "forbidden_construct", "whose end is reached");
  Refuses(Body("auto f = [&](int i) -> float { if (i > 0) return 1; }; out[0] = f(n);"),
          "forbidden_construct", "whose end is reached");
  Passes(
      "__device__ int kind(int n) { switch (n) { case 0: return 1; default: return 2; } }\n"
      "template <int n> __device__ int of() { if constexpr (n > 0) return 1; else return 2; }\n" +
      Body("out[0] = kind(n) + of<1>() + of<0>() + [](int i) { return i; }(n);"));
  Passes("__device__ float twice(float x, int n) { for (;;) { if (n > 0) return 2 * x; ++n; } }\n" +
         Body("out[0] = twice(in[0], n);"));
}

TEST_F(WhitelistTest, RefusesMoreMemoryThanThereIs) {
  const std::string reason = "forbidden_construct";
  Refuses("__device__ const unsigned char big[2000000000] = {1};\n" + std::string(kPlain), reason,
          "line 1 of the variant: 2000000000 bytes of static data, more than the 4194304");
  Refuses("__constant__ float big[20000];\n" + std::string(kPlain), reason, "constants");
  Refuses("template <int n> constexpr char big[n] = {1};\n" +
              Body("out[0] = in[0] + big<2000000000>[n];"),
          reason, "static data");
  Refuses(Body("__shared__ float big[100000]; big[n] = 1; out[0] = big[0];"), reason, "shared");
  Refuses(Body("float big[1 << 20]; big[n] = 1; out[0] = big[0];"), reason, "local memory");
}

TEST_F(WhitelistTest, RefusesArgumentsThatTheEntryDoesNotTake) {
  const auto entry = [](const std::string& type) {
    return "__global__ void v(const float* in, float* out, int n, " + type +
           " k) { out[0] = in[0] + (float)k; }\n";
  };
  launches_.emplace_back();
  launches_[0].entry = "v";
  const auto given = [&](const std::string& type) {
    launches_[0].arguments = {"in", "out", "n", {{"type", type}, {"value", "1"}}};
  };
  for (const auto& [own, name] : {std::pair{"float", "float"},
                                  {"bool", "bool"},
                                  {"short", "short"},
                                  {"unsigned long", "size_t"},
                                  {"long", "int64_t"},
                                  {"signed char", "int8_t"},
                                  {"const double", "double"}}) {
    given(name);
    Passes(entry(own));
  }
  given("int");
  Refuses(entry("float"), "invalid_launch", "argument 4: type 'int' is not the entry's own");
  Refuses(entry("long long"), "invalid_launch", "long long");
  given("half");
  Refuses(entry("float"), "invalid_launch", "type 'half' is none of bool");
  launches_[0].arguments = {"in", "out", "n", "n"};
  Refuses(entry("double"), "invalid_launch", "'n' is int, the entry takes double");
  launches_[0].arguments = {"in", "out", "n"};
  Refuses(entry("int"), "invalid_launch", "takes 4 arguments, the launch has 3");
  launches_.clear();
  Refuses(entry("int"), "invalid_launch", "takes 4 arguments, the launch has 3");
}

TEST_F(WhitelistTest, RefusesAWorkspaceWithTheNameOfAParameter) {
  launches_.emplace_back();
  launches_[0].entry = "v";
  launches_[0].arguments = {"in", "out", "n", "sums"};
  const std::string entry =
      "__global__ void v(const float* in, float* out, int n, float* sums) { sums[0] = in[n]; }\n";
  for (const char* name : {"sums", "out"}) {
    workspace_.emplace_back();
    workspace_.back().name = name;
    workspace_.back().bytes = "4";
    if (name == std::string("sums")) {
      Passes(entry);
    } else {
      Refuses(entry, "invalid_launch", "the workspace 'out' has the name of a parameter");
    }
  }
}

TEST_F(WhitelistTest, RefusesCallsOfTheHost) {
  const auto body = [](const std::string& text) {
    return "__global__ void v(const float* in, float* out, int n) { " + text + " }";
  };
  Refuses(body("system(\"true\");"), "forbidden_construct", "system");
  Refuses(body("printf(\"x\");"), "forbidden_construct", "printf");
  Refuses(body("void* p = malloc(4); out[0] = p != nullptr;"), "forbidden_construct", "malloc");
  Refuses(body("void* p; cudaMalloc(&p, 4);"), "forbidden_construct", "cudaMalloc");
  Refuses(body("int (*f)(const char*) = system; f(\"true\");"), "forbidden_construct");
  Refuses(body("((void (*)())0)();"), "forbidden_construct");
  Refuses(body("static int calls = 0; ++calls;"), "forbidden_construct", "static");
  Refuses(body("float* p = new float[4]; out[0] = p[0];"), "forbidden_construct", "new");
  Refuses(body("image::k<<<1, 1>>>(in, out, n);"), "forbidden_construct", "launch");
}

// With one a variant could see that it is watched.
TEST_F(WhitelistTest, RefusesClocks) {
  const auto body = [](const std::string& text) {
    return "__global__ void v(const float* in, float* out, int n) { " + text + " }";
  };
  Refuses(body("out[0] = clock64() != 0 ? in[0] : 0.0f;"), "forbidden_construct", "reads a clock");
  Refuses(body("out[0] = clock() & 1;"), "forbidden_construct", "reads a clock");
  Refuses(body("__nanosleep(100); out[0] = in[0];"), "forbidden_construct", "sleeps");
  Refuses("template <class T> __device__ T late(T x) { return x + clock64(); }\n" +
              body("out[0] = late(in[0]);"),
          "forbidden_construct", "clock64");
}

TEST_F(WhitelistTest, RefusesFastMathThatTheOriginalDoesNotUse) {
  const auto body = [](const std::string& text) {
    return "__global__ void v(const float* in, float* out, int n) { out[0] = " + text + "; }";
  };
  Refuses(body("__expf(in[0])"), "forbidden_numerics", "__expf");
  Refuses(body("__fdividef(in[0], in[1])"), "forbidden_numerics", "__fdividef");
  EXPECT_TRUE(Check(body("__logf(in[0])")).passed);
}

TEST_F(WhitelistTest, SaysWhatDoesNotParse) {
  Refuses("__global__ void v(const float* in) { undeclared(in); }", "build_failed");
  // By lines of the variant, which are all that its author knows.
  Refuses("__global__ void v(const float* in) {\n  float x = in[0];\n  y += x;\n}", "build_failed",
          "line 3 of the variant: use of undeclared identifier 'y', in '  y += x;'");
  const auto reply = Check(kPlain, "w");
  EXPECT_EQ(reply.reason, "invalid_launch");
}

}  // namespace
}  // namespace cupilot::source
