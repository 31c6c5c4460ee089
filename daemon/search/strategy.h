// A search on a space: which point next, by the results so far. Pure: what it returns is a function
// of the space, the seed and what was reported. By name from one table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "search/space.h"

namespace cupilot::search {

class Strategy {
 public:
  Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;
  virtual ~Strategy() = default;

  // The next point to evaluate, a valid one; one that it has asked for before gets the same result
  // again. Nothing: there is none left that it would try.
  virtual std::optional<Point> Next() = 0;
  // What came of a point that Next() returned: its mean time in microseconds; nothing: it failed,
  // or nobody knows.
  virtual void Report(const Point& point, std::optional<double> microseconds) = 0;
};

// A row of the table. The space outlives what is made.
struct StrategyRow {
  std::string_view name;
  std::string_view what;  // one plain sentence
  std::unique_ptr<Strategy> (*make)(const Space& space, std::uint64_t seed);
};

// All rows, in a fixed order.
std::span<const StrategyRow> Strategies();

// kInvalidArgument with the names that there are.
base::Result<StrategyRow> FindStrategy(std::string_view name);

}  // namespace cupilot::search
