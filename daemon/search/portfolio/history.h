// What is known of a space's points so far: what all members of a portfolio see. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "search/space.h"
#include "search/strategy.h"

namespace cupilot::search {

struct PointHash {
  std::size_t operator()(const Point& point) const {
    std::uint64_t hash = 0x9e3779b97f4a7c15;
    for (const std::uint16_t place : point) {
      hash = (hash ^ place) * 0xff51afd7ed558ccd;
      hash ^= hash >> 32;
    }
    return static_cast<std::size_t>(hash);
  }
};

class History {
 public:
  struct Result {
    Point point;
    double log_time = 0;    // of microseconds; where it ran
    bool ran = false;       // it has a time
    bool instructs = true;  // what it says is the point's own doing: no failure of the device
  };

  // In the order of the reports, each point once.
  const std::vector<Result>& results() const { return results_; }
  // Those with a time, by places in results().
  const std::vector<std::size_t>& ran() const { return ran_; }
  std::size_t failures() const { return failures_; }  // that instruct
  // Null: none has a time.
  const Result* best() const { return best_ ? &results_[*best_] : nullptr; }
  // The best ones that ran, best first; at most kLeaders.
  static constexpr std::size_t kLeaders = 32;
  const std::vector<std::size_t>& leaders() const { return leaders_; }

  // Handed out, or known.
  bool IsTaken(const Point& point) const { return taken_.contains(point); }
  std::size_t taken() const { return taken_.size(); }
  std::size_t in_flight() const { return taken_.size() - results_.size(); }
  // Null: it is not known, or it is in flight.
  const Result* Find(const Point& point) const;

  void Take(const Point& point) { taken_.try_emplace(point, kInFlight); }
  // Null: it was known. A point need not have been taken.
  const Result* Put(const Point& point, std::optional<double> microseconds, Failure failure);

 private:
  static constexpr std::size_t kInFlight = ~std::size_t{0};

  std::vector<Result> results_;
  std::vector<std::size_t> ran_;
  std::vector<std::size_t> leaders_;
  std::optional<std::size_t> best_;
  std::size_t failures_ = 0;
  std::unordered_map<Point, std::size_t, PointHash> taken_;  // places in results_
};

}  // namespace cupilot::search
