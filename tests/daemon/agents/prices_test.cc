#include "agents/prices.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/temporary_folder.h"

namespace cupilot::agents {
namespace {

constexpr std::chrono::seconds kNovember{1795392000};  // 2026-11-23

std::string File(const std::string& prices) {
  return R"({"schema": "cupilot.model_prices/1", "prices": [)" + prices + "]}";
}
std::string Row(const std::string& from, const std::string& input, const std::string& more = "") {
  return R"({"origin": "https://api.x.com", "model": "m", "source": "s", "from": ")" + from +
         R"(", "input": )" + input + R"(, "output": 10)" + more + "}";
}

class PricesTest : public testing::Test {
 protected:
  PriceTable Load(const std::string& text) {
    auto table = PriceTable::Load({folder_.Write("prices.json", text)});
    EXPECT_TRUE(table) << table.error().message;
    return table ? *table : PriceTable();
  }
  test::TemporaryFolder folder_;
};

TEST_F(PricesTest, TheNewestThatHoldsToday) {
  const PriceTable table = Load(
      File(Row("2026-01-01", "1") + "," + Row("2026-12-01", "3") + "," + Row("2026-06-01", "2")));
  EXPECT_EQ(table.Find("openai https://api.x.com", "m", kNovember)->tokens.input, 2000);
  EXPECT_EQ(table.Find("openai https://api.x.com", "m", kNovember + std::chrono::hours(24 * 30))
                ->tokens.input,
            3000);
  EXPECT_FALSE(table.Find("openai https://api.x.com", "m", std::chrono::seconds(0)));
}

TEST_F(PricesTest, AnotherServiceOrModelIsUnknown) {
  const PriceTable table = Load(File(Row("2026-01-01", "1")));
  EXPECT_FALSE(table.Find("openai https://router.com", "m", kNovember));
  EXPECT_FALSE(table.Find("openai https://api.x.com", "m2", kNovember));
  EXPECT_FALSE(table.Find("replay", "m", kNovember));
  EXPECT_TRUE(table.Find("openai https://api.x.com", "m-20261001", kNovember));
  EXPECT_TRUE(table.Find("openai https://api.x.com", "m-2026-10-01", kNovember));
  EXPECT_FALSE(table.Find("openai https://api.x.com", "m-mini", kNovember));
}

TEST_F(PricesTest, TheUsersFileIsBelieved) {
  const std::string shipped = folder_.Write("a.json", File(Row("2026-06-01", "1")));
  const std::string own = folder_.Write("b.json", File(Row("2026-06-01", "0.5")));
  const auto table = PriceTable::Load({shipped, own, folder_ / "none.json"});
  ASSERT_TRUE(table);
  EXPECT_EQ(table->Find("openai https://api.x.com", "m", kNovember)->tokens.input, 500);
}

TEST_F(PricesTest, CountsTheCacheAndLongPrompts) {
  const PriceTable table = Load(File(Row(
      "2026-06-01", "2",
      R"(, "cached_input": 0.2, "written_input": 2.5, "long_from": 1000, "long": {"input": 4, "output": 15})")));
  const Price price = *table.Find("x https://api.x.com", "m", kNovember);
  EXPECT_EQ(CostOf(price, {true, 100, 0, 0, 10}), 100 * 2000 + 10 * 10000);
  EXPECT_EQ(CostOf(price, {true, 100, 30, 20, 10}), 50 * 2000 + 30 * 200 + 20 * 2500 + 10 * 10000);
  EXPECT_EQ(CostOf(price, {true, 2000, 0, 0, 10}), 2000 * 4000 + 10 * 15000);
  EXPECT_EQ(CostOf(price, {true, 10, 999, 999, 0}),
            10 * 200);  // nonsense costs no more than nothing
  EXPECT_EQ(WorstCase(price, 100, 10), 100 * 2500 + 10 * 10000);
  EXPECT_EQ(WorstCase(price, 2000, 10), 2000 * 4000 + 10 * 15000);
}

TEST_F(PricesTest, WhatALongPromptCostsMayBeUnknown) {
  const PriceTable table = Load(File(Row("2026-06-01", "2", R"(, "long_from": 1000)")));
  const Price price = *table.Find("x https://api.x.com", "m", kNovember);
  EXPECT_TRUE(WorstCase(price, 1000, 10));
  EXPECT_FALSE(WorstCase(price, 1001, 10));
  EXPECT_FALSE(CostOf(price, {true, 1001, 0, 0, 0}));
}

TEST_F(PricesTest, WhatPeopleWriteIsChecked) {
  for (const std::string& text :
       {std::string("nonsense"), std::string("{}"), File("{}"), File(Row("today", "1")),
        File(Row("2026-06-01", "-1")), File(Row("2026-06-01", "1e9")),
        File(Row("2026-06-01", "1", R"(, "outptu": 3)"))}) {
    const auto table = PriceTable::Load({folder_.Write("p.json", text)});
    ASSERT_FALSE(table) << text;
    EXPECT_NE(table.error().message.find("p.json"), std::string::npos);
  }
}

TEST(ShippedPrices, AreWellFormedAndHaveTheirSources) {
  const auto table =
      PriceTable::Load({std::string(CUPILOT_TEST_SOURCE_DIR) + "/daemon/agents/model_prices.json"});
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_FALSE(table->prices().empty());
  for (const Price& price : table->prices()) {
    EXPECT_EQ(price.source.rfind("https://", 0), 0u) << price.model;
    EXPECT_EQ(price.origin.rfind("https://", 0), 0u) << price.model;
    EXPECT_GE(price.seen, price.from) << price.model;
    EXPECT_GT(price.tokens.output, price.tokens.input) << price.model;
    EXPECT_LE(price.tokens.cached_input, price.tokens.input) << price.model;
  }
  EXPECT_EQ(table->Find("anthropic https://api.anthropic.com", "claude-opus-5-5", kNovember)
                ->tokens.output,
            20000);
}

}  // namespace
}  // namespace cupilot::agents
