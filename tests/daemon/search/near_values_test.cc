#include "search/near_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cupilot::search {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<records::Tunable> kTunables = {{"BLOCK", {32, 64, 128, 256}, 32},
                                                 {"TILE", {1, 2, 4}, 1}};

TEST(NearValues, TheNearestKernelIsFirst) {
  EXPECT_THAT(
      ValuesLike({{0.1, {{"BLOCK", 256}, {"TILE", 4}}},
                  {0.02, {{"BLOCK", 128}, {"UNROLL", 8}}},
                  {0.01, {{"UNROLL", 8}}},
                  {0.15, {{"TILE", 4}, {"BLOCK", 256}}}},
                 kTunables),
      ElementsAre(Values{{"BLOCK", 128}, {"TILE", 1}}, Values{{"BLOCK", 256}, {"TILE", 4}}));
  EXPECT_THAT(ValuesLike({{0.01, {{"UNROLL", 8}}}}, kTunables), IsEmpty());
  EXPECT_THAT(ValuesLike({}, kTunables), IsEmpty());
}

// Between 128 and 512, which are equally near, is 256; what is farther hardly counts.
TEST(NearValues, OfManyItLearns) {
  const std::vector<NearChampion> near = {{0.01, {{"BLOCK", 128}}},
                                          {0.01, {{"BLOCK", 512}, {"TILE", 0}}},
                                          {0.01, {{"TILE", 6}}},
                                          {0.8, {{"BLOCK", 1}}}};
  const auto proposals = ValuesLike(near, kTunables);
  ASSERT_EQ(proposals.size(), 5u);
  EXPECT_EQ(proposals[0], (Values{{"BLOCK", 256}, {"TILE", 3}}));
  EXPECT_EQ(proposals[1], (Values{{"BLOCK", 128}, {"TILE", 1}}));
  const std::vector<NearChampion> few(near.begin(), near.begin() + 3);
  EXPECT_EQ(ValuesLike(few, kTunables).front(), (Values{{"BLOCK", 128}, {"TILE", 1}}));
}

}  // namespace
}  // namespace cupilot::search
