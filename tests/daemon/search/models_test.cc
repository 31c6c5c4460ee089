// What the portfolio's models learn, on functions that are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "search/portfolio/boosted_trees.h"
#include "search/portfolio/build_costs.h"
#include "search/portfolio/build_reports.h"
#include "search/portfolio/cost_model.h"
#include "search/portfolio/feasibility.h"
#include "search/portfolio/gaussian_process.h"
#include "search/portfolio/history.h"
#include "search/portfolio/refitted_trees.h"
#include "search/portfolio/scaled_facts.h"
#include "search/portfolio/scales.h"
#include "search/random_numbers.h"
#include "tests/daemon/search/measured_spaces.h"

namespace cupilot::search {
namespace {

Space MixedSpace() {
  std::vector<SpaceParameter> parameters = {NumberParameter("block", {32, 64, 128, 256, 512, 1024}),
                                            NumberParameter("tile", {1, 2, 3, 4, 5, 6, 7, 8}),
                                            NumberParameter("pad", {0, 1}),
                                            NumberParameter("order", {0, 1, 2, 3, 4, 5})};
  parameters[0].kind = ParameterKind::kPower;
  parameters[2].kind = ParameterKind::kBoolean;
  parameters[3].kind = ParameterKind::kOrder;
  parameters[3].texts = {"ijk", "ikj", "jik", "jki", "kij", "kji"};
  auto space = Space::Make(std::move(parameters), {"block * tile <= 2048"}, {});
  EXPECT_TRUE(space) << space.error().message;
  return std::move(*space);
}

// A logarithm of a time: valleys, an interaction, and orders that matter by their innermost loop.
double KnownTime(const Point& point) {
  const double block = point[0] / 5.0, tile = point[1] / 7.0;
  return 3 + std::pow(block - 0.6, 2) + 0.5 * std::pow(tile - 0.3, 2) + 0.4 * block * tile +
         0.1 * point[2] + (point[3] == 0 || point[3] == 2 ? 0.4 : 0);
}

// Some points of the space, each once.
std::vector<Point> SomePoints(const Space& space, std::size_t count) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < space.size(); ++i) numbers.push_back(i);
  std::mt19937_64 random(7);
  Shuffle(numbers, random);
  std::vector<Point> points;
  for (std::size_t i = 0; i < count; ++i) points.push_back(space.At(numbers[i]));
  return points;
}

// Of all pairs of points the share that the model puts in the right order.
template <class Model>
double OrderedShare(const std::vector<Point>& points, const Model& model) {
  double right = 0, all = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double truth = KnownTime(points[i]) - KnownTime(points[j]);
      if (std::abs(truth) < 1e-9) continue;
      all += 1;
      right += (model(points[i]) - model(points[j])) * truth > 0 ? 1 : 0;
    }
  }
  return right / all;
}

TEST(Scales, KnowPowersNumbersAndOrders) {
  const Space space = MixedSpace();
  const Scales scales(space);
  EXPECT_NEAR(scales.Distance(0, 0, 1), 0.2, 0.01);
  EXPECT_NEAR(scales.Distance(0, 4, 5), 0.2, 0.01);
  EXPECT_NEAR(scales.Distance(1, 0, 7), 1, 1e-9);
  EXPECT_EQ(scales.Distance(2, 0, 1), 1);
  EXPECT_NEAR(scales.Distance(3, 0, 1), 1.0 / 3, 1e-9);  // one pair of three stands the other way
  EXPECT_EQ(scales.Distance(3, 0, 5), 1);                // all do
  EXPECT_FALSE(scales.IsOrdered(3));
}

// Of i, k and the second k: three pairs. A loop that one order has not differs in both of its
// pairs.
TEST(Scales, KnowBlockedLoops) {
  SpaceParameter loops;
  loops.name = "loops";
  loops.kind = ParameterKind::kOrder;
  loops.texts = {"ik", "ki", "ikk", "kik"};
  loops.values = {0, 1, 2, 3};
  const auto space = Space::Make({loops}, {}, {});
  ASSERT_TRUE(space);
  const Scales scales(*space);
  EXPECT_NEAR(scales.Distance(0, 0, 1), 1.0 / 3, 1e-9);
  EXPECT_NEAR(scales.Distance(0, 0, 2), 2.0 / 3, 1e-9);
  EXPECT_NEAR(scales.Distance(0, 2, 3), 1.0 / 3, 1e-9);  // i stands before both ks, or between
  EXPECT_EQ(scales.Distance(0, 1, 2), 1);
  EXPECT_EQ(Features(*space, scales, nullptr).count(), 3u);
}

