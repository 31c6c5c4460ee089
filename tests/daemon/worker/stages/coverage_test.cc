// How many bytes every correct kernel moves, as the worker finds out by running the original.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <utility>

#include "tests/support/evaluator_rig.h"
#include "tests/support/forwarding_workers.h"

namespace cupilot::evaluate {
namespace {

using records::Json;

constexpr int kMixCount = 4096;

// What all of so many elements that were asked, and mattered, say of the others
// (worker/coverage.h). On a machine that is busy with something else fewer than 32 are asked.
int BytesOfAll(int asked) { return 4 * static_cast<int>(std::pow(0.001, 1.0 / asked) * kMixCount); }
// Of that many arrays, each asked alike, every element that was asked mattered.
::testing::AssertionResult AllMattered(const Json& read, int arrays) {
  for (int asked = 8; asked <= 32; ++asked) {
    if (read == arrays * BytesOfAll(asked)) return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << read << " bytes";
}

class MeasureListener final : public test::ForwardingWorkers {
 public:
  explicit MeasureListener(Workers& workers) : ForwardingWorkers(workers) {}
  Json necessary;

  void Call(WorkerCall call, base::Callback<Json> done) override {
    if (call.op != "measure") return workers_.Call(std::move(call), std::move(done));
    workers_.Call(std::move(call), [this, done = std::move(done)](base::Result<Json> json) mutable {
      if (json) necessary = (*json)["metrics"]["all"].value("necessary", Json());
      done(std::move(json));
    });
  }
};

// Of a kernel whose thread i writes `value` to out[i]; with arrays a and b.
Json NecessaryOf(const std::string& value) {
  test::EvaluatorRig rig;
  MeasureListener listener(rig.workers());
  rig.PutInFront(listener);
  const std::string body =
      "(const float* a, const float* b, float* out, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) out[i] = " +
      value + ";\n}\n";
  auto request = rig.RequestFor("mix.cu", "__global__ void mix" + body, "mix");
  EXPECT_TRUE(request);
  if (!request) return {};
  request->max_seconds = 0.1;
  const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
  const auto array = [&](const char* name) {
    return Json{{"name", name}, {"type", "const float*"}, {"count", kMixCount}, {"fill", normal}};
  };
  const auto workload = records::ParseWorkload(
      {{"schema", "cupilot.workload/1"},
       {"kernel", "mix"},
       {"cases",
        {{{"name", "all"},
          {"grid", {kMixCount / 64, 1, 1}},
          {"block", {64, 1, 1}},
          {"arguments",
           {array("a"),
            array("b"),
            {{"name", "out"}, {"type", "float*"}, {"count", kMixCount}, {"access", "out"}},
            {{"name", "n"}, {"type", "int"}, {"value", kMixCount}}}}}}}});
  EXPECT_TRUE(workload) << workload.error().message;
  request->workload = *workload;
  const auto variant = records::ParseVariant({{"schema", "cupilot.variant/1"},
                                              {"kernel", "mix"},
                                              {"source", "__global__ void other" + body},
                                              {"entry", "other"}});
  EXPECT_TRUE(variant) << variant.error().message;
  request->variant = *variant;
  const auto evaluation = rig.Evaluate(std::move(*request));
  EXPECT_TRUE(evaluation) << evaluation.error().message;
  return listener.necessary;
}

TEST(NecessaryBytes, AreThoseThatWereShownToMatter) {
  const Json both = NecessaryOf("a[i] + b[i]");
  ASSERT_TRUE(both.is_object());
  EXPECT_EQ(both["written"], 4 * kMixCount);
  EXPECT_TRUE(AllMattered(both["read"], 2));
  // A large value shows nothing where values are cut off from above, a small one does.
  EXPECT_TRUE(AllMattered(NecessaryOf("fminf(a[i], -5.0f) + b[i]")["read"], 2));
}

TEST(NecessaryBytes, WhatNoResultDependsOnIsNotNecessary) {
  // It is read, and does not matter.
  const Json one = NecessaryOf("a[i] == 1e30f ? b[i] : a[i]");
  EXPECT_TRUE(AllMattered(one["read"], 1));
  const Json quarter = NecessaryOf("a[i] + b[i / 4]");
  EXPECT_LT(quarter["read"].get<int>(), 4 * kMixCount + 4 * kMixCount / 4);
  EXPECT_GT(quarter["read"].get<int>(), BytesOfAll(8)) << "of the first array alone";
}

}  // namespace
}  // namespace cupilot::evaluate
