// What captures leave in the service's hands stays, and goes, as the user said.
#include <filesystem>

#include "tests/daemon/service/captures_fixture.h"

namespace cupilot::service {
namespace {

using records::Json;
using workloads::Captured;

class CapturesKeptTest : public CapturesTest {
 protected:
  std::string blob_folder() const { return folder_ / "state/blobs"; }
  std::size_t FilesInTheFolder() const {
    std::size_t files = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(blob_folder(), error)) {
      files += entry.is_regular_file() ? 1U : 0U;
    }
    return files;
  }
  // With contents of its own.
  Captured MakeFilled(const std::string& name, const std::string& contents) {
    Captured captured = MakeCaptured(name);
    blobs::BlobStore blobs(blob_folder());
    captured.after[captured.cases[0].name]["a"] = blobs.Put(contents).value();
    return captured;
  }
};

// `cupilot capture --kernel one`, then `cupilot capture`, which only counts the launches of kernels
// whose tags say what they are run on.
TEST_F(CapturesKeptTest, ACaptureThatOnlyCountsTakesNoCasesAway) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  const Captured recorded = MakeFilled("one", "left");
  Add({recorded});
  Drain();
  ASSERT_EQ(tuned_on_.back(), "one: seen;");
  Captured counted = MakeCaptured("one");
  counted.replaces_tag = false;
  counted.cases.clear();
  counted.launches[0].cases.clear();
  counted.launches[0].calls = 50;
  counted.launches[0].microseconds = 5000;
  Add({counted});
  Drain();
  EXPECT_EQ(tuned_on_.back(), "one: seen;");
  ASSERT_EQ(service_->captured().All().size(), 1u);
  const Captured kept = *service_->captured().All()[0];
  ASSERT_EQ(kept.cases.size(), 1u);
  EXPECT_TRUE(kept.replaces_tag);
  EXPECT_EQ(kept.after, recorded.after);
  EXPECT_EQ(FilesInTheFolder(), 1u);
  EXPECT_EQ(Row("one")["program_us"], 5000);
}

TEST_F(CapturesKeptTest, WhatIsDroppedLeavesNoContents) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  Add({MakeFilled("one", "first")});
  Drain();
  Captured other = MakeFilled("one", "second");
  other.cases[0].grid[0] = "2";
  Add({other});
  Drain();
  EXPECT_EQ(FilesInTheFolder(), 1u) << "what was replaced";
  ASSERT_TRUE(DropWorkload(*service_, Here({{"kernel", "one"}})));
  EXPECT_EQ(FilesInTheFolder(), 0u);
}

TEST_F(CapturesKeptTest, AForgottenProjectLeavesNoContents) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  Add({MakeFilled("one", "first")});
  Drain();
  EXPECT_EQ(FilesInTheFolder(), 1u);
  const auto report = service_->Forget({project_.build_folder()}, false);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->captured, 1);
  EXPECT_EQ(FilesInTheFolder(), 0u);
}

}  // namespace
}  // namespace cupilot::service
