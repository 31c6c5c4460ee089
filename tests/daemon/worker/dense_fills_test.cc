#include <gtest/gtest.h>

#include <algorithm>

#include "worker/steps/step.h"

namespace cupilot::worker {
namespace {

const GateFill& ExactFill() {
  return *std::find_if(kGateFills.begin(), kGateFills.end(),
                       [](const GateFill& fill) { return fill.kind == device::FillKind::kExact; });
}

TEST(DenseFills, ExactIntegersAreAProbeWhereTheOriginalIsExact) {
  OriginalResult reference;
  reference.outputs.resize(1);
  EXPECT_TRUE(IsDense(nullptr, reference)) << "the workload's own";
  EXPECT_FALSE(IsDense(&ExactFill(), reference)) << "nothing was measured";
  reference.outputs[0].expected = Expected{};
  EXPECT_FALSE(IsDense(&ExactFill(), reference));
  reference.outputs[0].original_rho.max = 40;
  EXPECT_TRUE(IsDense(&ExactFill(), reference)) << "of squares and quotients";
}

}  // namespace
}  // namespace cupilot::worker
