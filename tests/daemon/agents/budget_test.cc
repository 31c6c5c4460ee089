#include "agents/budget.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "agents/consent.h"
#include "cache/memory_store.h"
#include "cache/rocks_store.h"
#include "tests/support/manual_clock.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::agents {
namespace {

constexpr NanoDollars kDollar = 1'000'000'000;

class BudgetTest : public testing::Test {
 protected:
  // To noon, so that an hour does not change the day.
  BudgetTest() {
    const auto day = std::chrono::hours(24);
    clock_.Advance(day - clock_.WallTime() % day + std::chrono::hours(12));
  }
  // A process begins.
  void Start(SpendingLimits limits = {10 * kDollar, 10 * kDollar, 10 * kDollar}) {
    budget_ = std::make_unique<Budget>(store_, clock_, limits);
    ASSERT_TRUE(budget_->Adopt());
  }
  tl::expected<std::string, ModelError> Reserve(NanoDollars most, const std::string& kernel = "k") {
    return budget_->Reserve({kernel, "p", "m"}, most);
  }
  void Spend(NanoDollars cost, const std::string& kernel = "k") {
    const auto id = Reserve(cost, kernel);
    ASSERT_TRUE(id) << id.error().message;
    ASSERT_TRUE(budget_->Settle(*id, cost, {true, 10, 0, 0, 5}, true));
  }
  bool Fits(NanoDollars most, const std::string& kernel = "k") {
    const auto id = Reserve(most, kernel);
    if (id) {
      EXPECT_TRUE(budget_->Settle(*id, 0, {}, false));
      return true;
    }
    EXPECT_EQ(id.error().why, Failure::kOverLimit);
    return false;
  }

