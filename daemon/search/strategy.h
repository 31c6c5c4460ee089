// A search on a space: which point next, by the results so far. Pure: what it returns is a function
// of its inputs and of what was reported, in the order of the calls. By name from one table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "search/resources.h"
#include "search/space.h"

namespace cupilot::search {

// Why a point has no time.
enum class Failure {
  kBuild,    // it does not compile
  kLimits,   // it needs more than the device has
  kWrong,    // it ran and is wrong, or crashed, or hung
  kUnknown,  // that says nothing of the point: it was not measured, or the device failed
};

// Several points may be in flight: Next() is called again before Report(). It never waits: where
// what a strategy would like to know is still in flight, it names another valid point.
class Strategy {
 public:
  Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;
  virtual ~Strategy() = default;

  // The next point to evaluate, a valid one; one that it has asked for before gets the same result
  // again. Nothing: there is none left that it would try, whatever comes of those in flight.
  virtual std::optional<Point> Next() = 0;
  // What came of a point that Next() returned, or of one that is known from elsewhere: its mean
  // time in microseconds; nothing: it failed.
  virtual void Report(const Point& point, std::optional<double> microseconds) = 0;
  // The same of a point that failed, by who knows why.
  virtual void ReportFailure(const Point& point, Failure) { Report(point, std::nullopt); }
  // Before either, where it was built: what the compiler said, and what that took.
  virtual void ReportBuild(const Point&, const BuildReport&) {}
};

// What is known of points without running them, for models of their times: as many numbers for each
// point, such as threads a block, blocks, shared bytes, registers, waves, occupancy, traffic. The
// models use them as they are and expect ratios to mean something. Pure.
class PointFacts {
 public:
  virtual ~PointFacts() = default;
  virtual std::size_t count() const = 0;
  // Appends count() numbers, none below 0. `built`: what the compiler said of the point, or is
  // expected to say; all 0 where nobody knows.
  virtual void Append(const Point& point, const BuildReport& built,
                      std::vector<double>& facts) const = 0;
};

struct StrategyInputs {
  const Space& space;  // outlives the strategy
  std::uint64_t seed = 0;
  // The best points of other devices and of similar kernels, best first. One that is not valid
  // stands for the valid one next to it.
  std::vector<Point> champions;
  const PointFacts* facts = nullptr;  // outlives the strategy; null: nothing is known
};

// A row of the table.
struct StrategyRow {
  std::string_view name;
  std::string_view what;  // one plain sentence
  std::unique_ptr<Strategy> (*make_from)(const StrategyInputs& inputs);

  std::unique_ptr<Strategy> make(const Space& space, std::uint64_t seed) const {
    return make_from({space, seed, {}, nullptr});
  }
};

// What the product uses where nobody chose.
inline constexpr std::string_view kDefaultStrategy = "portfolio";

// All rows, in a fixed order.
std::span<const StrategyRow> Strategies();

// kInvalidArgument with the names that there are.
base::Result<StrategyRow> FindStrategy(std::string_view name);

}  // namespace cupilot::search
