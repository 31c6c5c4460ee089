// The step "undefined": what gives right results here and is not defined all the same, at the line
// of the variant; and what is defined, or the original's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/daemon/worker/stages/watched_rig.h"

namespace cupilot::evaluate {
namespace {

using records::Json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kLoad = "  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n";
const std::string kSync = "  __syncthreads();\n";

class UndefinedTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { rig_ = new WatchedRig("undefined", kSums, 4); }
  static void TearDownTestSuite() { delete std::exchange(rig_, nullptr); }
  void SetUp() override {
    rig_->finalists().others = rig_->finalists().refuse_watched_builds = false;
  }

  static std::string NoteOf(const records::Evaluation& evaluation) {
    return WatchedRig::NotesOf(evaluation, "undefined");
  }
  // By this step, and by nothing where it is left out.
  static void ExpectOnlyCaughtHere(const std::string& reason, const std::string& detail,
                                   const Json& variant) {
    const records::Evaluation evaluation = rig_->Evaluate(variant);
    EXPECT_FALSE(evaluation.accepted) << NoteOf(evaluation);
    EXPECT_EQ(evaluation.reason, reason) << evaluation.detail;
    EXPECT_THAT(evaluation.detail,
                AllOf(StartsWith("undefined behaviour: "), HasSubstr(detail),
                      HasSubstr("of the variant: '"), HasSubstr("(case 'all', seed")));
    EXPECT_EQ(evaluation.metrics["verify"]["undefined"].value("caught", ""), "undefined");
    rig_->finalists().others = true;
    ExpectAccepted(variant);
    rig_->finalists().others = false;
  }
  static records::Evaluation ExpectAccepted(const Json& variant) {
    return rig_->ExpectAccepted(variant);
  }

  inline static WatchedRig* rig_ = nullptr;
};

TEST_F(UndefinedTest, WhatIsRightIsInOrder) {
  const records::Evaluation evaluation = ExpectAccepted(Variant(
      kLoad +
      "  unsigned int wraps = in[i] * 2654435761u;\n  if (wraps + t == 77) part[t] += 0;\n" +
      kSync + kAddUp));
  EXPECT_THAT(NoteOf(evaluation), HasSubstr("case 'all': all are in order at its own size"));
}

TEST_F(UndefinedTest, AnOverflowThatWrapsBackIsFound) {
  ExpectOnlyCaughtHere(
      "forbidden_construct", "a signed overflow, 2147483647 + ",
      Variant(
          kLoad + kSync +
          "  volatile int start = 2147483647;\n  int sum = start;\n"
          "  if (t == 0) {\n    for (int k = 0; k < 64; ++k) sum += part[k];\n"
          "    sum -= 2147483647;\n    out[blockIdx.x] = sum;\n    atomicAdd(total, sum);\n  }"));
}

TEST_F(UndefinedTest, AShiftByAllBitsIsFoundAtItsLine) {
  ExpectOnlyCaughtHere("forbidden_construct",
                       "a shift of 'unsigned int' by 32 by thread (0,0,0) of block (0,0,0), line 6 "
                       "of the variant: 'const unsigned int all = 1u << bits;'",
                       Variant(kLoad +
                               "  const int bits = 32 - (t & 31);\n"
                               "  const unsigned int all = 1u << bits;\n"
                               "  if (bits < 32 && all == 0) part[t] = 0;\n" +
                               kSync + kAddUp));
}

TEST_F(UndefinedTest, AValueThatItsTypeCannotHoldIsFound) {
  ExpectOnlyCaughtHere("forbidden_construct", "to 'int', which cannot hold it",
                       Variant(kLoad +
                               "  const int far = static_cast<int>(1e10f * in[i]);\n"
                               "  if (far == 12345) part[t] = 0;\n" +
                               kSync + kAddUp));
}

// Of a thread's own arrays no watched access tells.
TEST_F(UndefinedTest, AnArrayOfAThreadHasBounds) {
  const std::string own = "  int own[4] = {0, 0, 0, 0};\n";
  ExpectOnlyCaughtHere("out_of_bounds", "index 4 of 'int [4]'",
                       Variant(kLoad + own +
                               "  int more = own[(t & 3) + 1];\n  if (t < 0) part[t] += more;\n"
                               "  *reinterpret_cast<volatile int*>(own) = more;\n" +
                               kSync + kAddUp));
}

TEST_F(UndefinedTest, WithoutABuildForItNothingIsSaid) {
  rig_->finalists().refuse_watched_builds = true;
  const records::Evaluation evaluation =
      ExpectAccepted(Variant(kLoad + "  if (1u << (t | 32) == 3) part[t] = 0;\n" + kSync + kAddUp));
  EXPECT_THAT(NoteOf(evaluation),
              StartsWith("not looked at: the original cannot be built for it: no such option"));
}

// What the original does is no candidate's fault; other kinds are.
TEST(UndefinedInTheOriginal, DoesNotCount) {
  WatchedRig rig("undefined", R"(
__global__ void sums(const int* in, int* out, int* total, int n) {
  if (threadIdx.x != 0) return;
  int sum = 2147483647;
  for (int k = blockIdx.x * 64; k < blockIdx.x * 64 + 64; ++k) sum += k < n ? in[k] : 0;
  sum -= 2147483647;
  out[blockIdx.x] = sum;
  atomicAdd(total, sum);
}
)",
                 4);
  const std::string sum =
      "  if (t != 0) return;\n  int sum = 2147483647;\n"
      "  for (int k = i; k < i + 64; ++k) sum += k < n ? in[k] : 0;\n  sum -= 2147483647;\n";
  const std::string store = "  out[blockIdx.x] = sum;\n  atomicAdd(total, sum);\n";
  const records::Evaluation like = rig.Evaluate(Variant(sum + store));
  EXPECT_TRUE(like.accepted) << like.reason << ": " << like.detail;
  std::string notes;
  for (const records::Check& check : like.checks) notes += check.detail + "\n";
  EXPECT_THAT(notes, HasSubstr("does not count, since the original does the like: a signed"));
  const records::Evaluation worse =
      rig.Evaluate(Variant(sum + "  if (1 << (in[i] | 32) == 7) sum += n;\n" + store));
  EXPECT_EQ(worse.reason, "forbidden_construct") << worse.detail;
  EXPECT_THAT(worse.detail, HasSubstr("a shift of 'int' by 40"));
}

}  // namespace
}  // namespace cupilot::evaluate
