// Objects of a real nvcc: which GPU they are tuned on, what counts as evidence there, and what is
// said where there is none.
#include <filesystem>
#include <fstream>

#include "service/history.h"
#include "service/place.h"
#include "tests/daemon/service/gpu_fixture.h"

namespace cupilot::service {
namespace {

using records::Json;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST_F(GpuTest, AnObjectOfNvccIsTunedOnTheGpu) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  EXPECT_THAT(devices_, AllOf(Not(IsEmpty()), Each("cuda:0")));
  EXPECT_THAT(kinds_, AllOf(Not(IsEmpty()), Each("cuda")));
  const records::Selection selection = Selection();
  ASSERT_THAT(selection.kernels, SizeIs(1));
  ASSERT_THAT(selection.kernels[0].variants, SizeIs(1));
  EXPECT_EQ(selection.kernels[0].variants[0].target, "compute_90,sm_90");
  EXPECT_THAT(selection.kernels[0].variants[0].devices, IsEmpty());
  EXPECT_EQ(Row("one")["published"], true);
}

TEST_F(GpuTest, TheDocumentsNameIt) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  const Json status = StatusDocument(*service_);
  EXPECT_EQ(status["device"]["name"], "NVIDIA H200");
  EXPECT_EQ(status["device"]["device"], "cuda:0");
  EXPECT_EQ(status["device"]["times"], "device times");
  ASSERT_EQ(status["devices"].size(), 2u);
  EXPECT_EQ(status["devices"][0]["times"], "CPU times");
  EXPECT_EQ(Explain("one")["device"]["arch"], "sm_90");
  const auto place = FindKernel(*service_, "one", "");
  ASSERT_TRUE(place);
  EXPECT_TRUE(BestDocument(*service_, *place, "sm_90"));
  EXPECT_FALSE(BestDocument(*service_, *place, "sm_80"));
}

TEST_F(GpuTest, WhatBoundsTheWinnerIsWrittenDown) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  const records::Selection selection = Selection();
  ASSERT_THAT(selection.kernels, SizeIs(1));
  ASSERT_THAT(selection.kernels[0].variants, SizeIs(1));
  // The last one that was asked for is the one that runs, once at most for a winner.
  ASSERT_THAT(evaluator_.profiled(), Not(IsEmpty()));
  EXPECT_EQ(evaluator_.profiled().back(), selection.kernels[0].variants[0].id);
  EXPECT_LE(evaluator_.profiled().size(), 2u);
  const Json evaluation = Explain("one")["evaluation"];
  const std::string name = "case " + evaluation["cases"][0]["name"].get<std::string>();
  EXPECT_EQ(evaluation["metrics"][name]["roofline"]["source"], "static") << evaluation.dump(1);
}

TEST_F(GpuTest, WithoutAGpuItIsSaidAndNothingIsDone) {
  Have({}, "no driver: install one");
  Prepare("kernel one a\n");
  Start();
  Drain();
  EXPECT_EQ(IdleReason(), "done");
  EXPECT_THAT(evaluator_.evaluated(), IsEmpty());
  EXPECT_EQ(files_.writes, 0);
  EXPECT_FALSE(project_.StampIsNew());
  EXPECT_EQ(Row("one")["state"], "no device");
  EXPECT_EQ(Row("one")["why"], "no driver: install one");
  EXPECT_EQ(Explain("one")["why_not"], "no driver: install one");
  const Json status = StatusDocument(*service_);
  EXPECT_EQ(status["no_gpu"], "no driver: install one");
  EXPECT_EQ(status["device"]["device"], "host");
}

TEST_F(GpuTest, AGpuThatGoesAwayTakesNothingOutOfTheBuild) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  const auto published = project_.PublishedVariants();
  ASSERT_THAT(published, SizeIs(1));
  Have({}, "no GPU is there");
  Restart();
  Drain();
  EXPECT_EQ(project_.PublishedVariants(), published);
  EXPECT_EQ(Row("one")["state"], "no device");
}

