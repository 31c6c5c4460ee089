// The step "accesses": what a candidate's threads do that no result shows, found in one watched run
// each of original and candidate; and what it has to leave alone.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <utility>

#include "tests/daemon/worker/stages/watched_rig.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::evaluate {
namespace {

using records::Json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class AccessesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { rig_ = new WatchedRig("accesses", kSums, 4); }
  static void TearDownTestSuite() { delete std::exchange(rig_, nullptr); }
  void SetUp() override {
    rig_->finalists().others = rig_->finalists().refuse_watched_builds = false;
    rig_->finalists().reply.reset();
  }

  static std::string NoteOf(const records::Evaluation& evaluation) {
    return WatchedRig::NotesOf(evaluation, "accesses");
  }
  static void ExpectCaught(const std::string& reason, const std::string& detail,
                           const Json& variant) {
    const records::Evaluation evaluation = rig_->Evaluate(variant);
    EXPECT_FALSE(evaluation.accepted) << NoteOf(evaluation);
    EXPECT_EQ(evaluation.reason, reason) << evaluation.detail;
    EXPECT_THAT(evaluation.detail,
                AllOf(HasSubstr(detail), HasSubstr("(case 'all"), HasSubstr("seed")));
    EXPECT_EQ(evaluation.metrics["verify"]["accesses"].value("caught", ""), "accesses");
  }
  static records::Evaluation ExpectAccepted(const Json& variant) {
    return rig_->ExpectAccepted(variant);
  }

  inline static WatchedRig* rig_ = nullptr;
};

TEST_F(AccessesTest, WhatIsRightIsInOrder) {
  const std::string load = "  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n";
  const records::Evaluation evaluation =
      ExpectAccepted(Variant(load + "  __syncthreads();\n" + kAddUp));
  EXPECT_THAT(NoteOf(evaluation), HasSubstr("case 'all': all are in order at its own size"));
  EXPECT_GT(evaluation.metrics["watched_build_seconds"].get<double>(), 0);
}

// No schedule of whole threads shows it: the read comes behind all writes, or before a write of the
// same.
TEST_F(AccessesTest, AMissingBarrierIsARace) {
  const std::string load = "  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n";
  ExpectCaught("race", "at 'part'[", Variant(load + kAddUp));
  ExpectCaught("race", "of shared memory", Variant(load + "  __syncwarp();\n" + kAddUp));
}

TEST_F(AccessesTest, ALostUpdateIsARaceThatNothingElseFinds) {
  const Json lossy = Variant(
      "  __shared__ int sum;\n  if (t == 0) sum = 0;\n  __syncthreads();\n"
      "  sum += i < n ? in[i] : 0;\n  __syncthreads();\n"
      "  if (t == 0) {\n    out[blockIdx.x] = sum;\n    atomicAdd(total, sum);\n  }");
  ExpectCaught("race", "at 'sum'[0] of shared memory", lossy);
  rig_->finalists().others = true;
  ExpectAccepted(lossy);
}

// A GPU may let it pass.
TEST_F(AccessesTest, ABarrierThatSomeThreadsDoNotReachIsFound) {
  ExpectCaught("crashed", "a barrier of the block was reached by 32 of 64 threads",
               Variant("  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n"
                       "  __syncthreads();\n  if (t < 32) __syncthreads();\n" +
                       kAddUp));
  // The others have ended.
  ExpectCaught(
      "crashed", "a barrier of the block was reached by 32 of 64 threads",
      Variant("  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n"
              "  __syncthreads();\n  for (int half = 32; half > 0; half /= 2) {\n"
              "    if (t >= half) continue;\n    part[t] += part[t + half];\n    __syncthreads();\n"
              "  }\n  if (t == 0) {\n    out[blockIdx.x] = part[0];\n    atomicAdd(total, "
              "part[0]);\n  }"));
}

