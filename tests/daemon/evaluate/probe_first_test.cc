// A search's candidates on a GPU, where a look is all that most of them are worth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "tests/daemon/evaluate/worker_evaluator_fixture.h"

namespace cupilot::evaluate {
namespace {

using records::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ProbeFirstTest : public WorkerEvaluatorTest {
 protected:
  ProbeFirstTest() {
    workers_.On("describe_device", [](const Json& params) -> Json {
      const bool host = params["device"] == "host";
      return {{"name", "one"}, {"arch", host ? "host-x86-64-v3" : "sm_90"}};
    });
    workers_.On("verify", [this](const Json& params) {
      const std::string id = params["set"]["variant"]["id"];
      verified_.push_back(id + " " + params["depth"].get<std::string>());
      protocol::VerifyReply reply;
      reply.passed = id != wrong_;
      reply.reason = reply.passed ? "" : "wrong_values";
      return protocol::ToJson(reply);
    });
    workers_.On("measure", [this](const Json& params) {
      const std::string id = params["set"]["variant"]["id"];
      const bool probe = params.value("probe", false);
      measured_.push_back(id + (probe ? " probe" : ""));
      protocol::MeasureReply reply = MakeMeasured(speedups_.at(id));
      reply.stopped_early = speedups_.at(id) < 0.9;
      return protocol::ToJson(reply);
    });
  }

  void Begin(const std::string& id, const std::string& device = "cuda:0") {
    EvaluateRequest request = MakeRequest();
    request.device = device;
    request.variant.id = id;
    request.only_probe = true;
    request.build_cpu_seconds = build_cpu_seconds_;
    request.best_so_far = [this](const auto&) { return best_; };
    evaluator_.Evaluate(std::move(request), [this, id](Outcome outcome) {
      ASSERT_TRUE(outcome) << outcome.error().message;
      if (outcome->accepted) best_ = std::max(best_, (*outcome->interval)[0]);
      got_[id] = std::move(*outcome);
    });
  }

  std::map<std::string, double> speedups_;
  std::string wrong_;
  double best_ = 0, build_cpu_seconds_ = 0;
  std::string died_of_ = std::string("the build worker was ended by ") +
                         ::strsignal(protocol::kStopSignal) + " in 'build'";
  std::vector<std::string> verified_, measured_;
  std::map<std::string, records::Evaluation> got_;
};

TEST_F(ProbeFirstTest, WhatIsClearlySlowerIsNotVerified) {
  speedups_ = {{"slow", 0.5}};
  Begin("slow");
  workers_.RunAll();
  EXPECT_EQ(got_["slow"].reason, "not_faster");
  EXPECT_THAT(got_["slow"].detail, HasSubstr("after one probe"));
  EXPECT_THAT(verified_, IsEmpty());
  EXPECT_THAT(measured_, ElementsAre("slow probe"));
}

TEST_F(ProbeFirstTest, SoIsWhatIsClearlySlowerThanWhatIsProven) {
  speedups_ = {{"slower", 1.2}, {"as good", 1.45}};
  best_ = 1.5;
  Begin("slower");
  workers_.RunAll();
  EXPECT_EQ(got_["slower"].reason, "not_faster");
  EXPECT_EQ(got_["slower"].metrics["beaten_by"], 1.5);
  // Three pairs may be a tenth off.
  Begin("as good");
  workers_.RunAll();
  EXPECT_EQ(got_["as good"].reason, "");
  EXPECT_THAT(verified_, IsEmpty());
}

// A probe proves nothing.
TEST_F(ProbeFirstTest, OfWhatIsFasterThereIsNoVerdict) {
  speedups_ = {{"fast", 2.0}};
  Begin("fast");
  workers_.RunAll();
  EXPECT_FALSE(got_["fast"].accepted);
  EXPECT_EQ(got_["fast"].reason, "");
  EXPECT_FALSE(got_["fast"].speedup);
  ASSERT_FALSE(got_["fast"].cases.empty());
  EXPECT_EQ(got_["fast"].cases[0].speedup, 2.0);
  EXPECT_THAT(verified_, IsEmpty());
  EXPECT_THAT(measured_, ElementsAre("fast probe"));
}

// Beside an original that was built before; what is proven stands in the text that ships.
TEST_F(ProbeFirstTest, OnlyWhatIsLookedAtIsBuiltWithoutTheOriginalsBody) {
  speedups_ = {{"fast", 2.0}};
  protocol::CheckVariantReply checked;
  checked.passed = true;
  checked.entries = {"entry"};
  checked.bare_closure = "__global__ void bare() {}\n";
  workers_.On("check_variant", Always(protocol::ToJson(checked)));
  std::vector<std::string> texts;
  workers_.On("build", [&](const Json& params) {
    if (params["device"] == "cuda:0") texts.push_back(params["text"]);
    protocol::BuildReply reply;
    reply.artifact = original_;
    reply.text_hashes = {{"bare", "1"}, {"entry", "2"}};
    // What the original loses is known of its own build.
    if (texts.size() == 1) reply.losses = {{"k", "f16 fma.rn.f16"}};
    if (texts.size() > 1) reply.losses = {{"entry", "f16 cvt.rn.f16.f32"}};
    return protocol::ToJson(reply);
  });
  Begin("fast");
  workers_.RunAll();
  EXPECT_EQ(got_["fast"].reason, "") << got_["fast"].detail;
  const std::string whole = MakeRequest().kernel.closure_source;
  ASSERT_GE(texts.size(), 2u);
  EXPECT_EQ(texts[0], whole);
  EXPECT_THAT(texts[1], HasSubstr(checked.bare_closure));
  EXPECT_THAT(texts[1], ::testing::Not(HasSubstr(whole)));
}

// When it is measured more is known than when it was asked for.
TEST_F(ProbeFirstTest, TheFastestThatIsKnownIsAskedForWhenItIsMeasured) {
  std::vector<double> promising;
  workers_.On("measure", [&](const Json& params) {
    promising.push_back(params.value("promising", 0.0));
    return protocol::ToJson(MakeMeasured(2.0));
  });
  double fastest = 0;
  EvaluateRequest request = MakeRequest();
  request.device = "cuda:0";
  request.only_probe = true;
  request.workload.cases.resize(1);
  request.fastest_known = [&] { return fastest; };
  evaluator_.Evaluate(std::move(request), [](const Outcome&) {});
  fastest = 4;
  workers_.RunAll();
  EXPECT_THAT(promising, ElementsAre(0.25));
}

// The original's build, and what a proof needs, take what they take.
TEST_F(ProbeFirstTest, ItsBuildHasALimitThatTheRejectionNames) {
  speedups_ = {{"long", 2.0}};
  std::vector<double> limits;
  workers_.On("build", [&](const Json& params) -> base::Result<Json> {
    const auto request = protocol::ParseBuildRequest(params);
    limits.push_back(request->cpu_seconds);
    if (request->cpu_seconds > 0) {
      return base::Fail(base::ToolFailed(died_of_));
    }
    protocol::BuildReply reply;
    reply.artifact = "original";
    return protocol::ToJson(reply);
  });
  build_cpu_seconds_ = 16;
  Begin("long");
  workers_.RunAll();
  EXPECT_THAT(limits, ElementsAre(0, 16, 0)) << "original, candidate, twin";
  EXPECT_EQ(got_["long"].reason, "build_failed");
  EXPECT_THAT(got_["long"].detail, HasSubstr("16 s of processor time are the limit"));
  EXPECT_EQ(got_["long"].metrics["build_stopped"], true);
  EXPECT_EQ(got_["long"].metrics["build_cpu_seconds"], 16);
  died_of_ = "the build worker was ended by Segmentation fault in 'build'";
  Begin("crash");
  workers_.RunAll();
  EXPECT_EQ(got_["crash"].reason, "build_failed");
  EXPECT_EQ(got_["crash"].detail, died_of_);
  EXPECT_FALSE(got_["crash"].metrics.contains("build_stopped"));
}

TEST_F(ProbeFirstTest, OnTheHostDeviceTheOrderIsTheUsualOne) {
  speedups_ = {{"slow", 0.5}};
  Begin("slow", "host");
  workers_.RunAll();
  EXPECT_THAT(verified_, ElementsAre("slow screening"));
  EXPECT_THAT(measured_, ElementsAre("slow"));
}

}  // namespace
}  // namespace cupilot::evaluate