TEST_F(GpuTest, AGpuThatComesLaterIsFound) {
  Have({}, "no GPU is there");
  Prepare("kernel one a\n");
  Start();
  Drain();
  ASSERT_THAT(evaluator_.evaluated(), IsEmpty());
  Have({Gpu("cuda:0", "NVIDIA H200")});
  project_.SaveByRename("kernel one b\n");
  DrainUntil([&] { return !evaluator_.evaluated().empty() && IdleReason() == "done"; });
  EXPECT_EQ(Row("one")["state"], "done");
}

TEST_F(GpuTest, AskingMayWakeAGpuSoTheHostsObjectsDoNotAsk) {
  std::ofstream(folder_ / "toolkit/include/cupilot_host_abi.h") << "the host's\n";
  Prepare("kernel one a\n");
  Start();
  Drain();
  EXPECT_EQ(workers_.Count("list_devices"), 0);
  EXPECT_THAT(devices_, AllOf(Not(IsEmpty()), Each("host")));
}

TEST_F(GpuTest, ABuildWithoutCodeForTheGpuSaysSo) {
  project_.command().arguments[1] = "-arch=sm_100";
  Prepare("kernel one a\n");
  Start();
  Drain();
  EXPECT_THAT(evaluator_.evaluated(), IsEmpty());
  EXPECT_EQ(Row("one")["state"], "no device");
  EXPECT_THAT(Row("one")["why"].get<std::string>(),
              AllOf(HasSubstr("your build has no sm_90 code"), HasSubstr("NVIDIA H200")));
}

TEST_F(GpuTest, OlderCodeThatTheDriverCompilesIsItsOwnTarget) {
  project_.command().arguments[1] = "-arch=compute_80";
  judge_ = [this](const evaluate::EvaluateRequest& request) {
    records::Evaluation evaluation = Judge(request, 1.5);
    evaluation.target = "compute_80,sm_90";
    return evaluation;
  };
  Prepare("kernel one a\n");
  Start();
  Drain();
  ASSERT_THAT(Selection().kernels, SizeIs(1));
  EXPECT_EQ(Selection().kernels[0].variants[0].target, "compute_80,sm_90");
  EXPECT_THAT(Explain("one")["warnings"].dump(), HasSubstr("your build has no sm_90 code"));
}

TEST_F(GpuTest, EvidenceOfAnotherDeviceDoesNotCount) {
  std::ofstream(folder_ / "toolkit/include/cupilot_host_abi.h") << "the host's\n";
  Prepare("kernel one a\n");
  Start();
  Drain();
  ASSERT_THAT(project_.PublishedVariants(), SizeIs(1));
  std::filesystem::remove(folder_ / "toolkit/include/cupilot_host_abi.h");
  // The same kernel by another compiler: nothing of it is slower or faster there yet.
  devices_.clear();
  judge_ = [this](const evaluate::EvaluateRequest& request) { return Judge(request, 0.9); };
  Restart();
  Drain();
  EXPECT_THAT(devices_, AllOf(Not(IsEmpty()), Each("cuda:0")));
  EXPECT_THAT(project_.PublishedVariants(), IsEmpty());
}

TEST_F(GpuTest, GpusOfOneClassShareTheKernels) {
  Have({Gpu("cuda:0", "NVIDIA H200"), Gpu("cuda:1", "NVIDIA H200")});
  Prepare("kernel one a\nkernel two b\n");
  Start();
  Drain();
  EXPECT_THAT(std::set<std::string>(devices_.begin(), devices_.end()),
              UnorderedElementsAre("cuda:0", "cuda:1"));
  const records::Selection selection = Selection();
  ASSERT_THAT(selection.kernels, SizeIs(2));
  EXPECT_THAT(selection.kernels[0].variants, SizeIs(1));
}

TEST_F(GpuTest, GpusOfTwoClassesHaveVariantsOfTheirOwn) {
  Have({Gpu("cuda:0", "NVIDIA H200"), Gpu("cuda:1", "NVIDIA H100 PCIe")});
  Prepare("kernel one a\n");
  Start();
  Drain();
  const records::Selection selection = Selection();
  ASSERT_THAT(selection.kernels, SizeIs(1));
  const auto& variants = selection.kernels[0].variants;
  ASSERT_THAT(variants, SizeIs(2));
  EXPECT_THAT(variants[0].devices, ElementsAre("NVIDIA H200"));
  EXPECT_THAT(variants[1].devices, ElementsAre("NVIDIA H100 PCIe"));
  EXPECT_EQ(Row("one")["published"], true);
}

