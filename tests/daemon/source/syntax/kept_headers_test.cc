// Headers that are read once and kept: every text's tree is as if they had been read anew.
#include <gtest/gtest.h>

#include "source/syntax/parse.h"
#include "source/syntax/query.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::source {
namespace {

constexpr const char* kText = R"(#include <cuda_runtime.h>
#include <cassert>
#include <cmath>
#include <vector>

namespace std { struct Ours; }
struct Pair { float a; int b; };
template <class T> __device__ T Larger(T a, T b) { return a < b ? b : a; }
__constant__ float weights[16];
__global__ void k(const float* in, Pair* out, dim3 shape, std::size_t n) {
  __shared__ float tile[32];
  const std::size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i < n);
  tile[threadIdx.x] = fmaxf(in[i], std::sqrt(in[0])) + weights[i % 16];
  __syncthreads();
  if (i < n) out[i] = {Larger(tile[0], __ldg(in + i)), static_cast<int>(shape.x)};
}
std::vector<float> run(float* in, Pair* out, cudaStream_t stream) {
  k<<<dim3(4), 32, 0, stream>>>(in, out, dim3(1), 3);
  return std::vector<float>(3, 1.0f);
}
)";

ParseOptions HostOptions() {
  ParseOptions options;
  options.system_folders = {std::string(CUPILOT_TEST_SOURCE_DIR) + "/daemon/host_runtime/include"};
  return options;
}

ParseOutcome ParseWith(const std::string& text, ParseOptions options, bool keep) {
  options.keep_headers = keep;
  auto outcome = Parse(text, options);
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome.value_or(ParseOutcome{});
}

void ExpectSame(const Tree& a, const Tree& b) {
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  EXPECT_EQ(a.text, b.text);
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    const Node &x = a.nodes[i], &y = b.nodes[i];
    SCOPED_TRACE(std::to_string(i) + ": " + x.qualified + " " + x.name);
    EXPECT_EQ(x.kind, y.kind);
    EXPECT_EQ(x.flags, y.flags);
    EXPECT_EQ(x.parent, y.parent);
    EXPECT_EQ(x.begin, y.begin);
    EXPECT_EQ(x.end, y.end);
    EXPECT_EQ(x.name_begin, y.name_begin);
    EXPECT_EQ(x.name_end, y.name_end);
    EXPECT_EQ(x.template_begin, y.template_begin);
    EXPECT_EQ(x.parameters_begin, y.parameters_begin);
    EXPECT_EQ(x.parameters_end, y.parameters_end);
    EXPECT_EQ(x.type_begin, y.type_begin);
    EXPECT_EQ(x.type_end, y.type_end);
    EXPECT_EQ(x.declaration, y.declaration);
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.qualified, y.qualified);
    EXPECT_EQ(x.type, y.type);
    EXPECT_EQ(x.canonical, y.canonical);
    EXPECT_EQ(x.value, y.value);
    EXPECT_EQ(x.header, y.header);
    EXPECT_EQ(x.mangled, y.mangled);
    EXPECT_EQ(x.type_class, y.type_class);
    EXPECT_EQ(x.type_bytes, y.type_bytes);
    EXPECT_EQ(x.element, y.element);
    EXPECT_EQ(x.element_bytes, y.element_bytes);
    EXPECT_EQ(x.element_count, y.element_count);
    EXPECT_EQ(x.types_used, y.types_used);
    EXPECT_EQ(x.children, y.children);
  }
}

TEST(KeptHeaders, GiveTheSameTree) {
  for (const bool runtime : {false, true}) {
    SCOPED_TRACE(runtime);
    ParseOptions options = HostOptions();
    options.include_runtime = runtime;
    options.standard = "c++20";
    const ParseOutcome fresh = ParseWith(kText, options, false);
    EXPECT_TRUE(fresh.errors.empty()) << fresh.errors.front().message;
    ASSERT_NE(FindDefinition(fresh.tree, "k"), kNone);
    // The first may be the last, the second keeps what the third finds.
    for (int i = 0; i < 3; ++i) {
      SCOPED_TRACE(i);
      const ParseOutcome kept = ParseWith(kText, options, true);
      EXPECT_EQ(kept.kept_headers, i > 0);
      EXPECT_TRUE(kept.errors.empty()) << kept.errors.front().message;
      ExpectSame(fresh.tree, kept.tree);
    }
  }
}

TEST(KeptHeaders, ServeAnotherTextThatBeginsAlikeWithItsOwnErrors) {
  for (int i = 0; i < 3; ++i) ParseWith(kText, HostOptions(), true);
  const std::string text = std::string(kText) + "__device__ int wrong() { return nothing; }\n";
  const ParseOutcome fresh = ParseWith(text, HostOptions(), false);
  const ParseOutcome kept = ParseWith(text, HostOptions(), true);
  EXPECT_TRUE(kept.kept_headers);
  ExpectSame(fresh.tree, kept.tree);
  ASSERT_EQ(kept.errors.size(), 1u);
  ASSERT_EQ(fresh.errors.size(), 1u);
  EXPECT_EQ(kept.errors[0].message, fresh.errors[0].message);
  EXPECT_EQ(kept.errors[0].line, fresh.errors[0].line);
}

TEST(KeptHeaders, AreReadAnewWhenOneChanges) {
  const test::TemporaryFolder folder;
  folder.Write("ours.h", "#pragma once\ntypedef int Number;\n");
  ParseOptions options = HostOptions();
  options.system_folders.push_back(folder.path());
  const std::string text = "#include <cuda_runtime.h>\n#include <ours.h>\nNumber number;\n";
  const auto type = [&] {
    const ParseOutcome outcome = ParseWith(text, options, true);
    const std::vector<NodeId> found = FindByName(outcome.tree, "number");
    return found.size() == 1 ? outcome.tree.at(found[0]).canonical : "none";
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(type(), "int");
  folder.Write("ours.h", "#pragma once\ntypedef unsigned long Number;\n");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(type(), "unsigned long");
}

}  // namespace
}  // namespace cupilot::source
