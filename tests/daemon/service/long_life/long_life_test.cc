// One daemon that nobody ends for forty days, with all that happens on a workstation but its
// death: what it keeps in memory stays as it is once evidence is as old as it becomes and what
// answers read again is there, but for what the store holds of its tables. That
// fills up, is written out, and is limited by the store's settings (4 MB of each kind): it is
// counted by itself. CUPILOT_TEST_SEED and CUPILOT_TEST_DAYS choose other runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "tests/daemon/service/thirty_days/eventful_days.h"

namespace cupilot::service {
namespace {

constexpr int kWarm = 16;            // days
constexpr double kMostOfStore = 10;  // megabytes
constexpr double kMostOfADay = 1.1;

class LongLifeTest : public EventfulDays {
 protected:
  LongLifeTest() { mortal_ = false; }

  static double Median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[values.size() / 2];
  }
  // The later warm days beside the earlier ones, and each day beside all.
  void ExpectNoGrowth() const {
    if (!kMemoryIsOurs || resident_.size() < 10) return;
    const auto half = static_cast<std::ptrdiff_t>(resident_.size() / 2);
    const double earlier = Median({resident_.begin(), resident_.begin() + half});
    const double later = Median({resident_.begin() + half, resident_.end()});
    std::printf("without the store %.1f MB, later %.1f MB\n", earlier, later);
    EXPECT_LE(later, earlier * kFlat) << "resident memory grows within a life";
    for (const double one : resident_) EXPECT_LE(one, Median(resident_) * kMostOfADay);
  }

  std::vector<double> resident_;  // of warm days, at midnight, without the store
};

TEST_F(LongLifeTest, ItsMemoryStaysAsItIs) {
  const int days = static_cast<int>(FromEnvironment("CUPILOT_TEST_DAYS", 40));
  lives_.Begin();
  for (int day = 1; day <= days; ++day) {
    PassDay(day);
    ExpectAllKept(day);
    const double megabytes = test::ResidentMegabytes();
    const double store = lives_.StoreMegabytes();
    if (day > kWarm) resident_.push_back(megabytes - store);
    if (kMemoryIsOurs) {
      EXPECT_LE(store, kMostOfStore) << "day " << day;
    }
    char memory[60];
    std::snprintf(memory, sizeof memory, "%.1f MB, %.1f of them the store's", megabytes, store);
    Say(day, memory);
  }
  EXPECT_EQ(kills_, 0);
  ExpectNoGrowth();
  TheUserLeaves();
  ExpectIdle();
}

}  // namespace
}  // namespace cupilot::service
