#include "service/restart_note.h"

#include <gmock/gmock.h>

namespace cupilot::service {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kDate = "2026-11-23T08:00:00Z";

TEST(RestartNote, TheFirstOneHasNoneBeforeIt) {
  EXPECT_EQ(StartedBecause(""), "none ran here before");
  EXPECT_EQ(StartedBecause("{half a no"), "none ran here before");
  EXPECT_EQ(StartedBecause("[1]"), "none ran here before");
  EXPECT_EQ(PidOf("[1]"), 0);
}

TEST(RestartNote, OneThatEndedSaidWhy) {
  const std::string note = EndedNote(42, "0.1.0", kDate, "it makes way for version 0.2.0");
  EXPECT_THAT(StartedBecause(note), HasSubstr("it makes way for version 0.2.0"));
  EXPECT_THAT(StartedBecause(note), HasSubstr(kDate));
  EXPECT_THAT(StartedBecause(note), Not(HasSubstr("killed")));
}

TEST(RestartNote, OneThatWasKilledLeftThatItRan) {
  const std::string note = RunningNote(42, "0.1.0", kDate);
  EXPECT_EQ(PidOf(note), 42);
  EXPECT_EQ(VersionOf(note), "0.1.0");
  EXPECT_EQ(VersionOf("[1]"), "");
  EXPECT_THAT(StartedBecause(note), HasSubstr("killed"));
  EXPECT_THAT(StartedBecause(note), HasSubstr("0.1.0"));
}

}  // namespace
}  // namespace cupilot::service
