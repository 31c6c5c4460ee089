#include "search/portfolio/cost_model.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <utility>

#include "search/portfolio/build_reports.h"
#include "search/portfolio/feasibility.h"
#include "search/random_numbers.h"

namespace cupilot::search {
namespace {

constexpr std::size_t kLeastToFit = 10;  // results with a time
constexpr std::size_t kMostRowsOfTimes = 1000;
constexpr std::size_t kMostTerms = 120;
constexpr std::size_t kRanked = 400;               // points that a step ranks
constexpr std::size_t kLongHistoryOfTimes = 2000;  // from there on a quarter of them
constexpr double kRidge = 0.3;
constexpr double kOfFacts = 0.1;  // so that a factor of 100 is about as much as a value's way
constexpr BoostedTrees::Settings kTimeTrees = {50, 4, 0.2, 2};
constexpr int kTreesAStepOfTimes = 2;
constexpr double kEverywhere = 0.4;  // the share of the ranked that is drawn from the whole space

}  // namespace

CostModel::CostModel(const Commons& commons, const Scales& scales, const Features& features)
    : commons_(commons),
      scales_(scales),
      features_(features),
      evolution_(commons),
      trees_(kTimeTrees) {
  const auto& parameters = commons.space.parameters();
  terms_ = 1;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (parameters[p].values.size() < 2) continue;
    if (scales.IsOrdered(p) || parameters[p].values.size() == 2) {
      terms_ += 1;
      if (parameters[p].values.size() > 2) squares_.push_back(p);
    } else {
      terms_ += scales.HasWays(p) ? scales.WaysOf(p, 0).size() : parameters[p].values.size();
    }
  }
  terms_ += 2 * squares_.size();
  for (std::size_t a = 0; a < parameters.size(); ++a) {
    for (std::size_t b = a + 1; b < parameters.size() && terms_ < kMostTerms; ++b) {
      const auto simple = [&](std::size_t p) {
        const std::size_t values = parameters[p].values.size();
        return values == 2 || (values > 2 && scales.IsOrdered(p));
      };
      if (!simple(a) || !simple(b)) continue;
      products_.emplace_back(a, b);
      ++terms_;
    }
  }
  terms_ += features.facts();
  features.Of(commons.space.Standard().value_or(commons.space.Nearest(Point(parameters.size(), 0))),
              standard_);
  const auto size = static_cast<Eigen::Index>(terms_);
  gram_.setZero(size, size);
  moments_.setZero(size);
}

void CostModel::FeaturesOf(const Point& point, std::vector<float>& features) const {
  features_.Of(point, features);
  commons_.build_reports.Tell(point, features);
}

void CostModel::TermsOf(const Point& point, const std::vector<float>& features,
                        std::vector<double>& terms) const {
  const auto& parameters = commons_.space.parameters();
  const auto scaled = [&](std::size_t p) {
    return (scales_.IsOrdered(p) ? scales_.At(p, point[p]) : static_cast<double>(point[p])) - 0.5;
  };
  terms.assign(1, 1.0);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const std::size_t values = parameters[p].values.size();
    if (values < 2) continue;
    if (scales_.IsOrdered(p) || values == 2) {
      terms.push_back(scaled(p));
      continue;
    }
    if (scales_.HasWays(p)) {
      for (const std::int8_t way : scales_.WaysOf(p, point[p])) terms.push_back(0.5 * way);
      continue;
    }
    for (std::size_t v = 0; v < values; ++v) terms.push_back(v == point[p] ? 1 : 0);
  }
  for (const std::size_t p : squares_) {
    const double value = scaled(p);
    terms.push_back(4 * value * value - 0.5);
    terms.push_back(8 * value * value * value);
  }
  for (const auto& [a, b] : products_) terms.push_back(4 * scaled(a) * scaled(b));
  // What a roofline is made of, which multiplies: logarithms add up.
  const std::size_t first = features.size() - features_.facts();
  for (std::size_t i = first; i < features.size(); ++i) {
    terms.push_back(kOfFacts * static_cast<double>(features[i] - standard_[i]));
  }
}

