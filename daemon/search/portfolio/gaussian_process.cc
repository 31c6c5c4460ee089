#include "search/portfolio/gaussian_process.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <utility>

namespace cupilot::search {
namespace {

constexpr double kFirstLength = 0.7;
// A parameter's factor is (1 + kWeight * matern) / (1 + kWeight).
constexpr double kWeight = 4;
constexpr double kProductShare = 0.5;      // of the product over groups; the rest: their mean
constexpr std::size_t kMostInTable = 128;  // values of a parameter
constexpr double kLeastVariance = 1e-10;

double Matern(double distance) {
  const double scaled = std::sqrt(5.0) * distance;
  return (1 + scaled + scaled * scaled / 3) * std::exp(-scaled);
}

Eigen::Index Sized(std::size_t size) { return static_cast<Eigen::Index>(size); }

}  // namespace

MixedKernel::MixedKernel(const Space& space, const Scales& scales, const ScaledFacts* facts)
    : space_(&space),
      scales_(&scales),
      facts_(facts != nullptr && facts->count() > 0 ? facts : nullptr),
      lengths_(space.parameters().size(), kFirstLength) {
  for (std::vector<std::size_t> group : space.groups()) {
    std::erase_if(group, [&](std::size_t p) { return space.parameters()[p].values.size() < 2; });
    if (group.empty()) continue;
    for (const std::size_t p : group) {
      Entry entry;
      entry.parameter = p;
      entry.values = space.parameters()[p].values.size();
      entry.in_table = entry.values <= kMostInTable;
      entry.ends_group = p == group.back();
      entry.table = factors_.size();
      if (entry.in_table) factors_.resize(factors_.size() + entry.values * entry.values);
      entries_.push_back(entry);
    }
    ++groups_;
  }
  for (std::size_t p = 0; p < lengths_.size(); ++p) SetLength(p, kFirstLength);
}

double MixedKernel::FactorOf(std::size_t parameter, std::uint16_t a, std::uint16_t b) const {
  const double far = scales_->Distance(parameter, a, b) / lengths_[parameter];
  // What has no order needs the plain exponential: Mallows' kernel of orders.
  const double near = scales_->IsOrdered(parameter) ? Matern(far) : std::exp(-far);
  return (1 + kWeight * near) / (1 + kWeight);
}

void MixedKernel::SetLength(std::size_t parameter, double length) {
  lengths_[parameter] = length;
  for (const Entry& entry : entries_) {
    if (entry.parameter != parameter || !entry.in_table) continue;
    for (std::size_t a = 0; a < entry.values; ++a) {
      for (std::size_t b = 0; b < entry.values; ++b) {
        factors_[entry.table + a * entry.values + b] =
            FactorOf(parameter, static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b));
      }
    }
  }
}

double MixedKernel::Of(const Point& a, const Point& b) const {
  double product = 1, sum = 0, factor = 1;
  for (const Entry& entry : entries_) {
    const std::uint16_t first = a[entry.parameter], second = b[entry.parameter];
    factor *= entry.in_table ? factors_[entry.table + first * entry.values + second]
                             : FactorOf(entry.parameter, first, second);
    if (!entry.ends_group) continue;
    product *= factor;
    sum += factor;
    factor = 1;
  }
  if (groups_ < 2) return product;
  return kProductShare * product + (1 - kProductShare) * sum / static_cast<double>(groups_);
}

MixedKernel::Site MixedKernel::SiteOf(const Point& point) const {
  return {point, facts_ == nullptr ? ScaledFacts::Values() : facts_->Of(point)};
}

double MixedKernel::Of(const Site& a, const Site& b) const {
  const double of_points = Of(a.point, b.point);
  if (facts_ == nullptr) return of_points;
  float square = 0;
  for (std::size_t i = 0; i < a.facts.size(); ++i) {
    const float off = a.facts[i] - b.facts[i];
    square += off * off;
  }
  const double far = std::sqrt(static_cast<double>(square)) / facts_length_;
  return (1 - facts_share_) * of_points + facts_share_ * Matern(far);
}

