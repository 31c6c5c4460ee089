// A part of the portfolio: proposes points by what all members together have found. Pure.
#pragma once

#include <optional>
#include <random>

#include "search/portfolio/history.h"
#include "search/space.h"

namespace cupilot::search {

class BuildCosts;
class BuildReports;
class Feasibility;

// What members share.
struct Commons {
  const Space& space;
  const History& history;
  const Feasibility& feasibility;
  const BuildCosts& build_costs;
  const BuildReports& build_reports;
  std::mt19937_64& random;
};

class PortfolioMember {
 public:
  PortfolioMember() = default;
  PortfolioMember(const PortfolioMember&) = delete;
  PortfolioMember& operator=(const PortfolioMember&) = delete;
  virtual ~PortfolioMember() = default;

  // A valid point that is not taken; nothing: it has none now, and may have one after more results.
  virtual std::optional<Point> Propose() = 0;
  // A point has a result, whoever proposed it.
  virtual void Learn(const History::Result&) {}
};

}  // namespace cupilot::search
