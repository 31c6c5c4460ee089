// Which variants stand behind one launch: each for the sizes at which it adds something.
#include "evaluate/variant_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/make_records.h"

namespace cupilot::evaluate {
namespace {

using ::testing::ElementsAre;

// Cases of the same weight.
records::Workload Workload(const std::vector<std::string>& names) {
  records::Workload workload;
  for (const std::string& name : names) {
    records::Case one;
    one.name = name;
    one.weight = 100;
    workload.cases.push_back(one);
  }
  return workload;
}

const records::Workload kTwo = Workload({"small", "large"});
const records::Workload kThree = Workload({"small", "middle", "large"});

// Speedups in the order of the cases; 0: not admitted.
records::Evaluation Proven(const records::Workload& workload, const std::vector<double>& speedups,
                           double spread = 0.001) {
  records::Evaluation evaluation;
  evaluation.accepted = true;
  for (std::size_t i = 0; i < speedups.size(); ++i) {
    const std::string& name = workload.cases[i].name;
    evaluation.cases.push_back(speedups[i] == 0 ? records::LeftToOriginal(name)
                                                : test::MakeCaseResult(name, speedups[i], spread));
  }
  return evaluation;
}

TEST(ChooseSet, OneForAllSizesStandsAlone) {
  EXPECT_THAT(ChooseSet({}, kTwo), ElementsAre());
  EXPECT_THAT(ChooseSet({Proven(kTwo, {1.5, 1.5})}, kTwo), ElementsAre(0));
  EXPECT_THAT(ChooseSet({Proven(kTwo, {1.5, 1.5}), Proven(kTwo, {1.4, 1.4})}, kTwo),
              ElementsAre(0));
}

TEST(ChooseSet, OfTwoThatWereTimedInOneRunTheFasterOneStands) {
  auto first = Proven(kTwo, {1.5, 1.5}), second = Proven(kTwo, {1.4, 1.4});
  first.variant = "first";
  second.variant = "second";
  NoteDuel("first", {1.2, {1.19, 1.21}, 10}, second);
  EXPECT_THAT(ChooseSet({first, second}, kTwo), ElementsAre(1));
  second.cases = Proven(kTwo, {2, 2}).cases;
  NoteDuel("first", {0.9, {0.89, 0.91}, -10}, second);
  EXPECT_THAT(ChooseSet({first, second}, kTwo), ElementsAre(0));
}

TEST(ChooseSet, WhatTheBestLeavesGoesToOthers) {
  EXPECT_THAT(ChooseSet({Proven(kTwo, {0, 2}), Proven(kTwo, {1.2, 0})}, kTwo), ElementsAre(0, 1));
  EXPECT_THAT(ChooseSet({Proven(kTwo, {0, 2}), Proven(kTwo, {1.2, 1.2})}, kTwo), ElementsAre(0, 1));
  // The one that saves most is asked first.
  EXPECT_THAT(ChooseSet({Proven(kTwo, {1.2, 0}), Proven(kTwo, {0, 2})}, kTwo), ElementsAre(1, 0));
  // Of several that one which saves most, and of about equal ones the earlier.
  const auto best = Proven(kThree, {0, 0, 2});
  EXPECT_THAT(ChooseSet({best, Proven(kThree, {1.1, 0, 0}), Proven(kThree, {1.3, 1.3, 0})}, kThree),
              ElementsAre(0, 2));
  EXPECT_THAT(
      ChooseSet({best, Proven(kThree, {1.3, 1.3, 0}), Proven(kThree, {1.301, 1.3, 0})}, kThree),
      ElementsAre(0, 1));
}

TEST(ChooseSet, OneForASizeComesBeforeOneForAll) {
  EXPECT_THAT(ChooseSet({Proven(kTwo, {1.5, 1.5}), Proven(kTwo, {0, 2})}, kTwo), ElementsAre(1, 0));
  // In its place, where it is slower at one size and faster in all.
  EXPECT_THAT(ChooseSet({Proven(kThree, {1.5, 1.5, 1.5}), Proven(kThree, {0, 1.4, 2})}, kThree),
              ElementsAre(1, 0));
  EXPECT_THAT(ChooseSet({Proven(kThree, {1.5, 1.5, 1.5}), Proven(kThree, {0, 1.2, 1.7})}, kThree),
              ElementsAre(0));
}

TEST(ChooseSet, NothingIsPublishedAgainWithoutAGain) {
  const std::vector<records::Evaluation> two = {Proven(kTwo, {0, 2}), Proven(kTwo, {1.5, 0})};
  EXPECT_THAT(ChooseSet(two, kTwo), ElementsAre(0, 1));
  // Better than each of them alone, and of no use beside both.
  EXPECT_THAT(ChooseSet({two[0], two[1], Proven(kTwo, {1.6, 1.6})}, kTwo), ElementsAre(0, 2));
  EXPECT_THAT(ChooseSet({two[0], two[1], Proven(kTwo, {1.5, 1.6})}, kTwo), ElementsAre(0, 1));
  // All that they do, and more.
  EXPECT_THAT(ChooseSet({two[0], two[1], Proven(kTwo, {2, 2.2})}, kTwo), ElementsAre(2));
}

TEST(ChooseSet, EvidenceForSomethingElseBeginsAnew) {
  auto other = Proven(kTwo, {1.1, 1.1});
  other.target = "another";
  EXPECT_THAT(ChooseSet({Proven(kTwo, {1.5, 1.5}), other}, kTwo), ElementsAre(1));
}

TEST(ChooseSet, TheMarginsAreThoseOfAVerdict) {
  const auto best = Proven(kThree, {0, 0, 2});
  // 1.01 of what is left, for certain.
  EXPECT_THAT(ChooseSet({best, Proven(kThree, {1.015, 0, 0})}, kThree), ElementsAre(0));
  EXPECT_THAT(ChooseSet({best, Proven(kThree, {1.05, 1.05, 0})}, kThree), ElementsAre(0, 1));
  EXPECT_THAT(ChooseSet({best, Proven(kThree, {1.05, 1.05, 0}, 0.06)}, kThree), ElementsAre(0));
  // A third of 0.5 us is less than 200 ns.
  auto quick = Proven(kThree, {1.5, 1.5, 0});
  for (records::CaseResult& result : quick.cases) result.original_us = 0.5;
  EXPECT_THAT(ChooseSet({best, quick}, kThree), ElementsAre(0));
}

TEST(ChooseSet, AtMostThree) {
  const records::Workload four = Workload({"a", "b", "c", "d"});
  EXPECT_THAT(ChooseSet({Proven(four, {2, 0, 0, 0}), Proven(four, {0, 1.3, 0, 0}),
                         Proven(four, {0, 0, 1.4, 0}), Proven(four, {0, 0, 0, 1.5})},
                        four),
              ElementsAre(0, 3, 2));
}

TEST(ChooseSet, EvidenceWithoutACaseIsLeftOut) {
  records::Evaluation part = Proven(kTwo, {1.2, 0});
  part.cases.pop_back();
  EXPECT_THAT(ChooseSet({Proven(kTwo, {0, 2}), part}, kTwo), ElementsAre(0));
  EXPECT_THAT(ChooseSet({part, Proven(kTwo, {0, 2})}, kTwo), ElementsAre(1));
}

TEST(MayJoin, AsFastAsTheIntervalAllows) {
  const std::vector<records::Evaluation> set = {Proven(kTwo, {0, 2})};
  EXPECT_TRUE(MayJoin(set, Proven(kTwo, {1.2, 0}).cases, kTwo));
  EXPECT_TRUE(MayJoin(set, Proven(kTwo, {1.01, 0}, 0.02).cases, kTwo));
  EXPECT_FALSE(MayJoin(set, Proven(kTwo, {1.01, 0}).cases, kTwo));
  EXPECT_FALSE(MayJoin(set, Proven(kTwo, {0, 1.9}).cases, kTwo));
  EXPECT_TRUE(MayJoin(set, Proven(kTwo, {0, 2.3}).cases, kTwo));
}

TEST(CasesOfSet, EachCaseIsOfWhatRunsIt) {
  const auto large = Proven(kThree, {0, 0, 2}), all = Proven(kThree, {1.5, 0, 1.5});
  const auto cases = CasesOfSet({large, all}, kThree);
  EXPECT_THAT(cases, ElementsAre(all.cases[0], records::LeftToOriginal("middle"), large.cases[2]));
  EXPECT_NEAR(Combine(cases, kThree)->speedup, 3 / (1 / 1.5 + 1 + 0.5), 1e-9);
}

}  // namespace
}  // namespace cupilot::evaluate