// The runtime says there what a kernel did, under the limit for files of who runs candidates.
TEST_F(AccessesTest, AStandardErrorThatIsAFileHidesNothing) {
  test::TemporaryFolder folder;
  const std::string place = folder.Write("log", "");
  const int file = ::open(place.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC), before = ::dup(2);
  ASSERT_GE(file, 0);
  ASSERT_GE(::dup2(file, 2), 0);
  WatchedRig rig("accesses", kSums, 4);  // with workers that inherit it
  const records::Evaluation evaluation =
      rig.Evaluate(Variant("  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n"
                           "  __syncthreads();\n  if (t < 32) __syncthreads();\n" +
                           kAddUp));
  ASSERT_GE(::dup2(before, 2), 0);
  ::close(before);
  ::close(file);
  EXPECT_EQ(evaluation.reason, "crashed");
  EXPECT_THAT(evaluation.detail, HasSubstr("a barrier of the block was reached by 32 of 64"));
}

// What it did before can then not be told.
TEST_F(AccessesTest, AWatchedRunThatDiesIsNotPassedOver) {
  ExpectCaught("crashed", "the process was ended by",
               Variant("  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n"
                       "  if (in[1ll << 45] == 7) part[t] = 0;\n  __syncthreads();\n" +
                       kAddUp));
}

TEST_F(AccessesTest, ALostUpdateBetweenBlocksIsARace) {
  ExpectCaught("race", "at 'total'[0]",
               Variant("  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n"
                       "  __syncthreads();\n  if (t != 0) return;\n  int sum = 0;\n"
                       "  for (int k = 0; k < 64; ++k) sum += part[k];\n"
                       "  out[blockIdx.x] = sum;\n  *total += sum;"));
}

TEST_F(AccessesTest, ResultsMayNotFollowSharedMemoryThatNobodyWrote) {
  const std::string load =
      "  __shared__ int part[65];\n  part[t] = i < n ? in[i] : 0;\n"
      "  __syncthreads();\n";
  ExpectCaught("nondeterministic", "'part'[64], which no thread of the block has written",
               Variant(load + "  if (t == 0) part[0] += part[64];\n  __syncthreads();\n" + kAddUp));
  // What is loaded and not used, is not theirs.
  const records::Evaluation evaluation =
      ExpectAccepted(Variant(load +
                             "  const volatile int* all = part;\n  int next = all[t + 1];\n"
                             "  if (t == 63) next = 0;\n  __syncthreads();\n"
                             "  if (next > 1000) out[0] = 0;\n" +
                             kAddUp));
  EXPECT_THAT(NoteOf(evaluation), HasSubstr("no result follows it"));
}

TEST_F(AccessesTest, ReadsOutsideOfTheBuffersAreFound) {
  const Json over = Variant(
      "  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n"
      "  if (i + 1 <= n && in[i + 1] == 12345678) part[t] = 0;\n  __syncthreads();\n" +
      kAddUp);
  ExpectCaught("out_of_bounds", "at byte 1024 of 'in'", over);
  rig_->finalists().others = true;
  ExpectAccepted(over);
}

// This processor may load it, a GPU does not.
TEST_F(AccessesTest, PairsThatAreNotAlignedAreFound) {
  ExpectCaught(
      "crashed", "at byte 0 of 'in', whose address is no multiple of 8",
      Variant("  __shared__ int part[64];\n"
              "  if (t < 32) {\n"
              "    const int2 two = reinterpret_cast<const int2*>(in)[blockIdx.x * 32 + t];\n"
              "    part[2 * t] = two.x;\n    part[2 * t + 1] = two.y;\n  }\n"
              "  __syncthreads();\n" +
              kAddUp));
}

TEST_F(AccessesTest, AnInputMayNotBeBorrowed) {
  const Json borrows = Variant(
      "  __shared__ int part[64];\n  volatile int* own = const_cast<int*>(in);\n"
      "  part[t] = 0;\n  if (i < n) {\n    const int value = own[i];\n    own[i] = value + 1;\n"
      "    part[t] = own[i] - 1;\n    own[i] = value;\n  }\n  __syncthreads();\n" +
      kAddUp);
  ExpectCaught("modified_input", "at 'in'[0]", borrows);
  rig_->finalists().others = true;
  ExpectAccepted(borrows);
}