TEST_F(GpuTest, ANewDriverMakesEvidenceStaleNotGone) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  ASSERT_THAT(project_.PublishedVariants(), SizeIs(1));
  const std::size_t evaluated = evaluator_.evaluated().size();
  const std::string winner = project_.PublishedVariants()[0];
  Have({Gpu("cuda:0", "NVIDIA H200", "sm_90", "590.2")});
  Restart();
  while (evaluator_.open() == 0) {
    ASSERT_TRUE(workers_.RunOne());
    loop_->RunOnce(false);
  }
  // Not used meanwhile.
  EXPECT_THAT(project_.PublishedVariants(), IsEmpty());
  Drain();
  // What won before is what is measured first.
  ASSERT_GT(evaluator_.evaluated().size(), evaluated);
  EXPECT_EQ(evaluator_.evaluated()[evaluated], winner);
  EXPECT_THAT(project_.PublishedVariants(), SizeIs(1));
  const auto place = FindKernel(*service_, "one", "");
  const Json history = records::Json::parse(History(*service_).Text(*place))["evaluations"];
  EXPECT_EQ(history.size(), evaluator_.evaluated().size());
}

TEST_F(GpuTest, ARestartBeginsWhatWasUnderWayAgainAndNothingElse) {
  Prepare("kernel one a\n");
  judge_ = [this](const evaluate::EvaluateRequest& request) {
    return Judge(request, test::SpeedupOf(request.variant.id));
  };
  Start();
  Drain();
  const Json undisturbed = Explain("one")["tried"];
  ASSERT_GE(undisturbed.size(), 3u);
  // The same in a fresh store, with a daemon that ends after each verdict.
  Stop();
  for (const cache::Table table : {cache::Table::kEvaluations, cache::Table::kCounters}) {
    std::vector<cache::Write> writes;
    ASSERT_TRUE(store_.Scan(table, "", [&](std::string_view key, std::string_view) {
      writes.push_back({table, std::string(key), std::nullopt});
      return true;
    }));
    ASSERT_TRUE(store_.Apply(writes));
  }
  for (std::size_t round = 0; round < undisturbed.size(); ++round) {
    Restart();
    while (evaluator_.open() == 0 && IdleReason() != "done") {
      workers_.RunOne();
      loop_->RunOnce(false);
    }
    if (evaluator_.open() > 0) evaluator_.AnswerOne();
  }
  Restart();
  Drain();
  EXPECT_EQ(Explain("one")["tried"], undisturbed);
}

TEST(PlaceTest, TheCompilersFolderTellsTheDevice) {
  const test::TemporaryFolder folder;
  records::CompileCommand command;
  command.directory = folder.path();
  for (const char* toolkit : {"host", "cuda"}) {
    folder.Write(std::string(toolkit) + "/bin/nvcc", "a compiler\n");
  }
  folder.Write("host/include/cupilot_host_abi.h", "");
  command.arguments = {folder / "host/bin/nvcc"};
  EXPECT_EQ(DeviceKindOf(command), "host");
  command.arguments = {"cuda/bin/nvcc"};
  EXPECT_EQ(DeviceKindOf(command), "cuda");
  // By a link elsewhere.
  std::filesystem::create_symlink(folder / "host/bin/nvcc", folder / "nvcc");
  command.arguments = {folder / "nvcc"};
  EXPECT_EQ(DeviceKindOf(command), "host");
}

TEST(PlaceTest, WhatNvccCompilesForByDefaultIsTheToolkits) {
  const test::TemporaryFolder folder;
  records::CompileCommand command;
  command.arguments = {folder.Write("bin/nvcc", "a compiler\n")};
  folder.Write("version.json", R"({"cuda": {"version": "12.4.1"}})");
  EXPECT_EQ(DefaultArchitecture(command), "sm_52");
  folder.Write("version.json", R"({"cuda": {"version": "13.0.0"}})");
  EXPECT_EQ(DefaultArchitecture(command), "sm_75");
}

}  // namespace
}  // namespace cupilot::service
