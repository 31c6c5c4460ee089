// Verifications of one kernel's candidates, all their steps and nothing else: by worker processes,
// with the original built and run once for all tests of a suite.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/evaluator_rig.h"
#include "tests/support/forwarding_workers.h"

namespace cupilot::evaluate {

// Has every verification be a whole one, but for what the test leaves out, and nothing be measured.
class StepChooser final : public test::ForwardingWorkers {
 public:
  explicit StepChooser(Workers& workers) : ForwardingWorkers(workers) {}
  std::vector<std::string> left_out;
  records::Json passed;  // of an earlier try, or null
  std::optional<protocol::VerifyReply> reply;

  void Call(WorkerCall call, base::Callback<records::Json> done) override {
    if (call.op == "measure") {
      protocol::MeasureReply measured;
      measured.stopped_early = true;
      return done(protocol::ToJson(measured));
    }
    if (call.op != "verify") return workers_.Call(std::move(call), std::move(done));
    call.params["depth"] = "all";
    call.params["left_out"] = left_out;
    if (!passed.is_null()) call.params["passed"] = passed;
    workers_.Call(std::move(call),
                  [this, done = std::move(done)](base::Result<records::Json> json) mutable {
                    if (json) reply = *protocol::ParseVerifyReply(*json);
                    done(std::move(json));
                  });
  }
};

class StepsRig {
 public:
  // `kernel` in `text`, on that workload.
  StepsRig(const std::string& kernel, const std::string& text, const records::Json& workload) {
    rig_.PutInFront(chooser_);
    request_ = rig_.RequestFor(kernel + ".cu", text, kernel);
    if (!request_) return;
    const auto parsed = records::ParseWorkload(workload);
    EXPECT_TRUE(parsed) << parsed.error().message;
    if (parsed) request_->workload = *parsed;
  }

  std::uint64_t seed = 1;

  // A failure of the test if there was no verification.
  protocol::VerifyReply Verify(const records::Json& variant,
                               std::vector<std::string> left_out = {}) {
    chooser_.left_out = std::move(left_out);
    const auto evaluation = Evaluate(variant);
    EXPECT_TRUE(evaluation) << evaluation.error().message;
    EXPECT_TRUE(chooser_.reply) << (evaluation ? evaluation->detail : "");
    return chooser_.reply.value_or(protocol::VerifyReply{});
  }

  // As an earlier try left it.
  protocol::VerifyReply GoOn(const records::Json& variant, records::Json passed) {
    chooser_.passed = std::move(passed);
    const protocol::VerifyReply reply = Verify(variant);
    chooser_.passed = nullptr;
    return reply;
  }

  // Why there is no verdict on it; empty: there is one.
  std::string WhyNoVerdict(const records::Json& variant) {
    const auto evaluation = Evaluate(variant);
    return evaluation ? "" : evaluation.error().message;
  }

  // Caught by that step, and by nothing where it is left out.
  void ExpectCaughtBy(const std::string& step, const std::string& reason,
                      const records::Json& variant, std::vector<std::string> left_out = {}) {
    const protocol::VerifyReply caught = Verify(variant, left_out);
    EXPECT_FALSE(caught.passed);
    EXPECT_EQ(caught.reason, reason) << caught.detail;
    EXPECT_TRUE(caught.steps.value(step, records::Json::object()).contains("caught"))
        << caught.steps.dump();
    EXPECT_THAT(caught.detail, ::testing::HasSubstr("'["));
    EXPECT_THAT(caught.detail, ::testing::HasSubstr("seed"));
    left_out.push_back(step);
    const protocol::VerifyReply passed = Verify(variant, std::move(left_out));
    EXPECT_TRUE(passed.passed) << passed.reason << ": " << passed.detail;
  }

 private:
  base::Result<records::Evaluation> Evaluate(const records::Json& variant) {
    const auto parsed = records::ParseVariant(variant);
    EXPECT_TRUE(parsed) << parsed.error().message;
    if (!request_ || !parsed) return base::Fail(base::InvalidArgument("nothing to evaluate"));
    EvaluateRequest request = *request_;
    request.variant = *parsed;
    request.seed = seed;
    chooser_.reply.reset();
    return rig_.Evaluate(std::move(request));
  }

  test::EvaluatorRig rig_;
  StepChooser chooser_{rig_.workers()};
  std::optional<EvaluateRequest> request_;
};

}  // namespace cupilot::evaluate
