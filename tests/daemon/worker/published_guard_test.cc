#include "worker/published_guard.h"

#include <gmock/gmock.h>

#include "records/launch_names.h"
#include "tests/daemon/worker/case_fixture.h"

namespace cupilot::worker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::int64_t Holds(const std::string& guard, const records::Environment& environment) {
  const auto value = records::EvaluateText(guard, environment);
  EXPECT_TRUE(value) << value.error().message;
  return value.value_or(-1);
}

TEST(PublishedGuard, HoldsForWhatWasVerifiedOnly) {
  const CasePlan plan = MakePlan();
  const std::string guard = PublishedGuard(MakeKernel(), {}, {plan});
  records::Environment environment = plan.environment;
  EXPECT_EQ(Holds(guard, environment), 1);
  environment.integers["n"] += 1;
  EXPECT_EQ(Holds(guard, environment), 0) << guard;
  environment = plan.environment;
  environment.integers["block_x"] += 1;
  EXPECT_EQ(Holds(guard, environment), 0) << guard;
  environment = plan.environment;
  environment.pointers["out"] = environment.pointers["in"] + 4;
  EXPECT_EQ(Holds(guard, environment), 0) << "an output over an input was not verified";
}

// Each name of the launch expressions, as a parameter of each kind.
TEST(PublishedGuard, TellsParametersFromWhatTheLaunchIsAsked) {
  for (const std::string_view taken : records::kLaunchNames) {
    const std::string name(taken);
    records::Kernel kernel = MakeKernel();
    records::Case one = MakeCase();
    kernel.parameters[3].name = one.arguments[3].name = name;
    // In a workload it is the parameter: the launch is what its sizes say.
    one.grid[0] = "ceil_div(" + name + ", 64)";
    one.arguments[0].count = one.arguments[1].count = name;
    const auto plan = PlanCase(kernel, one, device::DescribeHost(), nullptr);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->grid[0], (kCount + 63) / 64);
    EXPECT_EQ(plan->environment.integers.at("$3"), kCount);
    EXPECT_NE(plan->environment.integers.at(name), kCount) << name;
    const std::string guard = PublishedGuard(kernel, {}, {*plan});
    EXPECT_TRUE(AdmitsAny(guard, {}, {*plan})) << guard;
    EXPECT_THAT(guard, HasSubstr("$3 == " + std::to_string(kCount)));
    records::Environment environment = plan->environment;
    environment.integers["$3"] += 1;
    EXPECT_EQ(Holds(guard, environment), 0) << guard;

    // A pointer and a floating number.
    kernel = MakeKernel();
    one = MakeCase();
    kernel.parameters[1].name = one.arguments[1].name = name;
    kernel.parameters[2].name = one.arguments[2].name = name == "grid_x" ? "block_x" : "grid_x";
    const auto other = PlanCase(kernel, one, device::DescribeHost(), nullptr);
    ASSERT_TRUE(other) << other.error().message;
    const std::string pointers = PublishedGuard(kernel, {}, {*other});
    EXPECT_TRUE(AdmitsAny(pointers, {}, {*other})) << pointers;
    EXPECT_THAT(pointers, HasSubstr("disjoint($1, "));
    EXPECT_FALSE(other->environment.pointers.contains(name));
  }
}

TEST(PublishedGuard, OfATunablesNameIsTheTunable) {
  records::Variant variant;
  variant.values["n"] = 4;
  const CasePlan plan = MakePlan();
  const std::string guard = PublishedGuard(MakeKernel(), variant, {plan});
  EXPECT_THAT(guard, HasSubstr("$3 == 1000"));
  EXPECT_TRUE(AdmitsAny(guard, variant, {plan})) << guard;
}

TEST(PublishedGuard, ThatContradictsItselfAdmitsNothing) {
  const CasePlan plan = MakePlan();
  records::Variant variant;
  variant.guard = "n < 0";
  EXPECT_FALSE(AdmitsAny(PublishedGuard(MakeKernel(), variant, {plan}), variant, {plan}));
  EXPECT_TRUE(AdmitsAny("true", variant, {plan}));
  EXPECT_FALSE(AdmitsAny("unknown == 1", variant, {plan}));
}

