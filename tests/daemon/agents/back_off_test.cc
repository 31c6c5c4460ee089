#include "agents/back_off.h"

#include <gtest/gtest.h>

namespace cupilot::agents {
namespace {

using std::chrono::milliseconds;

ModelError Of(Failure why) {
  ModelError error;
  error.why = why;
  return error;
}

TEST(BackOff, DoublesUpToALimitAndIsDrawnFromTheUpperHalf) {
  const BackOff back_off{
      .attempts = 10, .first = milliseconds(1000), .longest = milliseconds(5000)};
  const ModelError error = Of(Failure::kOverloaded);
  EXPECT_EQ(WaitBefore(back_off, error, 1, 0), milliseconds(500));
  EXPECT_EQ(WaitBefore(back_off, error, 1, 0.5), milliseconds(750));
  EXPECT_EQ(WaitBefore(back_off, error, 2, 0), milliseconds(1000));
  EXPECT_EQ(WaitBefore(back_off, error, 3, 0), milliseconds(2000));
  EXPECT_EQ(WaitBefore(back_off, error, 4, 0), milliseconds(2500));
  EXPECT_EQ(WaitBefore(back_off, error, 9, 0), milliseconds(2500));
  EXPECT_EQ(WaitBefore(back_off, error, 10, 0), std::nullopt);
}

TEST(BackOff, WaitsAsLongAsTheProviderWishes) {
  ModelError error = Of(Failure::kRateLimited);
  error.retry_after = milliseconds(7000);
  EXPECT_EQ(WaitBefore({}, error, 1, 0), milliseconds(7000));
  EXPECT_EQ(WaitBefore({}, error, 1, 0.5), milliseconds(7500));
  error.retry_after = milliseconds(3600'000);
  EXPECT_EQ(WaitBefore({}, error, 1, 0), std::nullopt);
}

TEST(BackOff, OnlyWhatCostNothingIsSentAgain) {
  for (const Failure why :
       {Failure::kNoMoney, Failure::kRefused, Failure::kTimeout, Failure::kMalformed,
        Failure::kTooLarge, Failure::kTruncated, Failure::kUnauthorised, Failure::kUnknownModel,
        Failure::kBroken, Failure::kRejected}) {
    EXPECT_EQ(WaitBefore({}, Of(why), 1, 0), std::nullopt) << Name(why);
  }
  EXPECT_TRUE(WaitBefore({}, Of(Failure::kUnreachable), 1, 0));
  ModelError half = Of(Failure::kOverloaded);
  half.may_cost = true;  // it broke while it answered
  EXPECT_EQ(WaitBefore({}, half, 1, 0), std::nullopt);
}

TEST(RetryAfter, ReadsSecondsAndDates) {
  using std::chrono::seconds;
  EXPECT_EQ(RetryAfter({{"retry-after", "7"}}, {}), milliseconds(7000));
  EXPECT_EQ(RetryAfter({{"retry-after", "0.5"}}, {}), milliseconds(500));
  EXPECT_EQ(RetryAfter({{"retry-after", "7"}, {"retry-after-ms", "250"}}, {}), milliseconds(250));
  EXPECT_EQ(RetryAfter({{"retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"}}, seconds(784111770)),
            milliseconds(7000));
  EXPECT_EQ(RetryAfter({{"retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"}}, seconds(784111799)),
            milliseconds(0));
  EXPECT_EQ(RetryAfter({}, {}), std::nullopt);
  for (const char* text : {"", "soon", "-3", "nan", "1e99", "Sun, 06 Xyz 1994 08:49:37 GMT"}) {
    EXPECT_EQ(RetryAfter({{"retry-after", text}}, {}), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace cupilot::agents
