#include "worker/pair_loop.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "worker/cuda_pairs.h"

namespace cupilot::worker {
namespace {

TEST(PairLoop, WhoComesFirstAlternatesAndTheFirstPairDoesNotCount) {
  std::string order;
  PairSettings settings;
  settings.most_pairs = 4;
  const auto taken = TakePairs(settings, [&](int side, std::size_t) -> base::Result<double> {
    order += side == 0 ? 'o' : 'c';
    return side == 0 ? 2.0 : 1.0;
  });
  ASSERT_TRUE(taken);
  EXPECT_EQ(order,
            "occoocco"
            "oc");
  ASSERT_EQ(taken->pairs.size(), 4u);
  EXPECT_EQ(taken->pairs[0], (std::pair<double, double>{2.0, 1.0}));
  EXPECT_FALSE(taken->stopped_early);
}

TEST(PairLoop, AClearLoserStopsAfterItsProbe) {
  const auto taken = TakePairs(
      {}, [](int side, std::size_t) -> base::Result<double> { return side == 0 ? 1.0 : 3.0; });
  ASSERT_TRUE(taken);
  EXPECT_TRUE(taken->stopped_early);
  EXPECT_EQ(taken->pairs.size(), 3u);
}

// A candidate whose launches take these microseconds, beside an original that takes 14 ms.
struct TimedLaunches {
  std::vector<double> times;
  std::string order;

  base::Result<PairsTaken> Probe(const PairSettings& settings, double first) {
    return GoOnWithProbe(settings, {14000, first},
                         [&](int side, std::size_t) -> base::Result<double> {
                           order += side == 0 ? 'o' : 'c';
                           if (side == 0) return 14100;
                           const double time = times.front();
                           if (times.size() > 1) times.erase(times.begin());
                           return time;
                         });
  }
};

// TimedLaunches of 14 ms: what is far from the best that is known costs two of the original, not
// seven.
TEST(PairLoop, AProbeIsAsLongAsItIsOfInterest) {
  PairSettings settings;
  settings.probe = true;
  settings.most_pairs = kProbePairs;
  TimedLaunches slow{{6100}, ""};
  EXPECT_FALSE(IsFar(settings, {14000, 6000})) << "nothing is known";
  EXPECT_EQ(slow.Probe(settings, 6050)->pairs, (TimedPairs{{14000, 6050}, {14100, 6100}}))
      << "both say the same";
  EXPECT_EQ(slow.Probe(settings, 6000)->pairs, TimedPairs(kProbePairs, {14100, 6100}))
      << "the first was another one";
  settings.promising = 1 / 5.0;
  EXPECT_FALSE(IsFar(settings, {14000, 4100})) << "one launch may be off";
  EXPECT_TRUE(IsFar(settings, {14000, 6000}));
  TimedLaunches fast{{3000}, ""};
  EXPECT_EQ(fast.Probe(settings, 4100)->pairs, TimedPairs(kProbePairs, {14100, 3000}));
  slow.order.clear();
  const auto taken = slow.Probe(settings, 6000);
  ASSERT_TRUE(taken);
  EXPECT_EQ(slow.order, "oc") << "the first pair warmed up";
  EXPECT_EQ(taken->pairs, (TimedPairs{{14000, 6000}, {14100, 6100}}));
  EXPECT_FALSE(taken->stopped_early) << "it is faster than the original";
  for (const double first : {12000.0, 50000.0}) {
    TimedLaunches hopeless{{first}, ""};
    const auto lost = hopeless.Probe(settings, first);
    ASSERT_TRUE(lost);
    EXPECT_EQ(hopeless.order, "") << "one launch says it";
    EXPECT_EQ(lost->pairs, (TimedPairs{{14000, first}}));
    EXPECT_EQ(lost->stopped_early, first > 14000);
  }
}

// A driver that makes room for a kernel's local memory does so while its first launch is timed.
TEST(PairLoop, AFirstLaunchThatWasFarAloneDoesNotCount) {
  PairSettings settings;
  settings.probe = true;
  settings.most_pairs = kProbePairs;
  settings.promising = 1 / 5.0;
  const auto taken = TimedLaunches{{3000, 3010, 3020}, ""}.Probe(settings, 8000);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->pairs, (TimedPairs{{14100, 3000}, {14100, 3010}, {14100, 3020}}));
}

TEST(PairLoop, PairsOfADisturbedTimeAreTakenAgain) {
  // Disturbed while pairs 2 and 3 are taken: what began or ended so does not count.
  std::size_t now = 0;
  PairSettings settings;
  settings.most_pairs = 4;
  const auto taken = TakePairs(
      settings,
      [&](int side, std::size_t pair) -> base::Result<double> {
        now = pair;
        return side == 0 ? 10.0 + static_cast<double>(pair) : 1.0;
      },
      [&] { return now == 2 || now == 3; });
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->dropped, 3u);
  ASSERT_EQ(taken->pairs.size(), 4u);
  EXPECT_EQ(taken->pairs[0].first, 11.0);
  EXPECT_EQ(taken->pairs[1].first, 15.0) << "4 began while it was disturbed";
}

TEST(PairLoop, ADisturbanceThatStaysEndsNothing) {
  PairSettings settings;
  settings.most_pairs = 5;
  std::size_t samples = 0;
  const auto taken = TakePairs(
      settings,
      [&](int side, std::size_t) -> base::Result<double> {
        ++samples;
        return side == 0 ? 2.0 : 1.0;
      },
      [] { return true; });
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->dropped, 5u);
  EXPECT_EQ(taken->pairs.size(), 5u);
  EXPECT_EQ(samples, 2u * (1 + 5 + 5));
}

TEST(PairLoop, AFailureEndsIt) {
  const auto taken = TakePairs({}, [](int, std::size_t pair) -> base::Result<double> {
    if (pair == 2) return base::Fail(base::ToolFailed("gone"));
    return 1.0;
  });
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().message, "gone");
}

TEST(PairLoop, GoesThroughJsonUnchanged) {
  PairsTaken taken;
  taken.pairs = {{2.5, 1.25}, {2.0, 1.0}};
  taken.stopped_early = true;
  taken.dropped = 3;
  const PairsTaken read = PairsFrom(ToJson(taken));
  EXPECT_EQ(read.pairs, taken.pairs);
  EXPECT_TRUE(read.stopped_early);
  EXPECT_EQ(read.dropped, 3u);
}

TEST(CudaPairs, CopiesExceedThreeTimesTheL2) {
  constexpr std::size_t kMegabyte = 1 << 20, kL2 = 50 * kMegabyte, kPlenty = kMegabyte << 17;
  for (const std::size_t bytes : {4 * kMegabyte, 12 * kMegabyte, 200 * kMegabyte}) {
    const std::size_t copies = CopiesFor(bytes, kL2, kPlenty);
    EXPECT_GT(copies * bytes, 3 * kL2) << bytes;
    EXPECT_GE(copies, 2u);
  }
  EXPECT_EQ(CopiesFor(200 * kMegabyte, kL2, kPlenty), 2u);
  EXPECT_LE(CopiesFor(1, kL2, kPlenty), 128u) << "bounded";
  EXPECT_EQ(CopiesFor(20 * kMegabyte, kL2, 100 * kMegabyte), 4u) << "as far as the memory goes";
}

}  // namespace
}  // namespace cupilot::worker
