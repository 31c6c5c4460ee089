// Evaluations on a GPU with a driver of our own in place of NVIDIA's (tests/support/fake_cuda): the
// path through all processes, and what becomes of it when the device fails. What the code itself
// does is tests/gpu's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

#include "base/file.h"
#include "evaluate/calls.h"
#include "records/json.h"
#include "tests/support/evaluator_rig.h"
#include "tests/support/forwarding_workers.h"
#include "tests/support/private_xdg.h"
#include "tests/support/processes.h"
#include "tests/support/run_program.h"

namespace cupilot {
namespace {

using records::Json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr const char* kSource = R"(
// cupilot: tune
__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
)";
constexpr int kCount = 4096;

Json MakeWorkload() {
  const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
  return {{"schema", "cupilot.workload/1"},
          {"kernel", "saxpy"},
          {"cases",
           {{{"name", "all"},
             {"grid", {kCount / 128, 1, 1}},
             {"block", {128, 1, 1}},
             {"arguments",
              {{{"name", "n"}, {"type", "int"}, {"value", kCount}},
               {{"name", "a"}, {"type", "float"}, {"value", 2.5}},
               {{"name", "x"}, {"type", "const float*"}, {"count", kCount}, {"fill", normal}},
               {{"name", "y"},
                {"type", "float*"},
                {"count", kCount},
                {"access", "inout"},
                {"fill", normal}}}}}}}};
}

// With memory and a barrier that each of compute-sanitizer's tools may find something in.
Json MakeVariant(const std::string& entry) {
  return {{"schema", "cupilot.variant/1"},
          {"kernel", "saxpy"},
          {"source", "__global__ void " + entry +
                         "(int n, float a, const float* x, float* y) {\n"
                         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                         "  __shared__ float own[128];\n"
                         "  own[threadIdx.x] = i < n ? x[i] : 0.0f;\n  __syncthreads();\n"
                         "  if (i < n) y[i] = y[i] + a * own[threadIdx.x];\n}\n"},
          {"entry", entry}};
}

class FakeGpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string(CUDA_COMPILER).empty()) GTEST_SKIP() << "no CUDA toolkit here: no NVRTC";
    options_.environment = xdg_.Environment();
    options_.environment["LD_LIBRARY_PATH"] = FAKE_CUDA_FOLDER;
    options_.environment["PATH"] =
        base::AbsolutePath("..", CUDA_COMPILER) + ":/usr/local/bin:/usr/bin:/bin";
    source_ = xdg_.folder().Write("saxpy.cu", kSource);
    workload_ = xdg_.folder().Write("workload.json", MakeWorkload().dump());
  }

  // The evaluation's record, or the error's.
  Json Evaluate(const std::string& entry, int exit_code) {
    const std::string variant = xdg_.folder().Write(entry + ".json", MakeVariant(entry).dump());
    const test::ProgramRun run =
        test::RunProgram({CUPILOT_PROGRAM, "evaluate", source_, "--workload", workload_,
                          "--variant", variant, "--device", "cuda:0", "--json"},
                         options_);
    EXPECT_EQ(run.exit_code, exit_code) << run.output << run.errors;
    const auto json = records::ParseJson(run.output);
    EXPECT_TRUE(json) << run.output << run.errors;
    return json.value_or(Json::object());
  }

  test::PrivateXdg xdg_;
  test::RunOptions options_;
  std::string source_, workload_;
};

TEST_F(FakeGpuTest, AVariantIsBuiltRunComparedAndTimed) {
  // The fake computes the same for both, so there is nothing to gain.
  const Json evaluation = Evaluate("saxpy_other", 1);
  EXPECT_THAT(evaluation.value("reason", ""), AnyOf("not_faster", "unstable_timing"))
      << evaluation.dump(1);
  EXPECT_EQ(evaluation["device"]["arch"], "sm_90");
  EXPECT_EQ(evaluation["target"], "compute_90,sm_90");
  EXPECT_THAT(evaluation["toolchain"], HasSubstr("nvrtc"));
  ASSERT_EQ(evaluation["cases"].size(), 1u);
  const Json& result = evaluation["cases"][0];
  EXPECT_EQ(result["l2"], "cold");
  EXPECT_GT(result["samples"], 2);
  EXPECT_LE(result["error"], 1.0) << "measured against the double twin";
  EXPECT_EQ(evaluation["text_hash"].get<std::string>().size(), 40u);
}

