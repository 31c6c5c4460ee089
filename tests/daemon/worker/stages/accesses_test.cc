// The step "accesses": what a candidate's threads do that no result shows, found in one watched run
// each of original and candidate; and what it has to leave alone.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <utility>

#include "tests/support/evaluator_rig.h"
#include "tests/support/forwarding_workers.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::evaluate {
namespace {

using records::Json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Every candidate is a finalist; of the rest of the verification only the step is asked, unless all
// but it is.
class Finalists final : public test::ForwardingWorkers {
 public:
  explicit Finalists(Workers& workers) : ForwardingWorkers(workers) {}
  bool others = false;
  bool refuse_watched_builds = false;
  std::optional<protocol::VerifyReply> reply;  // of the rest

  void Call(WorkerCall call, base::Callback<Json> done) override {
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
    call.params["left_out"] = others ? Json::array({"accesses"}) : Json(kOtherSteps);
    workers_.Call(std::move(call), [this, done = std::move(done)](base::Result<Json> json) mutable {
      if (json) reply = *protocol::ParseVerifyReply(*json);
      done(std::move(json));
    });
  }

 private:
  inline static const std::vector<std::string> kOtherSteps = {
      "places",          "poisons",   "nearly_right", "more_calls", "changed_contents",
      "fresh_process",   "schedules", "more_fills",   "aliases",    "special_values",
      "around_original", "scalars",   "sizes",        "plants"};

  static protocol::MeasureReply Fast(const Json& params) {
    protocol::MeasureReply measured;
    for (const Json& one : params["set"]["workload"]["cases"]) {
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
};

class AccessesRig {
 public:
  AccessesRig(const std::string& text, int blocks) {
    rig_.PutInFront(finalists_);
    request_ = rig_.RequestFor("sums.cu", text, "sums");
    const auto workload = records::ParseWorkload(MakeWorkload(blocks));
    EXPECT_TRUE(workload) << workload.error().message;
    if (request_ && workload) request_->workload = *workload;
  }

  Finalists& finalists() { return finalists_; }

  records::Evaluation Evaluate(const Json& variant) {
    const auto parsed = records::ParseVariant(variant);
    EXPECT_TRUE(parsed) << parsed.error().message;
    if (!request_ || !parsed) return {};
    EvaluateRequest request = *request_;
    request.variant = *parsed;
    const auto evaluation = rig_.Evaluate(std::move(request));
    EXPECT_TRUE(evaluation) << evaluation.error().message;
    return evaluation ? *evaluation : records::Evaluation{};
  }

 private:
  // One element of `out` a block, `count` is an array of one.
  static Json MakeWorkload(int blocks) {
    const int n = 64 * blocks;
    const Json small = {{"kind", "integers"}, {"low", 1}, {"high", 9}};
    const Json zero = {{"kind", "integers"}, {"low", 0}, {"high", 0}};
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
  Finalists finalists_{rig_.workers()};
  std::optional<EvaluateRequest> request_;
};

constexpr const char* kSums = R"(
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
Json Variant(const std::string& body, const std::string& declarations = "") {
  return {{"schema", "cupilot.variant/1"},
          {"kernel", "sums"},
          {"source", declarations +
                         "__global__ void other(const int* in, int* out, int* total, int n) {\n"
                         "  const int t = threadIdx.x, i = blockIdx.x * 64 + t;\n" +
                         body + "\n}\n"},
          {"entry", "other"}};
}
// The sum of what `part` holds, by the block's first thread.
const std::string kAddUp =
    "  if (t == 0) {\n    int sum = 0;\n    for (int k = 0; k < 64; ++k) sum += part[k];\n"
    "    out[blockIdx.x] = sum;\n    atomicAdd(total, sum);\n  }\n";

class AccessesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { rig_ = new AccessesRig(kSums, 4); }
  static void TearDownTestSuite() { delete std::exchange(rig_, nullptr); }
  void SetUp() override {
    rig_->finalists().others = rig_->finalists().refuse_watched_builds = false;
    rig_->finalists().reply.reset();
  }

  static std::string NoteOf(const records::Evaluation& evaluation) {
    std::string notes;
    for (const records::Check& check : evaluation.checks) {
      if (check.name == "accesses") notes += check.detail + "\n";
    }
    return notes;
  }
  static void ExpectCaught(const std::string& reason, const std::string& detail,
                           const Json& variant) {
    const records::Evaluation evaluation = rig_->Evaluate(variant);
    EXPECT_FALSE(evaluation.accepted) << NoteOf(evaluation);
    EXPECT_EQ(evaluation.reason, reason) << evaluation.detail;
    EXPECT_THAT(evaluation.detail,
                AllOf(HasSubstr(detail), HasSubstr("(case 'all"), HasSubstr("seed")));
    EXPECT_EQ(evaluation.metrics["verify"]["accesses"].value("caught", ""), "accesses");
  }
  static records::Evaluation ExpectAccepted(const Json& variant) {
    const records::Evaluation evaluation = rig_->Evaluate(variant);
    EXPECT_TRUE(evaluation.accepted) << evaluation.reason << ": " << evaluation.detail;
    return evaluation;
  }

