// Variants that do harm, run for real: each is rejected for the right reason, and the evaluation
// after it is not affected. What the whitelist already refuses is let past it here, to see that the
// processes that run candidates hold, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/file.h"
#include "tests/support/evaluator_rig.h"
#include "tests/support/forwarding_workers.h"
#include "tests/support/private_xdg.h"
#include "tests/support/run_program.h"

namespace cupilot::evaluate {
namespace {

using records::Json;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* kSource = R"(
namespace field {
__global__ void scale(const float* in, float* out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * in[i];
}
}
)";
#ifdef __x86_64__
// The same, with a call of the system that no object names and no variant may write.
constexpr const char* kSourceOfCalls = R"(
namespace field {
__host__ __device__ long call_system(long number, long a, long b, long c) {
  long got;
  asm volatile("syscall" : "=a"(got) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return got < 0 ? -1 : got;
}
__global__ void scale(const float* in, float* out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < 0) call_system(n, n, n, n);
  if (i < n) out[i] = factor * in[i];
}
}
)";
#endif
constexpr const char* kHead =
    "__global__ void other(const float* in, float* out, float factor, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
constexpr int kCount = 16384;

Json MakeWorkload() {
  const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
  return {{"schema", "cupilot.workload/1"},
          {"kernel", "field::scale"},
          {"cases",
           {{{"name", "all"},
             {"grid", {kCount / 64, 1, 1}},
             {"block", {64, 1, 1}},
             {"arguments",
              {{{"name", "in"}, {"type", "const float*"}, {"count", kCount}, {"fill", normal}},
               {{"name", "out"}, {"type", "float*"}, {"count", kCount}, {"access", "out"}},
               {{"name", "factor"}, {"type", "float"}, {"value", 1.5}},
               {{"name", "n"}, {"type", "int"}, {"value", kCount}}}}}}}};
}

Json MakeVariant(const std::string& body, const std::string& declarations = "") {
  return {{"schema", "cupilot.variant/1"},
          {"kernel", "field::scale"},
          {"source", declarations + kHead + body + "\n}\n"},
          {"entry", "other"}};
}

// Passes everything on, but lets every variant past the whitelist where told so.
class Gatekeeper final : public test::ForwardingWorkers {
 public:
  Gatekeeper(Workers& workers, loop::Loop& loop) : ForwardingWorkers(workers), loop_(loop) {}
  bool open = false;

  void Call(WorkerCall call, base::Callback<Json> done) override {
    if (!open || call.op != "check_variant") return workers_.Call(std::move(call), std::move(done));
    protocol::CheckVariantReply passed;
    passed.passed = true;
    loop_.Post([done = std::move(done), reply = protocol::ToJson(passed)]() mutable {
      done(std::move(reply));
    });
  }

 private:
  loop::Loop& loop_;
};

class HostileVariantsTest : public ::testing::Test {
 protected:
  HostileVariantsTest() { rig_.PutInFront(gate_); }

  void SetUp() override { TakeKernelOf(kSource); }

  void TakeKernelOf(const char* source) {
    auto request = rig_.RequestFor("scale.cu", source, "field::scale");
    ASSERT_TRUE(request);
    request_ = std::move(*request);
    request_.max_seconds = 0.2;
    auto workload = records::ParseWorkload(MakeWorkload());
    ASSERT_TRUE(workload) << workload.error().message;
    request_.workload = *workload;
  }

  records::Evaluation Evaluate(const std::string& body) {
    EvaluateRequest request = request_;
    auto variant = records::ParseVariant(MakeVariant(body, declarations_));
    EXPECT_TRUE(variant) << variant.error().message;
    if (!variant) return {};
    request.variant = *variant;
    const auto evaluation = rig_.Evaluate(std::move(request));
    EXPECT_TRUE(evaluation) << evaluation.error().message;
    return evaluation.value_or(records::Evaluation{});
  }

  template <class Matcher>
  void ExpectRejected(const std::string& body, Matcher reason) {
    const records::Evaluation evaluation = Evaluate(body);
    EXPECT_FALSE(evaluation.accepted);
    EXPECT_THAT(evaluation.reason, reason) << body << "\n" << evaluation.detail;
    ExpectTheNextIsFine();
  }

