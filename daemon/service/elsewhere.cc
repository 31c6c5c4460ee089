#include "service/elsewhere.h"

#include <cstddef>
#include <utility>

namespace cupilot::service {
namespace {

using records::Json;

constexpr std::size_t kMostSeeds = 8;

search::Values ValuesOfStep(const Json& parameters) {
  search::Values values;
  if (!parameters.is_object()) return values;
  for (const auto& [name, value] : parameters.items()) {
    if (value.is_number_integer()) values.emplace_back(name, value.get<std::int64_t>());
  }
  return values;
}

}  // namespace

Elsewhere SplitWinners(std::vector<records::Strategy> winners) {
  Elsewhere elsewhere;
  for (records::Strategy& winner : winners) {
    if (winner.steps.empty()) continue;
    const records::StrategyStep& first = winner.steps.front();
    // What a search over numbers found is for one again; nothing else is known to be done with what
    // no technique made.
    if (first.technique == search::kTunablesStep) {
      search::Values values = ValuesOfStep(first.parameters);
      if (!values.empty()) elsewhere.champions.push_back(std::move(values));
    } else if (!first.technique.starts_with("other:") && elsewhere.seeds.size() < kMostSeeds) {
      elsewhere.seeds.push_back(std::move(winner));
    }
  }
  return elsewhere;
}

Json ChampionsJson(const std::vector<search::Values>& champions) {
  Json list = Json::array();
  for (const search::Values& champion : champions) {
    Json values = Json::object();
    for (const auto& [name, value] : champion) values[name] = value;
    list.push_back(std::move(values));
  }
  return list;
}

std::vector<search::Values> ParseChampions(const std::vector<Json>& list) {
  std::vector<search::Values> champions;
  for (const Json& entry : list) {
    search::Values values = ValuesOfStep(entry);
    if (!values.empty()) champions.push_back(std::move(values));
  }
  return champions;
}

}  // namespace cupilot::service
