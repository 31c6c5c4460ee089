#include "device/device_lock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <thread>

#include "tests/support/temporary_folder.h"

namespace cupilot::device {
namespace {

using std::chrono::milliseconds;

// Who gives it back and wants it again lets only those go first who wait.
TEST(DeviceLock, SaysWhetherSomebodyWaitsForIt) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "lock";
  auto held = DeviceLock::Acquire(path, milliseconds(0));
  ASSERT_TRUE(held);
  EXPECT_FALSE(DeviceLock::IsWaitedFor(path));
  base::Result<DeviceLock> other = base::Fail(base::Internal("not yet"));
  std::thread waiting([&] { other = DeviceLock::Acquire(path, milliseconds(120000)); });
  while (!DeviceLock::IsWaitedFor(path)) std::this_thread::yield();
  {
    const DeviceLock gone = std::move(*held);
  }
  waiting.join();
  EXPECT_TRUE(other);
  EXPECT_FALSE(DeviceLock::IsWaitedFor(path)) << "it has the lock now";
}

// Else who measures would wait until none of several happens to run something.
TEST(DeviceLock, WhoSharesItLetsWhoWantsToBeAloneGoFirst) {
  using Use = DeviceLock::Use;
  const test::TemporaryFolder folder;
  const std::string path = folder / "lock";
  auto first = DeviceLock::Acquire(path, milliseconds(0), Use::kShared);
  ASSERT_TRUE(first);
  EXPECT_TRUE(DeviceLock::Acquire(path, milliseconds(0), Use::kShared));
  base::Result<DeviceLock> alone = base::Fail(base::Internal("not yet"));
  std::thread waiting(
      [&] { alone = DeviceLock::Acquire(path, milliseconds(120000), Use::kAlone); });
  while (DeviceLock::Acquire(path, milliseconds(0), Use::kShared)) std::this_thread::yield();
  // As long as it is told to, and not for ever.
  const milliseconds longer = DeviceLock::kDeference + milliseconds(50);
  EXPECT_FALSE(DeviceLock::Acquire(path, longer, Use::kShared, 2 * longer));
  EXPECT_TRUE(DeviceLock::Acquire(path, milliseconds(120000), Use::kShared));
  {
    const DeviceLock gone = std::move(*first);
  }
  waiting.join();
  EXPECT_TRUE(alone);
  EXPECT_FALSE(DeviceLock::Acquire(path, milliseconds(0), Use::kShared));
}

TEST(DeviceLock, IsHeldByOneAndFreedAtTheEnd) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "device.lock";
  auto first = DeviceLock::Acquire(path, milliseconds(0));
  ASSERT_TRUE(first) << first.error().message;
  std::optional<DeviceLock> held = std::move(*first);
  const auto second = DeviceLock::Acquire(path, milliseconds(0));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, base::ErrorCode::kUnavailable);
  held.reset();
  EXPECT_TRUE(DeviceLock::Acquire(path, milliseconds(0)));
}

TEST(DeviceLock, IsForAllUsers) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "device.lock";
  ASSERT_TRUE(DeviceLock::Acquire(path, milliseconds(0)));
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0666u);
}

TEST(DeviceLock, FollowsNoLinkAndTakesNoFolder) {
  const test::TemporaryFolder folder;
  folder.Write("victim", "");
  const std::string link = folder / "device.lock";
  ASSERT_EQ(::symlink((folder / "victim").c_str(), link.c_str()), 0);
  for (const std::string& path : {link, folder.path()}) {
    const auto lock = DeviceLock::Acquire(path, milliseconds(0));
    ASSERT_FALSE(lock) << path;
    EXPECT_EQ(lock.error().code, base::ErrorCode::kUnavailable);
  }
}

}  // namespace
}  // namespace cupilot::device
