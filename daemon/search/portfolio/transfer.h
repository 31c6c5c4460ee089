// Champions of other devices and of similar kernels, timed again, best first; then what is next to
// those that did best here. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_set>
#include <vector>

#include "search/portfolio/member.h"

namespace cupilot::search {

class Transfer : public PortfolioMember {
 public:
  Transfer(const Commons& commons, const std::vector<Point>& champions);

  std::optional<Point> Propose() override;

  // Champions that were not yet handed out.
  std::size_t left() const { return champions_.size() - next_; }

 private:
  const Commons& commons_;
  std::vector<Point> champions_;  // valid, each once
  std::size_t next_ = 0;
  std::unordered_set<Point, PointHash> followed_;  // of them: their neighbours were queued
  std::vector<Point> around_;                      // last first
};

}  // namespace cupilot::search
