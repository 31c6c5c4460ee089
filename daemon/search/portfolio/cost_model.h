// A model of the times of this kernel, refitted to its own measurements as they come: a quadratic
// function of the scaled values (ridge regression) and boosted trees on what that leaves, which see
// the facts of each point, too, with what the compiler is expected to say of it. It ranks many
// points without building them and proposes the best one. Pure.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>
#include <vector>

#include "search/portfolio/evolution.h"
#include "search/portfolio/member.h"
#include "search/portfolio/refitted_trees.h"
#include "search/portfolio/scales.h"

namespace cupilot::search {

class CostModel : public PortfolioMember {
 public:
  CostModel(const Commons& commons, const Scales& scales, const Features& features);

  std::optional<Point> Propose() override;
  void Learn(const History::Result& result) override;

  // The logarithm of the time that it expects; only where IsFitted().
  double Predict(const Point& point) const;
  bool IsFitted() const { return trees_.IsFitted(); }

 private:
  void FeaturesOf(const Point& point, std::vector<float>& features) const;
  void TermsOf(const Point& point, const std::vector<float>& features,
               std::vector<double>& terms) const;
  void Begin();
  void Work();

  const Commons& commons_;
  const Scales& scales_;
  const Features& features_;
  Evolution evolution_;
  std::vector<std::size_t> squares_;  // parameters
  std::vector<std::pair<std::size_t, std::size_t>> products_;
  std::size_t terms_ = 0;
  std::vector<float> standard_;      // features of the standard point
  std::vector<float> known_;         // features of all that ran, one behind the other
  std::vector<std::size_t> row_of_;  // which of them is a result's, by its place in the history
  Eigen::MatrixXd gram_;
  Eigen::VectorXd moments_;
  // What is asked, and what is being fitted.
  Eigen::VectorXd weights_, next_weights_;
  RefittedTrees trees_;
  std::size_t seen_ = 0;  // results with a time, when the fit was begun
  double ceiling_ = 1e300;
};

}  // namespace cupilot::search
