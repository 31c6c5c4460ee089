// The daemon may be killed at any moment: what its store has acknowledged is there afterwards, a
// selection fits its swapped source, and the next daemon goes on.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "cache/rocks_store.h"
#include "records/selection.h"
#include "service/catalog.h"
#include "source/swap/selection_check.h"
#include "tests/support/fake_project.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace cupilot {
namespace {

constexpr int kKilled = 128 + SIGKILL;
constexpr int kMoments = 200;
constexpr int kThreads = 3;

test::ProgramRun Live(const std::string& root, const std::string& what, long point) {
  return test::RunProgram({CUPILOT_KILLED_DAEMON, root, what, std::to_string(point)});
}

// What the store acknowledged before the kill must be in it.
void CheckStore(const std::string& root, service::Catalog& catalog) {
  std::istringstream journal(base::ReadFile(root + "/journal").value_or(""));
  for (std::string line; std::getline(journal, line);) {
    const std::size_t slash = line.find('/');
    ASSERT_NE(slash, std::string::npos) << line;
    const std::string key = line.substr(0, slash), id = line.substr(slash + 1);
    EXPECT_TRUE(catalog.FindVariant(key, id)) << "lost variant " << line;
    const auto evaluations = catalog.Evaluations(key);
    EXPECT_TRUE(
        std::any_of(evaluations.begin(), evaluations.end(),
                    [&](const records::Evaluation& e) { return e.variant == id && e.accepted; }))
        << "lost verdict " << line;
  }
}

void CheckSelected(const records::SelectedKernel& kernel, const std::string& swap_text,
                   service::Catalog& catalog) {
  for (const records::SelectedVariant& variant : kernel.variants) {
    EXPECT_NE(swap_text.find(records::VariantNamespace(variant.id)), std::string::npos)
        << "not in the swapped source: " << variant.id;
    const auto evaluations = catalog.Evaluations(kernel.kernel_key);
    EXPECT_TRUE(std::any_of(evaluations.begin(), evaluations.end(),
                            [&](const records::Evaluation& e) {
                              return e.accepted && e.variant == variant.id &&
                                     records::HashJson(records::ToJson(e)) == variant.evaluation;
                            }))
        << "published without its verdict: " << variant.id;
  }
}

// A selection is whole, and what it names is there and proven.
void CheckSelection(const std::string& root, service::Catalog& catalog) {
  const std::string folder = test::FakeProject::ObjectFolderIn(root);
  const auto text = base::ReadFile(folder + "/selection.json");
  if (!text) return;
  const auto json = records::ParseJson(*text);
  ASSERT_TRUE(json) << *text;
  const auto selection = records::ParseSelection(*json);
  ASSERT_TRUE(selection) << *text;
  if (selection->swap.empty()) {
    EXPECT_TRUE(selection->kernels.empty());
    return;
  }
  const auto swap = base::ReadFile(folder + "/" + selection->swap);
  ASSERT_TRUE(swap) << selection->swap;
  EXPECT_EQ(selection->swap, "swap." + base::HashHex(*swap) + ".cu");
  EXPECT_NE(swap->find(selection->hook), std::string::npos);
  EXPECT_EQ(source::WhyTextsDiffer(folder, selection->swap), "");
  for (const records::SelectedKernel& kernel : selection->kernels) {
    CheckSelected(kernel, *swap, catalog);
  }
}

void CheckAll(const std::string& root) {
  auto store = cache::RocksStore::Open(root + "/state/store");
  ASSERT_TRUE(store) << store.error().message;
  service::Catalog catalog(**store);
  CheckStore(root, catalog);
  CheckSelection(root, catalog);
}

class StoreKillTest : public ::testing::Test {
 protected:
  StoreKillTest() {
    const test::TemporaryFolder folder;
    const auto run = Live(folder.path(), "writes", 0);
    EXPECT_EQ(run.exit_code, 0) << run.errors;
    std::istringstream(run.output) >> writes_ >> calls_;
    expected_ = test::FakeProject(folder.path()).PublishedVariants();
    EXPECT_EQ(expected_.size(), 2u);
  }

  // True if the kill happened. Afterwards the day is lived to its end, and ends as without a kill.
  bool KillAt(const std::string& what, long point) const {
    SCOPED_TRACE(what + " " + std::to_string(point));
    const test::TemporaryFolder folder;
    const auto run = Live(folder.path(), what, point);
    EXPECT_TRUE(run.exit_code == kKilled || run.exit_code == 0) << run.exit_code << run.errors;
    const std::string nvcc = folder.path() + "/toolkit/bin/nvcc";
    const bool made = base::FileExists(nvcc);
    CheckAll(folder.path());
    EXPECT_EQ(base::FileExists(nvcc), made) << "who looks makes no program";
    const auto again = Live(folder.path(), what, 0);
    EXPECT_EQ(again.exit_code, 0) << again.errors;
    EXPECT_EQ(test::FakeProject(folder.path()).PublishedVariants(), expected_);
    return run.exit_code == kKilled;
  }

  // Several days at a time, each in a folder of its own. How many were killed.
  int KillAtAll(const std::string& what, const std::vector<long>& points) const {
    std::atomic<std::size_t> next{0};
    std::atomic<int> killed{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (std::size_t at = next++; at < points.size() && !HasFailure(); at = next++) {
          killed += KillAt(what, points[at]) ? 1 : 0;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return killed;
  }

  long writes_ = 0;
  long calls_ = 0;
  std::vector<std::string> expected_;
};

TEST_F(StoreKillTest, BeforeAndAfterEveryWrite) {
  std::vector<long> points(static_cast<std::size_t>(writes_));
  std::iota(points.begin(), points.end(), 1);
  EXPECT_EQ(KillAtAll("writes", points), writes_);
  EXPECT_FALSE(KillAt("writes", writes_ + 1));
  std::printf("%ld kills before and after writes\n", writes_);
}

TEST_F(StoreKillTest, AtRandomMoments) {
  std::mt19937 random(20261121);
  std::uniform_int_distribution<long> moment(1, calls_);
  std::vector<long> points(kMoments);
  for (long& point : points) point = moment(random);
  const int killed = KillAtAll("calls", points);
  // The store's own threads make the last calls differ from run to run.
  EXPECT_GT(killed, kMoments * 9 / 10);
  std::printf("%d kills among %ld calls that change files\n", killed, calls_);
}

}  // namespace
}  // namespace cupilot
