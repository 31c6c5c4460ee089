#include "source/syntax/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What a runtime header gives after preprocessing, in the form of line markers that g++ writes.
constexpr const char* kRuntime = R"(# 1 "user.cu"
# 1 "/opt/toolkit/include/cuda_runtime.h" 1 3
struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {} };
extern const uint3 threadIdx, blockIdx; extern const dim3 blockDim, gridDim;
__attribute__((device)) void __syncthreads();
__attribute__((device)) __attribute__((host)) float sqrtf(float);
template <class T> __attribute__((device)) T __ldg(const T* p) { return *p; }
# 2 "user.cu" 2
)";

ParseOutcome ParseUser(const std::string& text) {
  ParseOptions options;
  options.preprocessed = true;
  options.file_name = "user.cu";
  auto outcome = Parse(kRuntime + text, options);
  EXPECT_TRUE(outcome.has_value());
  return outcome ? std::move(*outcome) : ParseOutcome{};
}

TEST(Parse, TakesALaunchConfigurationInBraces) {
  const ParseOutcome outcome = ParseUser(R"(
__attribute__((global)) void k(int* out, int n);
void run(int* p, int n) {
  k<<<{4, 1, 1}, { 32u }>>>(p, n);
  k<<<{(n + 31) / 32}, dim3{32}, 0>>>(p, 3);
}
)");
  EXPECT_THAT(outcome.errors, IsEmpty());
  const Tree& tree = outcome.tree;
  const std::vector<NodeId> launches = FindAll(tree, 0, Kind::kKernelLaunch);
  ASSERT_EQ(launches.size(), 2u);
  std::vector<std::string> written;
  for (const NodeId launch : launches) {
    for (const NodeId id : LaunchConfiguration(tree, launch)) {
      written.emplace_back(tree.TextOf(id));
    }
  }
  EXPECT_THAT(written, ElementsAre("{4, 1, 1}", "{ 32u }", "{(n + 31) / 32}", "dim3{32}", "0"));
}

TEST(Parse, KeepsAKernelWithItsPlaces) {
  const ParseOutcome outcome = ParseUser(R"(
namespace image { namespace {
__attribute__((global)) void scale(const float* in, float *out, int n, float k = 2) {
  __attribute__((shared)) float tile[32][33];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = sqrtf(in[i]) * k;
  __syncthreads();
}
} }
)");
  EXPECT_THAT(outcome.errors, IsEmpty());
  const Tree& tree = outcome.tree;
  const NodeId kernel = FindDefinition(tree, "image::scale");
  ASSERT_NE(kernel, kNone);
  const Node& node = tree.at(kernel);
  EXPECT_EQ(node.name, "scale");
  EXPECT_TRUE(Has(tree, kernel, kGlobalAttr | kDefinition));
  EXPECT_FALSE(Has(tree, kernel, kHostAttr));
  EXPECT_THAT(NamespacesOf(tree, kernel), ElementsAre("image", ""));
  EXPECT_TRUE(tree.TextOf(kernel).starts_with("__attribute__((global)) void scale("));
  EXPECT_TRUE(tree.TextOf(kernel).ends_with("}"));
  EXPECT_EQ(tree.text[node.parameters_begin], '(');
  EXPECT_EQ(tree.text[node.parameters_end], ')');
  EXPECT_EQ(tree.text.substr(node.type_begin, node.type_end - node.type_begin), "void");
  const std::vector<NodeId> parameters = Parameters(tree, kernel);
  ASSERT_EQ(parameters.size(), 4u);
  const Node& in = tree.at(parameters[0]);
  EXPECT_EQ(in.type, "const float *");
  EXPECT_EQ(tree.text.substr(in.type_begin, in.type_end - in.type_begin), "const float*");
  EXPECT_EQ(tree.TextOf(parameters[3]), "float k = 2");
  const std::vector<NodeId> variables = FindAll(tree, kernel, Kind::kVariable);
  ASSERT_EQ(variables.size(), 2u);
  EXPECT_TRUE(Has(tree, variables[0], kSharedAttr | kLocal));
  EXPECT_EQ(tree.at(variables[0]).canonical, "float[32][33]");
  EXPECT_TRUE(Has(tree, variables[1], kConst));
  const std::vector<NodeId> calls = FindAll(tree, kernel, Kind::kCall);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(tree.at(calls[0]).name, "sqrtf");
  EXPECT_EQ(tree.at(tree.at(calls[0]).declaration).header, "cuda_runtime.h");
  EXPECT_TRUE(Has(tree, tree.at(calls[0]).declaration, kSystem));
  EXPECT_THAT(Kernels(tree), ElementsAre(kernel));
}

