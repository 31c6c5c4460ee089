#include "records/workload_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cupilot::records {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Parameter Number(const std::string& name, ParameterKind kind, const std::string& type,
                 std::int64_t bytes, bool is_signed) {
  Parameter parameter;
  parameter.name = name;
  parameter.type = parameter.canonical = type;
  parameter.kind = kind;
  parameter.bytes = bytes;
  parameter.is_signed = is_signed;
  return parameter;
}

Kernel MakeKernel() {
  Kernel kernel;
  kernel.name = "k";
  Parameter pointer = Number("in", ParameterKind::kPointer, "const float *", 8, false);
  pointer.element = "float";
  pointer.element_bytes = 4;
  kernel.parameters = {pointer, Number("n", ParameterKind::kInteger, "int", 4, true)};
  return kernel;
}

Workload MakeWorkload() {
  Workload workload;
  workload.cases.emplace_back();
  Case& one = workload.cases[0];
  one.name = "main";
  one.grid = {"ceil_div(n, 32)", "1", "1"};
  one.block = {"32", "1", "1"};
  one.arguments.resize(2);
  one.arguments[0].name = "in";
  one.arguments[0].count = "n";
  one.arguments[1].name = "n";
  one.arguments[1].value = "4000";
  return workload;
}

std::string ErrorOf(const Workload& workload) {
  const auto fits = CheckWorkload(MakeKernel(), workload);
  return fits ? "" : fits.error().message;
}

TEST(CheckWorkload, TakesWhatIsPossible) { EXPECT_EQ(ErrorOf(MakeWorkload()), ""); }

TEST(CheckWorkload, SaysWhereScalarsAreBeyondTheirType) {
  for (const char* value : {"9223372036854775808", "2147483648", "-2147483649", "0xffffffff"}) {
    Workload workload = MakeWorkload();
    workload.cases[0].arguments[1].value = value;
    EXPECT_THAT(ErrorOf(workload),
                AllOf(HasSubstr("cases[0].arguments[1].value: "), HasSubstr(value)));
  }
  const auto fits = [](const char* type, std::int64_t bytes, bool is_signed, const char* value) {
    const auto kind =
        std::string(type) == "float" ? ParameterKind::kFloating : ParameterKind::kInteger;
    return CheckScalar(Number("a", kind, type, bytes, is_signed), value).has_value();
  };
  EXPECT_TRUE(fits("bool", 1, false, "true"));
  EXPECT_FALSE(fits("bool", 1, false, "2"));
  EXPECT_TRUE(fits("signed char", 1, true, "-128"));
  EXPECT_FALSE(fits("signed char", 1, true, "128"));
  EXPECT_TRUE(fits("unsigned int", 4, false, "4294967295"));
  EXPECT_FALSE(fits("unsigned int", 4, false, "-1"));
  EXPECT_TRUE(fits("unsigned long", 8, false, "18446744073709551615"));
  EXPECT_TRUE(fits("long", 8, true, "-9223372036854775808"));
  EXPECT_FALSE(fits("long", 8, true, "9223372036854775808"));
  EXPECT_TRUE(fits("float", 4, false, "3.4e38"));
  EXPECT_TRUE(fits("float", 4, false, "-inf"));
  EXPECT_TRUE(fits("float", 4, false, "nan"));
  EXPECT_FALSE(fits("float", 4, false, "1e39"));
}

TEST(CheckWorkload, SaysWhereSizesAreImpossible) {
  for (const char* count : {"-1", "4294967296", "n * n * n * n", "9223372036854775807"}) {
    Workload workload = MakeWorkload();
    workload.cases[0].arguments[0].count = count;
    EXPECT_THAT(ErrorOf(workload), HasSubstr("cases[0].arguments[0].count: ")) << count;
  }
  Workload workload = MakeWorkload();
  workload.cases[0].grid[1] = "n - 4000";
  EXPECT_THAT(ErrorOf(workload), HasSubstr("cases[0].grid[1]: 0"));
  workload = MakeWorkload();
  workload.cases[0].block = {"64", "32", "1"};
  EXPECT_THAT(ErrorOf(workload), HasSubstr("cases[0].block: 2048 threads"));
  workload = MakeWorkload();
  workload.cases[0].arguments[1].name = "m";
  EXPECT_THAT(ErrorOf(workload), HasSubstr("cases[0].arguments[1].name: "));
  workload.cases[0].arguments.pop_back();
  EXPECT_THAT(ErrorOf(workload), HasSubstr("cases[0].arguments: 1 arguments"));
}

TEST(ExcessiveWorkspace, CountsThemTogether) {
  Variant variant;
  const auto excess = [&] { return ExcessiveWorkspace(MakeKernel(), MakeWorkload(), variant); };
  variant.workspace = {{"w", "4 * n", true}};
  EXPECT_EQ(excess(), "");
  variant.workspace = {{"w", "17179869184", true}};
  EXPECT_THAT(excess(), AllOf(HasSubstr("'w' would have 17179869184 bytes"), HasSubstr("8 GiB")));
  variant.workspace = {{"v", "5000000000", false}, {"w", "5000000000", false}};
  EXPECT_THAT(excess(), HasSubstr("'w'"));
  variant.workspace = {{"w", "sm_count * 1000", false}};
  EXPECT_EQ(excess(), "") << "the device says it";
}

}  // namespace
}  // namespace cupilot::records
