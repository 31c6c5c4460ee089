#include "search/strategy.h"

#include <string>

#include "search/number_strategy.h"
#include "search/portfolio/portfolio.h"
#include "search/random_strategy.h"

namespace cupilot::search {
namespace {

template <class T>
std::unique_ptr<Strategy> Make(const StrategyInputs& inputs) {
  return std::make_unique<T>(inputs.space, inputs.seed);
}

// One member of the portfolio alone.
template <bool PortfolioParts::* member>
std::unique_ptr<Strategy> MakeAlone(const StrategyInputs& inputs) {
  PortfolioParts parts = PortfolioParts::None();
  parts.*member = true;
  return std::make_unique<Portfolio>(inputs, parts);
}

std::unique_ptr<Strategy> MakeWhole(const StrategyInputs& inputs) {
  return std::make_unique<Portfolio>(inputs, PortfolioParts());
}

constexpr StrategyRow kRows[] = {
    {"random", "valid points at random, each once", &Make<RandomStrategy>},
    {"number_search", "a few random points, then coordinate descent with restarts",
     &Make<NumberStrategy>},
    {kDefaultStrategy,
     "transfer, bayesian, cost_model and evolution, each by what it has gained lately", &MakeWhole},
    {"transfer", "the best points of other devices and similar kernels, and what is next to them",
     &MakeAlone<&PortfolioParts::transfer>},
    {"bayesian", "the greatest expected improvement by a Gaussian process",
     &MakeAlone<&PortfolioParts::bayesian>},
    {"cost_model", "the best of many points by a model that is fitted to the measured ones",
     &MakeAlone<&PortfolioParts::cost_model>},
    {"evolution", "children of the best points", &MakeAlone<&PortfolioParts::evolution>},
    {"descent", "coordinate descent from the best point, restarts from it changed",
     &MakeAlone<&PortfolioParts::descent>},
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
