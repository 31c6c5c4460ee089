#include "source/lower/bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "source/lower/lower.h"
#include "source/lower/thread_index.h"
#include "source/syntax/query.h"
#include "tests/daemon/source/lower/lowered_text.h"

namespace cupilot::source {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kIndex = "const int i = blockIdx.x * blockDim.x + threadIdx.x; ";
const std::string kUnsigned = "const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; ";

ThreadIndex IndexOf(const Tree& tree) { return ThreadIndexOf(tree, Kernels(tree).at(0)); }
Tree KernelWith(const std::string& body) {
  return ParseText(
      "__device__ bool effect(int v);\n__global__ void k(int* out, int n, int m, unsigned u) { " +
      body + " }\n");
}
// "upper i < n", in order.
std::vector<std::string> BoundsOf(const std::string& body) {
  const Tree tree = KernelWith(body);
  std::vector<std::string> texts;
  for (const Bound& bound : IndexOf(tree).bounds) {
    texts.push_back(std::string(bound.upper && bound.lower ? "any "
                                : bound.upper              ? "upper "
                                                           : "lower ") +
                    std::string(tree.TextOf(bound.condition)));
  }
  return texts;
}

TEST(BoundsTest, AConditionAroundTheRestIsOne) {
  EXPECT_THAT(BoundsOf(kIndex + "if (i < n) out[i] = 1;"), ElementsAre("upper i < n"));
  EXPECT_THAT(BoundsOf(kIndex + "if (n >= i) out[i] = 1;"), ElementsAre("upper n >= i"));
  EXPECT_THAT(BoundsOf(kIndex + "if (i > n) out[i] = 1;"), ElementsAre("lower i > n"));
  EXPECT_THAT(BoundsOf(kIndex + "if (i + 1 < n && i >= m) out[i] = 1;"),
              ElementsAre("upper i + 1 < n", "lower i >= m"));
  EXPECT_THAT(BoundsOf(kIndex + "if (n > m && i < n) out[i] = 1;"),
              ElementsAre("any n > m", "upper i < n"));
  EXPECT_THAT(BoundsOf("if (threadIdx.x < n) out[0] = 1;"), ElementsAre("upper threadIdx.x < n"));
}
TEST(BoundsTest, AnEarlyReturnIsOneTheOtherWayRound) {
  EXPECT_THAT(BoundsOf(kIndex + "if (i >= n) return; out[i] = 1;"), ElementsAre("upper i >= n"));
  EXPECT_THAT(BoundsOf(kIndex + "if (i < n) { return; } out[i] = 1;"), ElementsAre("lower i < n"));
  EXPECT_THAT(BoundsOf(kIndex + "if (i >= n || i < m) return; out[i] = 1;"),
              ElementsAre("upper i >= n", "lower i < m"));
}
TEST(BoundsTest, WhatIsNotMonotoneIsNone) {
  for (const char* condition :
       {"i == n", "i != n", "i % 4 < n", "(i & 3) < n", "i * i < n", "i * m < n"}) {
    EXPECT_THAT(BoundsOf(kIndex + "if (" + condition + ") out[i] = 1;"), IsEmpty()) << condition;
  }
  for (const char* condition : {"i - 5 < u", "u - i > 3", "i * 2654435761u < u", "i + n < u"}) {
    EXPECT_THAT(BoundsOf(kUnsigned + "if (" + condition + ") out[i] = 1;"), IsEmpty()) << condition;
  }
  EXPECT_THAT(BoundsOf("const short i = threadIdx.x * 999; if (i < n) out[0] = 1;"), IsEmpty());
}
TEST(BoundsTest, BranchesAndWhatStandsBesideThemAreNone) {
  for (const char* rest :
       {"if (i < n) out[i] = 1; else out[i] = 2;", "if (i < n) out[i] = 1; out[0] = 2;",
        "out[0] = 1; if (i >= n) return;", "if (i >= n) { out[0] = 1; return; } out[i] = 2;"}) {
    EXPECT_THAT(BoundsOf(kIndex + rest), IsEmpty()) << rest;
  }
}
TEST(BoundsTest, NothingIsTakenBehindAnEffect) {
  EXPECT_THAT(BoundsOf(kIndex + "if (effect(1) && i < n) out[i] = 1;"), IsEmpty());
  EXPECT_THAT(BoundsOf(kIndex + "if (i < n && effect(1)) out[i] = 1;"), ElementsAre("upper i < n"));
  EXPECT_THAT(BoundsOf(kIndex + "if (effect(1)) return; if (i >= n) return; out[i] = 1;"),
              IsEmpty());
  EXPECT_THAT(BoundsOf(kIndex + "if ((n = m) > 0 && i < n) out[i] = 1;"), IsEmpty());
}
TEST(BoundsTest, AStatementThatLoadsIsNotExecutedAheadOfItsGuard) {
  EXPECT_THAT(BoundsOf(kIndex + "if (i >= n) return; const int v = out[i], j = i + 1; "
                                "if (j >= m) return; out[j] = v;"),
              ElementsAre("upper i >= n"));
}

TEST(ThreadIndexTest, FindsTheSumAndItsWidth) {
  EXPECT_EQ(IndexOf(KernelWith(kIndex + "out[i] = 1;")).width, kBlockWidth);
  EXPECT_EQ(IndexOf(KernelWith("int i = threadIdx.x + 32 * blockIdx.x; out[i] = 1;")).width, "32u");
  EXPECT_THAT(IndexOf(KernelWith("int i = blockIdx.x * n + threadIdx.x; out[i] = 1;")).sums,
              IsEmpty());
  EXPECT_THAT(
      IndexOf(KernelWith("int i = blockIdx.y * blockDim.x + threadIdx.x; out[i] = 1;")).sums,
      IsEmpty());
  EXPECT_THAT(
      IndexOf(KernelWith("int i = blockIdx.x * blockDim.y + threadIdx.x; out[i] = 1;")).sums,
      IsEmpty());
}
TEST(ThreadIndexTest, IsFlatWhereXIsUsedInTheSumOnly) {
  EXPECT_TRUE(IndexOf(KernelWith(kIndex + "out[i] = blockDim.x + threadIdx.y;")).flat);
  EXPECT_FALSE(IndexOf(KernelWith(kIndex + "out[i] = threadIdx.x;")).flat);
  EXPECT_FALSE(IndexOf(KernelWith(kIndex + "out[i] = blockIdx.x;")).flat);
}

std::string Lowered(const std::string& text) {
  const Tree tree = ParseText(text);
  const auto lowered = Lower(tree, LowerOptions{});
  EXPECT_TRUE(lowered.has_value());
  return lowered.value_or("");
}

TEST(LowerTest, AttributesGoAndLaunchesBecomeCalls) {
  const std::string text = Lowered(
      "__global__ void __launch_bounds__(64) k(int* p, int n = 3) { *p = n; }\n"
      "void run(int* p) { k<<<1, 2, 3>>>(p, 4); }\n");
  EXPECT_THAT(text, Not(HasSubstr("__attribute__((global))")));
  EXPECT_THAT(text, Not(HasSubstr("<<<")));
  EXPECT_THAT(text, HasSubstr("__cudaPushCallConfiguration(1, 2, 3)"));
  EXPECT_THAT(text, HasSubstr("int n = 3"));
}
TEST(LowerTest, ADefaultOfAnEarlierDeclarationStaysThere) {
  const std::string text = Lowered(
      "__global__ void k(int* p, int n = 3);\n__global__ void k(int* p, int n) { *p = n; }\n");
  EXPECT_EQ(text.find("= 3"), text.rfind("= 3"));
}
TEST(LowerTest, SharedArraysAreTheThreadsOfTheOperatingSystem) {
  const std::string text = Lowered(
      "__global__ void k(int* p) { __shared__ int a[4]; extern __shared__ float b[]; a[0] = 1; "
      "b[0] = 2; "
      "__syncthreads(); *p = a[0]; }\n");
  EXPECT_THAT(text, HasSubstr("thread_local"));
  EXPECT_THAT(text, HasSubstr("cupilot_t.dynamic_shared"));
  EXPECT_THAT(text, HasSubstr("run_waiting<"));
}
TEST(LowerTest, AFunctionThatAsksForTheThreadKeepsBlocksApart) {
  const std::string text = Lowered(
      "__device__ int place() { return threadIdx.x; }\n"
      "__global__ void k(int* p) { " +
      kIndex + "p[i] = place(); }\n");
  EXPECT_THAT(text, HasSubstr("::cupilot_host_current()->threadIdx.x"));
  EXPECT_THAT(text, HasSubstr("shape<::cupilot_host::block_width, false, true>"));
}
TEST(LowerTest, ATemplateHeadIsKept) {
  const std::string text = Lowered(
      "template <class T, int N = 2>\n__global__ void k(T* p) { *p = N; }\n"
      "void run(int* p) { k<int, 3><<<1, 1>>>(p); }\n");
  EXPECT_THAT(text, HasSubstr("cupilot_body_k<T, N>"));
  EXPECT_THAT(text, HasSubstr("run_plain<"));
}

}  // namespace
}  // namespace cupilot::source
