#include "search/portfolio/scales.h"

#include <algorithm>
#include <cmath>

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

// The letters' places: "kij" is an order of what "ijk" is one of.
double KendallDistance(const std::string& a, const std::string& b) {
  if (a.size() != b.size() || a.size() < 2) return a == b ? 0 : 1;
  std::size_t turned = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = i + 1; j < a.size(); ++j) {
      const std::size_t first = b.find(a[i]), second = b.find(a[j]);
      if (first == std::string::npos || second == std::string::npos) return 1;
      turned += first > second ? 1 : 0;
    }
  }
  return static_cast<double>(turned) / (static_cast<double>(a.size() * (a.size() - 1)) / 2);
}

}  // namespace

Scales::Scales(const Space& space) : space_(space), at_(space.parameters().size()) {
  for (std::size_t i = 0; i < at_.size(); ++i) {
    const SpaceParameter& parameter = space.parameters()[i];
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
  const SpaceParameter& of = space_.parameters()[parameter];
  if (of.kind != ParameterKind::kOrder || of.texts.size() != of.values.size()) return 1;
  return KendallDistance(of.texts[a], of.texts[b]);
}

Features::Features(const Space& space, const Scales& scales, const PointFacts* facts)
    : space_(space), scales_(scales), facts_(facts), log_(space.parameters().size()) {
  for (std::size_t i = 0; i < log_.size(); ++i) {
    const SpaceParameter& parameter = space.parameters()[i];
    if (!scales.IsOrdered(i)) {
      count_ += parameter.kind == ParameterKind::kBoolean ? 1 : parameter.values.size();
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
    } else {
      // Nearness to each value: of a category, that it is the one.
      for (std::size_t place = 0; place < parameter.values.size(); ++place) {
        features.push_back(static_cast<float>(
            1 - scales_.Distance(i, point[i], static_cast<std::uint16_t>(place))));
      }
    }
  }
  for (const Pair& pair : pairs_) {
    const double a = log_[pair.first][point[pair.first]], b = log_[pair.second][point[pair.second]];
    features.push_back(static_cast<float>(a + b));
    features.push_back(static_cast<float>(a - b));
  }
  if (facts_ == nullptr) return;
  std::vector<double> numbers;
  facts_->Append(point, numbers);
  for (const double number : numbers) {
    features.push_back(static_cast<float>(std::log1p(std::max(number, 0.0))));
  }
}

}  // namespace cupilot::search
