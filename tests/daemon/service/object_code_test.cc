// Nothing is published for an object whose own code of a kernel is not the code that is tuned,
// unless that code has passed the gate.
#include "service/object_code.h"

#include "tests/daemon/service/gpu_fixture.h"

namespace cupilot::service {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kDifference = "uses 40 registers, the one that is tuned 32";
constexpr const char* kDeclined = "the object's kernel uses 40 registers, and fails";

class ObjectCodeTest : public GpuTest {
 protected:
  // As the launcher: the command is recorded before the object is there.
  void Build() {
    project_.Compile();
    TouchObject();
    // What the daemon is woken by is the build's lock, or anything in our folder.
    ASSERT_TRUE(
        base::WriteFileUnsynced(project_.object_folder() + "/lock", std::to_string(++builds_)));
  }
  void TouchObject() {
    const std::string object = project_.command().object;
    const auto recorded =
        std::filesystem::last_write_time(project_.object_folder() + "/command.json");
    const auto built = std::filesystem::last_write_time(object);
    std::filesystem::last_write_time(object, std::max(recorded, built) + std::chrono::seconds(1));
  }
  void Begin() {
    Prepare("kernel one a\n");
    TouchObject();
    Start();
    Drain();
  }
  int builds_ = 0;
};

TEST_F(ObjectCodeTest, EqualCodeIsComparedOnceForEachBuild) {
  Begin();
  ASSERT_THAT(evaluator_.checked_objects, SizeIs(1));
  EXPECT_THAT(evaluator_.checked_objects[0], HasSubstr("one " + project_.command().object));
  EXPECT_THAT(project_.PublishedVariants(), SizeIs(1));
  EXPECT_THAT(Explain("one")["warnings"], IsEmpty());
  Restart();
  Drain();
  EXPECT_THAT(evaluator_.checked_objects, SizeIs(1)) << "a later daemon knows it";
  Build();
  DrainUntil([&] { return evaluator_.checked_objects.size() == 2; });
  EXPECT_THAT(project_.PublishedVariants(), SizeIs(1));
}

// Each takes seconds, in which nothing is published for its object.
TEST_F(ObjectCodeTest, SeveralAreComparedAtOnceWhereThereAreProcessors) {
  settings_.object_checks = 2;
  evaluator_.holds_checks = true;
  Prepare("kernel one a\nkernel two a\nkernel three a\n");
  TouchObject();
  Start();
  DrainUntil([&] { return evaluator_.checked_objects.size() == 2; });
  Drain();
  EXPECT_THAT(evaluator_.checked_objects, SizeIs(2));
  evaluator_.AnswerChecks();
  DrainUntil([&] { return evaluator_.checked_objects.size() == 3; });
  EXPECT_THAT(project_.PublishedVariants(), IsEmpty());
  evaluator_.AnswerChecks();
  Drain();
  EXPECT_THAT(project_.PublishedVariants(), SizeIs(3));
}

TEST_F(ObjectCodeTest, WhatIsNotBuiltIsNotCompared) {
  Prepare("kernel one a\n");
  std::filesystem::remove(project_.command().object);
  Start();
  Drain();
  EXPECT_THAT(evaluator_.checked_objects, IsEmpty());
  EXPECT_THAT(project_.PublishedVariants(), SizeIs(1));
}

TEST_F(ObjectCodeTest, OtherCodeThatPassedIsTunedAndSaid) {
  evaluator_.object_check.difference = kDifference;
  Begin();
  EXPECT_THAT(project_.PublishedVariants(), SizeIs(1));
  EXPECT_THAT(Explain("one")["warnings"].dump(), HasSubstr(kDifference));
}

TEST_F(ObjectCodeTest, OtherCodeThatFailedIsDeclinedUntilAnotherBuild) {
  evaluator_.object_check = {kDifference, kDeclined};
  Begin();
  EXPECT_THAT(project_.PublishedVariants(), IsEmpty());
  EXPECT_THAT(Explain("one")["why_not"], HasSubstr(kDeclined));
  EXPECT_EQ(Row("one")["state"], "declined");
  EXPECT_EQ(IdleReason(), "done");
  Restart();
  Drain();
  EXPECT_THAT(project_.PublishedVariants(), IsEmpty());
  EXPECT_THAT(Explain("one")["why_not"], HasSubstr(kDeclined));
  EXPECT_THAT(evaluator_.checked_objects, SizeIs(1));
  evaluator_.object_check = {};
  Build();
  DrainUntil([&] { return !project_.PublishedVariants().empty(); });
  EXPECT_THAT(Explain("one")["warnings"], IsEmpty());
}

TEST_F(ObjectCodeTest, WhatWasPublishedIsTakenBack) {
  Begin();
  ASSERT_THAT(project_.PublishedVariants(), SizeIs(1));
  evaluator_.object_check = {kDifference, kDeclined};
  Build();
  DrainUntil([&] { return project_.PublishedVariants().empty(); });
  EXPECT_THAT(Explain("one")["warnings"].dump(), HasSubstr(kDeclined));
}

// The compiler may be back in a minute.
TEST_F(ObjectCodeTest, WithoutAnAnswerNothingIsPublishedAndItIsAskedAgain) {
  evaluator_.object_error = base::Unavailable("no compiler for GPUs");
  Begin();
  EXPECT_THAT(project_.PublishedVariants(), IsEmpty());
  EXPECT_THAT(service_->Apply(""), IsEmpty());
  EXPECT_THAT(evaluator_.checked_objects, SizeIs(1));
  evaluator_.object_error.reset();
  Restart();
  Drain();
  EXPECT_THAT(project_.PublishedVariants(), SizeIs(1));
}

}  // namespace
}  // namespace cupilot::service
