// Captured launches are run again: what they leave must be what they left in the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "blobs/blob_store.h"
#include "tests/support/evaluator_rig.h"
#include "tests/support/private_xdg.h"

namespace cupilot::evaluate {
namespace {

using records::Json;
using ::testing::HasSubstr;

// `drift` is no part of the workload: what it holds is lost between capture and replay. `fresh`
// says what a launch finds where nothing was captured.
constexpr const char* kText = R"(
__device__ int drift;
__global__ void plain(const float* in, float* out, float* fresh, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * 0.5f + 1.0f;
}
__global__ void follows(const float* in, float* out, float* fresh, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + fresh[i];
}
__global__ void counts(const float* in, float* out, float* fresh, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i != 0) return;
  for (int k = 0; k < n; ++k) out[k] = in[k] + static_cast<float>(drift);
  drift = drift + 1;
}
)";

std::string Bytes(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

class ReplayTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kCount = 1000;

  // Before a worker starts: it finds contents where its environment says.
  static void SetUpTestSuite() {
    xdg_ = new test::PrivateXdg;
    for (const auto& [name, value] : xdg_->Environment()) ::setenv(name.c_str(), value.c_str(), 1);
    rig_ = new test::EvaluatorRig;
  }
  static void TearDownTestSuite() {
    delete std::exchange(rig_, nullptr);
    delete std::exchange(xdg_, nullptr);
  }

  ReplayTest() : blobs_(xdg_->state() + "/blobs") {
    for (std::size_t i = 0; i < kCount; ++i) in_.push_back(static_cast<float>(i) * 0.25f);
  }

  // `left`: what the launch left in `out`.
  protocol::ReplayedCase Replay(const std::string& kernel, const std::vector<float>& left) {
    auto request = rig_->RequestFor(kernel + ".cu", kText, kernel);
    if (!request) return {};
    const auto before = blobs_.Put(Bytes(in_)),
               zeros = blobs_.Put(Bytes(std::vector<float>(kCount)));
    const auto after = blobs_.Put(Bytes(left));
    EXPECT_TRUE(before && zeros && after);
    const auto file = [](const std::string& hash) -> Json {
      return {{"kind", "file"}, {"path", "blob:" + hash}};
    };
    const auto workload = records::ParseWorkload(
        {{"schema", "cupilot.workload/1"},
         {"kernel", kernel},
         {"cases",
          {{{"name", "seen"},
            {"grid", {4, 1, 1}},
            {"block", {256, 1, 1}},
            {"arguments",
             {{{"name", "in"},
               {"type", "const float*"},
               {"count", kCount},
               {"fill", file(*before)}},
              {{"name", "out"},
               {"type", "float*"},
               {"count", kCount},
               {"access", "inout"},
               {"fill", file(*zeros)}},
              {{"name", "fresh"}, {"type", "float*"}, {"count", kCount}, {"access", "out"}},
              {{"name", "n"}, {"type", "int"}, {"value", kCount}}}}}}}});
    EXPECT_TRUE(workload) << workload.error().message;
    request->workload = *workload;
    const auto reply = rig_->Replay(*request, {{"seen", {{"out", *after}}}});
    EXPECT_TRUE(reply) << reply.error().message;
    if (!reply || reply->cases.size() != 1) return {};
    return reply->cases[0];
  }

  std::vector<float> Expected() const {
    std::vector<float> out;
    for (const float x : in_) out.push_back(x * 0.5f + 1.0f);
    return out;
  }

  static inline test::PrivateXdg* xdg_ = nullptr;
  static inline test::EvaluatorRig* rig_ = nullptr;
  blobs::BlobStore blobs_;
  std::vector<float> in_;
};

TEST_F(ReplayTest, WhatRepeatsItselfIsSeenAHundredTimes) {
  const protocol::ReplayedCase seen = Replay("plain", Expected());
  EXPECT_EQ(seen.name, "seen");
  EXPECT_EQ(seen.times, 100);
  EXPECT_EQ(seen.wanted, 100);
  EXPECT_EQ(seen.seconds, 10);
  EXPECT_EQ(seen.reason, "");
}

