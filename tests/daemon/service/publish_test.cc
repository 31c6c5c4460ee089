// What is published when, and what the next build makes of it.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "records/selection.h"
#include "source/swap/selection_check.h"
#include "source/swap/variant_file.h"
#include "tests/daemon/service/service_fixture.h"
#include "tests/support/running_build.h"

namespace cupilot::service {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class PublishTest : public ServiceTest {
 protected:
  // Only variants of these titles are accepted; the speedups are theirs.
  void Accept(std::map<std::string, double> speedups) {
    judge_ = [speedups = std::move(speedups)](const evaluate::EvaluateRequest& request) {
      const auto it = speedups.find(request.variant.strategy->steps.size() == 1
                                        ? request.variant.strategy->steps[0].technique
                                        : "both");
      return test::MakeEvaluation(request, it == speedups.end() ? 0.9 : it->second);
    };
  }
  // The published file of the variant.
  std::string FileOf(const std::string& id) const {
    const std::string folder = project_.object_folder() + "/";
    const std::string swap = base::ReadFile(folder + project_.PublishedSwap()).value_or("");
    for (const std::string& name : source::VariantFilesOf(swap)) {
      const std::string text = base::ReadFile(folder + name).value_or("");
      if (text.find(records::VariantNamespace(id)) != std::string::npos) return folder + name;
    }
    return "none";
  }
};

TEST_F(PublishTest, OnlyWhatIsAcceptedIsPublished) {
  Accept({});
  Prepare("kernel one a\n");
  Start();
  Drain();
  EXPECT_GE(evaluator_.evaluated().size(), 2u);
  EXPECT_EQ(files_.writes, 0);
  EXPECT_FALSE(project_.StampIsNew());
  EXPECT_EQ(Row("one")["published"], false);
  EXPECT_EQ(Explain("one")["verdict"], "original");
  EXPECT_THAT(Explain("one")["why_not"].get<std::string>(),
              HasSubstr("none proven faster; closest"));
  // Measured all the same.
  EXPECT_EQ(Explain("one")["floor_us"], 10.0);
  EXPECT_EQ(Explain("one")["original_us"], 100.0);
}

TEST_F(PublishTest, TheBestIsTakenByTheNextCompile) {
  Accept({{"launch_bounds", 1.2}, {"restrict_readonly", 1.5}});
  Prepare("kernel one a\nkernel two b\n");
  Start();
  Drain();
  EXPECT_THAT(project_.PublishedVariants(), SizeIs(2));
  EXPECT_TRUE(project_.StampIsNew());
  EXPECT_TRUE(project_.Compile());
  const records::Json explained = Explain("one");
  EXPECT_EQ(explained["verdict"], "accepted");
  EXPECT_EQ(explained["published"], true);
  EXPECT_EQ(explained["why_not"], "");
  EXPECT_THAT(explained["strategy"].get<std::string>(), Not(IsEmpty()));
  EXPECT_EQ(explained["floor_us"], 10.0);
  EXPECT_EQ(explained["speedup"], 1.5);
  DrainEvents();
  EXPECT_FALSE(project_.StampIsNew());
}

// That takes seconds, in which nothing else would be done.
TEST_F(PublishTest, TheCompilerIsAskedByScansAlone) {
  const std::string compiler = project_.command().arguments[0], asked = folder_ / "asked";
  const std::string script = base::ReadFile(compiler).value();
  const std::size_t begin = script.find('\n') + 1;
  std::ofstream(compiler) << script.substr(0, begin) << "echo asked >>'" << asked << "'\n"
                          << script.substr(begin);
  const auto times = [&asked] {
    return std::ranges::count(base::ReadFile(asked).value_or(""), '\n');
  };
  Prepare("kernel one a\n");
  const auto before = times();
  Start();
  Drain();
  EXPECT_TRUE(project_.StampIsNew());
  EXPECT_EQ(times() - before, service_->counters().scans);
  const auto compiles = times();
  EXPECT_TRUE(project_.Compile());
  EXPECT_GT(times(), compiles) << "the launcher asks";
  const auto taken = times();
  DrainEvents();
  EXPECT_FALSE(project_.StampIsNew());
  EXPECT_EQ(times(), taken);
}

// What is published is for another text, and nobody knows yet what this one is.
TEST_F(PublishTest, ASourceThatCannotBeReadIsNotCompiledAgainForIt) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  ASSERT_TRUE(project_.Compile());
  DrainEvents();
  project_.WriteSource("error\nkernel one a\n");
  EXPECT_FALSE(project_.Compile());
  DrainEvents();
  EXPECT_FALSE(project_.StampIsNew());
}

