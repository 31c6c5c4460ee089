// What the mechanical techniques make, built and run beside the originals by real workers: whether
// a variant is faster is not asked here, but it must compute the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/install_layout.h"
#include "evaluate/calls.h"
#include "evaluate/process_workers.h"
#include "evaluate/worker_evaluator.h"
#include "tests/daemon/source/rewrite/technique_cases.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::evaluate {
namespace {

using records::Json;
using source::TechniqueCase;
using source::TechniqueCases;
using ::testing::AnyOf;

class TechniquesEvaluatedTest : public ::testing::Test {
 protected:
  TechniquesEvaluatedTest()
      : workers_(loop_, clock_, MakeSettings()),
        evaluator_(workers_, clock_, {{folder_ / "artifacts", 60000}, folder_ / "work"}) {}
  ~TechniquesEvaluatedTest() override {
    workers_.Stop();
    loop_.RunOnce(false);
  }

  static ProcessWorkers::Settings MakeSettings() {
    ProcessWorkers::Settings settings;
    settings.program = base::LibexecFolder() + "/cupilot-worker";
    settings.nice = 0;
    return settings;
  }

  template <class T, class Start>
  base::Result<T> Wait(const Start& start) {
    std::optional<base::Result<T>> got;
    start([&got](auto reply) { got = std::move(reply); });
    while (!got) loop_.RunOnce(true);
    return *got;
  }

  // The one tagged kernel of a case's source, with its workload.
  std::optional<EvaluateRequest> RequestFor(const TechniqueCase& one) {
    EvaluateRequest request;
    const std::string file = std::string(one.kernel) + ".cu";
    request.command.source = folder_.Write(file, one.source);
    request.command.directory = folder_.path();
    request.command.arguments = {base::HostToolkitFolder() + "/bin/nvcc", "-O3", "-std=c++17", "-c",
                                 request.command.source};
    request.max_seconds = 0.1;
    protocol::ScanRequest scan;
    scan.command = request.command;
    const auto reply =
        Wait<protocol::ScanReply>([&](auto done) { Scan(workers_, scan, std::move(done)); });
    if (!reply || reply->kernels.size() != 1 || reply->kernels[0].cases.empty()) {
      ADD_FAILURE() << one.kernel << ": "
                    << (reply ? "the kernel or its workload is missing" : reply.error().message);
      return std::nullopt;
    }
    request.kernel = reply->kernels[0];
    request.workload.kernel = request.kernel.name;
    request.workload.cases = request.kernel.cases;
    request.workload.tolerance = request.kernel.tolerance;
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
    const auto reply = Wait<protocol::RewriteReply>(
        [&](auto done) { Rewrite(workers_, rewrite, std::move(done)); });
    ASSERT_TRUE(reply) << reply.error().message;
    ASSERT_FALSE(reply->declined) << reply->reason;
    request.variant = reply->variant;
    const auto evaluation = Wait<records::Evaluation>(
        [&](auto done) { evaluator_.Evaluate(std::move(request), std::move(done)); });
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

  test::TemporaryFolder folder_;
  loop::Loop loop_;
  base::SystemClock clock_;
  ProcessWorkers workers_;
  WorkerEvaluator evaluator_;
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
  };
  for (const auto& [kernel, steps] : kStrategies) {
    SCOPED_TRACE(kernel);
    auto request = RequestFor(CaseOf(kernel));
    if (request) ExpectTheSameValues(std::move(*request), steps);
  }
}

}  // namespace
}  // namespace cupilot::evaluate
