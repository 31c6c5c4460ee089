// The store of an older cuPilot is upgraded in place after a copy, one of a newer is left alone.
#include "cache/upgrade.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/file.h"
#include "cache/memory_store.h"
#include "cache/record.h"
#include "cache/rocks_store.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::cache {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kDate = "2026-11-21T08:30:00Z";
constexpr int kLater = kStoreFormat + 1;

class UpgradeTest : public ::testing::Test {
 protected:
  void Open() {
    store_.reset();
    auto opened = RocksStore::Open(folder());
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(*opened);
  }
  std::string folder() const { return folder_ / "store"; }
  std::string ValueOf(Store& store, const std::string& key) {
    const auto value = store.Get(Table::kKernels, key);
    return value && *value ? **value : "";
  }
  // What stood under "a" stands under "b" from the later format on.
  std::vector<UpgradeStep> Steps() {
    std::vector<UpgradeStep> steps = UpgradeSteps();
    steps.push_back({kStoreFormat, [](Store& store, std::vector<Write>& writes) -> base::Result<> {
                       TRY_ASSIGN(const auto value, store.Get(Table::kKernels, "a"));
                       writes.push_back({Table::kKernels, "b", value});
                       writes.push_back({Table::kKernels, "a", std::nullopt});
                       return {};
                     }});
    return steps;
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<RocksStore> store_;
};

TEST_F(UpgradeTest, ANewStoreGetsTheNumberAndNoCopy) {
  Open();
  const auto first = BringUpToDate(*store_, folder(), kDate);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->from, 0);
  EXPECT_THAT(first->backup, IsEmpty());
  const auto again = BringUpToDate(*store_, folder(), kDate);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->from, kStoreFormat);
  EXPECT_TRUE(CheckFormat(folder()));
}

TEST_F(UpgradeTest, AnOlderStoreIsUpgradedAndItsCopyCanBeOpened) {
  Open();
  // As the versions did that knew no number.
  ASSERT_TRUE(store_->Apply({{Table::kKernels, "a", "kept"}}));
  const auto upgraded = BringUpToDate(*store_, folder(), kDate, kLater, Steps());
  ASSERT_TRUE(upgraded) << upgraded.error().message;
  EXPECT_EQ(upgraded->from, 1);
  EXPECT_EQ(ValueOf(*store_, "a"), "");
  EXPECT_EQ(ValueOf(*store_, "b"), "kept");
  ASSERT_THAT(upgraded->backup, HasSubstr("/backups/store-format1-2026"));
  auto copy = RocksStore::Open(upgraded->backup);
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ(ValueOf(**copy, "a"), "kept");
  EXPECT_EQ(ValueOf(**copy, "b"), "");
  const auto again = BringUpToDate(*store_, folder(), kDate, kLater, Steps());
  ASSERT_TRUE(again);
  EXPECT_THAT(again->backup, IsEmpty()) << "once";
}

TEST_F(UpgradeTest, ANewerStoreIsRefusedBeforeItIsOpened) {
  Open();
  ASSERT_TRUE(BringUpToDate(*store_, folder(), kDate, kLater, Steps()));
  const auto refused = CheckFormat(folder());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::kUnsupported);
  for (const char* part :
       {"store format 3", "install cuPilot", "or newer", "nothing was changed"}) {
    EXPECT_THAT(refused.error().message, HasSubstr(part));
  }
  // Where the file beside it is gone, the store says the same, and nothing is written.
  ASSERT_TRUE(base::RemoveTree(folder() + "_format.json"));
  EXPECT_TRUE(CheckFormat(folder()));
  const auto inside = BringUpToDate(*store_, folder(), kDate);
  ASSERT_FALSE(inside);
  EXPECT_EQ(inside.error().code, base::ErrorCode::kUnsupported);
  EXPECT_FALSE(base::FileExists(folder() + "_format.json"));
  EXPECT_TRUE(BringUpToDate(*store_, folder(), kDate, kLater, Steps()));
}

TEST_F(UpgradeTest, AFailedStepChangesNothing) {
  Open();
  ASSERT_TRUE(store_->Apply({{Table::kKernels, "a", "kept"}}));
  std::vector<UpgradeStep> steps = UpgradeSteps();
  steps.push_back({kStoreFormat, [](Store&, std::vector<Write>& writes) -> base::Result<> {
                     writes.push_back({Table::kKernels, "a", std::nullopt});
                     return base::Fail(base::Corruption("unreadable"));
                   }});
  EXPECT_FALSE(BringUpToDate(*store_, folder(), kDate, kLater, steps));
  EXPECT_EQ(ValueOf(*store_, "a"), "kept");
  EXPECT_TRUE(CheckFormat(folder())) << "this version may go on with it";
  // A step that is missing is no upgrade either.
  EXPECT_FALSE(BringUpToDate(*store_, folder(), kDate, kLater, {}));
  EXPECT_TRUE(BringUpToDate(*store_, folder(), kDate, kLater, Steps()));
}

TEST_F(UpgradeTest, WhatCannotBeCopiedIsNotUpgraded) {
  MemoryStore store;
  ASSERT_TRUE(store.Apply({{Table::kKernels, "a", "kept"}}));
  EXPECT_FALSE(BringUpToDate(store, folder(), kDate));
  EXPECT_EQ(ValueOf(store, "a"), "kept");
}

TEST_F(UpgradeTest, CompactionLeavesWhatIsThere) {
  Open();
  std::vector<Write> writes;
  for (int i = 0; i < 1000; ++i) {
    writes.push_back({Table::kKernels, "k" + std::to_string(i), std::string(1000, 'x')});
  }
  ASSERT_TRUE(store_->Apply(writes));
  for (std::size_t i = 1; i < writes.size(); ++i) writes[i].value.reset();
  writes.erase(writes.begin());
  ASSERT_TRUE(store_->Apply(writes));
  ASSERT_TRUE(store_->Compact());
  ASSERT_TRUE(store_->Compact()) << "also while one runs";
  EXPECT_EQ(ValueOf(*store_, "k0").size(), 1000u);
  EXPECT_EQ(ValueOf(*store_, "k1"), "");
  Open();
  EXPECT_EQ(ValueOf(*store_, "k0").size(), 1000u);
}

}  // namespace
}  // namespace cupilot::cache