TEST(Parse, KeepsLaunchesWithTheirConfigurationAsWritten) {
  const ParseOutcome outcome = ParseUser(R"(
__attribute__((global)) void k(float* p, int n) {}
template <class T> __attribute__((global)) void t(T* p) {}
template <class T> void run(T* p) { t<T><<<1, 32>>>(p); }
void f(float* p) {
  k<<<4, dim3(8, 8), 16>>>(p, 3);
  t<<<1, 2>>>(p);
  run(p);
}
)");
  EXPECT_THAT(outcome.errors, IsEmpty());
  const Tree& tree = outcome.tree;
  const std::vector<NodeId> launches = FindAll(tree, 0, Kind::kKernelLaunch);
  ASSERT_EQ(launches.size(), 3u);
  EXPECT_EQ(tree.TextOf(launches[1]), "k<<<4, dim3(8, 8), 16>>>(p, 3)");
  const std::vector<NodeId> configuration = LaunchConfiguration(tree, launches[1]);
  ASSERT_EQ(configuration.size(), 3u);
  EXPECT_EQ(tree.TextOf(configuration[0]), "4");
  EXPECT_EQ(tree.TextOf(configuration[1]), "dim3(8, 8)");
  EXPECT_EQ(Arguments(tree, launches[1]).size(), 2u);
  EXPECT_EQ(tree.at(launches[1]).declaration, FindDefinition(tree, "k"));
  EXPECT_EQ(tree.at(launches[2]).declaration, FindDefinition(tree, "t"));
  EXPECT_EQ(tree.TextOf(Callee(tree, launches[0])), "t<T>");
}

TEST(Parse, ConvertsTemplatesAsWritten) {
  const ParseOutcome outcome = ParseUser(R"(
template <class T, int N> struct Tile {
  T data[N];
  __attribute__((device)) T sum() const { T s = 0; for (int i = 0; i < N; ++i) s += data[i]; return s; }
};
template <typename T> __attribute__((device)) T twice(T v) { return v + v; }
__attribute__((global)) void k(float* p) {
  Tile<float, 4> tile;
  tile.data[0] = twice(p[0]);
  p[0] = tile.sum() + twice<float>(1.0f);
}
)");
  EXPECT_THAT(outcome.errors, IsEmpty());
  const Tree& tree = outcome.tree;
  const NodeId kernel = FindDefinition(tree, "k");
  const std::vector<NodeId> reached = Reached(tree, kernel);
  std::vector<std::string> names;
  for (const NodeId id : reached) names.push_back(tree.at(id).qualified);
  EXPECT_THAT(names, ::testing::IsSupersetOf({"Tile", "twice"}));
  const NodeId sum = tree.at(FindAll(tree, kernel, Kind::kMemberCall).at(0)).declaration;
  ASSERT_NE(sum, kNone);
  EXPECT_EQ(tree.at(sum).name, "sum");
  const NodeId twice = FindDefinition(tree, "twice");
  EXPECT_TRUE(Has(tree, twice, kTemplate));
  EXPECT_TRUE(tree.text.substr(tree.at(twice).template_begin).starts_with("template <typename T>"));
  EXPECT_EQ(FindAll(tree, FindByName(tree, "Tile").at(0), Kind::kFor).size(), 1u);
}

TEST(Parse, KnowsTheValuesOfConstants) {
  const ParseOutcome outcome = ParseUser(R"(
constexpr int kSide = 4 * 8;
__attribute__((constant)) float weights[kSide + 1];
enum Mode { kFast = 3 };
__attribute__((global)) void k(float* p) { p[kSide * 2] = weights[kFast]; }
)");
  const Tree& tree = outcome.tree;
  const NodeId side = FindByName(tree, "kSide").at(0);
  EXPECT_EQ(tree.at(side).value, "32");
  const NodeId weights = FindByName(tree, "weights").at(0);
  EXPECT_TRUE(Has(tree, weights, kConstantAttr));
  EXPECT_EQ(tree.at(weights).canonical, "float[33]");
  EXPECT_THAT(tree.at(weights).types_used, ::testing::Contains(side));
  const std::vector<NodeId> subscripts = FindAll(tree, FindDefinition(tree, "k"), Kind::kSubscript);
  ASSERT_EQ(subscripts.size(), 2u);
  EXPECT_EQ(tree.at(Child(tree, subscripts[0], 1)).value, "64");
}

TEST(Parse, ReportsErrorsOfUserTextWithTheirPlace) {
  const ParseOutcome outcome = ParseUser("void f() { undeclared(1); }\nint g() { return 1; }\n");
  ASSERT_EQ(outcome.errors.size(), 1u);
  EXPECT_EQ(outcome.errors[0].file, "user.cu");
  EXPECT_EQ(outcome.errors[0].line, 2);
  EXPECT_NE(FindDefinition(outcome.tree, "g"), kNone);
}

TEST(Parse, TakesAVariableWhoseTypeFollowsFromAnError) {
  const ParseOutcome outcome =
      ParseUser("void f() { auto cluster = missing::cluster(); cluster.sync(); }\nint g();\n");
  EXPECT_FALSE(outcome.errors.empty());
  EXPECT_NE(FindByName(outcome.tree, "g"), std::vector<NodeId>{});
}

TEST(Parse, PositionsOfBranchesAreFixed) {
  const ParseOutcome outcome = ParseUser(
      "int f(int a) { for (;;) { if (a) break; } while (a) --a; do { a++; } while (a < 3);"
      " return a ? 1 : 2; }\n");
  const Tree& tree = outcome.tree;
  const NodeId loop = FindAll(tree, 0, Kind::kFor).at(0);
  EXPECT_EQ(tree.at(loop).children.size(), 4u);
  EXPECT_EQ(Condition(tree, loop), kNone);
  EXPECT_EQ(tree.TextOf(LoopBody(tree, loop)), "{ if (a) break; }");
  EXPECT_EQ(tree.TextOf(Condition(tree, FindAll(tree, 0, Kind::kDo).at(0))), "a < 3");
  EXPECT_EQ(tree.TextOf(FindAll(tree, 0, Kind::kUnary).at(0)), "--a");
}

}  // namespace
}  // namespace cupilot::source