// Integers that a lambda captures are scalars, too.
TEST(PublishedGuard, HoldsForTheCapturesThatWereVerified) {
  records::Kernel kernel;
  kernel.parameters.resize(1);
  kernel.parameters[0].name = "f";
  kernel.parameters[0].canonical = "user::cupilot_lambda_1";
  kernel.parameters[0].bytes = 16;
  records::MadeType type;
  type.name = "user::cupilot_lambda_1";
  type.integers = {{"less", 0, 2, true}, {"count", 4, 4, false}, {"large", 8, 8, false}};
  kernel.made_types = {type};
  CasePlan plan;
  plan.references.resize(1);
  plan.arguments.resize(1);
  const unsigned char bytes[16] = {0xfe, 0xff, 1, 1, 7, 0, 0, 0x80, 5};
  for (const unsigned char byte : bytes) plan.arguments[0].bytes.push_back(std::byte{byte});
  const std::string guard = PublishedGuard(kernel, {}, {plan});
  EXPECT_NE(guard.find("f.less == -2 && f.count == 2147483655 && f.large == 5"), std::string::npos)
      << guard;
  plan.arguments[0].bytes[15] = std::byte{0x80};
  EXPECT_NE(PublishedGuard(kernel, {}, {plan}).find("f.count == 2147483655 && 1 == 0"),
            std::string::npos);
}

// Numbers in structures: integers are held to what was verified, others are varied instead.
TEST(PublishedGuard, HoldsForTheMembersThatWereVerified) {
  using records::ParameterKind;
  records::Kernel kernel;
  kernel.parameters.resize(1);
  kernel.parameters[0].name = "f";
  kernel.parameters[0].members = {
      {"width", "int", ParameterKind::kInteger, 0, 4, true},
      {"scale", "float", ParameterKind::kFloating, 4, 4, false},
      {"flags[1]", "unsigned char", ParameterKind::kInteger, 9, 1, false}};
  CasePlan plan;
  plan.references.resize(1);
  plan.arguments.resize(1);
  const unsigned char bytes[12] = {0x9c, 0xff, 0xff, 0xff, 0, 0, 0x80, 0x3f, 1, 200, 3, 4};
  for (const unsigned char byte : bytes) plan.arguments[0].bytes.push_back(std::byte{byte});
  const std::string guard = PublishedGuard(kernel, {}, {plan});
  EXPECT_NE(guard.find("f.width == -100 && f.flags[1] == 200"), std::string::npos) << guard;
  EXPECT_EQ(guard.find("scale"), std::string::npos);
}

// Guards are published: what a program wrote into a structure is none of them, unless it decides.
TEST(PublishedGuard, AsksForATextOnlyWhereItIsRead) {
  using records::ParameterKind;
  records::Kernel kernel;
  kernel.closure_source =
      "struct Note { char text[2]; int n; };\n__global__ void k(float* out, Note f) { *out = f.n; "
      "}";
  kernel.parameters.resize(1);
  kernel.parameters[0].name = "f";
  kernel.parameters[0].members = {{"text[0]", "char", ParameterKind::kInteger, 0, 1, true},
                                  {"text[1]", "char", ParameterKind::kInteger, 1, 1, true},
                                  {"n", "int", ParameterKind::kInteger, 4, 4, true}};
  CasePlan plan;
  plan.references.resize(1);
  plan.arguments.resize(1);
  const unsigned char bytes[8] = {'m', 'y', 0, 0, 7};
  for (const unsigned char byte : bytes) plan.arguments[0].bytes.push_back(std::byte{byte});
  EXPECT_THAT(PublishedGuard(kernel, {}, {plan}), Not(HasSubstr("text")));
  EXPECT_THAT(PublishedGuard(kernel, {}, {plan}), HasSubstr("f.n == 7"));
  records::Variant variant;
  variant.source = "__global__ void v(float* out, Note f) { if (f.text[0] == 'm') *out = 1; }";
  EXPECT_THAT(PublishedGuard(kernel, variant, {plan}), HasSubstr("f.text[0] == 109"));
  variant.source = "__global__ void v(float* out, Note f) { *out = *(const char*)&f == 'm'; }";
  EXPECT_THAT(PublishedGuard(kernel, variant, {plan}), HasSubstr("f.text[0] == 109"));
  variant.source = "__global__ void v(float* out, Note f) { if (f.n & 3 && f.n) *out = f.n; }";
  EXPECT_THAT(PublishedGuard(kernel, variant, {plan}), Not(HasSubstr("text")));
  kernel.closure_source += "// f.text decides";
  EXPECT_THAT(PublishedGuard(kernel, {}, {plan}), HasSubstr("f.text[1] == 121"));
}

