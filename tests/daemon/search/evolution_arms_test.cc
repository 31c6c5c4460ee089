// What each part of the evolution is worth in a world of hidden gains, at equal budgets, over
// seeds: the whole of it finds more than the same without one of its parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "evolution_world.h"

namespace cupilot::search::evolution {
namespace {

constexpr std::uint64_t kSeeds = 100;

Settings Budget() {
  Settings settings;
  settings.requests = 60;
  settings.evaluations = 60;
  settings.votes = 0;
  settings.stagnation_rounds = 1000;  // both arms use all that they have
  return settings;
}

std::vector<double> GainsOf(const Settings& settings, bool trap, std::uint64_t seeds) {
  std::vector<double> gains;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    World world(seed, trap);
    Evolution evolution(world.InputOf(seed), settings);
    gains.push_back(RunToEnd(evolution, world));
  }
  return gains;
}

// Mean of the paired differences in units of its standard error.
double PairedT(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] - b[i];
    squares += (a[i] - b[i]) * (a[i] - b[i]);
  }
  const auto count = static_cast<double>(a.size());
  const double mean = sum / count;
  const double variance = (squares - count * mean * mean) / (count - 1);
  return mean / std::sqrt(variance / count);
}

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// By more than two standard errors, which chance alone exceeds in one of forty lots of worlds.
void ExpectMore(const char* name, const std::vector<double>& whole,
                const std::vector<double>& less) {
  const double t = PairedT(whole, less);
  std::printf("whole: mean log gain %.3f; %s: %.3f; paired t over %zu seeds: %.1f\n", MeanOf(whole),
              name, MeanOf(less), whole.size(), t);
  EXPECT_GT(t, 2.0) << name;
}

const std::vector<double>& Whole() {
  static const std::vector<double> gains = GainsOf(Budget(), false, kSeeds);
  return gains;
}

TEST(EvolutionArms, FindsMoreThanWithoutTheTree) {
  Settings settings = Budget();
  settings.tree = false;
  ExpectMore("without the tree", Whole(), GainsOf(settings, false, kSeeds));
}

TEST(EvolutionArms, FindsMoreThanWithoutCrossover) {
  Settings settings = Budget();
  settings.crossover = false;
  ExpectMore("without crossover", Whole(), GainsOf(settings, false, kSeeds));
}

// Niches pay where the first good idea leads nowhere.
TEST(EvolutionArms, FindsMoreThanWithoutNichesWhereTheFirstIdeaIsATrap) {
  Settings settings = Budget();
  settings.niches = false;
  ExpectMore("without niches", GainsOf(Budget(), true, 2 * kSeeds),
             GainsOf(settings, true, 2 * kSeeds));
}

}  // namespace
}  // namespace cupilot::search::evolution
