// The contract of Store, held by both implementations.
#include "cache/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "base/file.h"
#include "cache/memory_store.h"
#include "cache/rocks_store.h"

namespace cupilot::cache {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::string TestFolder(const std::string& name) {
  return std::filesystem::temp_directory_path() /
         ("cupilot-store-" + std::to_string(getpid()) + "-" + name);
}

class StoreContract : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (GetParam() == std::string("memory")) {
      store_ = std::make_unique<MemoryStore>();
      return;
    }
    auto opened = RocksStore::Open(folder_);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    store_ = std::move(*opened);
  }
  void TearDown() override {
    store_.reset();
    EXPECT_TRUE(base::RemoveTree(folder_).has_value());
  }

  std::optional<std::string> Get(Table table, const std::string& key) {
    auto value = store_->Get(table, key);
    EXPECT_TRUE(value.has_value());
    return value.value_or(std::nullopt);
  }
  std::vector<std::pair<std::string, std::string>> All(Table table, const std::string& prefix) {
    std::vector<std::pair<std::string, std::string>> rows;
    EXPECT_TRUE(store_
                    ->Scan(table, prefix,
                           [&](std::string_view key, std::string_view value) {
                             rows.emplace_back(key, value);
                             return true;
                           })
                    .has_value());
    return rows;
  }

  std::string folder_ = TestFolder("contract");
  std::unique_ptr<Store> store_;
};

TEST_P(StoreContract, AbsenceIsAValue) {
  EXPECT_EQ(Get(Table::kKernels, "none"), std::nullopt);
  EXPECT_THAT(All(Table::kKernels, ""), IsEmpty());
}

TEST_P(StoreContract, WritesReadsReplacesAndDeletes) {
  const std::string bytes("a\0b\xff", 4);
  ASSERT_TRUE(store_->Apply({{Table::kVariants, "k", bytes}, {Table::kVariants, "e", ""}}));
  EXPECT_EQ(Get(Table::kVariants, "k"), bytes);
  EXPECT_EQ(Get(Table::kVariants, "e"), "");
  ASSERT_TRUE(store_->Apply({{Table::kVariants, "k", "new"}}));
  EXPECT_EQ(Get(Table::kVariants, "k"), "new");
  ASSERT_TRUE(store_->Apply({{Table::kVariants, "k", std::nullopt}}));
  EXPECT_EQ(Get(Table::kVariants, "k"), std::nullopt);
  ASSERT_TRUE(store_->Apply({{Table::kVariants, "k", std::nullopt}})) << "again is fine";
}

TEST_P(StoreContract, TablesAreApart) {
  for (std::size_t i = 0; i < kTableCount; ++i) {
    ASSERT_TRUE(store_->Apply({{static_cast<Table>(i), "k", std::to_string(i)}}));
  }
  for (std::size_t i = 0; i < kTableCount; ++i) {
    EXPECT_EQ(Get(static_cast<Table>(i), "k"), std::to_string(i));
    EXPECT_THAT(All(static_cast<Table>(i), ""), ElementsAre(Pair("k", std::to_string(i))));
  }
}

TEST_P(StoreContract, LaterWritesOfABatchWin) {
  ASSERT_TRUE(store_->Apply({{Table::kCounters, "k", "1"},
                             {Table::kCounters, "k", "2"},
                             {Table::kCounters, "gone", "1"},
                             {Table::kCounters, "gone", std::nullopt}}));
  EXPECT_THAT(All(Table::kCounters, ""), ElementsAre(Pair("k", "2")));
  ASSERT_TRUE(store_->Apply({}));
}

TEST_P(StoreContract, ScansAPrefixInOrderUntilToldToStop) {
  ASSERT_TRUE(store_->Apply({{Table::kEvaluations, "a/2", "2"},
                             {Table::kEvaluations, "a/1", "1"},
                             {Table::kEvaluations, "a", "0"},
                             {Table::kEvaluations, "b/1", "3"},
                             {Table::kEvaluations, "a/\xff", "4"}}));
  EXPECT_THAT(All(Table::kEvaluations, "a/"),
              ElementsAre(Pair("a/1", "1"), Pair("a/2", "2"), Pair("a/\xff", "4")));
  EXPECT_EQ(All(Table::kEvaluations, "").size(), 5U);
  std::string first;
  ASSERT_TRUE(store_->Scan(Table::kEvaluations, "a", [&](std::string_view key, std::string_view) {
    first = std::string(key);
    return false;
  }));
  EXPECT_EQ(first, "a");
}

TEST_P(StoreContract, AScanSeesOneState) {
  ASSERT_TRUE(store_->Apply({{Table::kKernels, "1", "x"}, {Table::kKernels, "2", "x"}}));
  int seen = 0;
  ASSERT_TRUE(store_->Scan(Table::kKernels, "", [&](std::string_view, std::string_view) {
    EXPECT_TRUE(store_->Apply({{Table::kKernels, "3", "x"}}));
    ++seen;
    return true;
  }));
  EXPECT_EQ(seen, 2);
}

TEST_P(StoreContract, MayBeUsedByThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 20; ++i) {
        const std::string key = std::to_string(t) + "/" + std::to_string(i);
        EXPECT_TRUE(store_->Apply({{Table::kCounters, key, key}}));
        EXPECT_EQ(Get(Table::kCounters, key), key);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(All(Table::kCounters, "").size(), 80U);
}

INSTANTIATE_TEST_SUITE_P(Both, StoreContract, ::testing::Values("memory", "rocks"),
                         [](const auto& instance) { return std::string(instance.param); });

class RocksStoreTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_TRUE(base::RemoveTree(folder_).has_value()); }
  std::string folder_ = TestFolder("rocks");
};