// With much data candidates are only looked at, in a process that was begun before anything of
// theirs was built.
TEST_F(FakeGpuTest, ASearchLooksAtItsCandidates) {
  Json workload = MakeWorkload();
  constexpr int kMany = 4 << 20;
  workload["cases"][0]["grid"] = {kMany / 128, 1, 1};
  workload["cases"][0]["arguments"][0]["value"] = kMany;
  for (const int array : {2, 3}) workload["cases"][0]["arguments"][array]["count"] = kMany;
  xdg_.folder().Write("workload.json", workload.dump());
  // What seems to be slower is rejected: not so on a busy machine, either.
  options_.environment["FAKE_CUDA_ORIGINAL_PASSES"] = "2";
  const test::ProgramRun run =
      test::RunProgram({CUPILOT_PROGRAM, "tune", source_, "--kernel", "saxpy", "--workload",
                        workload_, "--device", "cuda:0", "--budget", "4"},
                       options_);
  EXPECT_THAT(run.output, HasSubstr("looked at")) << run.errors;
  EXPECT_THAT(run.output, ::testing::Not(HasSubstr("crashed")));
}

// What a search is scanned for before the driver has said what the GPU is is right, or made anew.
TEST_F(FakeGpuTest, TheArchitectureThatIsKnownFirstChangesNoResult) {
  options_.environment["LD_LIBRARY_PATH"] += std::string(":") + FAKE_NVML_FOLDER;
  xdg_.folder().Write("config/cupilot/config.json", R"({"log_level": "debug"})");
  for (const std::string capability : {"9.0", "8.0", ""}) {
    SCOPED_TRACE(capability);
    options_.environment["FAKE_NVML_CAPABILITY"] = capability;
    const test::ProgramRun told =
        test::RunProgram({"sh", "-c", "echo \"$1\" | \"$0\" --kind monitor", CUPILOT_WORKER,
                          R"({"id": 1, "op": "architectures"})"},
                         options_);
    const Json architectures = records::ParseJson(told.output)->at("result").at("architectures");
    EXPECT_EQ(architectures.dump(), capability == "9.0"   ? R"(["sm_90"])"
                                    : capability == "8.0" ? R"(["sm_80"])"
                                                          : "[]");
    const test::ProgramRun run =
        test::RunProgram({CUPILOT_PROGRAM, "tune", source_, "--kernel", "saxpy", "--workload",
                          workload_, "--device", "cuda:0", "--budget", "2", "--json"},
                         options_);
    const auto json = records::ParseJson(run.output);
    ASSERT_TRUE(json) << run.output << run.errors;
    EXPECT_EQ(json->value("evaluations", 0), 2) << run.output << run.errors;
    // The right one is scanned for in any case, and no more than one other, and only if it was told
    // before the driver was open.
    const std::string begins = "a request begins", scan = "op=scan";
    int scans = 0;
    std::istringstream lines(run.errors);
    for (std::string line; std::getline(lines, line);) {
      scans += line.find(begins) != std::string::npos && line.find(scan) != std::string::npos;
    }
    EXPECT_GE(scans, 1) << run.errors;
    EXPECT_LE(scans, capability == "8.0" ? 2 : 1) << run.errors;
  }
}

