#include "search/portfolio/history.h"

#include <algorithm>
#include <cmath>

namespace cupilot::search {

const History::Result* History::Find(const Point& point) const {
  const auto found = taken_.find(point);
  if (found == taken_.end() || found->second == kInFlight) return nullptr;
  return &results_[found->second];
}

const History::Result* History::Put(const Point& point, std::optional<double> microseconds,
                                    Failure failure) {
  std::size_t& place = taken_.try_emplace(point, kInFlight).first->second;
  if (place != kInFlight) return nullptr;
  place = results_.size();
  Result result;
  result.point = point;
  result.ran = microseconds && *microseconds > 0;
  if (result.ran) result.log_time = std::log(*microseconds);
  result.instructs = result.ran || failure != Failure::kUnknown;
  results_.push_back(std::move(result));
  const Result& put = results_.back();
  if (!put.ran) {
    failures_ += put.instructs ? 1 : 0;
    return &put;
  }
  ran_.push_back(place);
  if (!best_ || put.log_time < results_[*best_].log_time) best_ = place;
  const auto faster = [this](std::size_t a, std::size_t b) {
    return results_[a].log_time < results_[b].log_time;
  };
  leaders_.insert(std::upper_bound(leaders_.begin(), leaders_.end(), place, faster), place);
  if (leaders_.size() > kLeaders) leaders_.pop_back();
  return &put;
}

}  // namespace cupilot::search
