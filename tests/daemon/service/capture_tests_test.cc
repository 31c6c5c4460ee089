// The tests that projects name show by themselves what kernels are run on. The runner is a fake.
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "service/capture_requests.h"
#include "tests/daemon/service/gpu_fixture.h"
#include "tests/support/fake_capture_runner.h"
#include "tests/support/running_build.h"

namespace cupilot::service {
namespace {

using records::Json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kOne = "kernel one a workload=none\n";

// As `cupilot capture` makes it, of a kernel that the daemon knows.
workloads::Captured MakeCaptured(const records::Kernel& kernel, const std::string& case_name) {
  workloads::Captured captured;
  captured.kernel = records::LabelOf(kernel);
  captured.file = kernel.file;
  captured.program = "app";
  captured.device = "host";
  records::Case one;
  one.name = case_name;
  one.grid = {"4", "1", "1"};
  one.block = {"64", "1", "1"};
  for (const records::Parameter& parameter : kernel.parameters) {
    captured.parameters.push_back(parameter.canonical);
    records::Argument argument;
    argument.name = parameter.name;
    argument.type = parameter.canonical;
    if (parameter.kind == records::ParameterKind::kPointer) {
      argument.type = "float*";
      argument.count = "256";
      argument.access = records::Access::kOut;
    } else {
      argument.value = "256";
    }
    one.arguments.push_back(std::move(argument));
  }
  captured.cases = {one};
  captured.launches.resize(1);
  captured.launches[0].cases = {case_name};
  return captured;
}

template <class Fixture>
class CapturingTest : public Fixture {
 protected:
  CapturingTest() {
    this->captures_ = &runner_;
    this->judge_ = [this, before = this->judge_](const evaluate::EvaluateRequest& request) {
      tuned_on_.push_back(request.kernel.name + ": " + request.workload.cases.at(0).name);
      return before(request);
    };
  }
  ~CapturingTest() override { this->Stop(); }

  void PrepareCaptured(const std::string& text = kOne) {
    this->Prepare(text, {{"capture_test", "run"}});
  }
  // What the client does before it ends with this failure.
  void EndWith(const std::string& failure, const std::vector<std::string>& kernels = {}) {
    std::vector<workloads::Captured> all;
    for (const std::string& name : kernels) {
      const auto place = FindKernel(*this->service_, name, "");
      ASSERT_TRUE(place) << name;
      all.push_back(MakeCaptured(*place->kernel, "seen"));
    }
    ASSERT_TRUE(this->service_->AddCaptured(all));
    runner_.End(failure);
    this->Drain();
  }
  std::size_t Runs() const { return runner_.runs().size(); }
  std::string Why(const std::string& kernel = "one") { return this->Row(kernel)["why"]; }

