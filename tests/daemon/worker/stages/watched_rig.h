// Verifications of finalists for the host device, of which one step of the rest is asked, or all
// but that one: what watched runs find, and what nothing else does.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/evaluator_rig.h"
#include "tests/support/forwarding_workers.h"

namespace cupilot::evaluate {

// Every candidate is a finalist; of the rest of the verification only the step is asked, unless all
// but it is.
class OnlyFinalists final : public test::ForwardingWorkers {
 public:
  OnlyFinalists(Workers& workers, std::string step)
      : ForwardingWorkers(workers), step_(std::move(step)) {}
  bool others = false;
  bool refuse_watched_builds = false;
  std::optional<protocol::VerifyReply> reply;  // of the rest

  void Call(WorkerCall call, base::Callback<records::Json> done) override {
    if (call.op == "measure") return done(protocol::ToJson(Fast(call.params)));
    if (call.op == "build" && call.params.value("watched", false) && refuse_watched_builds) {
      protocol::BuildReply failed;
      failed.failed = true;
      failed.log = "no such option";
      return done(protocol::ToJson(failed));
    }
    if (call.op != "verify") return workers_.Call(std::move(call), std::move(done));
    if (call.params["depth"] == "screening" && !others) {
      protocol::VerifyReply passed;
      passed.passed = true;
      return done(protocol::ToJson(passed));
    }
    std::vector<std::string> left_out = {step_};
    if (!others) {
      left_out = kRest;
      std::erase(left_out, step_);
    }
    call.params["left_out"] = left_out;
    workers_.Call(std::move(call),
                  [this, done = std::move(done)](base::Result<records::Json> json) mutable {
                    if (json) reply = *protocol::ParseVerifyReply(*json);
                    done(std::move(json));
                  });
  }

 private:
  inline static const std::vector<std::string> kRest = {
      "places",          "poisons",        "nearly_right", "more_calls", "changed_contents",
      "fresh_process",   "schedules",      "accesses",     "undefined",  "more_fills",
      "aliases",         "special_values", "exchanges",    "scalars",    "sizes",
      "around_original", "plants",         "regimes"};

  static protocol::MeasureReply Fast(const records::Json& params) {
    protocol::MeasureReply measured;
    for (const records::Json& one : params["set"]["workload"]["cases"]) {
      records::CaseResult result;
      result.name = one["name"];
      result.original_us = 1000;
      result.variant_us = 500;
      result.speedup = 2;
      result.interval = {1.9, 2.1};
      result.samples = 60;
      result.l2 = "warm";
      measured.cases.push_back(std::move(result));
    }
    return measured;
  }

  const std::string step_;
};

class WatchedRig {
 public:
  WatchedRig(const std::string& step, const std::string& text, int blocks)
      : finalists_(rig_.workers(), step) {
    rig_.PutInFront(finalists_);
    request_ = rig_.RequestFor("sums.cu", text, "sums");
    const auto workload = records::ParseWorkload(MakeWorkload(blocks));
    EXPECT_TRUE(workload) << workload.error().message;
    if (request_ && workload) request_->workload = *workload;
  }

  OnlyFinalists& finalists() { return finalists_; }

  records::Evaluation Evaluate(const records::Json& variant) {
    const auto parsed = records::ParseVariant(variant);
    EXPECT_TRUE(parsed) << parsed.error().message;
    if (!request_ || !parsed) return {};
    EvaluateRequest request = *request_;
    request.variant = *parsed;
    const auto evaluation = rig_.Evaluate(std::move(request));
    EXPECT_TRUE(evaluation) << evaluation.error().message;
    return evaluation ? *evaluation : records::Evaluation{};
  }
  records::Evaluation ExpectAccepted(const records::Json& variant) {
    const records::Evaluation evaluation = Evaluate(variant);
    EXPECT_TRUE(evaluation.accepted) << evaluation.reason << ": " << evaluation.detail;
    return evaluation;
  }
  // What a step has to say, a line each.
  static std::string NotesOf(const records::Evaluation& evaluation, const std::string& step) {
    std::string notes;
    for (const records::Check& check : evaluation.checks) {
      if (check.name == step) notes += check.detail + "\n";
    }
    return notes;
  }

 private:
  // One element of `out` a block, `count` is an array of one.
  static records::Json MakeWorkload(int blocks) {
    const int n = 64 * blocks;
    const records::Json small = {{"kind", "integers"}, {"low", 1}, {"high", 9}};
    const records::Json zero = {{"kind", "integers"}, {"low", 0}, {"high", 0}};
    return {{"schema", "cupilot.workload/1"},
            {"kernel", "sums"},
            {"cases",
             {{{"name", "all"},
               {"grid", {blocks, 1, 1}},
               {"block", {64, 1, 1}},
               {"arguments",
                {{{"name", "in"}, {"type", "const int*"}, {"count", n}, {"fill", small}},
                 {{"name", "out"}, {"type", "int*"}, {"count", blocks}, {"access", "out"}},
                 {{"name", "total"},
                  {"type", "int*"},
                  {"count", 1},
                  {"access", "inout"},
                  {"fill", zero}},
                 {{"name", "n"}, {"type", "int"}, {"value", n}}}}}}}};
  }

  test::EvaluatorRig rig_;
  OnlyFinalists finalists_;
  std::optional<EvaluateRequest> request_;
};

inline constexpr const char* kSums = R"(
__global__ void sums(const int* in, int* out, int* total, int n) {
  __shared__ int part[64];
  const int t = threadIdx.x;
  part[t] = blockIdx.x * 64 + t < n ? in[blockIdx.x * 64 + t] : 0;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) {
    out[blockIdx.x] = part[0];
    atomicAdd(total, part[0]);
  }
}
)";

// `declarations` and one launch of `body`, which knows `t` and `i`.
inline records::Json Variant(const std::string& body, const std::string& declarations = "") {
  return {{"schema", "cupilot.variant/1"},
          {"kernel", "sums"},
          {"source", declarations +
                         "__global__ void other(const int* in, int* out, int* total, int n) {\n"
                         "  const int t = threadIdx.x, i = blockIdx.x * 64 + t;\n" +
                         body + "\n}\n"},
          {"entry", "other"}};
}
// The sum of what `part` holds, by the block's first thread.
inline const std::string kAddUp =
    "  if (t == 0) {\n    int sum = 0;\n    for (int k = 0; k < 64; ++k) sum += part[k];\n"
    "    out[blockIdx.x] = sum;\n    atomicAdd(total, sum);\n  }\n";

}  // namespace cupilot::evaluate
