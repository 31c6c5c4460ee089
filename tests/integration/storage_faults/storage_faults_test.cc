// The disk fails, or the power does, at each call by which the store and the publisher change
// files or read them: what was acknowledged is there afterwards, nothing is half, and after an
// error the program goes on. CUPILOT_ALL_FAULTS=1 takes every call also where there are many,
// CUPILOT_FAULT=lost (kill, full, unreadable, ...: faulty_calls.h) only this fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "agents/exchange_log.h"
#include "base/file.h"
#include "base/hash.h"
#include "cache/record.h"
#include "cache/rocks_store.h"
#include "records/lock.h"
#include "records/selection.h"
#include "source/swap/selection_check.h"
#include "tests/integration/storage_faults/fault_runs.h"
#include "tests/integration/storage_faults/story_steps.h"
#include "tests/support/fake_project.h"
#include "tests/support/manual_clock.h"

namespace cupilot::test {
namespace {

namespace fs = std::filesystem;

using cache::Table;
// By table and key the hashes of the values.
using Contents = std::map<std::pair<int, std::string>, std::string>;

constexpr const char* kRestart = "2026-11-22T09:00:00Z";

class StorageFaultsTest : public ::testing::Test {
 protected:
  StorageFaultsTest() {
    std::string name = FolderForFaults() + "/cupilot_faults.XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
  }
  ~StorageFaultsTest() override { fs::remove_all(folder_); }

  std::vector<std::string> Roots() const { return {folder_ + "/one", folder_ + "/two"}; }
  static void Clear(const std::string& root) {
    fs::remove_all(root);
    fs::remove_all(root + ".keep");
  }

  // Without a fault.
  Told LiveWell(const std::string& story, const std::string& root) const {
    Told told = LiveStory(story, root, "-", 0);
    EXPECT_EQ(told.exit_code, 0) << told.text << told.errors;
    EXPECT_TRUE(told.failures.empty());
    EXPECT_FALSE(told.calls.empty());
    return told;
  }

  static void CheckEnd(const FaultRun& run) {
    static const std::set<std::string> kDeadly = {"kill", "lost", "zeros", "mixed"};
    if (run.told.killed && kDeadly.contains(run.fault)) return;
    // The threads of the store make its last calls differ from run to run.
    EXPECT_EQ(run.told.exit_code, 0) << run.told.text << run.told.errors;
    // What cannot be read is said in the words of whoever needs it.
    if (run.OfReading()) return;
    for (const std::string& failure : run.told.failures) {
      EXPECT_THAT(failure, ::testing::AnyOf(::testing::HasSubstr("No space left"),
                                            ::testing::HasSubstr("nput/output error")));
    }
  }

  std::string folder_;
};

// Each state that the batches allow: what was not acknowledged is there or not, whole.
std::vector<Contents> StatesOf(Contents begin, const std::vector<ToldBatch>& batches) {
  std::set<Contents> states = {std::move(begin)};
  for (const ToldBatch& batch : batches) {
    std::set<Contents> next;
    if (!batch.applied) next = states;
    for (Contents state : states) {
      for (const ToldWrite& write : batch.writes) {
        if (write.hash.empty()) {
          state.erase({write.table, write.key});
        } else {
          state[{write.table, write.key}] = write.hash;
        }
      }
      next.insert(std::move(state));
    }
    states = std::move(next);
  }
  return {states.begin(), states.end()};
}

Contents ReadContents(cache::Store& store) {
  Contents contents;
  for (std::size_t table = 0; table < cache::kTableCount; ++table) {
    const auto visit = [&](std::string_view key, std::string_view value) {
      EXPECT_TRUE(cache::Unseal(value)) << "a record that cannot be read: " << key;
      contents[{static_cast<int>(table), std::string(key)}] = base::HashHex(value);
      return true;
    };
    EXPECT_TRUE(store.Scan(static_cast<Table>(table), "", visit));
  }
  return contents;
}

void ExpectOneOf(const std::vector<Contents>& states, const Contents& found,
                 const std::string& text) {
  if (std::find(states.begin(), states.end(), found) != states.end()) return;
  std::string difference;
  for (const auto& [key, hash] : states.front()) {
    if (!found.contains(key)) difference += "not there: " + key.second + "\n";
  }
  for (const auto& [key, hash] : found) {
    if (!states.front().contains(key)) difference += "new: " + key.second + "\n";
  }
  ADD_FAILURE() << "the store's content was never that: against the first of " << states.size()
                << " states\n"
                << difference << text;
}

// Every file that a row names is whole.
void CheckExchanges(cache::Store& store, const std::string& root) {
  const ManualClock clock;
  const agents::ExchangeLog log(store, clock, root + "/exchanges", {});
  std::size_t rows = 0;
  EXPECT_TRUE(store.Scan(Table::kCounters, "exchange/", [&](std::string_view, std::string_view) {
    ++rows;
    return true;
  }));
  const auto all = log.All("");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), rows) << "a row of the store names a file that is not whole";
}