  test::FakeCaptureRunner runner_;
  std::vector<std::string> tuned_on_;
};

using CaptureTestsTest = CapturingTest<ServiceTest>;

TEST_F(CaptureTestsTest, AKernelWithoutAWorkloadIsCapturedAndTunedOnWhatWasSeen) {
  PrepareCaptured();
  Start();
  Drain();
  ASSERT_EQ(Runs(), 1u);
  const CaptureRun& run = runner_.runs()[0];
  EXPECT_EQ(run.id, (CaptureId{project_.build_folder(), "run"}));
  EXPECT_THAT(run.command.words,
              AllOf(Contains("--test-dir"), Contains(project_.build_folder()), Contains("^run$")));
  EXPECT_THAT(run.log_file, HasSubstr(state() + "/captures/"));
  // It has the device for itself, and that is work.
  EXPECT_TRUE(workers_.paused());
  EXPECT_THAT(Why(), HasSubstr("no workload: is being captured by the test 'run'"));
  EXPECT_THAT(Explain("one")["why_not"].get<std::string>(), HasSubstr("is being captured"));
  const Json status = StatusDocument(*service_);
  EXPECT_EQ(status["state"], "tuning");
  EXPECT_EQ(status["capturing"]["test"], "run");
  EXPECT_THAT(tuned_on_, IsEmpty());

  EndWith("", {"one"});
  EXPECT_FALSE(workers_.paused());
  EXPECT_EQ(Row("one")["state"], "done");
  EXPECT_THAT(tuned_on_, Contains("one: seen"));
  EXPECT_EQ(Runs(), 1u);
  EXPECT_EQ(IdleReason(), "done");
  EXPECT_TRUE(StatusDocument(*service_)["capturing"].is_null());
  EXPECT_EQ(CountEvents("capture"), 2);
  Restart();
  Drain();
  EXPECT_EQ(Runs(), 1u);
}

TEST_F(CaptureTestsTest, NothingIsRunWithoutATestOrWithoutNeed) {
  Prepare(kOne);
  Start();
  Drain();
  EXPECT_THAT(Why(), HasSubstr("run `cupilot capture -- PROGRAM`"));
  PrepareCaptured("kernel two b\n");
  DrainUntil([&] { return Row("two")["state"] == "done"; });
  EXPECT_EQ(Runs(), 0u);
}

TEST_F(CaptureTestsTest, ATestThatFailsIsRunAgainAfterABuildOrAConfigureOnly) {
  PrepareCaptured();
  Start();
  Drain();
  EndWith("exit 8");
  EXPECT_THAT(Why(), AllOf(HasSubstr("the capture test 'run' failed (exit 8): see "),
                           HasSubstr(runner_.runs()[0].log_file)));
  EXPECT_EQ(IdleReason(), "done");
  for (const char* ending : {"again", "and again"}) {
    SCOPED_TRACE(ending);
    Restart();
    Drain();
    EXPECT_EQ(Runs(), 1u);
    EXPECT_THAT(Why(), HasSubstr("failed (exit 8)"));
  }
  project_.Compile();
  DrainUntil([&] { return Runs() == 2; });
  EndWith("exit 9");
  EXPECT_THAT(Why(), HasSubstr("failed (exit 9)"));
  DrainEvents();
  EXPECT_EQ(Runs(), 2u);
  std::ofstream(project_.build_folder() + "/cupilot/configured") << "now\n";
  DrainUntil([&] { return Runs() == 3; });
}

TEST_F(CaptureTestsTest, WhatATestDoesNotShowIsNotAskedForAgain) {
  PrepareCaptured("kernel one a workload=none\nkernel two b workload=none\n");
  Start();
  Drain();
  EndWith("", {"two"});
  EXPECT_EQ(Row("two")["state"], "done");
  EXPECT_THAT(Why(), HasSubstr("the capture test 'run' showed no launch of it"));
  DrainEvents();
  EXPECT_EQ(Runs(), 1u);
  // Nor what the user dropped.
  ASSERT_TRUE(DropWorkload(*service_, {{"kernel", "two"}, {"folder", project_.build_folder()}}));
  Drain();
  EXPECT_EQ(Row("two")["state"], "no workload");
  EXPECT_EQ(Runs(), 1u);
}

TEST_F(CaptureTestsTest, OtherParametersAreCapturedAnewAfterTheNextBuild) {
  PrepareCaptured();
  Start();
  Drain();
  EndWith("", {"one"});
  project_.WriteSource("kernel one a workload=none more=double\n");
  DrainUntil([&] { return Row("one")["state"] == "no workload"; });
  EXPECT_TRUE(service_->captured().All().empty());
  EXPECT_THAT(Explain("one")["warnings"].dump(), HasSubstr("captured workload of one was dropped"));
  EXPECT_THAT(Why(), HasSubstr("waits for the next build and its capture by the test 'run'"));
  EXPECT_EQ(Runs(), 1u) << "of a program that is not built";
  project_.Compile();
  DrainUntil([&] { return Runs() == 2; });
  tuned_on_.clear();
  EndWith("", {"one"});
  EXPECT_THAT(tuned_on_, Contains("one: seen"));
}

// Its tag has a workload, but what was seen of the program is lost.
TEST_F(CaptureTestsTest, WhatWasDroppedIsCapturedAnewAlsoBesideATag) {
  PrepareCaptured("kernel one a\n");
  Start();
  Drain();
  EXPECT_EQ(Runs(), 0u);
  ASSERT_TRUE(
      service_->AddCaptured({MakeCaptured(*FindKernel(*service_, "one", "")->kernel, "seen")}));
  Drain();
  project_.WriteSource("kernel one a more=double\n");
  DrainUntil([&] { return service_->captured().All().empty(); });
  // An edit that has nothing to do with it does not make it forgotten.
  project_.WriteSource("kernel one a more=double\nkernel two b\n");
  DrainUntil([&] { return Row("two")["state"] == "done"; });
  EXPECT_EQ(Runs(), 0u);
  project_.Compile();
  DrainUntil([&] { return Runs() == 1; });
  EndWith("", {"one"});
  project_.Compile();
  DrainEvents();
  EXPECT_EQ(Runs(), 1u);
}

TEST_F(CaptureTestsTest, WhileABuildToolWorksItWaits) {
  runner_.SetBuilding(true);
  PrepareCaptured();
  Start();
  Drain();
  EXPECT_EQ(Runs(), 0u);
  EXPECT_EQ(IdleReason(), "") << "there is something to do";
  EXPECT_THAT(Why(), HasSubstr("waits for the capture by the test 'run'"));
  runner_.SetBuilding(false);
  DrainUntil([&] { return Runs() == 1; });
}

// The client that captures asks for all kernels of the source folder, and nothing is read
// meanwhile.
TEST_F(CaptureTestsTest, BeforeItAllIsRead) {
  const test::FakeProject other(folder_ / "source/sub");
  other.WriteSource("kernel two b\n");
  other.Configure();
  other.Register(state());
  other.Compile();
  PrepareCaptured();
  Start();
  while (Runs() == 0) {
    workers_.RunOne();
    loop_->RunOnce(false);
  }
  const auto plan = CapturePlanDocument(*service_, {{"folder", ""}});
  ASSERT_TRUE(plan);
  EXPECT_TRUE((*plan)["complete"].get<bool>());
  EXPECT_EQ((*plan)["kernels"].size(), 2u);
}

TEST_F(CaptureTestsTest, ASnoozeEndsItAndItIsBegunAgain) {
  PrepareCaptured();
  Start();
  Drain();
  for (int begun = 1; begun <= kMostBegun; ++begun) {
    ASSERT_EQ(runner_.runs().size(), static_cast<std::size_t>(begun));
    ASSERT_TRUE(service_->Snooze(3600));
    EXPECT_EQ(runner_.stops(), begun);
    EndWith("it was interrupted");
    EXPECT_EQ(Runs(), static_cast<std::size_t>(begun)) << "begun while snoozed";
    ASSERT_TRUE(service_->Resume());
    Drain();
  }
  EXPECT_EQ(Runs(), static_cast<std::size_t>(kMostBegun));
  EXPECT_THAT(Why(), HasSubstr("was interrupted 3 times"));
}

TEST_F(CaptureTestsTest, ADaemonThatEndsMeanwhileDoesNotBeginItForEver) {
  PrepareCaptured();
  Start();
  for (int begun = 0; begun < kMostBegun + 2; ++begun) {
    Drain();
    Restart();
  }
  Drain();
  EXPECT_EQ(Runs(), static_cast<std::size_t>(kMostBegun));
}

TEST_F(CaptureTestsTest, ABuildOfTheProjectEndsIt) {
  PrepareCaptured();
  Start();
  Drain();
  ASSERT_EQ(Runs(), 1u);
  {
    const test::RunningBuild build(project_.build_folder());
    DrainUntil([&] { return runner_.stops() == 1; });
    EXPECT_EQ(IdleReason(), "build running");
    EndWith("it was interrupted");
    EXPECT_EQ(Runs(), 1u);
  }
  DrainUntil([&] { return Runs() == 2; });
}

TEST_F(CaptureTestsTest, ItCanBeTurnedOff) {
  settings_.capture_tests = false;
  PrepareCaptured();
  Start();
  Drain();
  EXPECT_EQ(Runs(), 0u);
  EXPECT_EQ(IdleReason(), "done");
  EXPECT_THAT(Why(), HasSubstr("capture_tests is off in the settings"));
}

TEST_F(CaptureTestsTest, TheProjectsOwnCommandsAreRead) {
  PrepareCaptured();
  const std::string file =
      folder_.Write("command.txt", folder_.path() + "\n/bin/app\ntwo words\n\n");
  const std::string path = project_.build_folder() + "/cupilot/project.json";
  Json project = *records::ParseJson(*base::ReadFile(path));
  project["ctest"] = "";
  ASSERT_TRUE(base::WriteFileAtomically(path, project.dump()));
  Start();
  Drain();
  EXPECT_EQ(Runs(), 0u);
  EXPECT_THAT(Why(), HasSubstr("the test 'run' cannot be run: testing is not enabled"));
  project["capture_tests"] = {{{"name", "run"}, {"command_file", file}}};
  ASSERT_TRUE(base::WriteFileAtomically(path, project.dump()));
  DrainUntil([&] { return Runs() == 1; });
  EXPECT_EQ(runner_.runs()[0].command.folder, folder_.path());
  EXPECT_THAT(runner_.runs()[0].command.words, ElementsAre("/bin/app", "two words", ""));
}

TEST_F(CaptureTestsTest, ABuildFolderThatIsGoneIsForgotten) {
  PrepareCaptured();
  Start();
  Drain();
  const std::string log = runner_.runs()[0].log_file;
  ASSERT_TRUE(base::WriteFileAtomically(log, "said\n"));
  EndWith("exit 8");
  std::filesystem::remove_all(project_.build_folder());
  DrainUntil([&] { return service_->projects().empty(); });
  EXPECT_FALSE(base::FileExists(log));
  PrepareCaptured();
  DrainUntil([&] { return Runs() == 2; });
}

using GpuCaptureTest = CapturingTest<GpuTest>;

TEST_F(GpuCaptureTest, AGpuThatOthersUseIsLeftToThem) {
  settings_.gpu.quiet = settings_.gpu.pause = {};
  int load = 80;
  workers_.On("sample", [&](const Json&) -> base::Result<Json> {
    Json processes = Json::array();
    if (load > 0) processes.push_back({{"pid", 7}, {"own", false}, {"load", load}});
    return Json{{"gpus",
                 {{{"uuid", "GPU-cuda:0"},
                   {"power", "active"},
                   {"processes", processes},
                   {"display", false}}}},
                {"reason", ""}};
  });
  PrepareCaptured();
  Start();
  Drain();
  EXPECT_EQ(Runs(), 0u);
  EXPECT_EQ(IdleReason(), "gpu in use");
  EXPECT_THAT(Why(), HasSubstr("waits for the capture by the test 'run'"));
  load = 0;
  DrainUntil([&] { return Runs() == 1; });
  EndWith("", {"one"});
  DrainUntil([&] { return Row("one")["state"] == "done"; });
  EXPECT_THAT(tuned_on_, Contains("one: seen"));
}

TEST_F(GpuCaptureTest, WhereNoGpuIsNothingIsRun) {
  Have({}, "no GPU here");
  PrepareCaptured();
  Start();
  Drain();
  EXPECT_EQ(Runs(), 0u);
}

}  // namespace
}  // namespace cupilot::service
