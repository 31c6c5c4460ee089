// Lambdas that kernel templates are launched with: written as function objects, or declined with a
// line.
#include <algorithm>
#include <cstdlib>

#include "scan_fixture.h"
#include "source/lambda.h"
#include "source/unit.h"

namespace cupilot::source {
namespace {

constexpr const char* kMap = R"(enum class Mode { kA };
// cupilot: tune
template <class F>
__global__ void map(float* out, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = f(i);
}
)";

class LambdasTest : public ScanFixture {
 protected:
  records::Kernel Kernel(const std::string& launch) const { return OneKernel(kMap + launch); }
  // The reason for a lambda that is the argument of a launch in line 10.
  std::string Reason(const std::string& lambda, const std::string& before = "") const {
    return Kernel("\nvoid run(float* g, int k) {" + before + "\n  map<<<1, 64>>>(g, 64, " + lambda +
                  ");\n}\n")
        .declined;
  }
};

TEST_F(LambdasTest, CapturesAreMembersInOrder) {
  const records::Kernel kernel = Kernel(R"(
namespace user {
struct Pair { short a; double b; };
void run(float* g, const float* in, Pair pair) {
  const int add = 5;
  map<<<1, 64>>>(g, 64, [=] __device__(int i) { return add + pair.b * in[i]; });
}
})");
  EXPECT_EQ(kernel.declined, "");
  EXPECT_EQ(kernel.label, "map<user::run::lambda_1>");
  ASSERT_EQ(kernel.made_types.size(), 1u);
  const records::MadeType& type = kernel.made_types[0];
  EXPECT_EQ(type.namespaces, std::vector<std::string>{"user"});
  const std::size_t pair = type.text.find("  user::Pair pair;");
  const std::size_t in = type.text.find("  const float *in;");
  ASSERT_TRUE(pair < in && in != std::string::npos) << type.text;
  // A constant: g++ captures none.
  EXPECT_NE(type.text.find("  static constexpr const int add = 5;"), std::string::npos)
      << type.text;
  EXPECT_EQ(type.name, kernel.parameters[2].canonical);
  EXPECT_TRUE(type.holds_pointers);
  EXPECT_TRUE(type.integers.empty());
  EXPECT_NE(type.text.find("__device__ double operator()(int i) const { return"), std::string::npos)
      << type.text;
  // The structure, the pointer behind it.
  ASSERT_EQ(kernel.parameters.size(), 3u);
  EXPECT_EQ(kernel.parameters[2].bytes, 24);
  EXPECT_TRUE(kernel.parameters[2].canonical.starts_with("user::cupilot_lambda_"));
  EXPECT_EQ(kernel.template_arguments, std::vector<std::string>{kernel.parameters[2].canonical});
  EXPECT_NE(kernel.closure_source.find("struct Pair"), std::string::npos);
  EXPECT_EQ(kernel.instance, "map FvPfiZN4user3runES_PKfNS0_4PairEEUliE_E");
  // What a capture's type follows from is no part of the closure: no edit leaves it as it is.
  EXPECT_TRUE(kernel.depends_on_lines);
}

TEST_F(LambdasTest, KeyFollowsTextAndTypes) {
  const auto key = [&](const std::string& type, const std::string& text) {
    return Kernel("void run(float* g, " + type +
                  " k) {\n map<<<1, 64>>>(g, 64, [k] __device__(int i) {" + text + "});\n}")
        .key;
  };
  const std::string known = key("int", "return i * k;");
  EXPECT_EQ(key("int", "return i /* a comment */ * k;"), known);
  EXPECT_NE(key("int", "return i + k;"), known);
  EXPECT_NE(key("float", "return i * k;"), known);
}

TEST_F(LambdasTest, EachLambdaIsAKernel) {
  const protocol::ScanReply reply = ScanText(std::string(kMap) + R"(
template <class F> void launch(float* g, F f) { map<<<1, 64>>>(g, 64, f); }
namespace {
void run(float* g, int k) {
  launch(g, [] __device__(int i) { return i; });
  launch(g, [=] __host__ __device__(int i) { return i * k; });
  launch(g, [x = k + 1, k] __device__(int i) mutable { return i * ++k + x; });
}
}
void other(float* g) { run(g, 3); })");
  ASSERT_EQ(reply.kernels.size(), 3u);
  std::vector<std::string> labels;
  for (const records::Kernel& kernel : reply.kernels) {
    EXPECT_EQ(kernel.declined, "");
    labels.push_back(kernel.label);
  }
  std::sort(labels.begin(), labels.end());
  EXPECT_EQ(labels, (std::vector<std::string>{"map<run::lambda_1>", "map<run::lambda_2>",
                                              "map<run::lambda_3>"}));
  EXPECT_NE(reply.kernels[0].signature, reply.kernels[1].signature);
  EXPECT_NE(reply.kernels[0].key, reply.kernels[1].key);
}

TEST_F(LambdasTest, TheBodyReachesWhatItNames) {
  const records::Kernel kernel = Kernel(R"(
namespace tools {
__device__ float weight(double x) { return x * 2; }
enum Mode { kSoft = 3 };
void run(float* g) {
  map<<<1, 64>>>(g, 64, [] __device__(int i) { return weight(i) + kSoft; });
}
__device__ float weight(int x) { return x; }
})");
  // The later overload would be taken where the function object stands.
  EXPECT_NE(kernel.declined.find("would name other things (tools::weight float (double))"),
            std::string::npos)
      << kernel.declined;
}

TEST_F(LambdasTest, InATemplateOfOneLambda) {
  const std::string text = R"(
template <class T> void fill(float* g, T value) {
  map<<<1, 64>>>(g, 64, [=] __device__(int i) { return BODY; });
}
void run(float* g) { fill(g, 3); fill(g, 3.5f); })";
  const auto with = [&](const std::string& body) {
    std::string full = kMap + text;
    return ScanText(full.replace(full.find("BODY"), 4, body));
  };
  const protocol::ScanReply plain = with("value * i");
  ASSERT_EQ(plain.kernels.size(), 2u);
  EXPECT_EQ(plain.kernels[0].declined, "");
  EXPECT_EQ(plain.kernels[1].declined, "");
  EXPECT_NE(plain.kernels[0].key, plain.kernels[1].key);
  EXPECT_NE(plain.kernels[0].label, plain.kernels[1].label);
  // Its text outside of the template would mean another thing, or nothing.
  const protocol::ScanReply named = with("value * T(i)");
  ASSERT_EQ(named.kernels.size(), 2u);
  EXPECT_NE(named.kernels[0].declined, "");
  EXPECT_NE(named.kernels[1].declined, "");
}