TEST(GaussianProcess, PredictsAKnownFunction) {
  const Space space = MixedSpace();
  const Scales scales(space);
  const MixedKernel kernel(space, scales);
  const std::vector<Point> points = SomePoints(space, 120);
  std::vector<Point> known(points.begin(), points.begin() + 60);
  std::vector<double> values;
  for (const Point& point : known) values.push_back(KnownTime(point));
  GaussianProcess process(kernel);
  process.Fit(known, values, 100);
  const auto at_known = process.Predict(known[5]);
  EXPECT_NEAR(at_known.mean, values[5], 0.02);
  double error = 0, spread = 0, deviation = 0;
  for (std::size_t i = 60; i < 120; ++i) {
    const auto prediction = process.Predict(points[i]);
    error += std::pow(prediction.mean - KnownTime(points[i]), 2) / 60;
    spread += std::pow(KnownTime(points[i]) - 3.5, 2) / 60;
    deviation += prediction.deviation / 60;
    EXPECT_GT(prediction.deviation, at_known.deviation);
  }
  EXPECT_LT(error, 0.05 * spread);
  EXPECT_GT(deviation, 0.5 * std::sqrt(error));
  EXPECT_LT(deviation, 5 * std::sqrt(error));
}

// Point by point is the same as all at once, for the watched ones, too.
TEST(GaussianProcess, AddsPointsOneByOne) {
  const Space space = MixedSpace();
  const Scales scales(space);
  MixedKernel kernel(space, scales);
  kernel.SetLength(1, 0.3);
  const std::vector<Point> points = SomePoints(space, 60);
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) values.push_back(0.1 * i + (i % 2 == 0 ? 1 : -1));
  const double mean = 0.1 * 39 / 2;  // of all, not of the first two
  GaussianProcess at_once(kernel), one_by_one(kernel);
  at_once.Fit({points.begin(), points.begin() + 40}, values, 60);
  one_by_one.Fit({points[0], points[1]}, {values[0], values[1]}, 60, mean);
  kernel.SetLength(1, 8);  // counts at the next fit: rows of two kernels make no factor
  one_by_one.Watch({points[50], points[55]});
  for (std::size_t i = 2; i < 40; ++i) one_by_one.Add(points[i], values[i]);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const auto watched = one_by_one.PredictWatched(i);
    const auto asked = at_once.Predict(points[50 + 5 * i]);
    EXPECT_NEAR(watched.mean, asked.mean, 1e-9);
    EXPECT_NEAR(watched.deviation, asked.deviation, 1e-9);
  }
}

// Threads of a block, what is always the same, and the tile.
class KnownFacts : public PointFacts {
 public:
  explicit KnownFacts(const Space& space) : space_(space) {}
  std::size_t count() const override { return 3; }
  void Append(const Point& point, const BuildReport&, std::vector<double>& facts) const override {
    const auto block = static_cast<double>(space_.ValueOf(point, 0));
    const auto tile = static_cast<double>(space_.ValueOf(point, 1));
    facts.insert(facts.end(), {block * tile, 5, tile});
  }

 private:
  const Space& space_;
};

TEST(ScaledFacts, AreLogarithmsOfWhatDiffers) {
  const Space space = MixedSpace();
  const KnownFacts known(space);
  const ScaledFacts facts(space, &known);
  EXPECT_EQ(facts.count(), 2u);
  const auto values_of = [&](std::uint16_t block, std::uint16_t tile) {
    return facts.Of({block, tile, 0, 0});
  };
  EXPECT_NEAR(values_of(0, 0)[0], 0, 1e-6);
  EXPECT_NEAR(values_of(5, 1)[0], 1, 1e-6);  // 1024 * 2
  EXPECT_NEAR(values_of(3, 0)[0], values_of(0, 7)[0], 1e-6);
  EXPECT_NEAR(values_of(0, 7)[1], 1, 1e-6);
  EXPECT_NEAR(values_of(0, 7)[0] - values_of(0, 3)[0], 1.0 / 6, 0.01);  // doubled, of 64 times
  EXPECT_EQ(ScaledFacts(space, nullptr).count(), 0u);
}

