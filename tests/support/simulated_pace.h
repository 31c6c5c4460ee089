// A search on a measured space as on a GPU beside several builders, on simulated time: how many
// candidates are under way is the daemon's rule, and what each takes is read from the rows.
#pragma once

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <queue>
#include <vector>

#include "search/measured.h"
#include "search/strategy.h"
#include "service/in_flight.h"

namespace cupilot::search {

struct PaceSettings {
  int builders = 15;
  double looks = 0.4;  // how long a look takes, of what measuring took that the row tells
  // Candidates under way; first, least and most the same: always so many.
  service::InFlightRange in_flight = service::kInFlightOnGpu;
};

class SimulatedPace {
 public:
  SimulatedPace(const MeasuredSpace& measured, Strategy& strategy, const PaceSettings& settings)
      : measured_(measured),
        strategy_(strategy),
        settings_(settings),
        free_(settings.builders),
        in_flight_(settings.in_flight) {
    for (const MeasuredRow& row : measured.rows()) {
      good_ = std::min(good_, 1.05 * row.microseconds.value_or(good_));
    }
  }

  // Seconds to a point within 5 % of the best; infinite: nothing is left without one.
  double GoodAfter() {
    for (Begin(); !events_.empty(); Begin()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      if (!event.looked_at) {
        OnBuilt(event);
        continue;
      }
      --at_gpu_;
      in_flight_.OnResult(now_, Others());
      const std::optional<double> time = event.row->microseconds;
      if (time && *time <= good_) return now_;
      // At once, though the daemon waits for a few that were asked for before.
      strategy_.ReportBuild(event.row->point, event.row->report());
      strategy_.Report(event.row->point, time);
      --under_way_;
    }
    return std::numeric_limits<double>::infinity();
  }

 private:
  struct Event {
    double at;
    int id;
    const MeasuredRow* row;
    bool looked_at;
    bool operator<(const Event& other) const { return at > other.at; }
  };

  void Begin() {
    while (under_way_ < in_flight_.limit()) {
      const auto point = strategy_.Next();
      if (!point) break;
      const MeasuredRow* row = measured_.Find(*point);
      if (row == nullptr) {
        strategy_.ReportFailure(*point, Failure::kUnknown);
        continue;
      }
      ++under_way_;
      waiting_.push_back({0, ++last_, row, false});
    }
    for (; free_ > 0 && !waiting_.empty(); --free_) {
      Event event = waiting_.front();
      waiting_.pop_front();
      event.at = now_ + event.row->compile_seconds;
      events_.push(event);
    }
  }
  service::InFlight::Others Others() const { return {at_gpu_, static_cast<int>(waiting_.size())}; }
  void OnBuilt(const Event& built) {
    ++free_;
    in_flight_.OnBuilt(now_, built.id, last_, Others());
    ++at_gpu_;
    gpu_free_ = std::max(gpu_free_, now_) + settings_.looks * built.row->measure_seconds;
    events_.push({gpu_free_, built.id, built.row, true});
  }

  const MeasuredSpace& measured_;
  Strategy& strategy_;
  const PaceSettings settings_;
  double good_ = std::numeric_limits<double>::infinity();
  double now_ = 0, gpu_free_ = 0;
  int free_, under_way_ = 0, at_gpu_ = 0, last_ = 0;
  service::InFlight in_flight_;
  std::deque<Event> waiting_;  // for a builder
  std::priority_queue<Event> events_;
};

}  // namespace cupilot::search
