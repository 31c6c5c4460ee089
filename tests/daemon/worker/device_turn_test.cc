#include "worker/device_turn.h"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace cupilot::worker {
namespace {

using std::chrono::milliseconds;

TEST(DeviceTurn, WhatRunsInsideAMeasurementHasItsTurn) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/lock";
  auto outer = TakeDeviceTurn(path, milliseconds(0));
  ASSERT_TRUE(outer) << outer.error().message;
  auto inner = TakeDeviceTurn(path, milliseconds(0));
  ASSERT_TRUE(inner) << inner.error().message;
  // As another process would, which knows nothing of this one's turns.
  const auto others = [&] { return device::DeviceLock::Acquire(path, milliseconds(0)); };
  EXPECT_FALSE(others());
  outer->reset();
  EXPECT_FALSE(others()) << "the inner one is still there";
  inner->reset();
  {
    const auto lock = others();
    EXPECT_TRUE(lock);
    EXPECT_FALSE(TakeDeviceTurn(path, milliseconds(0)));
  }
  EXPECT_TRUE(TakeDeviceTurn(path, milliseconds(0)));
}

TEST(DeviceTurn, WhatOnlyRunsIsBesideItsLikeAndNotBesideAMeasurement) {
  using Use = device::DeviceLock::Use;
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/lock";
  const auto turn = TakeDeviceTurn(path, milliseconds(0), Use::kShared);
  ASSERT_TRUE(turn);
  EXPECT_TRUE(device::DeviceLock::Acquire(path, milliseconds(0), Use::kShared));
  EXPECT_FALSE(device::DeviceLock::Acquire(path, milliseconds(0), Use::kAlone));
  EXPECT_TRUE(TakeDeviceTurn(path, milliseconds(0), Use::kShared));
  EXPECT_FALSE(TakeDeviceTurn(path, milliseconds(0), Use::kAlone)) << "others may be beside it";
}

TEST(DeviceTurn, ToolsAreBesideProbesAndNotBesideWhatAVerdictRestsOn) {
  using Use = device::DeviceLock::Use;
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/lock";
  // As another process holds them.
  const auto take = [](const std::string& lock, Use use) {
    return device::DeviceLock::Acquire(lock, milliseconds(0), use);
  };
  {
    const auto tool = take(path + ".tools", Use::kShared);
    ASSERT_TRUE(tool);
    EXPECT_FALSE(TakeQuietTurn(path, milliseconds(0)));
    EXPECT_TRUE(TakeDeviceTurn(path, milliseconds(0)));
  }
  const auto quiet = TakeQuietTurn(path, milliseconds(0));
  ASSERT_TRUE(quiet) << quiet.error().message;
  EXPECT_FALSE(take(path + ".tools", Use::kShared));
  EXPECT_FALSE(take(path, Use::kShared));
}

TEST(DeviceTurn, TheHostNeedsNone) {
  const auto turn = TakeTurnToRun("host");
  ASSERT_TRUE(turn);
  EXPECT_EQ(*turn, nullptr);
}

}  // namespace
}  // namespace cupilot::worker