TEST_F(FakeGpuTest, AWinnersPlaceOnTheRooflineIsInItsRecord) {
  options_.environment["FAKE_CUDA_ORIGINAL_PASSES"] = "20";
  options_.environment["LD_LIBRARY_PATH"] += std::string(":") + FAKE_CUPTI_FOLDER;
  const Json evaluation = Evaluate("saxpy_other", 0);
  EXPECT_EQ(evaluation["verdict"], "accepted") << evaluation.dump(1);
  const Json& roofline = evaluation["metrics"]["case all"]["roofline"];
  EXPECT_EQ(roofline["source"], "cupti") << roofline.dump(1);
  EXPECT_EQ(roofline["necessary"]["read"], 2 * 4 * kCount);
  for (const char* side : {"original", "variant"}) {
    // The fake's chip has a few of the metrics, and counts each by its place.
    EXPECT_EQ(roofline[side]["counters"].size(), 5u) << roofline.dump(1);
    EXPECT_EQ(roofline[side]["counters"]["dram__bytes_read.sum"], 2000.0);
    EXPECT_EQ(roofline[side]["operations"]["fp32"], 2 * 5000.0);
    EXPECT_EQ(roofline[side]["launches"][0]["blocks_per_sm"], 16);
    EXPECT_EQ(roofline[side]["launches"][0]["occupancy"], 1.0);
    EXPECT_FALSE(roofline[side]["bound"].get<std::string>().empty());
  }
}

