#include "search/portfolio/scales.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace cupilot::search {
namespace {

constexpr std::size_t kMostPairs = 24;
constexpr double kSpreadsLikePowers = 3;  // the widest gap in narrowest ones

bool IsByRatio(const SpaceParameter& parameter) {
  if (parameter.kind == ParameterKind::kPower) return true;
  std::vector<std::int64_t> values = parameter.values;
  std::sort(values.begin(), values.end());
  double least = 0, most = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double gap = static_cast<double>(values[i]) - static_cast<double>(values[i - 1]);
    least = least == 0 ? gap : std::min(least, gap);
    most = std::max(most, gap);
  }
  return most > kSpreadsLikePowers * least;
}

double Logarithm(std::int64_t value, std::int64_t least) {
  const double above =
      static_cast<double>(value) - static_cast<double>(std::min<std::int64_t>(least, 1));
  return std::log2(1 + above);
}

using Loop = std::pair<char, std::size_t>;  // a letter, and how many of the same stand before it

std::map<Loop, std::size_t> PlacesOf(const std::string& order) {
  std::map<Loop, std::size_t> places;
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::size_t before = 0;
    while (places.contains({order[i], before})) ++before;
    places[{order[i], before}] = i;
  }
  return places;
}

// By order; empty where there is only one loop.
std::vector<Scales::Ways> WaysOfOrders(const std::vector<std::string>& orders) {
  std::vector<std::map<Loop, std::size_t>> places;
  std::set<Loop> loops;
  for (const std::string& order : orders) {
    places.push_back(PlacesOf(order));
    for (const auto& [loop, place] : places.back()) loops.insert(loop);
  }
  std::vector<Scales::Ways> ways;
  for (const auto& of_order : places) {
    ways.emplace_back();
    for (auto x = loops.begin(); x != loops.end(); ++x) {
      for (auto y = std::next(x); y != loops.end(); ++y) {
        const auto of_x = of_order.find(*x), of_y = of_order.find(*y);
        const bool both = of_x != of_order.end() && of_y != of_order.end();
        ways.back().push_back(!both ? 0 : of_x->second < of_y->second ? 1 : -1);
      }
    }
  }
  if (loops.size() < 2) ways.clear();
  return ways;
}

}  // namespace

Scales::Scales(const Space& space)
    : space_(space), at_(space.parameters().size()), ways_(space.parameters().size()) {
  for (std::size_t i = 0; i < at_.size(); ++i) {
    const SpaceParameter& parameter = space.parameters()[i];
    const bool is_order = parameter.kind == ParameterKind::kOrder &&
                          parameter.texts.size() == parameter.values.size();
    if (is_order) ways_[i] = WaysOfOrders(parameter.texts);
    if (parameter.kind != ParameterKind::kNumber && parameter.kind != ParameterKind::kPower) {
      continue;
    }
    const auto [least, most] =
        std::minmax_element(parameter.values.begin(), parameter.values.end());
    const bool by_ratio = IsByRatio(parameter);
    const auto scaled = [&](std::int64_t value) {
      return by_ratio ? Logarithm(value, *least) : static_cast<double>(value);
    };
    const double low = scaled(*least), way = std::max(scaled(*most) - low, 1e-12);
    for (const std::int64_t value : parameter.values) at_[i].push_back((scaled(value) - low) / way);
  }
}

double Scales::Distance(std::size_t parameter, std::uint16_t a, std::uint16_t b) const {
  if (a == b) return 0;
  if (IsOrdered(parameter)) return std::abs(at_[parameter][a] - at_[parameter][b]);
  if (!HasWays(parameter)) return 1;
  const Ways& of_a = WaysOf(parameter, a);
  const Ways& of_b = WaysOf(parameter, b);
  std::size_t differ = 0;
  for (std::size_t i = 0; i < of_a.size(); ++i) differ += of_a[i] != of_b[i] ? 1 : 0;
  return static_cast<double>(differ) / static_cast<double>(of_a.size());
}

std::vector<double> LogFactsOf(const PointFacts& facts, const Point& point,
                               const BuildReport& built) {
  std::vector<double> logs;
  facts.Append(point, built, logs);
  for (double& fact : logs) fact = std::log1p(std::max(fact, 0.0));
  return logs;
}

Features::Features(const Space& space, const Scales& scales, const PointFacts* facts)
    : space_(space), scales_(scales), facts_(facts), log_(space.parameters().size()) {
  for (std::size_t i = 0; i < log_.size(); ++i) {
    const SpaceParameter& parameter = space.parameters()[i];
    if (!scales.IsOrdered(i)) {
      count_ += parameter.kind == ParameterKind::kBoolean ? 1
                : scales.HasWays(i)                       ? scales.WaysOf(i, 0).size()
                                                          : parameter.values.size();
      continue;
    }
    count_ += 1;
    const auto least = *std::min_element(parameter.values.begin(), parameter.values.end());
    for (const std::int64_t value : parameter.values) log_[i].push_back(Logarithm(value, least));
  }
  for (const std::vector<std::size_t>& group : space.groups()) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (std::size_t j = i + 1; j < group.size() && pairs_.size() < kMostPairs; ++j) {
        const bool both = scales.IsOrdered(group[i]) && scales.IsOrdered(group[j]) &&
                          log_[group[i]].size() > 1 && log_[group[j]].size() > 1;
        if (both) pairs_.push_back({group[i], group[j]});
      }
    }
  }
  count_ += 2 * pairs_.size() + (facts == nullptr ? 0 : facts->count());
}

void Features::Of(const Point& point, std::vector<float>& features) const {
  features.clear();
  for (std::size_t i = 0; i < point.size(); ++i) {
    const SpaceParameter& parameter = space_.parameters()[i];
    if (scales_.IsOrdered(i)) {
      features.push_back(static_cast<float>(scales_.At(i, point[i])));
    } else if (parameter.kind == ParameterKind::kBoolean) {
      features.push_back(static_cast<float>(point[i]));
    } else if (scales_.HasWays(i)) {
      for (const std::int8_t way : scales_.WaysOf(i, point[i])) {
        features.push_back(static_cast<float>(way));
      }
    } else {
      for (std::size_t place = 0; place < parameter.values.size(); ++place) {
        features.push_back(place == point[i] ? 1.0F : 0.0F);
      }
    }
  }
  for (const Pair& pair : pairs_) {
    const double a = log_[pair.first][point[pair.first]], b = log_[pair.second][point[pair.second]];
    features.push_back(static_cast<float>(a + b));
    features.push_back(static_cast<float>(a - b));
  }
  AppendFacts(point, {}, features);
}

void Features::SetBuild(const Point& point, const BuildReport& built,
                        std::vector<float>& features) const {
  features.resize(features.size() - facts());
  AppendFacts(point, built, features);
}

void Features::AppendFacts(const Point& point, const BuildReport& built,
                           std::vector<float>& features) const {
  if (facts_ == nullptr) return;
  for (const double fact : LogFactsOf(*facts_, point, built)) {
    features.push_back(static_cast<float>(fact));
  }
}

}  // namespace cupilot::search
