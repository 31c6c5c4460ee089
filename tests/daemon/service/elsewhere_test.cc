#include "service/elsewhere.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cupilot::service {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

records::Strategy Of(const std::string& technique, records::Json parameters = nullptr) {
  records::Strategy strategy;
  strategy.title = technique;
  strategy.steps.resize(1);
  strategy.steps[0].technique = technique;
  strategy.steps[0].parameters = std::move(parameters);
  return strategy;
}

TEST(SplitWinners, ValuesAreForTheSearchOverNumbers) {
  const Elsewhere split =
      SplitWinners({Of("tiling"), Of(search::kTunablesStep, {{"X", 3}}), Of("other:idea"),
                    records::Strategy(), Of(search::kTunablesStep, {{"X", 4}, {"Y", "text"}})});
  ASSERT_THAT(split.seeds, SizeIs(1));
  EXPECT_EQ(split.seeds[0].title, "tiling");
  EXPECT_THAT(split.champions, ElementsAre(search::Values{{"X", 3}}, search::Values{{"X", 4}}));
}

TEST(SplitWinners, SeedsAreFewAndTheFirst) {
  std::vector<records::Strategy> winners;
  for (int i = 0; i < 20; ++i) winners.push_back(Of("technique" + std::to_string(i)));
  const Elsewhere split = SplitWinners(winners);
  ASSERT_THAT(split.seeds, SizeIs(8));
  EXPECT_EQ(split.seeds[7].title, "technique7");
}

TEST(Champions, ComeBackFromTheirRecord) {
  const std::vector<search::Values> champions = {{{"X", 3}, {"Y", -1}}, {{"X", 4}}};
  EXPECT_EQ(ParseChampions(ChampionsJson(champions)), champions);
  EXPECT_THAT(ParseChampions({records::Json("no"), records::Json::object()}), IsEmpty());
}

}  // namespace
}  // namespace cupilot::service
