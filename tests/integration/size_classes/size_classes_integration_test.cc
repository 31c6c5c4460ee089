// A kernel that a program runs at two sizes, on the host device: one technique wins at one, another
// at the other. All is real, scanned, rewritten, built, verified, compiled and run, but for the
// times, which the test says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/install_layout.h"
#include "cache/memory_store.h"
#include "search/number_search.h"
#include "service/kernel_job.h"
#include "source/swap/swapped_source.h"
#include "tests/support/evaluator_rig.h"
#include "tests/support/forwarding_workers.h"
#include "tests/support/make_records.h"
#include "tests/support/run_program.h"

namespace cupilot {
namespace {

using records::Json;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kSource = R"(
#include <cstdio>
#include <cuda_runtime.h>

// cupilot: tune
// cupilot: workload small grid=2 block=64 n=128 in=normal[n] out=[n]
// cupilot: workload large grid=64 block=64 n=4096 in=normal[n] out=[n]
__global__ void negate(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = -in[i];
}

int main() {
  float* values = nullptr;
  cudaMallocManaged(&values, 2 * 4096 * sizeof(float));
  int wrong = 0;
  for (int n : {128, 4096, 2048, 4096}) {
    for (int i = 0; i < n; ++i) values[i] = float(n + i);
    negate<<<n / 64, 64>>>(values, values + 4096, n);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; ++i) wrong += values[4096 + i] == -float(n + i) ? 0 : 1;
  }
  return wrong == 0 ? 0 : 1;
}
)";

// The techniques and times are the test's, the rest is the workers'.
class Times final : public test::ForwardingWorkers {
 public:
  using ForwardingWorkers::ForwardingWorkers;

  void Call(evaluate::WorkerCall call, base::Callback<Json> done) override {
    if (call.op == "propose") {
      protocol::ProposeReply reply;
      const Json block = {{"x", 128}, {"y", 1}, {"z", 1}}, marked = {{"loads", "restrict"}};
      reply.proposals = {{"block_size", true, "", {block}},
                         {"restrict_readonly", true, "", {marked}}};
      return done(protocol::ToJson(reply));
    }
    if (call.op != "measure") return workers_.Call(std::move(call), std::move(done));
    const auto request = protocol::ParseMeasureRequest(call.params);
    ASSERT_TRUE(request) << request.error().message;
    done(protocol::ToJson(Measure(request->set)));
  }

 private:
  // Another block wins at the large size, marked pointers at the small one; neither at both.
  static protocol::MeasureReply Measure(const protocol::CandidateSet& set) {
    double large = 1, small = 1;
    for (const records::StrategyStep& step : set.variant.strategy->steps) {
      if (step.technique == "block_size") large *= 2, small *= 0.5;
      if (step.technique == "restrict_readonly") large *= 0.4, small *= 1.5;
    }
    protocol::MeasureReply reply;
    for (const records::Case& one : set.workload.cases) {
      const bool admits =
          set.variant.guard.empty() ||
          records::EvaluateText(set.variant.guard, search::EnvironmentOf(one)).value_or(0) != 0;
      reply.cases.push_back(
          admits ? test::MakeCaseResult(one.name, one.name == "large" ? large : small)
                 : records::LeftToOriginal(one.name));
    }
    return reply;
  }
};

class SizeClassesIntegrationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto request = rig_.RequestFor("negate.cu", kSource);
    ASSERT_TRUE(request);
    input_.kernel = request->kernel;
    input_.workload = request->workload;
    input_.command = request->command;
    input_.source_text = kSource;
    input_.budget_seconds = 1e6;
    place_ = input_.place;
  }

  // Until both sizes have what is best for them.
  service::ProvenSet Tune() {
    service::KernelJob job({workers_, evaluator_, catalog_, clock_, pool_}, input_, nullptr);
    for (int step = 0; step < 12 && !job.finished(); ++step) {
      const auto done = rig_.Wait<bool>([&](auto callback) { job.Step(std::move(callback)); });
      EXPECT_TRUE(done) << done.error().message;
      EXPECT_EQ(job.failure(), "");
      auto set = catalog_.BestSet(input_.kernel.key, input_.workload, place_);
      if (set.size() == 2) return set;
    }
    ADD_FAILURE() << job.search()->ToJson().dump(1);
    return {};
  }

  std::string CompileAndRun(const service::ProvenSet& set) {
    source::SwapRequest request{input_.command.source, "negate", {{input_.kernel, {}}}};
    for (const auto& one : set) {
      request.kernels[0].variants.push_back({one->variant,
                                             one->evaluation.target,
                                             {},
                                             one->evaluation.guard,
                                             one->variant.strategy->title,
                                             one->evaluation.speedup.value_or(1)});
    }
    const auto swap = source::WriteSwappedSource(request);
    if (!swap) return swap.error().message;
    for (const source::SwappedText& one : swap->Files()) folder_.Write(one.file_name, one.text);
    std::vector<std::string> words = {base::HostToolkitFolder() + "/bin/nvcc",
                                      "-O3",
                                      "-std=c++17",
                                      folder_ / swap->file_name,
                                      "-o",
                                      folder_ / "negate"};
    const auto definitions = source::HookDefinitions(swap->hook);
    words.insert(words.end(), definitions.begin(), definitions.end());
    const auto compiled = test::RunProgram(words);
    if (compiled.exit_code != 0) return compiled.output + compiled.errors;
    test::RunOptions options;
    options.environment["CUPILOT_STATS"] = "1";
    const auto run = test::RunProgram({folder_ / "negate"}, options);
    return std::to_string(run.exit_code) + " " + run.errors;
  }

  test::EvaluatorRig rig_;
  test::TemporaryFolder folder_;
  Times workers_{rig_.workers()};
  base::SystemClock clock_;
  evaluate::WorkerEvaluator evaluator_{
      workers_, clock_, {{folder_ / "artifacts", 60000}, folder_ / "work"}};
  cache::MemoryStore store_;
  service::Catalog catalog_{store_};
  service::Pool pool_{store_, 100};
  service::JobInput input_;
  service::Place place_;
};

TEST_F(SizeClassesIntegrationTest, EachSizeRunsItsVariantAndOthersTheOriginal) {
  const service::ProvenSet set = Tune();
  ASSERT_THAT(set, SizeIs(2));
  const records::Evaluation& large = set[0]->evaluation;
  EXPECT_THAT(set[0]->variant.guard, HasSubstr("n >= 4096"));
  EXPECT_THAT(large.guard, HasSubstr("n == 4096"));
  EXPECT_THAT(large.guard, ::testing::Not(HasSubstr("n == 128")));
  ASSERT_THAT(large.cases, SizeIs(2));
  EXPECT_FALSE(large.cases[0].admitted);
  EXPECT_THAT(set[1]->variant.guard, HasSubstr("n <= 128"));
  EXPECT_THAT(set[1]->evaluation.guard, HasSubstr("n == 128"));
  EXPECT_EQ(CompileAndRun(set), "0 cupilot: negate: 3 launches tuned, 1 outside the guard\n");
  EXPECT_EQ(CompileAndRun({set[0]}), "0 cupilot: negate: 2 launches tuned, 2 outside the guard\n");
}

}  // namespace
}  // namespace cupilot
