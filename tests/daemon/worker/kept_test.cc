#include "worker/kept.h"

#include <gtest/gtest.h>

namespace cupilot::worker {
namespace {

TEST(Kept, PushesOutWhatWasUsedLongestAgo) {
  Kept<int> kept(100);
  kept.Put("a", std::make_shared<int>(1), 40);
  kept.Put("b", std::make_shared<int>(2), 40);
  ASSERT_TRUE(kept.Find("a"));
  kept.Put("c", std::make_shared<int>(3), 40);
  EXPECT_TRUE(kept.Find("a"));
  EXPECT_FALSE(kept.Find("b"));
  EXPECT_EQ(*kept.Find("c"), 3);
}

TEST(Kept, PutsTheNewInPlaceOfTheOld) {
  Kept<int> kept(100);
  kept.Put("a", std::make_shared<int>(1), 40);
  kept.Put("a", std::make_shared<int>(2), 60);
  kept.Put("b", std::make_shared<int>(3), 40);
  ASSERT_TRUE(kept.Find("a"));
  EXPECT_EQ(*kept.Find("a"), 2);
  EXPECT_TRUE(kept.Find("b"));
}

TEST(Kept, DoesNotKeepWhatIsTooLarge) {
  Kept<int> kept(100);
  kept.Put("a", std::make_shared<int>(1), 100);
  kept.Put("b", std::make_shared<int>(2), 101);
  EXPECT_TRUE(kept.Find("a"));
  EXPECT_FALSE(kept.Find("b"));
}

}  // namespace
}  // namespace cupilot::worker
