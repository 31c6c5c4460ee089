// Coordinate descent: from the best point one parameter at a time to its next values, until no step
// helps; then to all of the parameter's values, and at last from the best point with some
// parameters changed. Pure.
#pragma once

#include <optional>
#include <unordered_set>
#include <vector>

#include "search/portfolio/member.h"

namespace cupilot::search {

class Descent : public PortfolioMember {
 public:
  explicit Descent(const Commons& commons) : commons_(commons) {}

  std::optional<Point> Propose() override;
  void Learn(const History::Result& result) override;

 private:
  void SetCentre(const Point& point, double log_time);
  std::optional<Point> Perturbed() const;

  const Commons& commons_;
  std::optional<Point> centre_;
  double centre_time_ = 0;
  bool all_values_ = false;                    // of each coordinate: the next ones are known
  std::vector<Point> around_;                  // to be tried, last first
  std::optional<Point> start_;                 // changed from the best, waiting for its result
  std::unordered_set<Point, PointHash> done_;  // centres from which no step helped
  // What the last step that helped changed, and which way.
  std::optional<std::size_t> moved_;
  int direction_ = 0;
};

}  // namespace cupilot::search
