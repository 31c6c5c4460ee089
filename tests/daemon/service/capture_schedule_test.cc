// Which captures by tests are due, as a function of what is known.
#include "service/capture_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cupilot::service {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

CaptureObject MakeObject(const std::string& label, bool lacks, const std::string& build = "1") {
  CaptureObject object;
  object.id = {"/build", "run"};
  object.kernels = {{"/main.cu", label, {"float *", "int"}, lacks}};
  object.build = build;
  object.places = {"cuda:0"};
  return object;
}

CaptureDemand Only(const std::vector<CaptureObject>& objects) {
  const auto demands = DemandsOf(objects);
  EXPECT_EQ(demands.size(), 1u);
  return demands.empty() ? CaptureDemand() : demands[0];
}

CaptureTry Tried(const CaptureDemand& demand, const std::string& failure = "") {
  return {demand.key, 1, true, failure, "/state/run.log"};
}

TEST(CaptureSchedule, ATestIsDueWhileAKernelOfItsLacksAWorkload) {
  EXPECT_THAT(DemandsOf({}), IsEmpty());
  EXPECT_THAT(DemandsOf({MakeObject("one", false)}), IsEmpty());
  const CaptureDemand demand = Only({MakeObject("one", false), MakeObject("two", true)});
  EXPECT_EQ(demand.id, (CaptureId{"/build", "run"}));
  EXPECT_THAT(demand.places, ElementsAre("cuda:0"));
  EXPECT_TRUE(IsDue(demand, nullptr));
  EXPECT_EQ(NoteOf(demand, nullptr), "waits for the capture by the test 'run'");
}

TEST(CaptureSchedule, OfWhatHadNoRoomItIsNotSaidThatItWasNotLaunched) {
  CaptureObject object = MakeObject("one", true);
  object.kernels[0].gone = true;
  const CaptureDemand demand = Only({object, MakeObject("two", false)});
  const CaptureTry ended = Tried(demand);
  EXPECT_FALSE(IsDue(demand, &ended));
  EXPECT_EQ(NoteOf(demand, &ended), "what the capture test 'run' showed of it is not kept");
  const CaptureDemand other = Only({object, MakeObject("two", true)});
  const CaptureTry some = Tried(other);
  EXPECT_THAT(NoteOf(other, &some), HasSubstr("showed no launch of it"));
}

TEST(CaptureSchedule, TestsAndBuildFoldersAreApart) {
  CaptureObject other = MakeObject("one", true), elsewhere = other;
  other.id.test = "other";
  elsewhere.id.build_folder = "/elsewhere";
  const auto demands = DemandsOf({MakeObject("one", true), other, elsewhere});
  ASSERT_EQ(demands.size(), 3u);
  EXPECT_EQ(demands[0].id, (CaptureId{"/build", "other"}));
  EXPECT_EQ(demands[1].id, (CaptureId{"/build", "run"}));
  EXPECT_EQ(demands[2].id, (CaptureId{"/elsewhere", "run"}));
}

TEST(CaptureSchedule, ATryIsNotRepeatedForTheSameKernelsAndBuild) {
  const CaptureDemand demand = Only({MakeObject("one", true), MakeObject("two", true)});
  const CaptureTry failed = Tried(demand, "exit 8");
  EXPECT_FALSE(IsDue(demand, &failed));
  EXPECT_EQ(NoteOf(demand, &failed),
            "the capture test 'run' failed (exit 8): see /state/run.log; it is run again when its "
            "kernels are built again, or after a configure");
  // One of the two was captured, the other one is not launched: that is no other try.
  const CaptureDemand half = Only({MakeObject("one", false), MakeObject("two", true)});
  const CaptureTry ended = Tried(demand);
  EXPECT_FALSE(IsDue(half, &ended));
  EXPECT_THAT(NoteOf(half, &ended), HasSubstr("showed no launch of it"));
  // The order in which objects are found says nothing.
  EXPECT_FALSE(IsDue(Only({MakeObject("two", true), MakeObject("one", true)}), &failed));
}

