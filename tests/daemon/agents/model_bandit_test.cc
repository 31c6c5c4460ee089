#include "agents/model_bandit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace cupilot::agents {
namespace {

TEST(ModelBandit, MoreGainForThePriceIsAskedMore) {
  // Equal prices: gain decides. Equal gain: the price does.
  EXPECT_EQ(ChooseModel({{100, 1, 0.1}, {100, 5, 0.1}}, {}, 0.99), 1u);
  EXPECT_EQ(ChooseModel({{100, 5, 0.01}, {100, 5, 1}}, {}, 0.99), 0u);
  // Three times the gain is worth twice the price.
  EXPECT_EQ(ChooseModel({{1000, 20, 0.1}, {1000, 60, 0.2}}, {}, 0.99), 1u);
}

TEST(ModelBandit, WhatIsFreeAndUselessLoses) {
  EXPECT_EQ(ChooseModel({{500, 0, 0}, {500, 50, 0.05}}, {}, 0.99), 1u);
}

TEST(ModelBandit, WhatWasNotTriedIsTried) {
  EXPECT_EQ(ChooseModel({{200, 1, 0.1}, {0, 0, 0.1}}, {}, 0.99), 1u);
}

TEST(ModelBandit, ExploresEvenly) {
  const std::vector<ModelArm> arms(4, {10, 1, 0.1});
  for (std::size_t i = 0; i < arms.size(); ++i) {
    EXPECT_EQ(ChooseModel(arms, {.explore = 0.4}, 0.1 * static_cast<double>(i) + 0.05), i);
  }
  EXPECT_EQ(ChooseModel({{0, 0, 0}}, {}, 0.0), 0u);
}

struct MadeUpModel {
  double chance, gain, price;
};

// What is gained for the money, relative to asking only the best one, on the mean of many
// afternoons.
double GainedForTheMoney(const std::vector<MadeUpModel>& models, int requests) {
  const double other = BanditSettings().other_price;
  double best = 0;
  for (const MadeUpModel& model : models) {
    best = std::max(best, model.chance * model.gain / (model.price + other));
  }
  constexpr int kAfternoons = 100;
  double sum = 0;
  for (int afternoon = 0; afternoon < kAfternoons; ++afternoon) {
    std::mt19937_64 generator(static_cast<std::uint64_t>(afternoon));
    std::uniform_real_distribution<double> even(0, 1);
    std::vector<ModelArm> arms(models.size());
    for (std::size_t i = 0; i < arms.size(); ++i) arms[i].price = models[i].price;
    double gained = 0, paid = 0;
    for (int request = 0; request < requests; ++request) {
      const std::size_t chosen = ChooseModel(arms, {}, even(generator));
      const double gain = even(generator) < models[chosen].chance ? models[chosen].gain : 0;
      arms[chosen].requests += 1;
      arms[chosen].gain += gain;
      gained += gain;
      paid += models[chosen].price + other;
    }
    sum += gained / paid / best;
  }
  return sum / kAfternoons;
}

// Drawn evenly they would reach 0.25, 0.74 and 0.22 of the best.
TEST(ModelBandit, FindsWhatIsWorthItsPrice) {
  // A useless cheap one; a dear one that is the best; a cheap one that is the best.
  EXPECT_GT(GainedForTheMoney({{.02, .1, .001}, {.2, .3, .05}, {.25, .3, .5}, {.05, .1, .02}}, 400),
            0.65);
  EXPECT_GT(GainedForTheMoney({{.02, .1, .001}, {.05, .1, .05}, {.5, .5, .3}, {.02, .1, .02}}, 400),
            0.85);
  EXPECT_GT(GainedForTheMoney({{.3, .3, .001}, {.4, .3, .05}, {.5, .3, .3}, {.3, .2, .02}}, 400),
            0.6);
}

}  // namespace
}  // namespace cupilot::agents