// What depends on a product of two parameters is a function of one fact.
TEST(GaussianProcess, SeesWhatDependsOnFacts) {
  const Space space = MixedSpace();
  const Scales scales(space);
  const KnownFacts known(space);
  const ScaledFacts facts(space, &known);
  const auto truth = [&](const Point& point) {
    const double threads = std::log2(static_cast<double>(space.ValueOf(point, 0)) *
                                     static_cast<double>(space.ValueOf(point, 1)));
    return std::sin(threads);
  };
  const std::vector<Point> points = SomePoints(space, 130);
  const std::vector<Point> fitted(points.begin(), points.begin() + 30);
  std::vector<double> values;
  for (const Point& point : fitted) values.push_back(truth(point));
  const auto error_of = [&](const MixedKernel& kernel) {
    GaussianProcess process(kernel);
    process.Fit(fitted, values, 30);
    double error = 0;
    for (std::size_t i = 30; i < points.size(); ++i) {
      error += std::pow(process.Predict(points[i]).mean - truth(points[i]), 2) / 100;
    }
    return error;
  };
  const double with = error_of(MixedKernel(space, scales, &facts));
  const double without = error_of(MixedKernel(space, scales));
  EXPECT_LT(with, 0.5 * without);
}

TEST(GaussianProcess, FindsTheLikelierLength) {
  const Space space = MixedSpace();
  const Scales scales(space);
  const std::vector<Point> points = SomePoints(space, 60);
  std::vector<double> values;
  for (const Point& point : points) values.push_back(std::sin(9.0 * point[1] / 7));
  const auto likelihood = [&](double tile, double block) {
    MixedKernel kernel(space, scales);
    kernel.SetLength(1, tile);
    kernel.SetLength(0, block);
    GaussianProcess process(kernel);
    process.Fit(points, values, 0);
    return process.LogLikelihood();
  };
  // The block does not matter: a long one. The tile does.
  EXPECT_GT(likelihood(0.4, 8), likelihood(0.4, 0.2));
  EXPECT_GT(likelihood(0.4, 8), likelihood(8, 0.4));
}

// Of facts that explain a time much, of ones that do not little.
TEST(GaussianProcess, FindsTheLikelierShareOfFacts) {
  const Space space = MixedSpace();
  const Scales scales(space);
  const KnownFacts known(space);
  const ScaledFacts facts(space, &known);
  const std::vector<Point> points = SomePoints(space, 60);
  const auto likelihood = [&](double share, const auto& truth) {
    std::vector<double> values;
    for (const Point& point : points) values.push_back(truth(point));
    MixedKernel kernel(space, scales, &facts);
    kernel.SetFactsShare(share);
    GaussianProcess process(kernel);
    process.Fit(points, values, 0);
    return process.LogLikelihood();
  };
  const auto of_threads = [&](const Point& point) {
    return std::sin(std::log2(static_cast<double>(space.ValueOf(point, 0)) *
                              static_cast<double>(space.ValueOf(point, 1))));
  };
  const auto of_others = [](const Point& point) { return 1.0 * point[2] - 0.7 * point[3]; };
  EXPECT_GT(likelihood(0.7, of_threads), likelihood(0.15, of_threads));
  EXPECT_LT(likelihood(0.7, of_others), likelihood(0.15, of_others));
}