  inline static AccessesRig* rig_ = nullptr;
};

TEST_F(AccessesTest, WhatIsRightIsInOrder) {
  const std::string load = "  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n";
  const records::Evaluation evaluation =
      ExpectAccepted(Variant(load + "  __syncthreads();\n" + kAddUp));
  EXPECT_THAT(NoteOf(evaluation), HasSubstr("case 'all': all are in order at its own size"));
  EXPECT_GT(evaluation.metrics["watched_build_seconds"].get<double>(), 0);
}

// No schedule of whole threads shows it: the read comes behind all writes, or before a write of the
// same.
TEST_F(AccessesTest, AMissingBarrierIsARace) {
  const std::string load = "  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n";
  ExpectCaught("race", "at 'part'[", Variant(load + kAddUp));
  ExpectCaught("race", "of shared memory", Variant(load + "  __syncwarp();\n" + kAddUp));
}

TEST_F(AccessesTest, ALostUpdateIsARaceThatNothingElseFinds) {
  const Json lossy = Variant(
      "  __shared__ int sum;\n  if (t == 0) sum = 0;\n  __syncthreads();\n"
      "  sum += i < n ? in[i] : 0;\n  __syncthreads();\n"
      "  if (t == 0) {\n    out[blockIdx.x] = sum;\n    atomicAdd(total, sum);\n  }");
  ExpectCaught("race", "at 'sum'[0] of shared memory", lossy);
  rig_->finalists().others = true;
  ExpectAccepted(lossy);
}

// A GPU may let it pass.
TEST_F(AccessesTest, ABarrierThatSomeThreadsDoNotReachIsFound) {
  ExpectCaught("crashed", "a barrier of the block was reached by 32 of 64 threads",
               Variant("  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n"
                       "  __syncthreads();\n  if (t < 32) __syncthreads();\n" +
                       kAddUp));
  // The others have ended.
  ExpectCaught(
      "crashed", "a barrier of the block was reached by 32 of 64 threads",
      Variant("  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n"
              "  __syncthreads();\n  for (int half = 32; half > 0; half /= 2) {\n"
              "    if (t >= half) continue;\n    part[t] += part[t + half];\n    __syncthreads();\n"
              "  }\n  if (t == 0) {\n    out[blockIdx.x] = part[0];\n    atomicAdd(total, "
              "part[0]);\n  }"));
}

// The runtime says there what a kernel did, under the limit for files of who runs candidates.
TEST_F(AccessesTest, AStandardErrorThatIsAFileHidesNothing) {
  test::TemporaryFolder folder;
  const std::string place = folder.Write("log", "");
  const int file = ::open(place.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC), before = ::dup(2);
  ASSERT_GE(file, 0);
  ASSERT_GE(::dup2(file, 2), 0);
  AccessesRig rig(kSums, 4);  // with workers that inherit it
  const records::Evaluation evaluation =
      rig.Evaluate(Variant("  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n"
                           "  __syncthreads();\n  if (t < 32) __syncthreads();\n" +
                           kAddUp));
  ASSERT_GE(::dup2(before, 2), 0);
  ::close(before);
  ::close(file);
  EXPECT_EQ(evaluation.reason, "crashed");
  EXPECT_THAT(evaluation.detail, HasSubstr("a barrier of the block was reached by 32 of 64"));
}

// What it did before can then not be told.
TEST_F(AccessesTest, AWatchedRunThatDiesIsNotPassedOver) {
  ExpectCaught("crashed", "the process was ended by",
               Variant("  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n"
                       "  if (in[1ll << 45] == 7) part[t] = 0;\n  __syncthreads();\n" +
                       kAddUp));
}

TEST_F(AccessesTest, ALostUpdateBetweenBlocksIsARace) {
  ExpectCaught("race", "at 'total'[0]",
               Variant("  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n"
                       "  __syncthreads();\n  if (t != 0) return;\n  int sum = 0;\n"
                       "  for (int k = 0; k < 64; ++k) sum += part[k];\n"
                       "  out[blockIdx.x] = sum;\n  *total += sum;"));
}

TEST_F(AccessesTest, ResultsMayNotFollowSharedMemoryThatNobodyWrote) {
  const std::string load =
      "  __shared__ int part[65];\n  part[t] = i < n ? in[i] : 0;\n"
      "  __syncthreads();\n";
  ExpectCaught("nondeterministic", "'part'[64], which no thread of the block has written",
               Variant(load + "  if (t == 0) part[0] += part[64];\n  __syncthreads();\n" + kAddUp));
  // What is loaded and not used, is not theirs.
  const records::Evaluation evaluation =
      ExpectAccepted(Variant(load +
                             "  const volatile int* all = part;\n  int next = all[t + 1];\n"
                             "  if (t == 63) next = 0;\n  __syncthreads();\n"
                             "  if (next > 1000) out[0] = 0;\n" +
                             kAddUp));
  EXPECT_THAT(NoteOf(evaluation), HasSubstr("no result follows it"));
}

TEST_F(AccessesTest, ReadsOutsideOfTheBuffersAreFound) {
  const Json over = Variant(
      "  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n"
      "  if (i + 1 <= n && in[i + 1] == 12345678) part[t] = 0;\n  __syncthreads();\n" +
      kAddUp);
  ExpectCaught("out_of_bounds", "at byte 1024 of 'in'", over);
  rig_->finalists().others = true;
  ExpectAccepted(over);
}

// This processor may load it, a GPU does not.
TEST_F(AccessesTest, PairsThatAreNotAlignedAreFound) {
  ExpectCaught(
      "crashed", "at byte 0 of 'in', whose address is no multiple of 8",
      Variant("  __shared__ int part[64];\n"
              "  if (t < 32) {\n"
              "    const int2 two = reinterpret_cast<const int2*>(in)[blockIdx.x * 32 + t];\n"
              "    part[2 * t] = two.x;\n    part[2 * t + 1] = two.y;\n  }\n"
              "  __syncthreads();\n" +
              kAddUp));
}

TEST_F(AccessesTest, AnInputMayNotBeBorrowed) {
  const Json borrows = Variant(
      "  __shared__ int part[64];\n  volatile int* own = const_cast<int*>(in);\n"
      "  part[t] = 0;\n  if (i < n) {\n    const int value = own[i];\n    own[i] = value + 1;\n"
      "    part[t] = own[i] - 1;\n    own[i] = value;\n  }\n  __syncthreads();\n" +
      kAddUp);
  ExpectCaught("modified_input", "at 'in'[0]", borrows);
  rig_->finalists().others = true;
  ExpectAccepted(borrows);
}

TEST_F(AccessesTest, ConstantMemoryIsNoPlaceForState) {
  ExpectCaught("stateful", "'calls'",
               Variant("  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n"
                       "  volatile int* memory = const_cast<int*>(&calls[0]);\n"
                       "  if (i == 0) *memory = *memory + 1;\n"
                       "  __syncthreads();\n" +
                           kAddUp,
                       "__constant__ int calls[1] = {0};\n"));
}

// The last block adds up what all have left: a fence, an atomic counter, and it is told.
TEST_F(AccessesTest, BlocksMayFollowEachOther) {
  const std::string before =
      "  __shared__ int part[64];\n  __shared__ bool last;\n  part[t] = i < n ? in[i] : 0;\n"
      "  __syncthreads();\n  if (t == 0) {\n    int sum = 0;\n"
      "    for (int k = 0; k < 64; ++k) sum += part[k];\n    out[blockIdx.x] = sum;\n";
  const std::string after =
      "    last = atomicAdd(done, 1) == gridDim.x - 1;\n  }\n  __syncthreads();\n"
      "  if (!last || t != 7) return;\n  int all = *total;\n"
      "  for (int b = 0; b < gridDim.x; ++b) all += out[b];\n  *total = all;\n  *done = 0;";
  const auto variant = [&](const std::string& fence) {
    Json json = Variant(before + fence + after);
    std::string source = json["source"];
    source.replace(source.find("int n)"), 6, "int n, int* done)");
    json["source"] = source;
    json["workspace"] = {{{"name", "done"}, {"bytes", "4"}, {"zeroed", true}}};
    json["launches"] = {{{"entry", "other"}, {"arguments", {"in", "out", "total", "n", "done"}}}};
    json.erase("entry");
    return json;
  };
  ExpectAccepted(variant("    __threadfence();\n"));
  ExpectCaught("race", "at 'out'[0]", variant(""));
}

TEST_F(AccessesTest, WithoutABuildForItNothingIsSaid) {
  rig_->finalists().refuse_watched_builds = true;
  const records::Evaluation evaluation = ExpectAccepted(
      Variant("  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n" + kAddUp));
  EXPECT_THAT(NoteOf(evaluation),
              StartsWith("not looked at: the original cannot be built for it: no such option"));
}

// What the original does is no candidate's fault; other kinds are.
TEST(AccessesOfTheOriginal, DoNotCount) {
  AccessesRig rig(R"(
__global__ void sums(const int* in, int* out, int* total, int n) {
  __shared__ int sum;
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  sum += i < n ? in[i] : 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    out[blockIdx.x] = sum;
    atomicAdd(total, sum);
  }
}
)",
                  4);
  const std::string sum =
      "  __shared__ int all;\n  if (t == 0) all = 0;\n  __syncthreads();\n"
      "  all += i < n ? in[i] : 0;\n  __syncthreads();\n";
  const std::string store =
      "  if (t != 0) return;\n  out[blockIdx.x] = all;\n  atomicAdd(total, all);\n";
  const records::Evaluation like = rig.Evaluate(Variant(sum + store));
  EXPECT_TRUE(like.accepted) << like.reason << ": " << like.detail;
  std::string notes;
  for (const records::Check& check : like.checks) notes += check.detail + "\n";
  EXPECT_THAT(notes, HasSubstr("does not count, since the original does the like"));
  const records::Evaluation worse =
      rig.Evaluate(Variant(sum + "  if (in[i + 1] == 12345678) return;\n" + store));
  EXPECT_EQ(worse.reason, "out_of_bounds") << worse.detail;
}

}  // namespace
}  // namespace cupilot::evaluate