TEST_F(LambdasTest, DeclinedWithTheLambdasLine) {
  const std::string where = "'map' is not tuned: the lambda in " + folder_ + "/main.cu:10 ";
  const auto expect = [&](const std::string& lambda, const std::string& why,
                          const std::string& before = "") {
    const std::string reason = Reason(lambda, before);
    EXPECT_NE(reason.find(where + why), std::string::npos) << lambda << ": " << reason;
  };
  expect("[&k] __device__(int i) { return k; }", "captures 'k' by reference");
  expect("[=](int i) { return k; }", "is not marked __device__");
  expect("[=] __device__(auto i) { return k; }", "is generic");
  expect("[=] __device__(int i) { return table[i]; }", "captures the array 'table'",
         "int table[4] = {};");
  expect("[=] __device__(int i) { return some.x * i; }",
         "uses 'some' of the function around it without a capture", "static dim3 some(3);");
  const std::string differ = "where compilers differ in what they capture; list its captures";
  expect("[=] __device__(int i) { switch (i) { case some: return 1; } return some; }",
         "uses 'some' " + differ, "const int some = 3;");
  expect("[=] __device__(int i) { const int& use = some; return use; }", "uses 'some' " + differ,
         "const int some = 3;");
  expect("[=] __device__(int i) { return int(sizeof(k)) + k; }", "uses 'k' " + differ);
  expect("[&] __device__(int i) { return some; }", "captures 'some' by reference",
         "const int some = 3;");
  expect("[=] __device__(int i) { auto f = [=](int j) { return j * k; }; return f(i); }",
         "has another lambda in it");
  expect("[=] __device__(int i) { return int(mode) * i; }",
         "captures 'mode', which no guard can compare", "Mode mode = Mode(k);");
  expect("[=] __device__(int i) { return own.a * i; }", "captures 'own' of 'Own', a type that",
         "struct Own { int a; } own = {k};");
  expect("[=] __device__(int i) { return __func__[i]; }", "asks for the name of the function");
}