TEST_F(FakeGpuTest, WhereCountersAreForbiddenTheRecordSaysSo) {
  options_.environment["FAKE_CUDA_ORIGINAL_PASSES"] = "20";
  options_.environment["LD_LIBRARY_PATH"] += std::string(":") + FAKE_CUPTI_FOLDER;
  options_.environment["FAKE_CUPTI_STATUS"] = "35";
  const Json evaluation = Evaluate("saxpy_other", 0);
  const Json& roofline = evaluation["metrics"]["case all"]["roofline"];
  EXPECT_EQ(roofline["source"], "static") << evaluation.dump(1);
  EXPECT_THAT(roofline["reason"], HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_EQ(roofline["variant"]["launches"][0]["registers"], 32);
}

TEST_F(FakeGpuTest, PeaksThatMakeNoSenseAreMeasuredAgain) {
  const std::string place =
      "cache/cupilot/work/sm_90/peaks/GPU-11111111-1111-1111-1111-111111111111.json";
  const Json nonsense = {{"schema", "cupilot.peaks/1"},
                         {"version", 1},
                         {"driver", "CUDA 13.0"},
                         {"peaks", {{"read", 1}, {"write", nullptr}, {"launch_us", "short"}}}};
  xdg_.folder().Write(place, nonsense.dump());
  const Json evaluation = Evaluate("saxpy_other", 1);
  EXPECT_THAT(evaluation.value("reason", ""), AnyOf("not_faster", "unstable_timing"))
      << evaluation.dump(1);
  const auto kept = base::ReadFile(xdg_.folder() / place);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_TRUE(records::ParseJson(*kept)->at("peaks").at("write").is_number()) << *kept;
}

TEST_F(FakeGpuTest, AFaultIsTheCandidatesOwn) {
  const Json evaluation = Evaluate("saxpy_fault_700_", 1);
  EXPECT_EQ(evaluation.value("reason", ""), "crashed") << evaluation.dump(1);
  EXPECT_THAT(evaluation.value("detail", ""), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
}

TEST_F(FakeGpuTest, AKernelOfAnotherNameComputesNothingAndIsFound) {
  // The fake runs it as doing nothing: y keeps its input.
  const Json evaluation = Evaluate("other", 1);
  EXPECT_EQ(evaluation.value("reason", ""), "wrong_values") << evaluation.dump(1);
}

// The device's clock says that it takes no time at all, though its results are right.
TEST_F(FakeGpuTest, AClaimUnderTheFloorIsRejectedAndItsNumbersAreInTheRecord) {
  options_.environment["FAKE_CUDA_LAUNCH_US"] = "20";
  options_.environment["FAKE_CUDA_ORIGINAL_PASSES"] = "300";
  const Json evaluation = Evaluate("saxpy_instant_", 1);
  EXPECT_EQ(evaluation.value("reason", ""), "faster_than_physics") << evaluation.dump(1);
  ASSERT_FALSE(evaluation["cases"].empty()) << evaluation.dump(1);
  const Json& result = evaluation["cases"][0];
  EXPECT_GT(result["variant_us"], 0);
  EXPECT_LT(result["variant_us"], result["floor_us"]);
  EXPECT_LT(result["floor_us"], result["original_us"]);
  EXPECT_GE(result["floor_us"], 20) << "an empty launch takes as long";
  const Json& necessary = evaluation["metrics"]["case all"]["necessary"];
  EXPECT_GT(necessary["read"], 0);
  const std::string bytes = std::to_string(necessary["read"].get<std::int64_t>() +
                                           necessary["written"].get<std::int64_t>());
  EXPECT_THAT(
      evaluation.value("detail", ""),
      AllOf(HasSubstr("case 'all' would take "), HasSubstr(" its " + bytes + " bytes of "),
            HasSubstr("take at least " + std::to_string(result["floor_us"].get<double>()))));
  EXPECT_FALSE(evaluation.contains("speedup") && evaluation["speedup"].is_number());
}

TEST_F(FakeGpuTest, ALaunchThatIsTimedFindsItsInputsAsTheyWere) {
  options_.environment["FAKE_CUDA_ORIGINAL_PASSES"] = "20";
  const Json evaluation = Evaluate("saxpy_once_", 0);
  EXPECT_EQ(evaluation["verdict"], "accepted") << evaluation.dump(1);
}

// A script in compute-sanitizer's place: it runs what it is to run, and reports a race where the
// condition holds, one of the shell, in which $tool is the tool and $seen a file for its use.
void PretendSanitizer(const test::TemporaryFolder& folder, const std::string& condition) {
  const std::string script = folder.Write(
      "bin/compute-sanitizer",
      "#!/bin/sh\ntool=$2\nseen='" + folder.path() +
          "/seen'\n"
          "while [ \"$1\" != --log-file ]; do shift; done\nlog=$2; shift 2\n\"$@\" || exit 1\n"
          "echo '========= COMPUTE-SANITIZER' > \"$log\"\n"
          "if " +
          condition +
          "; then\n  echo '========= Error: Race reported between threads' >> \"$log\"\n"
          "  echo '=========     at other+0x10' >> \"$log\"\n  exit 86\nfi\n");
  ASSERT_EQ(::chmod(script.c_str(), 0700), 0);
}
// The candidate, which is looked at before the original is.
constexpr const char* kFirstRace = "[ $tool = racecheck ] && [ ! -e \"$seen\" ] && touch \"$seen\"";

// It would come before one of ours.
bool HasRealSanitizer() {
  return base::FileExists(base::AbsolutePath("../compute-sanitizer", CUDA_COMPILER));
}

class SanitizedFinalistTest : public FakeGpuTest {
 protected:
  void SetUp() override {
    FakeGpuTest::SetUp();
    if (IsSkipped()) return;
    if (HasRealSanitizer()) GTEST_SKIP() << "the toolkit has a real one, which comes first";
    options_.environment["FAKE_CUDA_ORIGINAL_PASSES"] = "20";
    options_.environment["PATH"] = xdg_.folder() / "bin:" + options_.environment["PATH"];
  }

  void ReportIf(const std::string& condition) { PretendSanitizer(xdg_.folder(), condition); }

  // What the record says of the step.
  static std::string Said(const Json& evaluation) {
    std::string said;
    for (const Json& check : evaluation["checks"]) {
      if (check["name"] == "compute_sanitizer") said += check["detail"].get<std::string>() + "\n";
    }
    return said;
  }
};

TEST_F(SanitizedFinalistTest, WhatIsFoundInTheCandidateAloneIsItsEnd) {
  ReportIf(kFirstRace);
  const Json evaluation = Evaluate("saxpy_other", 1);
  EXPECT_EQ(evaluation.value("reason", ""), "race") << evaluation.dump(1);
  EXPECT_THAT(evaluation.value("detail", ""),
              HasSubstr("racecheck: Error: Race reported between threads, at other+0x10"));
}

TEST_F(SanitizedFinalistTest, WhatTheOriginalDoesTooDoesNotCount) {
  ReportIf("[ $tool = racecheck ]");
  const Json evaluation = Evaluate("saxpy_other", 0);
  EXPECT_EQ(evaluation["verdict"], "accepted") << evaluation.dump(1);
  EXPECT_THAT(Said(evaluation), HasSubstr("the original does the like"));
  EXPECT_THAT(Said(evaluation), HasSubstr("nothing found by memcheck, initcheck, synccheck"));
}

TEST_F(SanitizedFinalistTest, WhereItIsNotInstalledTheRecordSaysSo) {
  const Json evaluation = Evaluate("saxpy_other", 0);
  EXPECT_EQ(evaluation["verdict"], "accepted") << evaluation.dump(1);
  EXPECT_THAT(Said(evaluation), HasSubstr("no compute-sanitizer"));
}

TEST_F(FakeGpuTest, WithoutADriverItSaysWhatIsMissing) {
  options_.environment["LD_LIBRARY_PATH"] = xdg_.folder().path();
  xdg_.folder().Write("libcuda.so.1", "no library");
  const Json error = Evaluate("saxpy_other", 3);
  EXPECT_THAT(error.value("message", ""), HasSubstr("libcuda.so.1")) << error.dump(1);
}

// One after the other by the same workers, which keep their runners.
class KeptRunnersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string(CUDA_COMPILER).empty()) GTEST_SKIP() << "no CUDA toolkit here: no NVRTC";
    for (const auto& [name, value] : xdg_.Environment()) Set(name, value);
    Set("LD_LIBRARY_PATH", FAKE_CUDA_FOLDER);
    Set("FAKE_CUDA_ORIGINAL_PASSES", "20");
    auto request = rig_.RequestFor("saxpy.cu", kSource);
    ASSERT_TRUE(request);
    request_ = std::move(*request);
    request_.command.arguments[0] = CUDA_COMPILER;
    request_.device = "cuda:0";
    request_.max_seconds = 0.2;
    const auto workload = records::ParseWorkload(MakeWorkload());
    ASSERT_TRUE(workload) << workload.error().message;
    request_.workload = *workload;
  }

  void TearDown() override {
    for (const auto& [name, value] : before_) {
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(name.c_str());
      }
    }
  }

  // For the workers, none of which has been started.
  void Set(const std::string& name, const std::string& value) {
    const char* old = std::getenv(name.c_str());
    before_.try_emplace(name, old != nullptr ? std::optional<std::string>(old) : std::nullopt);
    ::setenv(name.c_str(), value.c_str(), 1);
  }

  base::Result<records::Evaluation> Evaluate(const Json& json) {
    const auto variant = records::ParseVariant(json);
    EXPECT_TRUE(variant) << variant.error().message;
    evaluate::EvaluateRequest request = request_;
    request.variant = *variant;
    return rig_.Evaluate(std::move(request));
  }

  void ExpectAccepted(const std::string& entry) {
    const auto evaluation = Evaluate(MakeVariant(entry));
    ASSERT_TRUE(evaluation) << evaluation.error().message;
    EXPECT_TRUE(evaluation->accepted) << evaluation->reason << ": " << evaluation->detail;
  }

  test::PrivateXdg xdg_;
  test::EvaluatorRig rig_;
  evaluate::EvaluateRequest request_;
  std::map<std::string, std::optional<std::string>> before_;
};