TEST_F(RocksStoreTest, KeepsItsDataWhenOpenedAgain) {
  {
    auto store = *RocksStore::Open(folder_);
    ASSERT_TRUE(store->Apply({{Table::kKernels, "k", "v"}}));
  }
  auto store = *RocksStore::Open(folder_);
  EXPECT_EQ(*store->Get(Table::kKernels, "k"), "v");
}

TEST_F(RocksStoreTest, RefusesASecondOpener) {
  auto store = *RocksStore::Open(folder_);
  const auto second = RocksStore::Open(folder_);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, base::ErrorCode::kUnavailable);
}

TEST_F(RocksStoreTest, SaysWhatCannotBeOpened) {
  ASSERT_TRUE(base::WriteFileAtomically(folder_, "a file"));
  const auto store = RocksStore::Open(folder_);
  ASSERT_FALSE(store.has_value());
  EXPECT_THAT(store.error().message, ::testing::HasSubstr(folder_));
}

// The child writes batches of two keys until it is killed; after it has said so, a batch must be
// there.
TEST_F(RocksStoreTest, LosesNothingThatWasAppliedWhenKilled) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto store = RocksStore::Open(folder_);
    for (int i = 0; store && i < 1000000; ++i) {
      const std::string key = std::to_string(i);
      if (!(*store)->Apply({{Table::kVariants, key, key}, {Table::kEvaluations, key, key}})) break;
      if (write(ends[1], &i, sizeof(i)) != sizeof(i)) break;
    }
    _exit(1);
  }
  close(ends[1]);
  int last = -1;
  while (last < 50 && read(ends[0], &last, sizeof(last)) == sizeof(last)) {
  }
  kill(child, SIGKILL);
  int next = 0;
  while (read(ends[0], &next, sizeof(next)) == sizeof(next)) last = next;
  close(ends[0]);
  waitpid(child, nullptr, 0);

  auto store = RocksStore::Open(folder_);
  ASSERT_TRUE(store.has_value()) << store.error().message;
  ASSERT_GE(last, 50);
  for (int i = 0; i <= last; ++i) {
    EXPECT_EQ(*(*store)->Get(Table::kVariants, std::to_string(i)), std::to_string(i));
  }
  // The batch that may have been cut off is there as a whole or not at all.
  for (int i = last + 1; i < last + 3; ++i) {
    EXPECT_EQ((*store)->Get(Table::kVariants, std::to_string(i))->has_value(),
              (*store)->Get(Table::kEvaluations, std::to_string(i))->has_value());
  }
}

// While it lives no file can grow beyond so many bytes, as if the disk were full.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t most_bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {most_bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }

 private:
  void (*signal_)(int);
  rlimit before_{};
};

TEST(RocksStore, GoesOnAfterADiskThatHadNoRoom) {
  const std::string folder = TestFolder("room");
  {
    auto store = RocksStore::Open(folder);
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE((*store)->Apply({{Table::kKernels, "before", "kept"}}));
    {
      const SmallDisk disk(1000);
      const std::vector<Write> large = {{Table::kKernels, "large", std::string(5000, 'x')},
                                        {Table::kKernels, "with it", "x"}};
      for (int i = 0; i < 3; ++i) {
        const auto written = (*store)->Apply(large);
        ASSERT_FALSE(written);
        EXPECT_EQ(written.error().code, base::ErrorCode::kIo);
        EXPECT_NE(written.error().message.find(folder), std::string::npos);
        EXPECT_EQ((*store)->Get(Table::kKernels, "before"), "kept") << "reading goes on";
        EXPECT_EQ((*store)->Get(Table::kKernels, "with it"), std::nullopt) << "and sees the disk";
        std::size_t rows = 0;
        EXPECT_TRUE((*store)->Scan(Table::kKernels, "",
                                   [&](std::string_view, std::string_view) { return ++rows > 0; }));
        EXPECT_EQ(rows, 1u);
      }
    }
    ASSERT_TRUE((*store)->Apply({{Table::kKernels, "after", "written"}}));
    EXPECT_EQ((*store)->Get(Table::kKernels, "before"), "kept");
    EXPECT_EQ((*store)->Get(Table::kKernels, "after"), "written");
    EXPECT_EQ((*store)->Get(Table::kKernels, "large"), std::nullopt);
    EXPECT_EQ((*store)->Get(Table::kKernels, "with it"), std::nullopt);
  }
  {
    auto again = RocksStore::Open(folder);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ((*again)->Get(Table::kKernels, "after"), "written");
  }
  EXPECT_TRUE(base::RemoveTree(folder));
}

TEST(RocksStore, WhatIsReadMeanwhileIsNotClosed) {
  const std::string folder = TestFolder("reading");
  {
    auto store = RocksStore::Open(folder);
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE((*store)->Apply({{Table::kKernels, "a", "1"}, {Table::kKernels, "b", "2"}}));
    std::vector<std::string> seen;
    ASSERT_TRUE((*store)->Scan(Table::kKernels, "", [&](std::string_view key, std::string_view) {
      if (seen.empty()) {
        const SmallDisk disk(1000);
        EXPECT_FALSE((*store)->Apply({{Table::kKernels, "c", std::string(5000, 'x')}}));
      }
      seen.emplace_back(key);
      // There would be room, but the store is being read.
      EXPECT_FALSE((*store)->Apply({{Table::kKernels, "c", "3"}}));
      return true;
    }));
    EXPECT_THAT(seen, ElementsAre("a", "b"));
    EXPECT_TRUE((*store)->Apply({{Table::kKernels, "c", "3"}}));
  }
  EXPECT_TRUE(base::RemoveTree(folder));
}

}  // namespace
}  // namespace cupilot::cache
