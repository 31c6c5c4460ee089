// How projects and edits are noticed.
#include <filesystem>
#include <fstream>

#include "tests/daemon/service/service_fixture.h"

namespace cupilot::service {
namespace {

using ::testing::IsEmpty;

using ProjectsTest = ServiceTest;

TEST_F(ProjectsTest, AreFoundByTheRegistrationThatIsThere) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  ASSERT_EQ(service_->projects().size(), 1u);
  EXPECT_EQ(Row("one")["project"], project_.build_folder());
}

TEST_F(ProjectsTest, AreFoundByARegistrationThatComesLater) {
  Start();
  Drain();
  EXPECT_EQ(IdleReason(), "no project");
  Prepare("kernel one a\n");
  DrainUntil([&] { return Row("one")["state"] == "done"; });
}

TEST_F(ProjectsTest, AreDroppedWithTheirBuildFolderAndFoundAgain) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  std::filesystem::remove_all(project_.build_folder());
  DrainUntil([&] { return service_->projects().empty(); });
  EXPECT_EQ(Row("one"), records::Json::object());
  Prepare("kernel one a\n");
  DrainUntil([&] { return Row("one")["state"] == "done"; });
  // And is watched again.
  project_.SaveByRename("kernel two b\n");
  DrainUntil([&] { return Row("two")["state"] == "done"; });
}

TEST_F(ProjectsTest, AnEditIsSeenHoweverItIsSaved) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  project_.WriteSource("kernel one b\n");
  DrainUntil([&] { return service_->counters().scans == 2; });
  // The second save by rename replaces what a watch on the file itself would watch.
  for (const char* text : {"kernel one c\n", "kernel two d\n"}) {
    project_.SaveByRename(text);
    DrainUntil([&] { return workers_.Count("scan") > 2 && IdleReason() == "done"; });
  }
  DrainUntil([&] { return Row("two")["state"] == "done"; });
  EXPECT_EQ(Row("one"), records::Json::object());
}

TEST_F(ProjectsTest, AnEditedHeaderIsSeen) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  std::ofstream(project_.header()) << "another header\n";
  DrainUntil([&] { return service_->counters().scans == 2; });
}

TEST_F(ProjectsTest, ManySavesAtOnceAreOneScan) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  for (int i = 0; i < 20; ++i) project_.SaveByRename("kernel one " + std::to_string(i) + "\n");
  DrainEvents();
  EXPECT_EQ(workers_.Count("scan"), 2);
}

TEST_F(ProjectsTest, ATouchedFileIsNoEdit) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  project_.SaveByRename("kernel one a\n");
  DrainEvents();
  EXPECT_EQ(workers_.Count("scan"), 1);
}

TEST_F(ProjectsTest, TheSourceIsCopiedBeforeItIsRead) {
  Prepare("kernel one a\n");
  Start();
  ASSERT_EQ(workers_.open(), 2u);  // describe_device and scan
  project_.WriteSource("kernel two b\n");
  ASSERT_TRUE(workers_.RunOne());
  ASSERT_TRUE(workers_.RunOne());
  // The worker saw the old text, which is not the file's any more: nothing is known of it.
  EXPECT_EQ(service_->counters().scans, 1);
  EXPECT_EQ(Row("one"), records::Json::object());
  Drain();
  EXPECT_EQ(Row("two")["state"], "done");
  EXPECT_THAT(evaluator_.evaluated(), testing::Not(IsEmpty()));
}

TEST_F(ProjectsTest, AHeaderThatChangesDuringAScanMeansAnother) {
  Prepare("kernel one a\n");
  const auto set_time = [&](std::chrono::nanoseconds date) {
    std::filesystem::last_write_time(
        project_.header(),
        std::chrono::file_clock::from_sys(std::chrono::sys_time<std::chrono::nanoseconds>(date)));
  };
  Start();
  set_time(clock_.WallTime());
  ASSERT_TRUE(workers_.RunOne());
  ASSERT_TRUE(workers_.RunOne());
  EXPECT_EQ(Row("one"), records::Json::object());
  set_time(clock_.WallTime() - std::chrono::seconds(10));
  Drain();
  EXPECT_EQ(Row("one")["state"], "done");
}

TEST_F(ProjectsTest, ASourceThatCannotBeReadIsReportedAndReadWhenItIsMended) {
  Prepare("error\n");
  Start();
  Drain();
  const records::Json projects = StatusDocument(*service_)["projects"];
  EXPECT_THAT(projects[0]["warnings"][0].get<std::string>(), testing::HasSubstr("main.cu: error"));
  project_.SaveByRename("kernel one a\n");
  DrainUntil([&] { return Row("one")["state"] == "done"; });
  EXPECT_THAT(StatusDocument(*service_)["projects"][0]["warnings"], IsEmpty());
}

TEST_F(ProjectsTest, OnlyTheKernelsOfTheTargetAreTuned) {
  Prepare("kernel one a\nkernel two b\n", {{"kernels", {"two"}}});
  Start();
  Drain();
  EXPECT_EQ(Row("one"), records::Json::object());
  EXPECT_EQ(Row("two")["state"], "done");
  project_.Configure({{"kernels", {"one"}}});
  DrainUntil([&] { return Row("one")["state"] == "done"; });
  EXPECT_EQ(Row("two"), records::Json::object());
}

TEST_F(ProjectsTest, AnotherFlagOrCompilerMeansAnotherScan) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  project_.command().arguments.push_back("-use_fast_math");
  project_.Compile();
  DrainUntil([&] { return service_->counters().scans == 2; });
  // The compiler is another one after an update; the next compile tells us.
  std::ofstream(folder_ / "toolkit/version.json") << "{\"cuda\": 14}\n";
  project_.CompileTurnedOff();
  DrainUntil([&] { return service_->counters().scans == 3; });
}

}  // namespace
}  // namespace cupilot::service