// Says that every verification leaves out these steps.
class StepsLeftOut final : public test::ForwardingWorkers {
 public:
  using ForwardingWorkers::ForwardingWorkers;
  std::vector<std::string> names;
  void Call(evaluate::WorkerCall call, base::Callback<Json> done) override {
    if (call.op == "verify") call.params["left_out"] = names;
    workers_.Call(std::move(call), std::move(done));
  }
};

TEST_F(KeptRunnersTest, NoOtherStepSeesWhatComputeSanitizerFinds) {
  if (HasRealSanitizer()) GTEST_SKIP() << "the toolkit has a real one, which comes first";
  StepsLeftOut chooser(rig_.workers());
  rig_.PutInFront(chooser);
  PretendSanitizer(xdg_.folder(), kFirstRace);
  Set("PATH", xdg_.folder() / "bin:" + std::getenv("PATH"));
  const Json variant = MakeVariant("saxpy_other");
  const auto caught = Evaluate(variant);
  ASSERT_TRUE(caught) << caught.error().message;
  EXPECT_EQ(caught->reason, "race") << caught->detail;
  EXPECT_EQ(caught->metrics["verify"]["compute_sanitizer"].value("caught", ""),
            "compute_sanitizer");
  ASSERT_TRUE(base::FileExists(xdg_.folder() / "seen"));
  chooser.names = {"compute_sanitizer"};
  std::filesystem::remove(xdg_.folder() / "seen");
  ExpectAccepted("saxpy_other");
  EXPECT_FALSE(base::FileExists(xdg_.folder() / "seen"));
}

