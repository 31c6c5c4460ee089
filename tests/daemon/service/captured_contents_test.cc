// Contents of captured memory are on the disk as long as a record names them, and no longer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cache/memory_store.h"
#include "service/captured_workloads.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::service {
namespace {

namespace fs = std::filesystem;
using workloads::Captured;

class CapturedContentsTest : public ::testing::Test {
 protected:
  CapturedContentsTest() : blobs_(folder_ / "blobs") {}

  // One case whose argument has these contents, and left `after`.
  Captured Capture(const std::string& kernel, const std::string& contents,
                   const std::string& after = "") {
    Captured captured;
    captured.kernel = kernel;
    captured.file = "/p/a.cu";
    captured.parameters = {"const float *"};
    records::Argument argument;
    argument.name = "in";
    argument.type = "const float *";
    argument.count = "1";
    argument.fill.emplace();
    argument.fill->kind = "file";
    argument.fill->path = "blob:" + blobs_.Put(contents).value();
    captured.cases.emplace_back();
    captured.cases[0].name = "only";
    captured.cases[0].arguments = {argument};
    captured.cases[0].grid = captured.cases[0].block = {"1", "1", "1"};
    if (!after.empty()) captured.after["only"]["in"] = blobs_.Put(after).value();
    return captured;
  }
  // As the service does with what a client brings.
  void Add(CapturedWorkloads& workloads, const Captured& captured) {
    workloads.NoteWritten(workloads::BlobsOf(captured));
    ASSERT_TRUE(workloads.Save(captured));
  }
  std::size_t FilesInTheFolder() const {
    if (!fs::exists(blobs_.folder())) return 0;
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(blobs_.folder()), fs::directory_iterator()));
  }
  // Somebody else, who has not said so yet, has written the same contents again, later.
  void WriteLater() {
    for (const auto& entry : fs::directory_iterator(blobs_.folder())) {
      fs::last_write_time(entry.path(),
                          fs::last_write_time(entry.path()) + std::chrono::seconds(5));
    }
  }

  test::TemporaryFolder folder_;
  blobs::BlobStore blobs_;
  cache::MemoryStore store_;
};

TEST_F(CapturedContentsTest, GoAtOnceWithWhatIsDropped) {
  CapturedWorkloads workloads(store_, blobs_.folder());
  Add(workloads, Capture("one", "data", "result"));
  EXPECT_EQ(FilesInTheFolder(), 2u);
  ASSERT_TRUE(workloads.Drop("/p/a.cu", "one"));
  EXPECT_EQ(FilesInTheFolder(), 0u);
  const Captured again = Capture("one", "data");
  Add(workloads, again);
  ASSERT_TRUE(workloads.Drop(again));
  EXPECT_EQ(FilesInTheFolder(), 0u);
}

TEST_F(CapturedContentsTest, GoAtOnceWithWhatALaterCaptureReplaces) {
  CapturedWorkloads workloads(store_, blobs_.folder());
  Add(workloads, Capture("one", "data", "result"));
  const Captured later = Capture("one", "data", "another result");
  Add(workloads, later);
  EXPECT_EQ(FilesInTheFolder(), 2u);
  for (const std::string& blob : workloads::BlobsOf(later)) EXPECT_TRUE(blobs_.Has(blob));
}

TEST_F(CapturedContentsTest, StayWhileAnotherRecordNamesThem) {
  CapturedWorkloads workloads(store_, blobs_.folder());
  Add(workloads, Capture("one", "data"));
  const Captured two = Capture("two", "data");
  WriteLater();
  Add(workloads, two);
  ASSERT_TRUE(workloads.Drop("/p/a.cu", "two"));
  EXPECT_EQ(FilesInTheFolder(), 1u);
  ASSERT_TRUE(workloads.Drop("/p/a.cu", "one"));
  EXPECT_EQ(FilesInTheFolder(), 0u);
}

TEST_F(CapturedContentsTest, StayWhereACaptureUnderWayHasWrittenThem) {
  CapturedWorkloads workloads(store_, blobs_.folder());
  Add(workloads, Capture("one", "data"));
  WriteLater();
  ASSERT_TRUE(workloads.Drop("/p/a.cu", "one"));
  EXPECT_EQ(FilesInTheFolder(), 1u);
  // It comes, and names them.
  Add(workloads, Capture("one", "data"));
  ASSERT_TRUE(workloads.Drop("/p/a.cu", "one"));
  EXPECT_EQ(FilesInTheFolder(), 0u);
}

TEST_F(CapturedContentsTest, GoAlsoAtADaemonThatStartedLater) {
  {
    CapturedWorkloads workloads(store_, blobs_.folder());
    Add(workloads, Capture("one", "data"));
  }
  CapturedWorkloads workloads(store_, blobs_.folder());
  ASSERT_TRUE(workloads.Drop("/p/a.cu", "one"));
  EXPECT_EQ(FilesInTheFolder(), 0u);
}

TEST_F(CapturedContentsTest, StayWhenTheSameRecordIsWrittenAgain) {
  CapturedWorkloads workloads(store_, blobs_.folder());
  Captured captured = Capture("one", "data", "result");
  Add(workloads, captured);
  captured.notes = {"replayed"};
  ASSERT_TRUE(workloads.Save(captured));
  EXPECT_EQ(FilesInTheFolder(), 2u);
}

}  // namespace
}  // namespace cupilot::service