// Whatever is wrong with a case, the others are as good.
TEST_F(ReplayTest, ACaseThatCannotBeReplayedIsSaidToBeSoAndTheOthersAreReplayed) {
  auto request = rig_->RequestFor("plain.cu", kText, "plain");
  ASSERT_TRUE(request);
  const auto before = blobs_.Put(Bytes(in_)), left = blobs_.Put(Bytes(Expected()));
  ASSERT_TRUE(before && left);
  const std::string missing(40, '0');
  const auto make_case = [&](const std::string& name, const std::string& blob) -> Json {
    return {{"name", name},
            {"grid", {4, 1, 1}},
            {"block", {256, 1, 1}},
            {"arguments",
             {{{"name", "in"},
               {"type", "const float*"},
               {"count", kCount},
               {"fill", {{"kind", "file"}, {"path", "blob:" + blob}}}},
              {{"name", "out"}, {"type", "float*"}, {"count", kCount}, {"access", "out"}},
              {{"name", "fresh"}, {"type", "float*"}, {"count", kCount}, {"access", "out"}},
              {{"name", "n"}, {"type", "int"}, {"value", kCount}}}}};
  };
  const auto workload =
      records::ParseWorkload({{"schema", "cupilot.workload/1"},
                              {"kernel", "plain"},
                              {"cases", {make_case("gone", missing), make_case("here", *before)}}});
  ASSERT_TRUE(workload) << workload.error().message;
  request->workload = *workload;
  const auto reply = rig_->Replay(*request, {{"here", {{"out", *left}}}});
  ASSERT_TRUE(reply) << reply.error().message;
  ASSERT_EQ(reply->cases.size(), 2u);
  EXPECT_TRUE(reply->cases[0].failed);
  EXPECT_THAT(reply->cases[0].reason, HasSubstr("it cannot be replayed: "));
  EXPECT_THAT(reply->cases[0].reason, HasSubstr("is not here any more"));
  EXPECT_FALSE(reply->cases[1].failed);
  EXPECT_EQ(reply->cases[1].reason, "");
  EXPECT_EQ(reply->cases[1].times, 100);
}

TEST_F(ReplayTest, OtherResultsThanTheProgramsAreNamed) {
  std::vector<float> left = Expected();
  left[17] = 9.5f;
  const protocol::ReplayedCase seen = Replay("plain", left);
  EXPECT_EQ(seen.times, 0);
  EXPECT_FALSE(seen.rounding);
  EXPECT_THAT(seen.reason, HasSubstr("other bits than it did in the program"));
  EXPECT_THAT(seen.reason, HasSubstr("'out'[17]: 3.125 instead of 9.5, 1 of 1000"));
}

TEST_F(ReplayTest, RoundingIsToldFromOtherResults) {
  std::vector<float> left = Expected();
  left[17] *= 1.0f + 1e-6f;
  const protocol::ReplayedCase seen = Replay("plain", left);
  EXPECT_TRUE(seen.rounding);
  EXPECT_THAT(seen.reason, HasSubstr("by rounding"));
  EXPECT_EQ(seen.times, 100) << "it repeats itself, and that was seen";
}

TEST_F(ReplayTest, ALaunchThatReadsWhatWasNotCapturedDoesNotRepeatItself) {
  const protocol::ReplayedCase seen = Replay("follows", in_);
  EXPECT_LT(seen.times, 100);
  EXPECT_FALSE(seen.reason.empty());
}

TEST_F(ReplayTest, ALaunchThatRemembersEarlierOnesDoesNotRepeatItself) {
  const protocol::ReplayedCase seen = Replay("counts", in_);
  EXPECT_EQ(seen.times, 1);
  EXPECT_THAT(seen.reason, HasSubstr("run 2 gives other bits than those before it"));
  EXPECT_FALSE(seen.rounding);
}

}  // namespace
}  // namespace cupilot::evaluate
