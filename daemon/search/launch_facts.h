// What a point's launch says of its speed, with what the compiler said or is expected to say of it:
// for models of times (PointFacts). What a roofline is made of: how many threads run at once, in
// how many waves, and how much they move besides what all points have to. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "records/slot_expression.h"
#include "search/measured.h"
#include "search/number_space.h"
#include "search/strategy.h"

namespace cupilot::search {

// Of each point: threads a block, blocks, threads of the launch, a thread's registers and local
// bytes, shared bytes of a block (static and dynamic), threads that find room on a multiprocessor
// at once (occupancy), how often all multiprocessors are filled (waves), bytes that all blocks
// together stage in shared memory where each fills it once, and bytes that all threads spill
// (traffic). What has no value, or is not known of the device or of the build, is 0.
class LaunchFacts final : public PointFacts {
 public:
  // Null: no launch is known. The space outlives it.
  static std::unique_ptr<LaunchFacts> Make(const NumberSpace& numbers, const Space& space);
  // Of a measured space whose file says the launch; it outlives the facts.
  static std::unique_ptr<LaunchFacts> Make(const MeasuredSpace& measured);

  std::size_t count() const override { return 10; }
  void Append(const Point& point, const BuildReport& built,
              std::vector<double>& facts) const override;

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