TEST(PublishedGuard, AddsTheVariantsOwn) {
  records::Variant variant;
  variant.guard = "n % 4 == 0 || n < 0";
  const CasePlan plan = MakePlan();
  const std::string guard = PublishedGuard(MakeKernel(), variant, {plan});
  EXPECT_THAT(guard, HasSubstr("(n % 4 == 0 || n < 0) && "));
  EXPECT_EQ(Holds(guard, plan.environment), 1);
}

TEST(PublishedGuard, EachVerifiedCaseIsABox) {
  records::Case other = MakeCase();
  other.arguments[3].value = "77";
  const CasePlan one = MakePlan(), two = MakePlan(other);
  const std::string guard = PublishedGuard(MakeKernel(), {}, {one, two});
  EXPECT_EQ(Holds(guard, one.environment), 1);
  EXPECT_EQ(Holds(guard, two.environment), 1);
  records::Environment mixed = one.environment;
  mixed.integers["n"] = 77;
  EXPECT_EQ(Holds(guard, mixed), 0) << "the size of one with the grid of the other";
}

TEST(PublishedGuard, CasesThatDifferInContentsAloneAreOneBox) {
  const CasePlan one = MakePlan(), two = MakePlan();
  EXPECT_EQ(PublishedGuard(MakeKernel(), {}, {one, two}), PublishedGuard(MakeKernel(), {}, {one}));
}

records::Case WithoutInput() {
  records::Case one = MakeCase();
  one.arguments[0] = {};
  one.arguments[0].name = "in";
  one.arguments[0].null = true;
  return one;
}

TEST(PublishedGuard, NullIsNullAgainAndNothingElse) {
  const CasePlan plan = MakePlan(WithoutInput());
  const std::string guard = PublishedGuard(MakeKernel(), {}, {plan});
  records::Environment environment = plan.environment;
  environment.pointers["in"] = 0;
  EXPECT_EQ(Holds(guard, environment), 1) << guard;
  environment.pointers["in"] = 1 << 20;
  EXPECT_EQ(Holds(guard, environment), 0) << "it was verified with null only: " << guard;
  environment.pointers["in"] = 0;
  environment.pointers["out"] = 0;
  EXPECT_EQ(Holds(guard, environment), 0) << guard;
}

TEST(PublishedGuard, EachCaseHasItsNulls) {
  const CasePlan with = MakePlan(), without = MakePlan(WithoutInput());
  const std::string guard = PublishedGuard(MakeKernel(), {}, {with, without});
  EXPECT_EQ(Holds(guard, with.environment), 1);
  records::Environment environment = with.environment;
  environment.pointers["in"] = 0;
  EXPECT_EQ(Holds(guard, environment), 1) << guard;
  environment.pointers["out"] = 0;
  EXPECT_EQ(Holds(guard, environment), 0) << guard;
}

// A guard of the variant's own that asks for one pointer takes the hook's check from all.
TEST(PublishedGuard, AVariantThatAsksForNullChangesNothingForOthers) {
  records::Variant variant;
  variant.guard = "!is_null(in)";
  const CasePlan plan = MakePlan();
  const std::string guard = PublishedGuard(MakeKernel(), variant, {plan});
  records::Environment environment = plan.environment;
  EXPECT_EQ(Holds(guard, environment), 1);
  environment.pointers["out"] = 0;
  EXPECT_EQ(Holds(guard, environment), 0) << guard;
}

}  // namespace
}  // namespace cupilot::worker
