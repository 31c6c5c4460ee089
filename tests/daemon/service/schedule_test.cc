#include "service/schedule.h"

#include <gtest/gtest.h>

#include <vector>

namespace cupilot::service {
namespace {

std::vector<std::size_t> Turns(std::vector<Claim> claims, int count) {
  std::vector<std::size_t> turns;
  for (int i = 0; i < count; ++i) {
    turns.push_back(*NextTurn(claims));
    claims[turns.back()].spent_seconds += 10;
  }
  return turns;
}

TEST(NextTurn, NobodyAsks) { EXPECT_FALSE(NextTurn({})); }

TEST(NextTurn, EqualOnesTakeTurns) {
  EXPECT_EQ(Turns({{0, 1, {}}, {0, 1, {}}, {0, 1, {}}}, 4), (std::vector<std::size_t>{0, 1, 2, 0}));
}

TEST(NextTurn, TheFirstTurnsGoByWhatCanBeWon) {
  EXPECT_EQ(Turns({{0, 1, 300.0}, {0, 1, 100.0}, {0, 1, 1e5}, {0, 1, 2000.0}}, 2),
            (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(Turns({{0, 1, 300.0}, {0, 1, 100.0}, {30, 1, 1e5}, {300, 1, 2000.0}}, 1),
            (std::vector<std::size_t>{2}));
  // Each has its share of the time in the end.
  int last = 0;
  for (const std::size_t turn : Turns({{0, 1, 300.0}, {0, 1, 100.0}}, 100)) {
    last += turn == 1 ? 1 : 0;
  }
  EXPECT_EQ(last, 25);
}

TEST(NextTurn, WhatWasNotCapturedCountsAsLittleAsTheLeast) {
  EXPECT_EQ(Turns({{0, 1e9, {}}, {0, 1, 100.0}, {0, 1, 50.0}}, 1), (std::vector<std::size_t>{1}));
  EXPECT_EQ(Turns({{0, 1e9, {}}, {100, 1, 100.0}, {0, 1, 50.0}}, 1), (std::vector<std::size_t>{0}));
}

TEST(NextTurn, WhereNothingIsLeftToWinOthersComeFirst) {
  EXPECT_EQ(*NextTurn(std::vector<Claim>{{0, 1, 0.0}, {1e6, 1, 1.0}}), 1u);
  EXPECT_EQ(*NextTurn(std::vector<Claim>{{0, 1, 0.0}}), 0u);
}

TEST(NextTurn, AllAreLookedAtBeforeAnyIsLookedAtAgain) {
  EXPECT_EQ(
      Turns({{0, 1, 1e5, Pass::kLater}, {50, 1, 1.0, Pass::kFirst}, {0, 1, 2.0, Pass::kLast}}, 2),
      (std::vector<std::size_t>{1, 1}));
  EXPECT_EQ(Turns({{0, 1, 1e5, Pass::kLater}, {50, 1, 1.0, Pass::kSecond}}, 2),
            (std::vector<std::size_t>{1, 1}));
  EXPECT_EQ(Turns({{1e6, 1, 1.0, Pass::kLater}, {0, 1, 1e5, Pass::kLast}}, 1),
            (std::vector<std::size_t>{0}));
  EXPECT_EQ(Turns({{0, 1, 1.0, Pass::kLast}, {0, 1, 2.0, Pass::kLast}}, 1),
            (std::vector<std::size_t>{1}));
}

TEST(NextTurn, WeightsCountWhereNothingWasCaptured) {
  EXPECT_EQ(Turns({{0, 1, {}}, {0, 3, {}}}, 5), (std::vector<std::size_t>{1, 0, 1, 1, 1}));
}

}  // namespace
}  // namespace cupilot::service