void GaussianProcess::Fit(const std::vector<Point>& points, const std::vector<double>& values,
                          std::size_t most, std::optional<double> offset) {
  kernel_ = *next_kernel_;
  sites_.clear();
  for (const Point& point : points) sites_.push_back(kernel_.SiteOf(point));
  most_ = std::max(most, points.size());
  const Eigen::Index count = Sized(points.size());
  Eigen::MatrixXd kernel(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      kernel(i, j) =
          kernel_.Of(sites_[static_cast<std::size_t>(i)], sites_[static_cast<std::size_t>(j)]);
    }
    kernel(i, i) = 1 + kernel_.noise();
  }
  factor_.setZero(Sized(most_), Sized(most_));
  Eigen::LLT<Eigen::MatrixXd> factored(kernel);
  for (double more = kernel_.noise(); factored.info() != Eigen::Success && more < 1; more *= 10) {
    kernel.diagonal().array() += more;  // rounding
    factored.compute(kernel);
  }
  factor_.topLeftCorner(count, count) = factored.matrixL();
  offset_ = offset.value_or(0);
  if (!offset) {
    for (const double value : values) offset_ += value / static_cast<double>(values.size());
  }
  whitened_.setZero(Sized(most_));
  for (Eigen::Index i = 0; i < count; ++i) {
    whitened_(i) = values[static_cast<std::size_t>(i)] - offset_;
  }
  auto head = whitened_.head(count);
  factor_.topLeftCorner(count, count).triangularView<Eigen::Lower>().solveInPlace(head);
  watched_.clear();
  solved_.resize(0, Sized(most_));
  means_.resize(0);
  variances_.resize(0);
}

Eigen::VectorXd GaussianProcess::RowOf(const MixedKernel::Site& site) const {
  const Eigen::Index count = Sized(sites_.size());
  Eigen::VectorXd row(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    row(i) = kernel_.Of(sites_[static_cast<std::size_t>(i)], site);
  }
  factor_.topLeftCorner(count, count).triangularView<Eigen::Lower>().solveInPlace(row);
  return row;
}

void GaussianProcess::Add(const Point& point, double value) {
  const Eigen::Index count = Sized(sites_.size());
  MixedKernel::Site site = kernel_.SiteOf(point);
  const Eigen::VectorXd row = RowOf(site);
  const double rest = 1 + kernel_.noise() - row.squaredNorm();
  const double diagonal = std::sqrt(std::max(rest, kLeastVariance));
  factor_.row(count).head(count) = row.transpose();
  factor_(count, count) = diagonal;
  whitened_(count) = (value - offset_ - row.dot(whitened_.head(count))) / diagonal;
  sites_.push_back(std::move(site));
  if (watched_.empty()) return;
  Eigen::VectorXd added = -(solved_.leftCols(count) * row);
  for (Eigen::Index i = 0; i < added.size(); ++i) {
    added(i) += kernel_.Of(sites_.back(), watched_[static_cast<std::size_t>(i)]);
  }
  added /= diagonal;
  solved_.col(count) = added;
  means_ += added * whitened_(count);
  variances_ -= added.cwiseAbs2();
}

double GaussianProcess::Variance() const {
  const Eigen::Index count = Sized(sites_.size());
  return std::max(whitened_.head(count).squaredNorm() / static_cast<double>(count), kLeastVariance);
}

double GaussianProcess::LogLikelihood() const {
  const Eigen::Index count = Sized(sites_.size());
  const double logs = factor_.diagonal().head(count).array().log().sum();
  return -0.5 * static_cast<double>(count) * std::log(Variance()) - logs;
}

GaussianProcess::Prediction GaussianProcess::Predict(const Point& point) const {
  const Eigen::VectorXd row = RowOf(kernel_.SiteOf(point));
  const double rest = std::max(1 - row.squaredNorm(), kLeastVariance);
  return {offset_ + row.dot(whitened_.head(row.size())), std::sqrt(rest * Variance())};
}

void GaussianProcess::Watch(const std::vector<Point>& points) {
  const Eigen::Index count = Sized(sites_.size()), before = Sized(watched_.size()),
                     more = Sized(points.size());
  if (more == 0) return;
  watched_.reserve(watched_.size() + points.size());
  for (const Point& point : points) watched_.push_back(kernel_.SiteOf(point));
  Eigen::MatrixXd rows(count, more);
  for (Eigen::Index i = 0; i < more; ++i) {
    for (Eigen::Index j = 0; j < count; ++j) {
      rows(j, i) = kernel_.Of(sites_[static_cast<std::size_t>(j)],
                              watched_[static_cast<std::size_t>(before + i)]);
    }
  }
  factor_.topLeftCorner(count, count).triangularView<Eigen::Lower>().solveInPlace(rows);
  solved_.conservativeResize(before + more, Sized(most_));
  solved_.bottomRows(more).leftCols(count) = rows.transpose();
  means_.conservativeResize(before + more);
  means_.tail(more) = rows.transpose() * whitened_.head(count);
  variances_.conservativeResize(before + more);
  variances_.tail(more) = Eigen::VectorXd::Ones(more) - rows.colwise().squaredNorm().transpose();
}

GaussianProcess::Prediction GaussianProcess::PredictWatched(std::size_t i) const {
  const double rest = std::max(variances_(Sized(i)), kLeastVariance);
  return {offset_ + means_(Sized(i)), std::sqrt(rest * Variance())};
}

}  // namespace cupilot::search
