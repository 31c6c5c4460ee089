#include "worker/admission.h"

#include <gmock/gmock.h>

#include "tests/daemon/worker/case_fixture.h"

namespace cupilot::worker {
namespace {

using ::testing::ElementsAre;

bool IsLeft(const std::string& guard, const records::Case& one = MakeCase()) {
  records::Variant variant;
  variant.guard = guard;
  variant.values = {{"BX", 64}};
  return IsLeftToOriginal(variant, MakePlan(one));
}

TEST(Admission, AGuardLeavesCasesByScalarsAndGeometry) {
  EXPECT_FALSE(IsLeft(""));
  EXPECT_FALSE(IsLeft("n >= 1000"));
  EXPECT_TRUE(IsLeft("n > 1000"));
  EXPECT_TRUE(IsLeft("grid_x * block_x == n"));
  EXPECT_TRUE(IsLeft("n % BX == 0"));
  EXPECT_TRUE(IsLeft("factor > 2"));
  EXPECT_TRUE(IsLeft("is_null(in)"));
  EXPECT_TRUE(IsLeft("aligned(in, 16) && n > 1000")) << "whatever the address is";
}

TEST(Admission, WhereMemoryLiesLeavesNone) {
  EXPECT_FALSE(IsLeft("aligned(in, 1099511627776)"));
  EXPECT_FALSE(IsLeft("disjoint(in, 4 * n, in, 4 * n) && n >= 1000"));
  EXPECT_FALSE(IsLeft("aligned(in, 1099511627776) || n > 1000")) << "another address would do";
}

TEST(Admission, WhatHasNoValueLeavesNone) {
  EXPECT_FALSE(IsLeft("unknown > 3"));
  EXPECT_FALSE(IsLeft("n / 0 > 3 && n > 1000"));
  EXPECT_FALSE(IsLeft("n >"));
}

TEST(Admission, TheOtherCasesAreRun) {
  protocol::CandidateSet set;
  set.kernel = MakeKernel();
  set.variant.guard = "n < 1000";
  set.workload.cases = {MakeCase(), MakeCase()};
  set.workload.cases[1].name = "small";
  set.workload.cases[1].arguments[3].value = "77";
  const Admission admission = Admit(set, device::DescribeHost());
  EXPECT_THAT(admission.left, ElementsAre("all"));
  ASSERT_EQ(admission.cases.size(), 1u);
  EXPECT_EQ(admission.cases[0].name, "small");
}

TEST(Admission, WhatCannotBePlannedIsNotLeft) {
  protocol::CandidateSet set;
  set.kernel = MakeKernel();
  set.variant.guard = "n < 1000";
  set.workload.cases = {MakeCase()};
  set.workload.cases[0].arguments.pop_back();
  EXPECT_THAT(Admit(set, device::DescribeHost()).left, ElementsAre());
}

}  // namespace
}  // namespace cupilot::worker