  // An honest variant right after it is judged on its merits, by the same worker processes.
  void ExpectTheNextIsFine() {
    gate_.open = false;
    declarations_.clear();
    const records::Evaluation next = Evaluate("  if (i < n) out[i] = in[i] * factor;");
    EXPECT_TRUE(next.accepted || next.reason == "not_faster" || next.reason == "unstable_timing")
        << next.reason << ": " << next.detail;
    const WorkerCounters counters = rig_.workers().counters();
    EXPECT_EQ(counters.Of(WorkerKind::kDevice).started, 1);
    EXPECT_EQ(counters.Of(WorkerKind::kDevice).crashed, 0);
    EXPECT_EQ(counters.Of(WorkerKind::kDevice).timed_out, 0);
  }

  test::EvaluatorRig rig_;
  Gatekeeper gate_{rig_.workers(), rig_.loop()};
  EvaluateRequest request_;
  std::string declarations_;  // before the variants' kernel
};

TEST_F(HostileVariantsTest, LoopingForEverTimesOut) {
  ExpectRejected("  volatile int go = 1; while (go) { } out[i] = in[i];", "timed_out");
}

TEST_F(HostileVariantsTest, ANullPointerCrashes) {
  ExpectRejected("  volatile float* p = nullptr; *p = in[i];", "crashed");
}

TEST_F(HostileVariantsTest, ExitIsForbiddenAndNoResult) {
  ExpectRejected("  exit(0);", "forbidden_construct");
  // Whoever comes by the text's checks is seen in the object.
  gate_.open = true;
  ExpectRejected("  _Exit(0);", "build_failed");
  gate_.open = true;
  ExpectRejected("  exit(0);", "build_failed");
#ifdef __x86_64__
  // And without a call, by the process.
  ASSERT_NO_FATAL_FAILURE(TakeKernelOf(kSourceOfCalls));
  gate_.open = true;
  ExpectRejected("  call_system(231, 0, 0, 0);", "crashed");  // exit_group
#endif
}

TEST_F(HostileVariantsTest, AllocatingWithoutEndIsForbiddenAndEnds) {
  const std::string body =
      "  for (;;) { char* p = (char*)malloc(1 << 26);"
      " for (int k = 0; k < (1 << 26); k += 4096) p[k] = 1; }";
  ExpectRejected(body, "forbidden_construct");
  gate_.open = true;
  ExpectRejected(body, AnyOf("crashed", "timed_out"));
}

TEST_F(HostileVariantsTest, ADeepStackIsForbiddenAndCrashes) {
  const std::string body =
      "  volatile char big[1 << 28]; for (int k = 0; k < (1 << 28); k += 4096) big[k] = 1;"
      " out[i] = big[7];";
  ExpectRejected(body, "forbidden_construct");
  gate_.open = true;
  ExpectRejected(body, "crashed");
}

TEST_F(HostileVariantsTest, WritingPastABufferIsOutOfBounds) {
  ExpectRejected("  if (i < n) out[i] = factor * in[i]; if (i == 0) out[n + 3] = 7;",
                 "out_of_bounds");
  ExpectRejected("  if (i < n) out[i] = factor * in[i]; if (i == 0) out[-2] = 7;", "out_of_bounds");
  ExpectRejected("  if (i < n) out[i] = factor * in[i]; if (i == 0) out[1ll << 40] = 7;",
                 AnyOf("crashed", "out_of_bounds"));
}

TEST_F(HostileVariantsTest, ChangingAnInputIsSeen) {
  ExpectRejected("  if (i < n) out[i] = factor * in[i]; if (i == 0) ((float*)in)[5] = 7;",
                 "modified_input");
}

TEST_F(HostileVariantsTest, DoingNothingIsSeen) {
  ExpectRejected("  if (i < n / 2) out[i] = factor * in[i];", "unwritten_output");
  ExpectRejected("  if (i < n) out[i] = in[i];", "wrong_values");
}

// Calls of the system, by their numbers: `call` says what came of it by `got`, which is -1 where it
// is refused. The result is right then.
#ifdef __x86_64__
std::string Calls(const std::string& call) {
  return "  long got = -1;\n  if (i == 0) {\n" + call +
         "  }\n  if (i < n) out[i] = got == -1 ? factor * in[i] : -1.0f;";
}

