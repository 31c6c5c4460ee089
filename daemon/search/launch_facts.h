// What a point's launch says of its speed before anything is built: for models of times
// (PointFacts). Pure.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "records/slot_expression.h"
#include "search/number_space.h"
#include "search/strategy.h"

namespace cupilot::search {

// Of each point: threads a block, blocks, threads of the launch, dynamic shared bytes, blocks that
// find room on a multiprocessor by threads and shared memory (occupancy), and how often all
// multiprocessors are filled (waves). What has no value, or is not known of the device, is 0.
class LaunchFacts final : public PointFacts {
 public:
  // Null: no launch depends on a tunable. The space outlives it.
  static std::unique_ptr<LaunchFacts> Make(const NumberSpace& numbers, const Space& space);

  std::size_t count() const override { return 6; }
  void Append(const Point& point, std::vector<double>& facts) const override;

 private:
  // A block's threads, a grid's blocks: up to three factors.
  using Product = std::vector<records::SlotExpression>;
  explicit LaunchFacts(const Space& space) : space_(space) {}

  const Space& space_;
  Product block_, grid_;
  std::optional<records::SlotExpression> shared_bytes_;
  DeviceLimits limits_;
  std::int64_t multiprocessors_ = 0;
};

}  // namespace cupilot::search
