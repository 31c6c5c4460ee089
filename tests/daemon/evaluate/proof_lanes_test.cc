#include "evaluate/proof_lanes.h"

#include <gtest/gtest.h>

namespace cupilot::evaluate {
namespace {

TEST(ProofLanesTest, KernelsAreSpreadAndStayWhereTheirReferencesAre) {
  ProofLanes lanes(2);
  EXPECT_EQ(lanes.Enter("a")->lane(), 1);
  EXPECT_EQ(lanes.Enter("b")->lane(), 2) << "fewer kernels, though both have no proof";
  EXPECT_EQ(lanes.Enter("c")->lane(), 1);
  EXPECT_EQ(lanes.Enter("b")->lane(), 2);
  EXPECT_EQ(lanes.Enter("a")->lane(), 1);
}

// Else one of four would wait for three others' proofs while a lane has nothing to do.
TEST(ProofLanesTest, AProofWaitsForNoOtherWhereALaneIsFree) {
  ProofLanes lanes(2);
  auto a = lanes.Enter("a");
  EXPECT_EQ(lanes.Enter("b")->lane(), 2);
  EXPECT_EQ(lanes.Enter("c")->lane(), 2) << "a's is under way in the other";
  a.reset();
  a = lanes.Enter("b");
  EXPECT_EQ(a->lane(), 2);
  const auto c = lanes.Enter("c");
  EXPECT_EQ(c->lane(), 1) << "it moves";
  EXPECT_EQ(lanes.Enter("c")->lane(), 1);
  EXPECT_EQ(lanes.Enter("b")->lane(), 2) << "none is free: its own";
}

TEST(ProofLanesTest, AProofMayOutliveThem) {
  std::unique_ptr<ProofLanes::Place> place;
  {
    ProofLanes lanes(0);
    place = lanes.Enter("a");
  }
  EXPECT_EQ(place->lane(), 1);
}

}  // namespace
}  // namespace cupilot::evaluate