// What is accepted meanwhile is for the text before, and the launcher would not take it.
TEST_F(PublishTest, WhatIsAcceptedForATextBeforeIsNotBuilt) {
  Prepare("kernel one a\n");
  Start();
  WorkUntil([&] { return service_->counters().scans == 1; });
  project_.WriteSource("error\nkernel one a\n");
  EXPECT_FALSE(project_.Compile());
  WorkUntil([&] { return service_->counters().scans == 2; });
  Drain();
  EXPECT_GT(service_->counters().accepted, 0);
  EXPECT_FALSE(project_.StampIsNew());
}

TEST_F(PublishTest, TheSelectionNamesTheCompiler) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  const auto text = base::ReadFile(project_.object_folder() + "/selection.json");
  ASSERT_TRUE(text);
  const auto selection = records::ParseSelection(*records::ParseJson(*text));
  ASSERT_TRUE(selection);
  EXPECT_EQ(selection->toolchain, source::ToolchainIdentity(project_.command()));
  EXPECT_THAT(selection->toolchain, Not(IsEmpty()));
}

TEST_F(PublishTest, ASelectionThatBecomesEmptyTakesTheVariantOut) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  ASSERT_TRUE(project_.Compile());
  project_.Configure({{"kernels", {"other"}}});
  DrainUntil([&] { return project_.PublishedVariants().empty(); });
  DrainUntil([&] { return project_.StampIsNew(); });
  EXPECT_FALSE(project_.Compile());
  DrainEvents();
  EXPECT_FALSE(project_.StampIsNew());
}

TEST_F(PublishTest, WhatCannotBeWrittenOutLeavesTheOthers) {
  judge_ = [](const evaluate::EvaluateRequest& request) {
    records::Evaluation evaluation = test::MakeEvaluation(request, 1.5);
    if (request.kernel.name == "one") evaluation.guard = "n >";
    return evaluation;
  };
  Prepare("kernel one a\nkernel two b\n");
  Start();
  Drain();
  EXPECT_EQ(IdleReason(), "done");
  EXPECT_THAT(project_.PublishedVariants(), SizeIs(1));
  EXPECT_EQ(Row("one")["published"], false);
  EXPECT_EQ(Row("two")["published"], true);
}

TEST(PublishFilesTest, AFileThatIsStillWhatWasLeftIsNotReadAgain) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "variant.cu";
  PublishFiles files;
  EXPECT_TRUE(files.Write(path, "one").value());
  const auto time = std::filesystem::last_write_time(path);
  // Other bytes of the same size and time are the one thing that nobody sees: so it was not read.
  ASSERT_TRUE(base::WriteFileAtomically(path, "two"));
  std::filesystem::last_write_time(path, time);
  EXPECT_FALSE(files.Write(path, "one").value());
  // What anybody else wrote has another time, and what is to be there may be another text.
  std::filesystem::last_write_time(path, time + std::chrono::seconds(1));
  EXPECT_TRUE(files.Write(path, "one").value());
  EXPECT_TRUE(files.Write(path, "six").value());
  EXPECT_EQ(base::ReadFile(path).value(), "six");
  std::filesystem::remove(path);
  EXPECT_TRUE(files.Write(path, "six").value());
  EXPECT_TRUE(base::FileExists(path));
}

TEST_F(PublishTest, WhatTheDiskHadNoRoomForIsPublishedLater) {
  Prepare("kernel one a\n");
  files_.full = true;
  Start();
  Drain();
  EXPECT_GT(files_.writes, 0);
  EXPECT_THAT(project_.PublishedVariants(), IsEmpty());
  files_.full = false;
  DrainEvents();
  EXPECT_THAT(project_.PublishedVariants(), SizeIs(1));
  EXPECT_TRUE(project_.StampIsNew());
}

TEST_F(PublishTest, AStampThatCouldNotBeTouchedIsTouchedLater) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  ASSERT_TRUE(project_.Compile());
  DrainEvents();
  project_.CompileTurnedOff();
  files_.full = true;
  const int touches = files_.touches;
  DrainEvents();
  // The variant was in, and one build without it is to be put right by the next.
  EXPECT_GT(files_.touches, touches);
  EXPECT_FALSE(project_.StampIsNew());
  files_.full = false;
  DrainEvents();
  EXPECT_TRUE(project_.StampIsNew());
}

