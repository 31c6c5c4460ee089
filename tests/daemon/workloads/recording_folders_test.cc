// Folders of recordings whose processes were killed do not stay.
#include "workloads/recording_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "base/child.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::workloads {
namespace {

namespace fs = std::filesystem;

TEST(RecordingFolders, OfALivingProcessStay) {
  const test::TemporaryFolder cache;
  const auto held = HeldFolder::Make(cache.path());
  ASSERT_TRUE(held) << held.error().message;
  const auto another = HeldFolder::Make(cache.path());
  ASSERT_TRUE(another);
  EXPECT_NE(held->path(), another->path());
  RemoveAbandonedRecordings(cache.path());
  EXPECT_TRUE(fs::is_directory(held->path()));
  EXPECT_TRUE(fs::is_directory(another->path()));
}

TEST(RecordingFolders, OfAKilledProcessGoWithAllThatIsInThem) {
  const test::TemporaryFolder cache;
  const pid_t child = ::fork();
  if (child == 0) {
    const auto held = HeldFolder::Make(cache.path());
    if (held)
      cache.Write("capture/" + fs::path(held->path()).filename().string() + "/1.capture", "data");
    ::_exit(held ? 0 : 1);
  }
  ASSERT_EQ(base::WaitForEnd(child), 0);
  ASSERT_FALSE(fs::is_empty(cache / "capture"));
  const auto held = HeldFolder::Make(cache.path());
  RemoveAbandonedRecordings(cache.path());
  std::size_t left = 0;
  for (const auto& entry : fs::directory_iterator(cache / "capture")) {
    EXPECT_EQ(entry.path(), held->path());
    ++left;
  }
  EXPECT_EQ(left, 1u);
}

TEST(RecordingFolders, OneThatWasMovedIsStillHeld) {
  const test::TemporaryFolder cache;
  std::optional<HeldFolder> held;
  held.emplace(*HeldFolder::Make(cache.path()));
  RemoveAbandonedRecordings(cache.path());
  EXPECT_TRUE(fs::is_directory(held->path()));
  const std::string path = held->path();
  held.reset();
  RemoveAbandonedRecordings(cache.path());
  EXPECT_FALSE(fs::exists(path));
}

TEST(RecordingFolders, WithoutAnyThereIsNothingToDo) {
  const test::TemporaryFolder cache;
  RemoveAbandonedRecordings(cache / "none");
  EXPECT_FALSE(fs::exists(cache / "none"));
}

}  // namespace
}  // namespace cupilot::workloads
