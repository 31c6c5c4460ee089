// Thirty days of a workstation in a few minutes: edits, builds, GPUs that come and go, suspends,
// upgrades, full disks and kills, at random moments of a simulated clock. No variant is lost, no
// job is stuck, nothing leaks, and in the end the daemon is idle. CUPILOT_TEST_SEED and
// CUPILOT_TEST_DAYS choose other runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/daemon/service/thirty_days/eventful_days.h"

namespace cupilot::service {
namespace {

constexpr int kUpgradeDay = 7;
constexpr int kDriverDay = 12;
constexpr double kMostOfOneDaemon = 16;  // megabytes
constexpr int kWarm = 10;                // days
constexpr double kMostLostADay = 0.01;   // megabytes that stay allocated
constexpr double kMostOfAll = 1.1;       // resident, beside the middle one of all days

class ThirtyDaysTest : public EventfulDays {
 protected:
  void Upgrade() {
    lives_.End();
    lives_.MakeStoreOlder();
    const std::string backup = lives_.Begin();
    EXPECT_TRUE(std::filesystem::exists(backup)) << "of the older store no copy was made";
  }
  // With another driver all is to be measured again.
  void NewDriver() {
    lives_.End();
    for (auto& [device, gpu] : machine_.gpus) gpu.driver = "590.2";
    lives_.Begin();
    champions_.clear();
  }

  void OneDay(int day) {
    PassDay(day);
    if (day == kUpgradeDay) Upgrade();
    if (day == kDriverDay) NewDriver();
    AtMidnight(day);
  }
  // Without a daemon there is only what none of them gave back; what a store keeps of its files in
  // memory differs from day to day. One life is judged by long_life_test. Growth is looked for in
  // what is allocated: resident memory also has what lies free between it, and the program's own
  // pages, which are read when they are first needed.
  void AtMidnight(int day) {
    ExpectAllKept(day);
    const double living = test::ResidentMegabytes();
    lives_.End();
    const double megabytes = test::ResidentMegabytes();
    const double allocated = test::AllocatedMegabytes();
    lives_.Begin();
    if (kMemoryIsOurs) {
      EXPECT_LE(living - megabytes, kMostOfOneDaemon) << "day " << day;
    }
    if (day >= kWarm) {
      resident_.push_back(megabytes);
      allocated_.push_back(allocated);
    }
    char memory[80];
    std::snprintf(memory, sizeof memory, "%.3f MB of %.1f MB, %.1f MB with the daemon", allocated,
                  megabytes, living);
    Say(day, memory);
  }

  void ExpectFlat() const {
    if (!kMemoryIsOurs || allocated_.size() < 2) return;
    const auto days = static_cast<double>(allocated_.size() - 1);
    EXPECT_LE((allocated_.back() - allocated_.front()) / days, kMostLostADay)
        << "megabytes a day that no life gives back";
    EXPECT_LE(*std::max_element(resident_.begin(), resident_.end()), Median(resident_) * kMostOfAll)
        << "resident memory grows";
  }

  // Between two lives, of warm days.
  std::vector<double> allocated_, resident_;
};

TEST_F(ThirtyDaysTest, NothingIsLostStuckOrLeaked) {
  const int days = static_cast<int>(FromEnvironment("CUPILOT_TEST_DAYS", 30));
  lives_.Begin();
  for (int day = 1; day <= days; ++day) OneDay(day);
  TheUserLeaves();
  ExpectIdle();
  AtMidnight(days + 2);
  EXPECT_GT(accepted_, 10 * days);
  EXPECT_GT(kills_, days);
  EXPECT_GT(lives_.fate.refused, 0);
  if (days < 30) return;
  EXPECT_GT(pruned_, 0);
  ExpectFlat();
}

}  // namespace
}  // namespace cupilot::service
