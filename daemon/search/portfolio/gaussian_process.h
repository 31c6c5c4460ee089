// A Gaussian process over the points of a space. Its kernel is composed over the space's structure:
// over each parameter's scaled distance, with a length of its own, a Matern kernel (5/2), or where
// values have no order an exponential one (of orders: over Kendall's distance, as Mallows); the
// parameters of a group that constraints tie together as a product whose factors may be one, so
// that effects of few parameters are seen as such; and of the groups half the mean, half the
// product. Where launches are known a share of it all, half at first, is a Matern kernel over the
// distance of their facts: what a time depends on by threads, occupancy and waves is seen as such,
// whichever parameters make them. (Sums of kernels: D. Duvenaud, Automatic Model Construction with
// Gaussian Processes, 2014.) Pure.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>
#include <vector>

#include "search/portfolio/scaled_facts.h"
#include "search/portfolio/scales.h"
#include "search/space.h"

namespace cupilot::search {

class MixedKernel {
 public:
  // `facts`: null, or none that differ: of parameters alone. All of them outlive it.
  MixedKernel(const Space& space, const Scales& scales, const ScaledFacts* facts = nullptr);

  // Lengths in shares of a parameter's range, or of each fact's; `noise` as a share of the
  // variance.
  double length(std::size_t parameter) const { return lengths_[parameter]; }
  void SetLength(std::size_t parameter, double length);
  bool HasFacts() const { return facts_ != nullptr; }
  double facts_length() const { return facts_length_; }
  void SetFactsLength(double length) { facts_length_ = length; }
  // Of the kernel over facts, where there are any: from 0 to 1.
  double facts_share() const { return facts_share_; }
  void SetFactsShare(double share) { facts_share_ = share; }
  double noise() const { return noise_; }
  void SetNoise(double noise) { noise_ = noise; }

  // A point as the kernel sees it.
  struct Site {
    Point point;
    ScaledFacts::Values facts;  // empty: without any
  };
  Site SiteOf(const Point& point) const;

  // Without noise; 1 for a point and itself.
  double Of(const Site& a, const Site& b) const;
  // Of parameters alone.
  double Of(const Point& a, const Point& b) const;

 private:
  // A parameter with more than one value, in the order of the groups.
  struct Entry {
    std::size_t parameter = 0;
    std::size_t values = 0;
    std::size_t table = 0;  // where its factors are, for each pair of places
    bool in_table = false;  // else of so many values that they are computed
    bool ends_group = false;
  };
  double FactorOf(std::size_t parameter, std::uint16_t a, std::uint16_t b) const;

  const Space* space_;
  const Scales* scales_;
  const ScaledFacts* facts_;  // null: none
  std::vector<Entry> entries_;
  std::size_t groups_ = 0;
  std::vector<double> factors_;
  std::vector<double> lengths_;
  double facts_length_ = 0.5;
  double facts_share_ = 0.5;
  double noise_ = 1e-3;
};

class GaussianProcess {
 public:
  struct Prediction {
    double mean = 0;
    double deviation = 0;  // of the function, without noise
  };

  // `kernel` outlives it, and may change: at the next Fit() that counts.
  explicit GaussianProcess(const MixedKernel& kernel) : next_kernel_(&kernel), kernel_(kernel) {}

  // Forgets everything else. There are at most `most` points, with those that are added later.
  // `offset`: what it expects where it knows nothing; absent: the values' mean.
  void Fit(const std::vector<Point>& points, const std::vector<double>& values, std::size_t most,
           std::optional<double> offset = std::nullopt);
  // One more; as many steps as there are points, squared, and once for each watched point.
  void Add(const Point& point, double value);
  std::size_t size() const { return sites_.size(); }
  bool full() const { return size() >= most_; }
  // How probable the values are, by a constant.
  double LogLikelihood() const;

  Prediction Predict(const Point& point) const;
  // Keeps predictions of these up to date, besides those that it watches since Fit().
  void Watch(const std::vector<Point>& points);
  std::size_t watched() const { return watched_.size(); }
  const Point& Watched(std::size_t i) const { return watched_[i].point; }
  Prediction PredictWatched(std::size_t i) const;

 private:
  Eigen::VectorXd RowOf(const MixedKernel::Site& site) const;
  double Variance() const;

  const MixedKernel* next_kernel_;
  MixedKernel kernel_;  // as it was at Fit(): rows of another one make no factor
  std::size_t most_ = 0;
  double offset_ = 0;  // of values
  std::vector<MixedKernel::Site> sites_;
  Eigen::MatrixXd factor_;    // Cholesky's, lower
  Eigen::VectorXd whitened_;  // the factor's inverse times values
  std::vector<MixedKernel::Site> watched_;
  Eigen::MatrixXd solved_;  // by watched point: the factor's inverse times its kernel values
  Eigen::VectorXd means_, variances_;  // of watched, unscaled
};

}  // namespace cupilot::search