// The next daemon: opens what is left, finds a state that was acknowledged, and writes.
void CheckStore(const FaultRun& run, const Contents& begin, int newest) {
  const std::string folder = run.root + "/store";
  const auto format = cache::CheckFormat(folder, newest);
  ASSERT_TRUE(format) << format.error().message;
  auto opened = cache::RocksStore::Open(folder);
  ASSERT_TRUE(opened) << opened.error().message << run.told.text;
  cache::RocksStore& store = **opened;
  ExpectOneOf(StatesOf(begin, run.told.batches), ReadContents(store), run.told.text);
  CheckExchanges(store, run.root);
  const auto upgraded = cache::BringUpToDate(store, folder, kRestart, newest, LaterSteps());
  ASSERT_TRUE(upgraded) << upgraded.error().message;
  ASSERT_TRUE(store.Apply({{Table::kCounters, "after", cache::Seal("all is well")}}));
  EXPECT_TRUE(store.Get(Table::kCounters, "after")->has_value());
}

TEST_F(StorageFaultsTest, ADayOfTheStore) {
  const Told well = LiveWell("store", folder_ + "/one");
  EXPECT_GT(well.batches.size(), 40u);
  const auto check = [](const FaultRun& run) {
    CheckEnd(run);
    CheckStore(run, {}, cache::kStoreFormat);
  };
  EXPECT_GT(LiveWithFaults({"store", 9, 45, Roots(), Clear, check}, well), 0);
}

// The copy that an upgrade made is what was there before.
void CheckCopy(const std::string& root, const std::string& date, const Contents& before) {
  std::string name = date;
  std::erase(name, ':');
  auto copy = cache::RocksStore::Open(root + "/backups/store-format1-" + name);
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ(ReadContents(**copy), before) << "the copy is not what was there";
}

TEST_F(StorageFaultsTest, AnUpgradeOfTheStore) {
  // Nothing is done with it before the first call.
  const std::string untouched = folder_ + "/untouched";
  ASSERT_EQ(LiveStory("upgrade", untouched, "kill", 1).exit_code, 137);
  Contents begin;
  {
    auto store = cache::RocksStore::Open(untouched + "/store");
    ASSERT_TRUE(store);
    begin = ReadContents(**store);
    ASSERT_EQ(begin.size(), 8u);
  }
  const Told well = LiveWell("upgrade", folder_ + "/one");
  const auto check = [&begin](const FaultRun& run) {
    CheckEnd(run);
    CheckStore(run, begin, kLaterFormat);
    if (::testing::Test::HasFailure()) return;
    // By the story, or by the daemon that was started again.
    const bool again = fs::exists(run.root + "/backups/store-format1-2026-11-22T090000Z");
    CheckCopy(run.root, again ? kRestart : kUpgradeDate, begin);
  };
  EXPECT_GT(LiveWithFaults({"upgrade", 3, 15, Roots(), Clear, check}, well), 0);
}

