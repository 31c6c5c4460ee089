// Random search without replacement, uniform over the valid points: what others are held against.
#pragma once

#include <cstdint>
#include <random>
#include <unordered_map>

#include "search/strategy.h"

namespace cupilot::search {

class RandomStrategy : public Strategy {
 public:
  RandomStrategy(const Space& space, std::uint64_t seed) : space_(space), random_(seed) {}

  std::optional<Point> Next() override;
  void Report(const Point& point, std::optional<double> microseconds) override;

 private:
  std::uint64_t InPlaceOf(std::uint64_t number) const;

  const Space& space_;
  std::mt19937_64 random_;
  // A shuffle of all numbers, of which only what was moved is kept.
  std::unordered_map<std::uint64_t, std::uint64_t> moved_;
  std::uint64_t drawn_ = 0;
};

}  // namespace cupilot::search