TEST_F(AccessesTest, ConstantMemoryIsNoPlaceForState) {
  ExpectCaught("stateful", "'calls'",
               Variant("  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n"
                       "  volatile int* memory = const_cast<int*>(&calls[0]);\n"
                       "  if (i == 0) *memory = *memory + 1;\n"
                       "  __syncthreads();\n" +
                           kAddUp,
                       "__constant__ int calls[1] = {0};\n"));
}

// The last block adds up what all have left: a fence, an atomic counter, and it is told.
TEST_F(AccessesTest, BlocksMayFollowEachOther) {
  const std::string before =
      "  __shared__ int part[64];\n  __shared__ bool last;\n  part[t] = i < n ? in[i] : 0;\n"
      "  __syncthreads();\n  if (t == 0) {\n    int sum = 0;\n"
      "    for (int k = 0; k < 64; ++k) sum += part[k];\n    out[blockIdx.x] = sum;\n";
  const std::string after =
      "    last = atomicAdd(done, 1) == gridDim.x - 1;\n  }\n  __syncthreads();\n"
      "  if (!last || t != 7) return;\n  int all = *total;\n"
      "  for (int b = 0; b < gridDim.x; ++b) all += out[b];\n  *total = all;\n  *done = 0;";
  const auto variant = [&](const std::string& fence) {
    Json json = Variant(before + fence + after);
    std::string source = json["source"];
    source.replace(source.find("int n)"), 6, "int n, int* done)");
    json["source"] = source;
    json["workspace"] = {{{"name", "done"}, {"bytes", "4"}, {"zeroed", true}}};
    json["launches"] = {{{"entry", "other"}, {"arguments", {"in", "out", "total", "n", "done"}}}};
    json.erase("entry");
    return json;
  };
  ExpectAccepted(variant("    __threadfence();\n"));
  ExpectCaught("race", "at 'out'[0]", variant(""));
}

TEST_F(AccessesTest, WithoutABuildForItNothingIsSaid) {
  rig_->finalists().refuse_watched_builds = true;
  const records::Evaluation evaluation = ExpectAccepted(
      Variant("  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n" + kAddUp));
  EXPECT_THAT(NoteOf(evaluation),
              StartsWith("not looked at: the original cannot be built for it: no such option"));
}

// What the original does is no candidate's fault; other kinds are.
TEST(AccessesOfTheOriginal, DoNotCount) {
  WatchedRig rig("accesses", R"(
__global__ void sums(const int* in, int* out, int* total, int n) {
  __shared__ int sum;
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  sum += i < n ? in[i] : 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    out[blockIdx.x] = sum;
    atomicAdd(total, sum);
  }
}
)",
                 4);
  const std::string sum =
      "  __shared__ int all;\n  if (t == 0) all = 0;\n  __syncthreads();\n"
      "  all += i < n ? in[i] : 0;\n  __syncthreads();\n";
  const std::string store =
      "  if (t != 0) return;\n  out[blockIdx.x] = all;\n  atomicAdd(total, all);\n";
  const records::Evaluation like = rig.Evaluate(Variant(sum + store));
  EXPECT_TRUE(like.accepted) << like.reason << ": " << like.detail;
  std::string notes;
  for (const records::Check& check : like.checks) notes += check.detail + "\n";
  EXPECT_THAT(notes, HasSubstr("does not count, since the original does the like"));
  const records::Evaluation worse =
      rig.Evaluate(Variant(sum + "  if (in[i + 1] == 12345678) return;\n" + store));
  EXPECT_EQ(worse.reason, "out_of_bounds") << worse.detail;
}

}  // namespace
}  // namespace cupilot::evaluate