TEST(BoostedTrees, LearnWhatDependsOnSeveral) {
  std::mt19937_64 random(3);
  const auto truth = [](const std::vector<float>& row) {
    return (row[0] > 0.5f ? 1.0 : 0.0) * (row[1] > 0.3f ? 2.0 : -1.0) + row[2];
  };
  const auto draw = [&] {
    std::vector<float> row;
    for (int i = 0; i < 4; ++i) row.push_back(static_cast<float>(Unit(random)));
    return row;
  };
  std::vector<float> rows;
  std::vector<double> targets;
  for (int i = 0; i < 400; ++i) {
    const std::vector<float> row = draw();
    rows.insert(rows.end(), row.begin(), row.end());
    targets.push_back(truth(row));
  }
  BoostedTrees trees({80, 3, 0.2, 1});
  trees.Begin(rows, 4, targets);
  while (trees.Grow()) {
  }
  double error = 0;
  for (int i = 0; i < 200; ++i) {
    const std::vector<float> row = draw();
    error += std::pow(trees.Predict(row) - truth(row), 2) / 200;
  }
  EXPECT_LT(error, 0.05);
}

// No step sorts all features of many rows; what comes of it is the same.
TEST(RefittedTrees, OfManyRowsAreBegunInParts) {
  constexpr std::size_t kRows = 400, kFeatures = 12;
  std::mt19937_64 random(3);
  std::vector<float> rows;
  std::vector<double> targets;
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t f = 0; f < kFeatures; ++f) rows.push_back(static_cast<float>(Unit(random)));
    targets.push_back(rows[i * kFeatures + 3] + (rows[i * kFeatures + 11] > 0.5f ? 1 : 0));
  }
  const BoostedTrees::Settings settings = {10, 3, 0.2, 1};
  BoostedTrees at_once(settings);
  at_once.Begin(rows, kFeatures, targets);
  while (at_once.Grow()) {
  }
  RefittedTrees in_parts(settings);
  in_parts.Begin(rows, kFeatures, targets);
  int steps = 1;
  while (!in_parts.Work(1)) ++steps;
  EXPECT_EQ(steps, settings.trees + 2);
  for (std::size_t i = 0; i < kRows; i += 7) {
    const std::vector<float> row(rows.begin() + static_cast<std::ptrdiff_t>(i * kFeatures),
                                 rows.begin() + static_cast<std::ptrdiff_t>((i + 1) * kFeatures));
    EXPECT_EQ(in_parts.Predict(row), at_once.Predict(row));
  }
}

class Models : public ::testing::Test {
 protected:
  void Learn(const std::vector<Point>& points) {
    for (const Point& point : points) {
      // A limit that nobody declared.
      const bool fails = point[0] >= 3 && point[1] >= 2;
      const auto* result = history_.Put(
          point, fails ? std::nullopt : std::optional<double>(std::exp(KnownTime(point))),
          Failure::kLimits);
      feasibility_.Learn(history_);
      cost_model_.Learn(*result);
      (void)cost_model_.Propose();
    }
  }

  Space space_ = MixedSpace();
  std::mt19937_64 random_{1};
  History history_;
  Scales scales_{space_};
  Features features_{space_, scales_, nullptr};
  Feasibility feasibility_{features_, true};
  BuildCosts build_costs_{features_};
  BuildReports build_reports_{features_};
  Commons commons_{space_, history_, feasibility_, build_costs_, build_reports_, random_};
  CostModel cost_model_{commons_, scales_, features_};
};

TEST_F(Models, TheCostModelRanksAKnownFunction) {
  const std::vector<Point> points = SomePoints(space_, 160);
  EXPECT_FALSE(cost_model_.IsFitted());
  Learn({points.begin(), points.begin() + 90});
  ASSERT_TRUE(cost_model_.IsFitted());
  std::vector<Point> unknown(points.begin() + 90, points.end());
  std::erase_if(unknown, [](const Point& point) { return point[0] >= 3 && point[1] >= 2; });
  ASSERT_GT(unknown.size(), 20u);
  EXPECT_GT(OrderedShare(unknown, [&](const Point& p) { return cost_model_.Predict(p); }), 0.9);
}

TEST_F(Models, FeasibilityLearnsAHiddenConstraint) {
  const std::vector<Point> points = SomePoints(space_, 200);
  for (const Point& point : points) EXPECT_EQ(feasibility_.Of(point), 1);
  Learn({points.begin(), points.begin() + 100});
  ASSERT_GT(history_.failures(), 10u);
  double right = 0;
  for (std::size_t i = 100; i < 200; ++i) {
    const bool fails = points[i][0] >= 3 && points[i][1] >= 2;
    right += (feasibility_.Of(points[i]) < 0.5) == fails ? 1 : 0;
    EXPECT_GE(feasibility_.Of(points[i]), Feasibility::kLeast);
  }
  EXPECT_GT(right, 95);
}