TEST_F(KeptRunnersTest, ACandidateThatTheMemoryIsTooSmallForCostsTheNextNothing) {
  constexpr std::size_t kMegabyte = 1 << 20;
  Set("FAKE_CUDA_MEMORY", std::to_string(128 * kMegabyte));
  // Enough to run it, not for the copies that a measurement makes.
  Json large = MakeVariant("saxpy_large");
  large["workspace"] = {{{"name", "room"}, {"bytes", std::to_string(50 * kMegabyte)}}};
  const auto evaluation = Evaluate(large);
  ASSERT_FALSE(evaluation) << evaluation->reason << ": " << evaluation->detail;
  EXPECT_EQ(evaluation.error().code, base::ErrorCode::kUnavailable) << evaluation.error().message;
  EXPECT_THAT(evaluation.error().message, HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"));
  ExpectAccepted("saxpy_other");
}

TEST_F(KeptRunnersTest, AGpuThatDisappearsIsNoVerdictAndTheNextIsServed) {
  ExpectAccepted("saxpy_other");
  for (const char* gone : {"saxpy_fault_46_", "saxpy_fault_100_"}) {
    const auto evaluation = Evaluate(MakeVariant(gone));
    ASSERT_FALSE(evaluation) << evaluation->reason << ": " << evaluation->detail;
    EXPECT_EQ(evaluation.error().code, base::ErrorCode::kUnavailable) << evaluation.error().message;
  }
  ExpectAccepted("saxpy_third");
}

// Nobody can measure while a context is being made: who measures first waits for it.
TEST_F(KeptRunnersTest, WhatWasBegunAndNotPreparedIsMeasuredOnAllTheSame) {
  evaluate::BeginDevice(rig_.workers(), "cuda:0", xdg_.folder() / "artifacts");
  request_.only_probe = true;
  for (const char* entry : {"saxpy_other", "saxpy_third"}) {
    const auto looked = Evaluate(MakeVariant(entry));
    ASSERT_TRUE(looked) << looked.error().message;
    EXPECT_EQ(looked->reason, "") << looked->detail;
    EXPECT_EQ(looked->cases.size(), 1u);
  }
}

TEST_F(KeptRunnersTest, ARunnerThatDiesBetweenCandidatesCostsTheNextNothing) {
  ExpectAccepted("saxpy_other");
  const std::vector<pid_t> runners = test::DescendantsWith({"--kind", "run"});
  ASSERT_FALSE(runners.empty());
  // One that was for a single measurement may have just ended by itself.
  const auto killed = std::count_if(runners.begin(), runners.end(), &test::Kill);
  EXPECT_GE(killed, 1);
  ExpectAccepted("saxpy_third");
}

}  // namespace
}  // namespace cupilot
