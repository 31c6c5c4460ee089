// The whole collection of tests/data/gate through the gate on the host device, with one seed. In
// parts, so that several processes can share the work.
#include <gtest/gtest.h>

#include "tests/integration/gate/gate_checks.h"

namespace cupilot::gate {
namespace {

constexpr std::size_t kParts = 8;

class GateFull : public ::testing::TestWithParam<std::size_t> {};

TEST_P(GateFull, EachIsJudgedRight) {
  const auto collection = ReadTheCollection();
  ASSERT_TRUE(collection) << collection.error().message;
  std::vector<const Candidate*> part;
  // Neighbours are of one kernel mostly, whose original runs once for them.
  const std::size_t count = collection->candidates.size();
  for (std::size_t i = count * GetParam() / kParts; i < count * (GetParam() + 1) / kParts; ++i) {
    part.push_back(&collection->candidates[i]);
  }
  ExpectJudgedRight(*collection, part);
}

INSTANTIATE_TEST_SUITE_P(Parts, GateFull, ::testing::Range(std::size_t{0}, kParts));

}  // namespace
}  // namespace cupilot::gate
