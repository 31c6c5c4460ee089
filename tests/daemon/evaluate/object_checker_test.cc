#include "evaluate/object_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker_evaluator_fixture.h"

namespace cupilot::evaluate {
namespace {

using ::testing::HasSubstr;

class ObjectCheckerTest : public WorkerEvaluatorTest {
 protected:
  ObjectCheckerTest() {
    workers_.On("describe_device", Always({{"name", "gpu"}, {"arch", "sm_90"}}));
    Compared({});
  }

  void Compared(const protocol::CompareObjectReply& reply) {
    workers_.On("compare_object", Always(protocol::ToJson(reply)));
  }
  static protocol::CompareObjectReply Different() {
    protocol::CompareObjectReply reply;
    reply.difference = "uses 40 registers, the one that is tuned 32";
    reply.image = "object.cubin";
    reply.entry = "_Z1kv";
    return reply;
  }

  base::Result<ObjectCheck> Check(const std::string& device = "cuda:0") {
    EvaluateRequest request = MakeRequest();
    request.device = device;
    request.kernel.signature = "_Z1kv";
    std::optional<base::Result<ObjectCheck>> got;
    evaluator_.CheckObject(request, "/build/a.o",
                           [&got](base::Result<ObjectCheck> check) { got = std::move(check); });
    workers_.RunAll();
    EXPECT_TRUE(got);
    return std::move(got).value_or(base::Fail(base::Internal("no answer")));
  }
};

TEST_F(ObjectCheckerTest, EqualCodeNeedsNoRun) {
  const auto check = Check();
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_EQ(*check, ObjectCheck{});
  EXPECT_EQ(workers_.Count("verify"), 0);
  EXPECT_EQ(workers_.Count("compare_object"), 1);
}

TEST_F(ObjectCheckerTest, OfTheHostDeviceNothingIsAsked) {
  const auto check = Check("host");
  ASSERT_TRUE(check);
  EXPECT_EQ(*check, ObjectCheck{});
  EXPECT_EQ(workers_.Count("compare_object"), 0);
}

TEST_F(ObjectCheckerTest, OtherCodeIsVerifiedAsACandidate) {
  Compared(Different());
  protocol::VerifyRequest asked;
  workers_.On("verify", [&asked](const records::Json& params) -> base::Result<records::Json> {
    auto request = protocol::ParseVerifyRequest(params);
    if (!request) return base::Fail(request.error());
    asked = std::move(*request);
    protocol::VerifyReply verified;
    verified.passed = true;
    return protocol::ToJson(verified);
  });
  const auto check = Check();
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_EQ(check->difference, Different().difference);
  EXPECT_EQ(check->declined, "");
  EXPECT_EQ(asked.depth, "all");
  EXPECT_EQ(asked.set.candidate_artifact, "object.cubin");
  EXPECT_EQ(asked.set.original_artifact, original_);
  EXPECT_EQ(asked.set.variant.entry, "_Z1kv");
  EXPECT_EQ(asked.set.variant.source, "");
}

TEST_F(ObjectCheckerTest, OtherCodeWithOtherResultsIsDeclinedWithTheDifference) {
  Compared(Different());
  protocol::VerifyReply verified;
  verified.reason = "wrong_result";
  verified.detail = "x[3] is 6 instead of 4";
  workers_.On("verify", Always(protocol::ToJson(verified)));
  const auto check = Check();
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_THAT(check->declined, HasSubstr("uses 40 registers, the one that is tuned 32"));
  EXPECT_THAT(check->declined, HasSubstr("x[3] is 6 instead of 4"));
}

TEST_F(ObjectCheckerTest, WhatCannotBeComparedLoadedOrRunIsDeclined) {
  protocol::CompareObjectReply reply;
  reply.not_compared = "the object holds intermediate code";
  Compared(reply);
  EXPECT_THAT(Check()->declined, HasSubstr("the object holds intermediate code"));
  reply = Different();
  reply.image.clear();
  reply.not_loadable = "it does not link";
  Compared(reply);
  EXPECT_THAT(Check()->declined, HasSubstr("it does not link"));
  EXPECT_EQ(workers_.Count("verify"), 0);
  Compared(Different());
  workers_.On("verify", Fails(base::ToolFailed("cuModuleLoadData: invalid image")));
  EXPECT_THAT(Check()->declined, HasSubstr("invalid image"));
}

// What says nothing about the object.
TEST_F(ObjectCheckerTest, WithoutADeviceOrACompilerNothingIsSaid) {
  Compared(Different());
  workers_.On("verify", Fails(base::Unavailable("the GPU has gone")));
  EXPECT_EQ(Check().error().code, base::ErrorCode::kUnavailable);
  protocol::VerifyReply verified;
  verified.original_failed = true;
  workers_.On("verify", Always(protocol::ToJson(verified)));
  EXPECT_EQ(Check().error().code, base::ErrorCode::kInvalidArgument);
  workers_.On("compare_object", Fails(base::NotFound("/build/a.o is not there")));
  EXPECT_EQ(Check().error().code, base::ErrorCode::kNotFound);
}

}  // namespace
}  // namespace cupilot::evaluate
