// Who is proven when.
#include "evaluate/finalists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace cupilot::evaluate {
namespace {

using ::testing::ElementsAre;

class FinalistsTest : public ::testing::Test {
 protected:
  void Enter(const std::string& group, double speedup) {
    finalists_.Enter(group, speedup, [this, speedup](Finalists::Turn turn) {
      begun_.push_back(speedup);
      turns_.push_back(std::move(turn));
    });
  }
  void End(std::size_t which) {
    // What begins then is put at the end.
    const Finalists::Turn turn = std::move(turns_[which]);
  }

  Finalists finalists_;
  std::vector<double> begun_;
  std::vector<Finalists::Turn> turns_;
};

TEST_F(FinalistsTest, OneAtATimeAndTheFastestFirst) {
  for (const double speedup : {1.5, 1.2, 9.0, 3.0}) Enter("kernel", speedup);
  EXPECT_THAT(begun_, ElementsAre(1.5));
  End(0);
  EXPECT_THAT(begun_, ElementsAre(1.5, 9.0));
  Enter("kernel", 4.0);
  End(1);
  End(2);
  EXPECT_THAT(begun_, ElementsAre(1.5, 9.0, 4.0, 3.0));
  End(3);
  End(4);
  EXPECT_THAT(begun_, ElementsAre(1.5, 9.0, 4.0, 3.0, 1.2));
  Enter("kernel", 1.1);
  EXPECT_EQ(begun_.size(), 6u) << "nobody had a turn any more";
}

TEST_F(FinalistsTest, GroupsDoNotWaitForEachOther) {
  Enter("kernel", 1.5);
  Enter("another", 1.1);
  EXPECT_THAT(begun_, ElementsAre(1.5, 1.1));
}

// At the end of a daemon jobs go whose turn it is, and those that they would call are gone already.
TEST_F(FinalistsTest, NobodyBeginsAfterItIsGone) {
  auto finalists = std::make_unique<Finalists>();
  Finalists::Turn turn;
  bool other_began = false;
  finalists->Enter("kernel", 1, [&](Finalists::Turn given) { turn = std::move(given); });
  finalists->Enter("kernel", 2, [&](const Finalists::Turn&) { other_began = true; });
  finalists.reset();
  turn.reset();
  EXPECT_FALSE(other_began);
}

TEST_F(FinalistsTest, OfEqualOnesTheFirst) {
  std::vector<int> begun;
  Finalists::Turn first;
  finalists_.Enter("kernel", 1, [&](Finalists::Turn turn) { first = std::move(turn); });
  for (const int name : {1, 2}) {
    finalists_.Enter("kernel", 2,
                     [&begun, name](const Finalists::Turn&) { begun.push_back(name); });
  }
  first.reset();
  EXPECT_THAT(begun, ElementsAre(1, 2));
}

}  // namespace
}  // namespace cupilot::evaluate
