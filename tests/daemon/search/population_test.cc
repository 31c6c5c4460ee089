#include "search/evolution/population.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace cupilot::search::evolution {
namespace {

Individual Member(int id, const std::string& technique, double log_gain) {
  Individual member;
  member.id = id;
  member.variant.id = "v" + std::to_string(id);
  records::StrategyStep step;
  step.technique = technique;
  member.strategy.steps.push_back(step);
  member.log_gain = log_gain;
  return member;
}

std::vector<int> IdsOf(const Population& population) {
  std::vector<int> ids;
  for (const Individual& member : population.members()) ids.push_back(member.id);
  return ids;
}

using testing::ElementsAre;

TEST(Population, ANicheHoldsItsBestOnly) {
  Population population(Settings{}, {});
  for (int id = 1; id <= 6; ++id) population.Add(Member(id, "tiling", 0.1 * id));
  population.Add(Member(7, "padding", 0.05));
  EXPECT_THAT(IdsOf(population), ElementsAre(6, 5, 7));
  EXPECT_EQ(population.best().id, 6);
}

TEST(Population, WithoutNichesAllStay) {
  Settings settings;
  settings.niches = false;
  Population population(settings, {});
  for (int id = 1; id <= 6; ++id) population.Add(Member(id, "tiling", 0.1 * id));
  EXPECT_EQ(population.members().size(), 6U);
}

TEST(Population, TheOriginalIsTheParentUntilSomethingWon) {
  Population population(Settings{}, {});
  std::mt19937_64 random(1);
  ASSERT_EQ(population.Parents(random).size(), 1U);
  EXPECT_EQ(population.Parents(random)[0].id, 0);
  population.Add(Member(1, "tiling", 0.1));
  EXPECT_EQ(population.Parents(random)[0].id, 1);
}

TEST(Population, CrossesTwoOfDifferentNichesTheBetterFirst) {
  Settings settings;
  settings.crossover_share = 1;
  Population population(settings, {});
  population.Add(Member(1, "tiling", 0.1));
  population.Add(Member(2, "tiling", 0.2));
  population.Add(Member(3, "padding", 0.15));
  std::mt19937_64 random(1);
  for (int i = 0; i < 50; ++i) {
    const std::vector<Individual> parents = population.Parents(random);
    ASSERT_EQ(parents.size(), 2U);
    EXPECT_NE(parents[0].strategy, parents[1].strategy);
    EXPECT_GE(parents[0].log_gain, parents[1].log_gain);
  }
}

TEST(Population, WithoutCrossoverThereIsOneParent) {
  Settings settings;
  settings.crossover_share = 1;
  settings.crossover = false;
  Population population(settings, {});
  population.Add(Member(1, "tiling", 0.1));
  population.Add(Member(2, "padding", 0.2));
  std::mt19937_64 random(1);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(population.Parents(random).size(), 1U);
}

// How often another niche than that of the many is drawn.
int DrawnOfTheFew(const Settings& settings) {
  Population population(settings, {});
  for (int id = 1; id <= 9; ++id) population.Add(Member(id, "tiling", 0.3));
  population.Add(Member(10, "padding", 0.3));
  std::mt19937_64 random(1);
  int few = 0;
  for (int i = 0; i < 400; ++i) few += population.Parent(random).id == 10 ? 1 : 0;
  return few;
}

TEST(Population, ManyMembersAreNoAdvantageOfANiche) {
  Settings settings;
  settings.tournament = 1;
  settings.niche_cap = 100;
  EXPECT_NEAR(DrawnOfTheFew(settings), 200, 40);
  settings.niches = false;
  EXPECT_NEAR(DrawnOfTheFew(settings), 40, 20);
}

TEST(Population, TournamentsPreferTheBetter) {
  Settings settings;
  settings.tournament = 3;
  Population population(settings, {});
  for (int id = 1; id <= 8; ++id) population.Add(Member(id, "t" + std::to_string(id), 0.1 * id));
  std::mt19937_64 random(1);
  double sum = 0;
  for (int i = 0; i < 300; ++i) sum += population.Parent(random).id;
  EXPECT_GT(sum / 300, 6.0) << "by chance alone 4.5";
}

TEST(Population, ElitesSurviveAndTheOthersByTournament) {
  Settings settings;
  settings.population = 5;
  settings.elites = 2;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Population population(settings, {});
    for (int id = 1; id <= 9; ++id) population.Add(Member(id, "t" + std::to_string(id), 0.1 * id));
    std::mt19937_64 random(seed);
    population.Survive(random);
    const std::vector<int> ids = IdsOf(population);
    ASSERT_EQ(ids.size(), 5U);
    EXPECT_EQ(ids[0], 9);
    EXPECT_EQ(ids[1], 8);
    EXPECT_EQ(std::set<int>(ids.begin(), ids.end()).size(), 5U);
  }
}

TEST(Population, TheBestOfAnEpochAreTheParentsOfTheNext) {
  Settings settings;
  settings.epoch_parents = 3;
  Population population(settings, {});
  population.Add(Member(1, "a", 0.9));
  population.Add(Member(2, "a", 0.8));
  population.Add(Member(3, "b", 0.7));
  population.Add(Member(4, "c", 0.6));
  population.Add(Member(5, "d", 0.5));
  population.BeginEpoch();
  EXPECT_THAT(IdsOf(population), ElementsAre(1, 3, 4));
}

}  // namespace
}  // namespace cupilot::search::evolution