TEST_F(HostileVariantsTest, NoProcessAndNoFileComesOfARun) {
  declarations_ = "extern \"C\" long syscall(long, ...);\n";
  gate_.open = true;
  EXPECT_EQ(Evaluate(Calls("    got = syscall(57);\n")).reason, "build_failed");
  declarations_.clear();
  ASSERT_NO_FATAL_FAILURE(TakeKernelOf(kSourceOfCalls));
  for (const char* call : {
           "    got = call_system(57, 0, 0, 0);\n",                                   // fork
           "    got = call_system(59, (long)\"/bin/true\", 0, 0);\n",                 // execve
           "    got = call_system(85, (long)\"/dev/shm/cupilot_test\", 0600, 0);\n",  // creat
           "    const long file = call_system(319, (long)\"\", 0, 0);\n"  // memfd_create
           "    got = call_system(77, file, 1l << 20, 0);\n"              // ftruncate
           "    call_system(3, file, 0, 0);\n"                            // close
       }) {
    gate_.open = true;
    const records::Evaluation evaluation = Evaluate(Calls(call));
    EXPECT_TRUE(evaluation.accepted || evaluation.reason == "not_faster" ||
                evaluation.reason == "unstable_timing")
        << call << evaluation.reason << ": " << evaluation.detail;
  }
  // It would be seen.
  gate_.open = true;
  EXPECT_EQ(Evaluate(Calls("    got = call_system(39, 0, 0, 0);\n")).reason, "wrong_values");
  ExpectTheNextIsFine();
}
#endif

// As a user does it: exit code 1 with the reason, and no process left behind.
TEST(HostileVariantsByHand, TheCommandSaysWhy) {
  const test::PrivateXdg xdg;
  const std::string file = xdg.folder().Write("scale.cu", kSource);
  const std::string workload = xdg.folder().Write("w.json", MakeWorkload().dump());
  test::RunOptions options;
  options.environment = xdg.Environment();
  const auto run = [&](const std::string& body) {
    const std::string variant = xdg.folder().Write("v.json", MakeVariant(body).dump());
    return test::RunProgram({CUPILOT_PROGRAM, "evaluate", file, "--kernel", "scale", "--workload",
                             workload, "--variant", variant, "--json"},
                            options);
  };
  const auto hostile = run("  volatile float* p = nullptr; *p = in[i];");
  EXPECT_EQ(hostile.exit_code, 1) << hostile.errors;
  EXPECT_THAT(hostile.output, HasSubstr("\"reason\": \"crashed\""));
  const auto honest = run("  if (i < n) out[i] = in[i] * factor;");
  EXPECT_THAT(honest.exit_code, AnyOf(0, 1)) << honest.errors;
  EXPECT_THAT(honest.output, ::testing::Not(HasSubstr("crashed")));
}

// tests/data/hostile, each file as a user evaluates it: expected.json has exit codes, reasons and
// what is said.
TEST(HostileVariantsByHand, EachFileHasItsAnswer) {
  const std::string folder = CUPILOT_TEST_SOURCE_DIR "/tests/data/hostile/";
  const auto text = base::ReadFile(folder + "expected.json");
  ASSERT_TRUE(text);
  const Json expected = Json::parse(*text);
  const test::PrivateXdg xdg;
  test::RunOptions options;
  options.environment = xdg.Environment();
  for (const auto& [name, answer] : expected.items()) {
    const std::string own = folder + name + ".w.json";
    const auto run =
        test::RunProgram({CUPILOT_PROGRAM, "evaluate", folder + "k.cu", "--kernel", "axpb",
                          "--workload", base::FileExists(own) ? own : folder + "w.json",
                          "--variant", folder + name + ".v.json", "--device", "host", "--json"},
                         options);
    const std::string all = name + "\n" + run.output + run.errors;
    EXPECT_THAT(answer["exit"], Contains(run.exit_code)) << all;
    EXPECT_THAT(run.output + run.errors, HasSubstr(answer["says"].get<std::string>())) << all;
    if (run.exit_code == 2) continue;
    const Json evaluation = Json::parse(run.output, nullptr, false);
    ASSERT_TRUE(evaluation.is_object()) << all;
    EXPECT_THAT(answer["reason"], Contains(evaluation.value("reason", ""))) << all;
  }
}

// The original itself is at fault: no verdict about the variant, and exit code 2.
TEST(HostileVariantsByHand, AnIllegalWorkloadIsTwo) {
  const test::PrivateXdg xdg;
  const std::string file = xdg.folder().Write("scale.cu", kSource);
  Json workload = MakeWorkload();
  workload["cases"][0]["arguments"][1]["count"] = kCount / 2;
  const std::string workload_file = xdg.folder().Write("w.json", workload.dump());
  const std::string variant =
      xdg.folder().Write("v.json", MakeVariant("  if (i < n) out[i] = in[i] * factor;").dump());
  test::RunOptions options;
  options.environment = xdg.Environment();
  const auto run = test::RunProgram({CUPILOT_PROGRAM, "evaluate", file, "--kernel", "scale",
                                     "--workload", workload_file, "--variant", variant},
                                    options);
  EXPECT_EQ(run.exit_code, 2) << run.output << run.errors;
}

}  // namespace
}  // namespace cupilot::evaluate
