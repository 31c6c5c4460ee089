// The portfolio: the standard point first; then members that all see all results, of which a bandit
// gives each evaluation to the one whose last ones gained most: champions of elsewhere, Bayesian
// optimisation, a cost model and evolution. What the cost model knows of launches Bayesian
// optimisation sees, too. Where no member has a point, a random one. Any part can be left out, and
// one left alone. Coordinate descent is only there alone: as a member it gains nothing. (100
// searches on each of eight spaces of tests/data/spaces: 0.837 with it, 0.840 without; what is next
// to the best points Bayesian optimisation compares anyway.) Pure.
#pragma once

#include <memory>
#include <optional>
#include <random>
#include <unordered_map>
#include <vector>

#include "search/portfolio/bandit.h"
#include "search/portfolio/build_costs.h"
#include "search/portfolio/build_reports.h"
#include "search/portfolio/feasibility.h"
#include "search/portfolio/history.h"
#include "search/portfolio/member.h"
#include "search/portfolio/scales.h"
#include "search/random_strategy.h"
#include "search/strategy.h"

namespace cupilot::search {

class Transfer;

struct PortfolioParts {
  bool transfer = true;
  bool bayesian = true;
  bool cost_model = true;  // not: nobody sees the facts of launches
  bool evolution = true;
  bool descent = false;
  bool bandit = true;  // not: members take turns
  bool feasibility = true;
  bool build_costs = true;
  bool build_reports = true;

  static constexpr PortfolioParts None() {
    return {false, false, false, false, false, false, true, true, true};
  }
};

class Portfolio : public Strategy {
 public:
  Portfolio(const StrategyInputs& inputs, const PortfolioParts& parts);
  ~Portfolio() override;

  std::optional<Point> Next() override;
  void Report(const Point& point, std::optional<double> microseconds) override;
  void ReportFailure(const Point& point, Failure failure) override;
  void ReportBuild(const Point& point, const BuildReport& built) override;

 private:
  std::optional<Point> Choose();
  std::optional<Point> FromArm(std::size_t arm);
  std::optional<Point> Random();
  std::size_t ArmsTurn(const std::vector<bool>& barred);
  void Put(const Point& point, std::optional<double> microseconds, Failure failure);
  double GainOf(const History::Result& result, std::optional<double> best_before) const;

  const Space& space_;
  std::mt19937_64 random_;
  History history_;
  Scales scales_;
  Features features_;
  Feasibility feasibility_;
  BuildCosts build_costs_;
  BuildReports build_reports_;
  const bool learns_build_costs_;
  bool learns_build_reports_ = false;
  Commons commons_;
  RandomStrategy shuffled_;        // all points
  std::vector<Point> postponed_;   // of them: likely to fail
  std::optional<Point> standard_;  // not yet handed out
  std::vector<std::unique_ptr<PortfolioMember>> members_;
  Transfer* transfer_ = nullptr;
  std::optional<Bandit> bandit_;  // nothing: members take turns
  std::size_t turn_ = 0;
  std::size_t design_ = 0;   // random points before members are asked
  std::size_t opening_ = 0;  // champions and random points so far
  std::unordered_map<Point, std::size_t, PointHash> owners_;  // of points in flight: the arm
  double spread_ = 0;  // of logarithms of times: what is a great gain
};

}  // namespace cupilot::search
