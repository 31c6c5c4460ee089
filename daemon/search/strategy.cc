#include "search/strategy.h"

#include <string>

#include "search/number_strategy.h"
#include "search/random_strategy.h"

namespace cupilot::search {
namespace {

template <class T>
std::unique_ptr<Strategy> Make(const Space& space, std::uint64_t seed) {
  return std::make_unique<T>(space, seed);
}

constexpr StrategyRow kRows[] = {
    {"random", "valid points at random, each once", &Make<RandomStrategy>},
    {"number_search", "a few random points, then coordinate descent with restarts",
     &Make<NumberStrategy>},
};

}  // namespace

std::span<const StrategyRow> Strategies() { return kRows; }

base::Result<StrategyRow> FindStrategy(std::string_view name) {
  std::string known;
  for (const StrategyRow& row : kRows) {
    if (row.name == name) return row;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  return base::Fail(base::InvalidArgument("there is no strategy '" + std::string(name) +
                                          "'; there are " + known));
}

}  // namespace cupilot::search
