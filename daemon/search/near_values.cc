#include "search/near_values.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace cupilot::search {
namespace {

constexpr double kWidth = 0.05;  // of distances: a kernel that much farther counts e times less

std::optional<std::int64_t> ValueOf(const Values& values, const std::string& name) {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const auto& value) { return value.first == name; });
  if (found == values.end()) return std::nullopt;
  return found->second;
}

// As the nearest kernels have it; nothing: none has a tunable of this name.
std::optional<std::int64_t> Learned(const std::vector<NearChampion>& near,
                                    const std::string& name) {
  double weights = 0, sum = 0, log_sum = 0;
  bool positive = true;
  for (const NearChampion& champion : near) {
    const auto value = ValueOf(champion.values, name);
    if (!value) continue;
    const double weight = std::exp(-champion.distance / kWidth);
    weights += weight;
    sum += weight * static_cast<double>(*value);
    positive = positive && *value > 0;
    if (positive) log_sum += weight * std::log2(static_cast<double>(*value));
  }
  if (weights <= 0) return std::nullopt;
  return std::llround(positive ? std::exp2(log_sum / weights) : sum / weights);
}

}  // namespace

std::vector<Values> ValuesLike(std::vector<NearChampion> near,
                               const std::vector<records::Tunable>& tunables) {
  std::erase_if(near, [&](const NearChampion& champion) {
    return std::none_of(tunables.begin(), tunables.end(), [&](const records::Tunable& tunable) {
      return ValueOf(champion.values, tunable.name).has_value();
    });
  });
  std::stable_sort(near.begin(), near.end(), [](const NearChampion& a, const NearChampion& b) {
    return a.distance < b.distance;
  });
  std::vector<Values> proposals;
  const auto propose = [&](const auto& value_of) {
    Values values;
    for (const records::Tunable& tunable : tunables) {
      values.emplace_back(tunable.name, value_of(tunable.name).value_or(tunable.default_value));
    }
    if (std::find(proposals.begin(), proposals.end(), values) == proposals.end()) {
      proposals.push_back(std::move(values));
    }
  };
  if (near.size() >= kEnoughToLearn) {
    propose([&](const std::string& name) { return Learned(near, name); });
  }
  for (const NearChampion& champion : near) {
    propose([&](const std::string& name) { return ValueOf(champion.values, name); });
  }
  return proposals;
}

}  // namespace cupilot::search
