// What the mechanical techniques make, built and run beside the originals by real workers: whether
// a variant is faster is not asked here, but it must compute the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "evaluate/calls.h"
#include "tests/daemon/source/rewrite/technique_cases.h"
#include "tests/support/evaluator_rig.h"

namespace cupilot::evaluate {
namespace {

using records::Json;
using source::TechniqueCase;
using source::TechniqueCases;
using ::testing::AnyOf;

class TechniquesEvaluatedTest : public ::testing::Test {
 protected:
  // The one tagged kernel of a case's source, with its workload.
  std::optional<EvaluateRequest> RequestFor(const TechniqueCase& one) {
    auto request = rig_.RequestFor(std::string(one.kernel) + ".cu", one.source);
    if (!request) return std::nullopt;
    if (request->workload.cases.empty()) {
      ADD_FAILURE() << one.kernel << ": the workload is missing";
      return std::nullopt;
    }
    request->max_seconds = 0.1;
    return request;
  }

  void ExpectTheSameValues(EvaluateRequest request,
                           const std::vector<records::StrategyStep>& steps) {
    protocol::RewriteRequest rewrite;
    rewrite.command = request.command;
    rewrite.kernel = request.kernel;
    rewrite.workload = request.kernel.cases.front();
    rewrite.device = "host";
    rewrite.strategy.bottleneck = "latency";
    rewrite.strategy.steps = steps;
    const auto reply = rig_.Wait<protocol::RewriteReply>(
        [&](auto done) { Rewrite(rig_.workers(), rewrite, "host", std::move(done)); });
    ASSERT_TRUE(reply) << reply.error().message;
    ASSERT_FALSE(reply->declined) << reply->reason;
    request.variant = reply->variant;
    const auto evaluation = rig_.Evaluate(std::move(request));
    ASSERT_TRUE(evaluation) << evaluation.error().message;
    EXPECT_TRUE(evaluation->accepted || evaluation->reason == "not_faster" ||
                evaluation->reason == "unstable_timing")
        << evaluation->reason << ": " << evaluation->detail << "\n"
        << reply->variant.source << "\n"
        << reply->variant.guard;
  }

  static records::StrategyStep StepOf(const std::string& technique, const std::string& parameters) {
    records::StrategyStep step;
    step.technique = technique;
    step.parameters = Json::parse(parameters);
    return step;
  }

  static const TechniqueCase& CaseOf(const std::string& kernel) {
    for (const TechniqueCase& one : TechniqueCases()) {
      if (kernel == one.kernel) return one;
    }
    std::abort();
  }

  test::EvaluatorRig rig_;
};

TEST_F(TechniquesEvaluatedTest, EachVariantComputesTheSame) {
  for (const TechniqueCase& one : TechniqueCases()) {
    if (one.declines) continue;
    SCOPED_TRACE(std::string(one.technique) + ", " + one.name);
    auto request = RequestFor(one);
    if (request) ExpectTheSameValues(std::move(*request), {StepOf(one.technique, one.parameters)});
  }
}

TEST_F(TechniquesEvaluatedTest, StepsCompose) {
  const struct {
    const char* kernel;
    std::vector<records::StrategyStep> steps;
  } kStrategies[] = {
      {"polynomial",
       {StepOf("thread_coarsening", R"({"form":"sequential","x":4})"),
        StepOf("unrolling", R"({"factor":4,"accumulators":1})")}},
      {"dots",
       {StepOf("unrolling", R"({"factor":4,"accumulators":2})"),
        StepOf("thread_coarsening", R"({"form":"sequential","x":2})")}},
      {"blend",
       {StepOf("block_size", R"({"x":64,"y":1,"z":1})"),
        StepOf("restrict_readonly", R"({"loads":"restrict_ldg"})")}},
      {"column_first",
       {StepOf("loop_interchange", R"({"nest":0})"),
        StepOf("unrolling", R"({"factor":8,"accumulators":2})"),
        StepOf("launch_bounds", R"({"min_blocks":1})")}},
      {"gradient",
       {StepOf("thread_coarsening", R"({"form":"sequential","x":2,"y":2,"stride":"block"})"),
        StepOf("block_size", R"({"x":32,"y":2,"z":1})")}},
      {"byte_counts",
       {StepOf("private_atomics", R"({"scope":"block","items":8,"width":4,"copies":4})"),
        StepOf("block_size", R"({"x":128,"y":1,"z":1})")}},
  };
  for (const auto& [kernel, steps] : kStrategies) {
    SCOPED_TRACE(kernel);
    auto request = RequestFor(CaseOf(kernel));
    if (request) ExpectTheSameValues(std::move(*request), steps);
  }
}

}  // namespace
}  // namespace cupilot::evaluate