// nvcc captures constants where they are first used, and its object of a lambda for host and device
// holds a pointer more.
TEST_F(LambdasTest, AsNvccCaptures) {
  Lambda lambda;
  lambda.name = "cupilot_lambda_1";
  lambda.members = {{"int *out", "out", ""}, {"const int add", "add", "5"}, {"int k", "k", ""}};
  lambda.constants = {{"const float half", "half", "5.0e-01f"}};
  lambda.call = "void operator()(int i) const { out[i] = k + add * half; }";
  EXPECT_EQ(MadeTypeOf(lambda, false).text,
            "struct cupilot_lambda_1 {\n  static constexpr const float half = 5.0e-01f;\n"
            "  int *out;\n  const int add;\n  int k;\n  __device__ " +
                lambda.call + "\n};\n");
  EXPECT_EQ(MadeTypeOf(lambda, true).text,
            "struct cupilot_lambda_1 {\n  static constexpr const float half = 5.0e-01f;\n"
            "  int *out;\n  static constexpr const int add = 5;\n  int k;\n  __device__ " +
                lambda.call + "\n};\n");
  lambda.host_device = true;
  EXPECT_EQ(MadeTypeOf(lambda, false).text,
            "struct cupilot_lambda_1 {\n  static constexpr const float half = 5.0e-01f;\n"
            "  int *out;\n  const int add;\n  int k;\n  void *cupilot_of_host;\n"
            "  __host__ __device__ " +
                lambda.call + "\n};\n");
  lambda.members.clear();
  EXPECT_EQ(MadeTypeOf(lambda, false).text.find("cupilot_of_host"), std::string::npos);
}

// Where a text uses them first, not where clang decides it: at the end of a statement.
TEST_F(LambdasTest, ConstantsStandWhereTheyAreUsed) {
  Write("main.cu", std::string(kMap) + R"(
void run(float* g, int k) {
  const int low = 3;
  constexpr double high = 0.1;
  map<<<1, 64>>>(g, 64, [=] __device__(int i) { return i < low ? high : k; });
})");
  protocol::ScanRequest request;
  request.command = Command();
  const auto unit = LoadUnit(request.command, {});
  ASSERT_TRUE(unit);
  const Tree& tree = (*unit)->parsed.tree;
  ASSERT_EQ(tree.instantiations.size(), 1u);
  const std::vector<const Lambda*> lambdas = LambdasOf(tree.instantiations[0]);
  ASSERT_EQ(lambdas.size(), 1u);
  EXPECT_EQ(lambdas[0]->problem, "");
  ASSERT_EQ(lambdas[0]->members.size(), 3u);
  EXPECT_EQ(lambdas[0]->members[0].declaration, "const int low");
  EXPECT_EQ(lambdas[0]->members[0].value, "3");
  EXPECT_EQ(lambdas[0]->members[1].declaration, "const double high");
  EXPECT_EQ(std::strtod(lambdas[0]->members[1].value.c_str(), nullptr), 0.1);
  EXPECT_EQ(lambdas[0]->members[2].declaration, "int k");
  // nvcc holds all three, g++ the last.
  using Integer = records::MadeType::Integer;
  const records::MadeType by_nvcc = MadeTypeOf(*lambdas[0], false);
  EXPECT_EQ(by_nvcc.integers, (std::vector<Integer>{{"low", 0, 4, true}, {"k", 16, 4, true}}));
  EXPECT_FALSE(by_nvcc.holds_pointers);
  EXPECT_EQ(MadeTypeOf(*lambdas[0], true).integers, (std::vector<Integer>{{"k", 0, 4, true}}));
}

TEST_F(LambdasTest, OfAMemberFunction) {
  const records::Kernel copied = Kernel(R"(
struct Solver {
  int k;
  void run(float* g) {
    const int times = k;
    map<<<1, 64>>>(g, 64, [=] __device__(int i) { return i * times; });
  }
};
void go(Solver& s, float* g) { s.run(g); })");
  EXPECT_EQ(copied.declined, "");
  const records::Kernel itself = Kernel(R"(
struct Solver {
  int k;
  void run(float* g) { map<<<1, 64>>>(g, 64, [=] __device__(int i) { return i * k; }); }
};
void go(Solver& s, float* g) { s.run(g); })");
  EXPECT_NE(itself.declined.find("captures 'this'"), std::string::npos) << itself.declined;
}

// g++ 12 and clang do not give the last of these the same name.
TEST_F(LambdasTest, NamesThatCompilersDoNotAgreeOn) {
  const records::Kernel kernel = Kernel(R"(
void run(float* g, int k) {
  auto first = [](float) { return 1; };
  map<<<1, 64>>>(g, first(2), [=] __device__(int i) { return i * k; });
})");
  EXPECT_NE(kernel.declined.find("compilers do not agree on its name"), std::string::npos)
      << kernel.declined;
}

TEST_F(LambdasTest, InsideOtherTypesTheyHaveNoName) {
  const records::Kernel kernel = Kernel(R"(
template <class F> struct Twice { F f; __device__ float operator()(int i) { return 2 * f(i); } };
template <class F> void launch(float* g, F f) { map<<<1, 64>>>(g, 64, Twice<F>{f}); }
void run(float* g) { launch(g, [] __device__(int i) { return i; }); })");
  EXPECT_NE(kernel.declined.find("a lambda, whose type has no name"), std::string::npos)
      << kernel.declined;
}

}  // namespace
}  // namespace cupilot::source