TEST(CaptureSchedule, AnotherBuildOrAnotherParameterIsAnotherTry) {
  const CaptureTry failed = Tried(Only({MakeObject("one", true)}), "exit 8");
  EXPECT_TRUE(IsDue(Only({MakeObject("one", true, "2")}), &failed));
  EXPECT_TRUE(IsDue(Only({MakeObject("one", true), MakeObject("two", true)}), &failed));
  CaptureObject changed = MakeObject("one", true);
  changed.kernels[0].parameters = {"float *", "int", "int"};
  EXPECT_TRUE(IsDue(Only({changed}), &failed));
}

TEST(CaptureSchedule, WhatIsNotBuiltOrReadIsWaitedFor) {
  CaptureObject edited = MakeObject("one", true), read = edited;
  edited.built = false;
  EXPECT_FALSE(IsDue(Only({edited}), nullptr));
  EXPECT_EQ(NoteOf(Only({edited}), nullptr),
            "waits for the next build and its capture by the test 'run'");
  read.read = false;
  EXPECT_FALSE(IsDue(Only({read}), nullptr));
  EXPECT_EQ(NoteOf(Only({read}), nullptr), "waits for the capture by the test 'run'");
  // Also that of others of the program, but not that they are built: nothing is missing of them.
  CaptureObject other = MakeObject("two", false);
  other.built = false;
  EXPECT_TRUE(IsDue(Only({MakeObject("one", true), other}), nullptr));
  other.read = false;
  EXPECT_FALSE(IsDue(Only({MakeObject("one", true), other}), nullptr));
}

TEST(CaptureSchedule, WhatDidNotEndIsBegunAFewTimes) {
  const CaptureDemand demand = Only({MakeObject("one", true)});
  CaptureTry open = {demand.key, 1, false, "", "/log"};
  EXPECT_TRUE(IsDue(demand, &open));
  open.begun = kMostBegun;
  EXPECT_FALSE(IsDue(demand, &open));
  EXPECT_THAT(NoteOf(demand, &open), HasSubstr("was interrupted 3 times"));
}

TEST(CaptureSchedule, ATestOfCTestIsRunByTheProjectsCTest) {
  Project project;
  project.build_folder = "/build";
  const auto unknown = CommandOf(project, "a.b+c (1)");
  ASSERT_TRUE(unknown);
  EXPECT_THAT(unknown->words,
              ElementsAre("ctest", "--test-dir", "/build", "-R", "^a\\.b\\+c \\(1\\)$",
                          "--no-tests=error", "--output-on-failure"));
  EXPECT_EQ(unknown->folder, "/build");
  project.ctest = "/opt/cmake/bin/ctest";
  project.configuration = "Release";
  const auto known = CommandOf(project, "run");
  ASSERT_TRUE(known);
  EXPECT_THAT(known->words,
              ElementsAre("/opt/cmake/bin/ctest", "--test-dir", "/build", "-R", "^run$",
                          "--no-tests=error", "--output-on-failure", "-C", "Release"));
  project.ctest = "";
  const auto none = CommandOf(project, "run");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("enable_testing()"));
}

TEST(CaptureSchedule, ACommandOfTheProjectsComesFirst) {
  Project project;
  project.ctest = "";
  project.capture_tests = {{"run", "/data", {"/build/app", "two words", ""}}, {"new", "", {}}};
  const auto command = CommandOf(project, "run");
  ASSERT_TRUE(command);
  EXPECT_EQ(command->folder, "/data");
  EXPECT_THAT(command->words, ElementsAre("/build/app", "two words", ""));
  const auto unwritten = CommandOf(project, "new");
  ASSERT_FALSE(unwritten);
  EXPECT_THAT(unwritten.error().message, HasSubstr("configure again"));
}

TEST(CaptureSchedule, ExpressionsAreOfOneName) {
  EXPECT_EQ(EscapedForCTest("plain_name-1/x"), "plain_name-1/x");
  EXPECT_EQ(EscapedForCTest("a|b*[c]?$^\\"), "a\\|b\\*\\[c\\]\\?\\$\\^\\\\");
}

}  // namespace
}  // namespace cupilot::service