  test::ManualClock clock_;
  cache::MemoryStore store_;
  std::unique_ptr<Budget> budget_;
};

TEST_F(BudgetTest, WhatIsSetAsideIsNotThereTwice) {
  Start();
  const auto first = Reserve(6 * kDollar);
  ASSERT_TRUE(first);
  EXPECT_FALSE(Fits(5 * kDollar));
  EXPECT_TRUE(Fits(4 * kDollar));
  ASSERT_TRUE(budget_->Settle(*first, kDollar, {}, true));
  EXPECT_TRUE(Fits(9 * kDollar));
  EXPECT_FALSE(Fits(9 * kDollar + 1));
  EXPECT_EQ(budget_->Sums("k")->kernel, kDollar);
}

TEST_F(BudgetTest, EachLimitHolds) {
  Start({.kernel = 2 * kDollar, .day = 3 * kDollar, .month = 4 * kDollar});
  Spend(2 * kDollar, "a");
  EXPECT_FALSE(Fits(1, "a"));
  EXPECT_TRUE(Fits(kDollar, "b"));
  EXPECT_FALSE(Fits(kDollar + 1, "b"));  // the day's
  clock_.Advance(std::chrono::hours(24));
  const bool same_month = budget_->Sums("b")->month == 2 * kDollar;
  EXPECT_EQ(Fits(2 * kDollar, "b"), true);
  if (same_month) {
    Spend(2 * kDollar, "b");
    EXPECT_FALSE(Fits(1, "c"));  // the month's
  }
  clock_.Advance(std::chrono::hours(24 * 31));
  EXPECT_TRUE(Fits(2 * kDollar, "c"));
  EXPECT_FALSE(Fits(1, "a"));  // a kernel's is for ever
}

TEST_F(BudgetTest, SaysWhichLimitAndHowMuch) {
  Start({.kernel = kDollar, .day = kDollar, .month = kDollar});
  Spend(kDollar / 2);
  const auto denied = Reserve(kDollar);
  ASSERT_FALSE(denied);
  EXPECT_NE(denied.error().message.find("this kernel has a limit of $1.0000, of which $0.5000"),
            std::string::npos)
      << denied.error().message;
}

TEST_F(BudgetTest, WithoutLimitsOnlyWhatIsFree) {
  Start({});
  EXPECT_TRUE(Fits(0));
  EXPECT_FALSE(Fits(1));
}

TEST_F(BudgetTest, LimitsHoldAcrossRestarts) {
  Start();
  Spend(6 * kDollar);
  Start();
  EXPECT_FALSE(Fits(5 * kDollar));
  EXPECT_TRUE(Fits(4 * kDollar));
}

TEST_F(BudgetTest, WhatAKilledProcessHadSetAsideIsSpent) {
  Start();
  ASSERT_TRUE(Reserve(6 * kDollar));
  Start();
  EXPECT_EQ(budget_->Sums("k")->kernel, 6 * kDollar);
  EXPECT_EQ(budget_->Sums("k")->day, 6 * kDollar);
  Start();  // once
  EXPECT_EQ(budget_->Sums("k")->kernel, 6 * kDollar);
}

TEST_F(BudgetTest, WhatIsHeldIsHeldOnceAndByTheNextProcessToo) {
  Start();
  const Spender spender{"k", "p", "m"};
  ASSERT_TRUE(budget_->Hold(spender, 6 * kDollar, "name"));
  EXPECT_TRUE(budget_->Hold(spender, 6 * kDollar, "name")) << "it is set aside already";
  EXPECT_FALSE(Fits(5 * kDollar));
  Start();
  EXPECT_TRUE(budget_->Holds("name"));
  EXPECT_TRUE(budget_->Hold(spender, 6 * kDollar, "name"));
  EXPECT_FALSE(Fits(5 * kDollar));
  ASSERT_TRUE(budget_->Settle("name", kDollar, {}, true));
  EXPECT_FALSE(budget_->Holds("name"));
  EXPECT_EQ(budget_->Sums("k")->day, kDollar);
}

TEST_F(BudgetTest, MoreThanWasSetAsideIsBookedToo) {
  Start();
  const auto id = Reserve(kDollar);
  ASSERT_TRUE(budget_->Settle(*id, 12 * kDollar, {}, true));
  EXPECT_EQ(budget_->Sums("k")->day, 12 * kDollar);
  EXPECT_FALSE(Fits(1));
  EXPECT_TRUE(Fits(0));
  EXPECT_FALSE(budget_->Settle(*id, 1, {}, true)) << "twice";
}

TEST_F(BudgetTest, CountsByModel) {
  Start();
  Spend(kDollar);
  Spend(2 * kDollar);
  const auto failed = Reserve(kDollar);
  ASSERT_TRUE(budget_->Settle(*failed, 0, {}, false));
  ASSERT_TRUE(budget_->AddGain("p", "m", 0.25));
  ASSERT_TRUE(budget_->AddGain("p", "other", 0.5));
  const auto totals = budget_->Totals();
  ASSERT_TRUE(totals);
  ASSERT_EQ(totals->size(), 2u);
  const ModelTotals& mine = (*totals)[0].model == "m" ? (*totals)[0] : (*totals)[1];
  EXPECT_EQ(mine.provider, "p");
  EXPECT_EQ(mine.requests, 3);
  EXPECT_EQ(mine.answers, 2);
  EXPECT_EQ(mine.input, 20);
  EXPECT_EQ(mine.output, 10);
  EXPECT_EQ(mine.spent, 3 * kDollar);
  EXPECT_EQ(mine.gain, 0.25);
}

TEST(BudgetOnDisk, LimitsHoldAcrossProcesses) {
  const test::TemporaryFolder folder;
  const test::ManualClock clock;
  const SpendingLimits limits{kDollar, kDollar, kDollar};
  {
    auto store = cache::RocksStore::Open(folder / "store");
    ASSERT_TRUE(store) << store.error().message;
    Budget budget(**store, clock, limits);
    ASSERT_TRUE(budget.Adopt());
    ASSERT_TRUE(budget.Reserve({"k", "p", "m"}, kDollar));
  }
  auto store = cache::RocksStore::Open(folder / "store");
  ASSERT_TRUE(store);
  Budget budget(**store, clock, limits);
  ASSERT_TRUE(budget.Adopt());
  EXPECT_EQ(budget.Reserve({"k", "p", "m"}, 1).error().why, Failure::kOverLimit);
}

TEST(Consent, IsForOneProviderAndOneProject) {
  cache::MemoryStore store;
  const test::ManualClock clock;
  Consent consent(store, clock);
  EXPECT_FALSE(*consent.Allowed("p1", "openai https://api.openai.com"));
  ASSERT_TRUE(consent.Allow("p1", "openai https://api.openai.com"));
  ASSERT_TRUE(consent.Allow("p1", "openai https://api.openai.com"));
  EXPECT_TRUE(*consent.Allowed("p1", "openai https://api.openai.com"));
  EXPECT_FALSE(*consent.Allowed("p1", "openai https://elsewhere.com"));
  EXPECT_FALSE(*consent.Allowed("p2", "openai https://api.openai.com"));
  EXPECT_FALSE(*consent.Allowed("", "openai https://api.openai.com"));
  EXPECT_TRUE(*Consent(store, clock).Allowed("p1", "openai https://api.openai.com"));
  ASSERT_EQ(consent.List()->size(), 1u);
  EXPECT_EQ((*consent.List())[0].provider, "openai https://api.openai.com");
  ASSERT_TRUE(consent.Forbid("p1", "openai https://api.openai.com"));
  EXPECT_FALSE(*consent.Allowed("p1", "openai https://api.openai.com"));
}

}  // namespace
}  // namespace cupilot::agents
