// Bayesian optimisation: the point with the greatest expected improvement by a Gaussian process of
// the logarithms of times, in which what failed is slow, times the probability that it runs. Of
// small spaces all points are compared, of others candidates: some next to the best, some children
// of the best, some drawn. It sees a bounded part of the history, so that a step takes as long
// however much is known. Pure.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "search/portfolio/evolution.h"
#include "search/portfolio/gaussian_process.h"
#include "search/portfolio/member.h"

namespace cupilot::search {

class Bayesian : public PortfolioMember {
 public:
  // `facts`: of launches; null: the values alone.
  Bayesian(const Commons& commons, const Scales& scales, const PointFacts* facts);

  std::optional<Point> Propose() override;
  void Learn(const History::Result& result) override;

 private:
  // What it sees of a time: where it is much slower than most, how much does not matter.
  double Seen(double log_time) const { return log_time < ceiling_ ? log_time : ceiling_; }
  std::vector<std::size_t> Chosen(std::size_t most) const;  // places in the history's results
  std::vector<Point> Failures() const;
  bool IsLong() const;  // the history
  void Refit();
  void WorkOnSuccessor();
  void Renewed();
  void WatchMore();
  void Tune();
  std::vector<Point> Candidates() const;
  // How much of a point those that are under way leave to be found out: 0 to 1.
  double NewBeside(const Point& point) const;

  const Commons& commons_;
  Evolution evolution_;
  ScaledFacts facts_;
  MixedKernel kernel_;
  GaussianProcess process_;
  // Of a long history: what takes its place, and what that does not know yet.
  std::optional<GaussianProcess> successor_;
  std::deque<std::pair<Point, double>> left_;
  std::vector<Point> pending_;  // that it proposed, without a result
  double ceiling_ = 0;
  std::vector<Point> all_;         // of a small space
  std::vector<Point> candidates_;  // of which the process watches the first ones
  std::size_t tuning_ = 0;         // whose turn it is: see Tune()
  bool changed_ = true;            // the kernel, since the last fit
  bool improved_ = false;          // the best, since then
  std::size_t since_ = 0;          // proposals since then
};

}  // namespace cupilot::search