std::string HashOfFile(const std::string& path) {
  const auto text = base::ReadFile(path);
  return text ? base::HashHex(*text) : "";
}

// What was acknowledged last, or what was begun after it. Of a file that could not be read less is
// written down: then what was acknowledged need not be what it is without a fault.
void ExpectPublished(const std::string& found, const std::vector<std::string>& all,
                     const FaultRun& run, const std::string& step) {
  const Told& told = run.told;
  const std::size_t done = told.done(step).size();
  std::set<std::string> allowed = {done == 0 ? "" : all[done - 1]};
  if (done != 0 && run.OfReading()) allowed.insert(told.done(step).back());
  if (told.IsOpen(step)) allowed.insert(all.at(done));
  EXPECT_TRUE(allowed.contains(found)) << step << ": what is there is not what was published\n"
                                       << told.text;
}

void CheckSelection(const std::string& root) {
  const FakeProject project(root);
  const auto text = base::ReadFile(project.object_folder() + "/selection.json");
  if (!text) return;
  const auto json = records::ParseJson(*text);
  ASSERT_TRUE(json);
  const auto selection = records::ParseSelection(*json);
  ASSERT_TRUE(selection);
  if (selection->kernels.empty()) return;
  EXPECT_EQ(source::WhyTextsDiffer(project.object_folder(), selection->swap), "");
  const auto checked = source::CheckSelection(project.command());
  EXPECT_TRUE(checked.holds) << checked.reason;
}

// The project stays, with its times; what was published goes.
void ClearProject(const std::string& root) {
  fs::remove_all(root + ".keep");
  fs::remove_all(root + "/source/locks");
  static const std::set<std::string> kOfTheBuild = {"command.json", "applied.json", "stamp.h"};
  if (!fs::exists(root)) return;
  for (const auto& entry : fs::directory_iterator(FakeProject::ObjectFolderIn(root))) {
    if (!kOfTheBuild.contains(entry.path().filename())) fs::remove_all(entry.path());
  }
}

TEST_F(StorageFaultsTest, ThePublisher) {
  struct Expected {
    std::vector<std::string> selections, locks;
  };
  std::map<std::string, Expected> expected;  // paths are in what is published
  Told first;
  for (const std::string& root : Roots()) {
    const Told well = LiveWell("publisher", root);
    expected[root] = {well.done("publish"), well.done("lock")};
    ASSERT_EQ(expected[root].selections.size(), 6u);
    ASSERT_EQ(
        std::set<std::string>(expected[root].locks.begin(), expected[root].locks.end()).size(), 5u)
        << "but for the one that comes back, each is another";
    first = well;
  }
  const auto check = [&expected](const FaultRun& run) {
    CheckEnd(run);
    const Expected& all = expected.at(run.root);
    const std::string lock = run.root + "/source/locks/cupilot.lock";
    const std::string selection = FakeProject::ObjectFolderIn(run.root) + "/selection.json";
    ExpectPublished(HashOfFile(selection), all.selections, run, "publish");
    ExpectPublished(HashOfFile(lock), all.locks, run, "lock");
    const auto locked = base::ReadFile(lock);
    EXPECT_TRUE(!locked || records::ParseLock(*locked));
    CheckSelection(run.root);
    // The next daemon goes on: seen of some of them, since it takes as long as all the rest.
    if (run.at % 4 != 0 && !AllFaults()) return;
    const Told again = LiveStory("publisher", run.root, "-", 0);
    EXPECT_EQ(again.exit_code, 0) << again.text << again.errors;
    EXPECT_EQ(HashOfFile(selection), all.selections.back());
    EXPECT_EQ(HashOfFile(lock), all.locks.back());
    CheckSelection(run.root);
  };
  EXPECT_GT(LiveWithFaults({"publisher", 1, 20, Roots(), ClearProject, check}, first), 0);
}

}  // namespace
}  // namespace cupilot::test