TEST_F(PublishTest, AStampIsTouchedOnceForASelection) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  ASSERT_TRUE(project_.StampIsNew());
  const int touches = files_.touches;
  DrainEvents();
  EXPECT_EQ(files_.touches, touches);
  // Whoever always builds with CUPILOT=0 gets no compile more in each build.
  project_.CompileTurnedOff();
  DrainEvents();
  project_.CompileTurnedOff();
  DrainEvents();
  EXPECT_EQ(files_.touches, touches);
  // One such build after the variant was in is put right by the next.
  ASSERT_TRUE(project_.Compile());
  DrainEvents();
  project_.CompileTurnedOff();
  DrainUntil([&] { return project_.StampIsNew(); });
  EXPECT_EQ(files_.touches, touches + 1);
}

TEST_F(PublishTest, WaitsForTheEndOfABuild) {
  Prepare("kernel one a\n");
  Start();
  WorkUntilEvaluating();
  {
    const test::RunningBuild build(project_.build_folder());
    clock_.Advance(std::chrono::hours(1));
    DrainUntil([&] { return workers_.paused(); });
    // An evaluation that was under way ends.
    while (evaluator_.AnswerOne()) {
    }
    loop_->RunOnce(false);
    EXPECT_EQ(IdleReason(), "build running");
    EXPECT_EQ(files_.writes, 0);
    EXPECT_EQ(files_.touches, 0);
  }
  DrainUntil([&] { return IdleReason() == "done"; });
  EXPECT_FALSE(workers_.paused());
  EXPECT_THAT(project_.PublishedVariants(), SizeIs(1));
  EXPECT_TRUE(project_.StampIsNew());
}

TEST_F(PublishTest, AnEditElsewhereKeepsTheVariantWithoutTuning) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  ASSERT_TRUE(project_.Compile());
  const auto evaluated = evaluator_.evaluated();
  const auto variants = project_.PublishedVariants();
  project_.SaveByRename("something else\nkernel one a\n");
  EXPECT_FALSE(project_.Compile());  // the launcher alone cannot know
  DrainUntil([&] { return project_.StampIsNew(); });
  EXPECT_TRUE(project_.Compile());
  EXPECT_EQ(project_.PublishedVariants(), variants);
  EXPECT_EQ(evaluator_.evaluated(), evaluated);
  EXPECT_EQ(Row("one")["line"], 2);
}

TEST_F(PublishTest, AnEditThatTheLauncherJudgedAloneCausesNoFurtherCompile) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  ASSERT_TRUE(project_.Compile());
  DrainEvents();
  const int touches = files_.touches;
  const auto variants = project_.PublishedVariants();
  project_.SaveByRename("// What it is for.\nkernel one a\n");
  EXPECT_TRUE(project_.Compile());
  const auto before = base::ReadFile(project_.object_folder() + "/selection.json").value();
  DrainUntil([&] { return service_->counters().scans == 2; });
  Drain();
  EXPECT_NE(base::ReadFile(project_.object_folder() + "/selection.json").value(), before);
  EXPECT_EQ(files_.touches, touches);
  EXPECT_FALSE(project_.StampIsNew());
  EXPECT_EQ(project_.PublishedVariants(), variants);
  EXPECT_EQ(Row("one")["published"], true);
  // A daemon that comes later sees the same.
  Restart();
  Drain();
  EXPECT_FALSE(project_.StampIsNew());
  EXPECT_TRUE(project_.Compile());
}

TEST_F(PublishTest, AnEditOfAKernelDropsItsVariantAndTunesItAgain) {
  Prepare("kernel one a\nkernel two b\n");
  Start();
  Drain();
  ASSERT_TRUE(project_.Compile());
  const auto before = project_.PublishedVariants();
  const std::size_t evaluated = evaluator_.evaluated().size();
  std::string seen;
  judge_ = [&](const evaluate::EvaluateRequest& request) {
    seen = request.kernel.name;
    return test::MakeEvaluation(request, 1.5);
  };
  project_.SaveByRename("kernel one a\nkernel two c\n");
  EXPECT_FALSE(project_.Compile());
  DrainUntil([&] { return evaluator_.evaluated().size() > evaluated && IdleReason() == "done"; });
  EXPECT_EQ(seen, "two");
  EXPECT_TRUE(project_.Compile());
  const auto after = project_.PublishedVariants();
  ASSERT_EQ(after.size(), 2u);
  EXPECT_EQ(after[0], before[0]);
  EXPECT_NE(after[1], before[1]);
}