// What avoids failures sees them seldom, and knows of them all the same.
TEST(Feasibility, DoesNotForgetFailuresForWhatSucceedsSince) {
  std::vector<std::int64_t> values(100);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i);
  const auto space =
      Space::Make({NumberParameter("a", values), NumberParameter("b", values)}, {}, {});
  ASSERT_TRUE(space);
  const Scales scales(*space);
  const Features features(*space, scales, nullptr);
  Feasibility feasibility(features, true);
  History history;
  std::mt19937_64 random(1);
  for (int known = 0; known < 2500;) {
    const Point point = space->Draw(random);
    const bool fails = point[0] > 60;
    if (history.Find(point) != nullptr || (fails && known > 300)) continue;
    history.Put(point, fails ? std::nullopt : std::optional<double>(10), Failure::kLimits);
    feasibility.Learn(history);
    ++known;
  }
  EXPECT_LT(feasibility.Of({80, 50}), 0.3);
  EXPECT_GT(feasibility.Of({40, 50}), 0.9);
}

// What says nothing of the points teaches nothing.
TEST_F(Models, FeasibilityDoesNotLearnFromWhatIsUnknown) {
  for (const Point& point : SomePoints(space_, 60)) {
    history_.Put(point, point[0] > 2 ? std::nullopt : std::optional<double>(1), Failure::kUnknown);
    feasibility_.Learn(history_);
  }
  EXPECT_EQ(history_.failures(), 0u);
  EXPECT_EQ(feasibility_.Of(space_.At(space_.size() - 1)), 1);
}

TEST_F(Models, WhatIsDearToBuildIsWorthLess) {
  const auto is_dear = [](const Point& point) { return point[0] >= 3 && point[1] >= 2; };
  const std::vector<Point> points = SomePoints(space_, 200);
  for (std::size_t i = 0; i < 100; ++i) {
    if (i < 12) {
      EXPECT_EQ(build_costs_.WorthOf(points[i]), 1) << "too few builds";
    }
    build_costs_.Learn(points[i], is_dear(points[i]) ? 20 : 2);
    build_costs_.Learn(points[i], 0);  // not known
  }
  for (std::size_t i = 100; i < 200; ++i) {
    const double worth = build_costs_.WorthOf(points[i]);
    EXPECT_NEAR(worth, is_dear(points[i]) ? 0.1 : 1, 0.2);
    EXPECT_GT(worth, 0);
    EXPECT_LE(worth, 1);
  }
}

// Facts are features: a time that only they explain.
class Remainders : public PointFacts {
 public:
  std::size_t count() const override { return 1; }
  void Append(const Point& point, const BuildReport&, std::vector<double>& facts) const override {
    facts.push_back((point[0] * 7 + point[1] * 5) % 11);
  }
};

TEST(CostModel, UsesFactsOfPoints) {
  const Space space = MixedSpace();
  const Scales scales(space);
  const Remainders facts;
  const auto time_of = [](const Point& point) {
    return std::exp(3 + 0.1 * ((point[0] * 7 + point[1] * 5) % 11));
  };
  const auto error_with = [&](const PointFacts* known) {
    std::mt19937_64 random(1);
    History history;
    const Features features(space, scales, known);
    const Feasibility feasibility(features, true);
    const BuildCosts build_costs(features);
    const BuildReports build_reports(features);
    const Commons commons{space, history, feasibility, build_costs, build_reports, random};
    CostModel model(commons, scales, features);
    const std::vector<Point> points = SomePoints(space, 160);
    for (std::size_t i = 0; i < 90; ++i) {
      model.Learn(*history.Put(points[i], time_of(points[i]), Failure::kUnknown));
      (void)model.Propose();
    }
    double error = 0;
    for (std::size_t i = 90; i < 160; ++i) {
      error += std::pow(model.Predict(points[i]) - std::log(time_of(points[i])), 2);
    }
    return error;
  };
  EXPECT_LT(error_with(&facts), 0.5 * error_with(nullptr));
}

}  // namespace
}  // namespace cupilot::search