void CostModel::Begin() {
  const History& history = commons_.history;
  const auto& results = history.results();
  const auto size = static_cast<Eigen::Index>(terms_);
  Eigen::MatrixXd gram = gram_;
  gram.diagonal().array() += kRidge;
  gram(0, 0) -= kRidge * 0.999;
  next_weights_ = gram.selfadjointView<Eigen::Lower>().llt().solve(moments_);
  // The newest, and the leaders.
  std::vector<std::size_t> chosen = history.leaders();
  const auto& ran = history.ran();
  for (std::size_t i = ran.size(); i > 0 && chosen.size() < kMostRowsOfTimes; --i) {
    chosen.push_back(ran[i - 1]);
  }
  std::vector<float> rows, row;
  std::vector<double> rest, terms;
  const auto width = static_cast<std::ptrdiff_t>(features_.count());
  for (const std::size_t i : chosen) {
    const auto from = known_.begin() + width * static_cast<std::ptrdiff_t>(row_of_[i]);
    row.assign(from, from + width);
    rows.insert(rows.end(), row.begin(), row.end());
    TermsOf(results[i].point, row, terms);
    rest.push_back(std::min(results[i].log_time, ceiling_) -
                   next_weights_.dot(Eigen::Map<const Eigen::VectorXd>(terms.data(), size)));
  }
  trees_.Begin(std::move(rows), features_.count(), std::move(rest));
  seen_ = ran.size();
}

void CostModel::Work() {
  const std::size_t ran = commons_.history.ran().size();
  if (!trees_.IsFitting()) {
    if (ran < kLeastToFit || (IsFitted() && ran <= seen_ + seen_ / 10)) return;
    Begin();
  }
  // The first model, and those of short histories, at once.
  const int trees = !IsFitted() || ran < 100 ? kTimeTrees.trees : kTreesAStepOfTimes;
  if (trees_.Work(trees)) std::swap(weights_, next_weights_);
}

void CostModel::Learn(const History::Result& result) {
  if (!result.ran) return;
  // What is much slower than most says no more than that.
  const std::size_t count = commons_.history.ran().size();
  if (count == 40) {
    std::vector<double> times;
    for (const std::size_t i : commons_.history.ran()) {
      times.push_back(commons_.history.results()[i].log_time);
    }
    std::nth_element(times.begin(), times.begin() + 20, times.end());
    ceiling_ = times[20] + 1.5 * (times[20] - commons_.history.best()->log_time) + 0.1;
  }
  std::vector<float> features;
  std::vector<double> terms;
  FeaturesOf(result.point, features);
  TermsOf(result.point, features, terms);
  row_of_.resize(commons_.history.results().size());
  row_of_.back() = count - 1;
  known_.insert(known_.end(), features.begin(), features.end());
  const Eigen::Map<const Eigen::VectorXd> vector(terms.data(), static_cast<Eigen::Index>(terms_));
  gram_.selfadjointView<Eigen::Lower>().rankUpdate(vector);
  moments_ += vector * std::min(result.log_time, ceiling_);
  Work();
}

double CostModel::Predict(const Point& point) const {
  std::vector<double> terms;
  std::vector<float> features;
  FeaturesOf(point, features);
  TermsOf(point, features, terms);
  const Eigen::Map<const Eigen::VectorXd> vector(terms.data(), static_cast<Eigen::Index>(terms_));
  return weights_.dot(vector) + trees_.Predict(features);
}

std::optional<Point> CostModel::Propose() {
  if (!IsFitted()) return std::nullopt;
  std::optional<Point> chosen;
  double chosen_time = 0;
  const auto rank = [&](Point point) {
    if (commons_.history.IsTaken(point)) return;
    const double time = Predict(point) + 0.5 * (1 - commons_.feasibility.Of(point));
    if (chosen && time >= chosen_time) return;
    chosen_time = time;
    chosen = std::move(point);
  };
  const std::size_t most =
      commons_.history.results().size() > kLongHistoryOfTimes ? kRanked / 4 : kRanked;
  const auto everywhere = static_cast<std::size_t>(kEverywhere * static_cast<double>(most));
  for (std::size_t i = 0; i < everywhere; ++i) rank(commons_.space.Draw(commons_.random));
  const auto& leaders = commons_.history.leaders();
  std::size_t next_to = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(leaders.size(), 2); ++i) {
    std::vector<Point> around =
        commons_.space.Neighbours(commons_.history.results()[leaders[i]].point, i > 0);
    Shuffle(around, commons_.random);
    if (around.size() > most / 4) around.resize(most / 4);
    next_to += around.size();
    for (Point& point : around) rank(std::move(point));
  }
  for (std::size_t i = everywhere + next_to; i < most; ++i) rank(evolution_.Child());
  return chosen;
}

}  // namespace cupilot::search
