// Children of the best points: values of two of them, groups that constraints tie together mostly
// from one, some changed, made valid where they are not. Pure.
#pragma once

#include <optional>
#include <vector>

#include "search/portfolio/member.h"

namespace cupilot::search {

class Evolution : public PortfolioMember {
 public:
  explicit Evolution(const Commons& commons) : commons_(commons), groups_(commons.space.groups()) {}

  std::optional<Point> Propose() override;

  // A child of two of the leaders, valid, taken or not. There is a leader.
  Point Child() const;

 private:
  const Point& Parent() const;

  const Commons& commons_;
  std::vector<std::vector<std::size_t>> groups_;
};

}  // namespace cupilot::search
