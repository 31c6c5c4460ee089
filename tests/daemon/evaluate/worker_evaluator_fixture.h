// An evaluator whose workers say what a test wants.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "evaluate/worker_evaluator.h"
#include "tests/support/fake_workers.h"
#include "tests/support/make_records.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::evaluate {

using Outcome = base::Result<records::Evaluation>;

class FixedClock final : public base::Clock {
 public:
  std::chrono::nanoseconds Now() const override { return now; }
  std::chrono::nanoseconds WallTime() const override { return std::chrono::seconds(1); }

  std::chrono::nanoseconds now{0};
};

inline protocol::MeasureReply MakeMeasured(double speedup) {
  protocol::MeasureReply reply;
  reply.cases = {test::MakeCaseResult("a", speedup, 0.01)};
  reply.device.arch = "host-x86-64-v3";
  return reply;
}

class WorkerEvaluatorTest : public ::testing::Test {
 protected:
  WorkerEvaluatorTest() : evaluator_(workers_, clock_, {{folder_.path(), 1000}, folder_.path()}) {
    original_ = folder_.Write("original.so", "");
    protocol::CheckVariantReply checked;
    checked.passed = true;
    checked.entries = {"entry"};
    workers_.On("check_variant", Always(protocol::ToJson(checked)));
    workers_.On("describe_device", Always({{"name", "cpu"}, {"arch", "host-x86-64-v3"}}));
    protocol::BuildReply built;
    built.artifact = original_;
    built.target = "host-x86-64-v3";
    built.text_hashes = {{"entry", "text"}, {"other", "more"}};
    workers_.On("build", Always(protocol::ToJson(built)));
    protocol::TwinReply twin;
    twin.source = "twin";
    twin.entry = "twin";
    workers_.On("twin", Always(protocol::ToJson(twin)));
    protocol::VerifyReply verified;
    verified.passed = true;
    verified.checks = {{"red_zones", true, ""}};
    workers_.On("verify", Always(protocol::ToJson(verified)));
    workers_.On("measure", Always(protocol::ToJson(MakeMeasured(1.5))));
  }

  static test::FakeWorkers::Answer Always(records::Json json) {
    return [json = std::move(json)](const records::Json&) { return json; };
  }
  static test::FakeWorkers::Answer Fails(base::Error error) {
    return [error = std::move(error)](const records::Json&) -> base::Result<records::Json> {
      return base::Fail(error);
    };
  }

  static EvaluateRequest MakeRequest() {
    EvaluateRequest request;
    request.kernel.name = "k";
    request.kernel.base_name = "k";
    request.kernel.key = "key";
    request.kernel.closure_source = "__global__ void k() {}\n";
    records::Case one;
    one.name = "a";
    one.grid = one.block = {"1", "1", "1"};
    request.workload.kernel = "k";
    request.workload.cases = {one};
    request.variant.kernel = "k";
    request.variant.source = "__global__ void entry() {}";
    request.variant.entry = "entry";
    request.variant.id = records::VariantId(request.variant);
    return request;
  }

  Outcome Run(EvaluateRequest request) {
    std::optional<Outcome> got;
    evaluator_.Evaluate(std::move(request), [&got](Outcome outcome) { got = std::move(outcome); });
    EXPECT_FALSE(got) << "called back inside Evaluate()";
    workers_.RunAll();
    EXPECT_TRUE(got);
    return std::move(got).value_or(base::Fail(base::Internal("no outcome")));
  }

  void ExpectRejected(const std::string& reason) {
    const Outcome outcome = Run(MakeRequest());
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_FALSE(outcome->accepted);
    EXPECT_EQ(outcome->reason, reason);
    EXPECT_FALSE(outcome->speedup);
  }

  void ExpectError(base::ErrorCode code) {
    const Outcome outcome = Run(MakeRequest());
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, code) << outcome.error().message;
  }

  test::TemporaryFolder folder_;
  std::string original_;
  FixedClock clock_;
  test::FakeWorkers workers_;
  WorkerEvaluator evaluator_;
};

}  // namespace cupilot::evaluate