TEST_F(PublishTest, ManualTargetsWaitForApply) {
  Prepare("kernel one a\n", {{"apply", "manual"}});
  Start();
  Drain();
  EXPECT_EQ(files_.writes, 0);
  EXPECT_THAT(Row("one")["why"].get<std::string>(), HasSubstr("cupilot apply"));
  EXPECT_THAT(service_->Apply(""), SizeIs(1));
  EXPECT_TRUE(project_.StampIsNew());
  EXPECT_TRUE(project_.Compile());
  EXPECT_EQ(Row("one")["published"], true);
  Restart();
  Drain();
  EXPECT_EQ(Row("one")["published"], true);
}

TEST_F(PublishTest, ApplyIsForTheProjectOfTheFolderAlone) {
  // The names of its folders begin with those of the other project's.
  const test::FakeProject other(std::filesystem::path(project_.source()).parent_path().string() +
                                "2");
  other.WriteSource("kernel two b\n");
  other.Configure({{"apply", "manual"}});
  other.Register(state());
  other.Compile();
  Prepare("kernel one a\n", {{"apply", "manual"}});
  Start();
  Drain();
  EXPECT_THAT(service_->Apply(folder_.path()), IsEmpty());
  const std::string inside = std::filesystem::path(other.source()).parent_path();
  EXPECT_THAT(service_->Apply(inside), ElementsAre(other.source()));
  EXPECT_THAT(project_.PublishedVariants(), IsEmpty());
  EXPECT_THAT(service_->Apply(project_.build_folder() + "/cupilot"),
              ElementsAre(project_.source()));
}

TEST_F(PublishTest, ARefusedVariantIsNotPublishedAgain) {
  Accept({{"launch_bounds", 1.2}, {"restrict_readonly", 1.5}});
  Prepare("kernel one a\n");
  Start();
  Drain();
  const auto first = project_.PublishedVariants();
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_FALSE(project_.Compile(true));
  // The next best one comes in its place, also after an edit elsewhere and a restart.
  DrainUntil([&] { return project_.PublishedVariants() != first; });
  ASSERT_THAT(project_.PublishedVariants(), SizeIs(1));
  project_.SaveByRename("something else\nkernel one a\n");
  project_.Compile();
  DrainUntil([&] { return service_->counters().scans == 2; });
  EXPECT_NE(project_.PublishedVariants(), first);
  Restart();
  Drain();
  EXPECT_NE(project_.PublishedVariants(), first);
  EXPECT_FALSE(project_.Compile(true));
  DrainUntil([&] { return project_.PublishedVariants().empty(); });
  EXPECT_THAT(Explain("one")["why_not"].get<std::string>(), HasSubstr("refused"));
  EXPECT_EQ(Explain("one")["verdict"], "original");
  DrainEvents();
  EXPECT_FALSE(project_.StampIsNew());
}

TEST_F(PublishTest, OnlyTheVariantThatTheCompilerNamedIsRefused) {
  Prepare("kernel one a\nkernel two b\n");
  Start();
  Drain();
  const auto first = project_.PublishedVariants();
  ASSERT_THAT(first, SizeIs(2));
  EXPECT_FALSE(project_.Compile(true, "error in " + records::VariantNamespace(first[1])));
  DrainUntil([&] { return project_.PublishedVariants() != first; });
  const auto second = project_.PublishedVariants();
  ASSERT_THAT(second, SizeIs(2));
  EXPECT_EQ(second[0], first[0]);
  EXPECT_NE(second[1], first[1]);
  // Most errors name the file.
  EXPECT_FALSE(project_.Compile(true, FileOf(second[0]) + "(9): error: x is undefined"));
  DrainUntil([&] { return project_.PublishedVariants() != second; });
  const auto third = project_.PublishedVariants();
  ASSERT_THAT(third, SizeIs(2));
  EXPECT_NE(third[0], second[0]);
  EXPECT_EQ(third[1], second[1]);
}

TEST_F(PublishTest, ADeletedTextIsTheOriginalOnceAndIsThenWrittenAgain) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  const auto published = project_.PublishedVariants();
  ASSERT_THAT(published, SizeIs(1));
  ASSERT_TRUE(project_.Compile());
  for (const std::string& path :
       {FileOf(published[0]), project_.object_folder() + "/" + project_.PublishedSwap()}) {
    const std::string text = base::ReadFile(path).value_or("");
    std::filesystem::remove(path);
    EXPECT_FALSE(project_.Compile());
    DrainUntil([&] { return project_.StampIsNew(); });
    EXPECT_EQ(base::ReadFile(path).value_or(""), text);
    EXPECT_TRUE(project_.Compile());
  }
  EXPECT_EQ(project_.PublishedVariants(), published);
}

}  // namespace
}  // namespace cupilot::service
