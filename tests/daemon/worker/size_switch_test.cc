// What tells that a candidate takes another path at a large size than at a small one.
#include "worker/size_switch.h"

#include <gmock/gmock.h>

#include "tests/daemon/worker/case_fixture.h"

namespace cupilot::worker {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

records::Launch LaunchOf(const std::string& entry, const std::string& when = "") {
  records::Launch launch;
  launch.entry = entry;
  launch.grid = {"ceil_div(n, 64)", "1", "1"};
  launch.block = {"64", "1", "1"};
  launch.when = when;
  return launch;
}

// Of n = 20,000,000 and 500,000.
std::string WhyNot(records::Variant variant) {
  records::Kernel kernel = MakeKernel();
  kernel.closure_source = "__global__ void scale(...) { if (n > 3000000) return; }";
  variant.kernel = "scale";
  if (variant.launches.empty()) variant.launches = {LaunchOf("other")};
  const auto plan_of = [](const char* n) {
    records::Case one = MakeCase();
    one.arguments[3].value = n;
    return MakePlan(one);
  };
  const CasePlan large = plan_of("20000000"), small = plan_of("500000");
  CasePlan large_with = large, small_with = small;
  const auto at_large = VariantProgram(kernel, variant, large_with);
  const auto at_small = VariantProgram(kernel, variant, small_with);
  if (!at_large || !at_small) return "cannot be planned";
  return WhySizesDiffer(kernel, variant, {large, *at_large}, {small, *at_small});
}

std::string WhyNotOf(const std::string& source) {
  records::Variant variant;
  variant.source = source;
  return WhyNot(std::move(variant));
}

TEST(SizeSwitch, IsOtherKernelsAtTheLargeSize) {
  records::Variant variant;
  variant.launches = {LaunchOf("small", "n <= 9000000"), LaunchOf("large", "n > 9000000")};
  EXPECT_THAT(WhyNot(variant), HasSubstr("other kernels"));
  variant.launches = {LaunchOf("first"), LaunchOf("second")};
  EXPECT_THAT(WhyNot(variant), IsEmpty());
}

TEST(SizeSwitch, IsANumberThatOnlyTheLargeSizeReaches) {
  EXPECT_THAT(WhyNotOf("if (n > 4194304) x = y;"), HasSubstr("names 4194304"));
  EXPECT_THAT(WhyNotOf("if (n > 4'194'304u) x = y;"), HasSubstr("names 4194304"));
  EXPECT_THAT(WhyNotOf("if (n > 0x400000) x = y;"), HasSubstr("names 4194304"));
  EXPECT_THAT(WhyNotOf("if (n > (1 << 22)) x = y;"), HasSubstr("names 4194304"));
  EXPECT_THAT(WhyNotOf("if (n > 1000 * 4000) x = y;"), HasSubstr("names 4000000"));
  records::Variant variant;
  variant.source = "if (n > LIMIT) x = y;";
  variant.values["LIMIT"] = 4194304;
  EXPECT_THAT(WhyNot(variant), HasSubstr("names 4194304"));
}

TEST(SizeSwitch, IsNoNumberThatBothReachOrNeitherOrThatTheOriginalNames) {
  EXPECT_THAT(WhyNotOf("__shared__ float tile[4096]; for (int i = 0; i < 1024; ++i) f32x4 += x1;"),
              IsEmpty());
  EXPECT_THAT(WhyNotOf("if (n > 3000000) return;"), IsEmpty());
  EXPECT_THAT(WhyNotOf("mask = 0xffffffff; x = 3.5e6f; y = 1e7;"), IsEmpty());
  EXPECT_THAT(WhyNotOf("x = 0xffffffffffffffff * 9; y = 0xffffffffffffffff << 40;"), IsEmpty());
}

}  // namespace
}  // namespace cupilot::worker
