// One daemon that nobody ends for forty days, with all that happens on a workstation but its
// death: what it keeps in memory stays as it is once evidence is as old as it becomes and what
// answers read again is there, but for what the store holds of its tables. That
// fills up, is written out, and is limited by the store's settings (4 MB of each kind): it is
// counted by itself. Growth is looked for in what was allocated and not freed. Resident memory also
// has what lies free between it: in 120 days that came to a tenth more within the first 55 and to
// no more afterwards, while what was allocated stayed as it was. CUPILOT_TEST_SEED and
// CUPILOT_TEST_DAYS choose other runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/daemon/service/thirty_days/eventful_days.h"

namespace cupilot::service {
namespace {

constexpr int kWarm = 16;            // days
constexpr double kMostOfStore = 10;  // megabytes
constexpr double kMostOfADay = 1.1;
constexpr double kFlat = 1.05;

class LongLifeTest : public EventfulDays {
 protected:
  LongLifeTest() { mortal_ = false; }

  // Means of the earlier and of the later half: evidence comes for some ten days and goes at once,
  // so that a day may have twice what another has, and the means of halves differ by 0.4 MB
  // (standard deviation of 40 stretches of 24 days).
  static std::pair<double, double> Halves(const std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    const auto mean = [](auto from, auto to) {
      return std::accumulate(from, to, 0.0) / static_cast<double>(to - from);
    };
    return {mean(values.begin(), middle), mean(middle, values.end())};
  }
  // The later warm days beside the earlier ones, and each day beside all.
  void ExpectNoGrowth() const {
    if (!kMemoryIsOurs || resident_.size() < 10) return;
    const auto [earlier, later] = Halves(allocated_);
    const double resident = Median(resident_);
    std::printf("without the store %.1f MB, later %.1f MB, of %.1f MB that are resident\n", earlier,
                later, resident);
    EXPECT_LE(later, earlier + resident * (kFlat - 1)) << "memory grows within a life";
    for (const double one : resident_) EXPECT_LE(one, resident * kMostOfADay);
  }

  // Of warm days, at midnight, without the store.
  std::vector<double> allocated_, resident_;
};

TEST_F(LongLifeTest, ItsMemoryStaysAsItIs) {
  const int days = static_cast<int>(FromEnvironment("CUPILOT_TEST_DAYS", 40));
  lives_.Begin();
  for (int day = 1; day <= days; ++day) {
    PassDay(day);
    ExpectAllKept(day);
    const double megabytes = test::ResidentMegabytes();
    const double store = lives_.StoreMegabytes();
    const double allocated = test::AllocatedMegabytes();
    if (day > kWarm) {
      resident_.push_back(megabytes - store);
      allocated_.push_back(allocated - store);
    }
    if (kMemoryIsOurs) {
      EXPECT_LE(store, kMostOfStore) << "day " << day;
    }
    char memory[80];
    std::snprintf(memory, sizeof memory, "%.1f MB, %.1f allocated, %.1f of them the store's",
                  megabytes, allocated, store);
    Say(day, memory);
  }
  EXPECT_EQ(kills_, 0);
  ExpectNoGrowth();
  TheUserLeaves();
  ExpectIdle();
}

}  // namespace
}  // namespace cupilot::service
