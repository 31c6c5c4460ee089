#include "worker/regimes.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/daemon/worker/case_fixture.h"
#include "worker/literals.h"

namespace cupilot::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Literals, AreNumbersAndCharacters) {
  EXPECT_THAT(LiteralsOf("if (x < 0.1f || c == '\\n') y2 = 3 * a[0x10] + 1.5e3 - '\\'' + 1;"),
              ElementsAre(0.1, 3, 10, 16, 39, 1500));
  EXPECT_THAT(LiteralsOf("x0 + v2.x1 + 'a"), IsEmpty());
  std::string many;
  for (int i = 2; i < 100; ++i) many += std::to_string(i) + " ";
  EXPECT_EQ(LiteralsOf(many).size(), 24u);
}

struct Drawn {
  CasePlan plan;
  CaseInputs workload;
};

Drawn DrawCase(records::Case one) {
  Drawn drawn;
  drawn.plan = MakePlan(one);
  protocol::CandidateSet set;
  set.workload.cases = {one};
  const auto inputs = FindInputs(set, drawn.plan, nullptr);
  EXPECT_TRUE(inputs) << inputs.error().message;
  if (inputs) drawn.workload = **inputs;
  return drawn;
}

// The case, with integers as its input.
base::Result<CasePlan> PlanOfIntegers(const std::string& low, const std::string& high) {
  records::Case one = MakeCase();
  one.arguments[0].fill->kind = "integers";
  one.arguments[0].fill->low = low;
  one.arguments[0].fill->high = high;
  records::Kernel kernel = MakeKernel();
  kernel.parameters[0].element = "int";
  return PlanCase(kernel, one, device::DescribeHost(), nullptr);
}

CaseInputs Zeros(const CasePlan& plan) {
  CaseInputs inputs;
  for (const Region& region : plan.layout.regions) {
    inputs.regions.emplace_back(region.input ? static_cast<std::size_t>(region.bytes()) : 0);
  }
  return inputs;
}

std::vector<double> Numbers(const CasePlan& plan, const CaseInputs& inputs) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < kCount; ++i) {
    values.push_back(device::ReadNumber(inputs.regions[0].data(), i, plan.layout.regions[0].type));
  }
  return values;
}

CaseInputs Of(const std::vector<Regime>& regimes, const std::string& name) {
  for (const Regime& regime : regimes) {
    if (regime.name.find(name) != std::string::npos) return regime.draw();
  }
  ADD_FAILURE() << "there is no regime " << name;
  return {};
}

TEST(Regimes, OfFloatingNumbers) {
  const Drawn drawn = DrawCase(MakeCase());
  const auto regimes = Regimes(drawn.plan, drawn.workload, {7, 0.125}, true, 3);
  const auto levels = Numbers(drawn.plan, Of(regimes, "few levels"));
  EXPECT_EQ(std::set<double>(levels.begin(), levels.end()).size(), 8u);
  const auto named = Numbers(drawn.plan, Of(regimes, "numbers of the sources"));
  EXPECT_GT(std::count(named.begin(), named.end(), 7.0), 20);
  EXPECT_GT(std::count(named.begin(), named.end(), -0.125), 10);
  const auto runs = Numbers(drawn.plan, Of(regimes, "runs of equal"));
  int equal = 0;
  for (std::size_t i = 1; i < runs.size(); ++i) equal += runs[i] == runs[i - 1] ? 1 : 0;
  EXPECT_GT(equal, 500);
  const auto zeros = Numbers(drawn.plan, Of(regimes, "zeros in 'in'"));
  EXPECT_EQ(std::count(zeros.begin(), zeros.end(), 0.0), kCount);
  const auto small = Numbers(drawn.plan, Of(regimes, "all numbers times 1e-9"));
  const auto was = Numbers(drawn.plan, drawn.workload);
  EXPECT_FLOAT_EQ(static_cast<float>(small[5]), static_cast<float>(was[5] * 1e-9));
}

TEST(Regimes, OfNumbersFarFromWhatIsOrdinary) {
  const Drawn drawn = DrawCase(MakeCase());
  const auto regimes = Regimes(drawn.plan, drawn.workload, {7, 0.125}, true, 3);
  const auto of = [&](const std::string& name) { return Numbers(drawn.plan, Of(regimes, name)); };
  for (const double value : of("far below zero")) EXPECT_LT(value, -1000);
  const auto infinite = of("stretches of minus infinity");
  const auto is_least = [](double value) { return value == -INFINITY; };
  EXPECT_NEAR(std::count_if(infinite.begin(), infinite.end(), is_least), kCount / 2, kCount / 8);
  const auto mixed = of("close together");
  int behind = 0;  // no numbers close behind what is infinite
  for (std::size_t i = 1; i < mixed.size(); ++i) {
    behind += mixed[i - 1] == INFINITY && std::isnan(mixed[i]) ? 1 : 0;
  }
  EXPECT_GT(behind, kCount / 100);
  int signs = 0;
  for (const double value : of("nothing above them")) {
    EXPECT_LE(value, 0);
    signs += value == 0 && std::signbit(value) ? 1 : 0;
  }
  EXPECT_GT(signs, kCount / 8);
  int halves = 0, most = 0;
  for (const double value : of("halves up to")) {
    EXPECT_LE(std::fabs(value), 7);
    halves += std::fabs(value) - std::floor(std::fabs(value)) == 0.5 ? 1 : 0;
    most += std::fabs(value) == 7 ? 1 : 0;
  }
  EXPECT_GT(halves, kCount / 2);
  EXPECT_GT(most, kCount / 50);
  const auto apart = of("the largest all 32 apart");
  for (std::size_t i = 0; i < apart.size(); ++i) {
    EXPECT_EQ(apart[i] >= 4, i % 32 == 4) << i;
  }
}

TEST(Regimes, OfOneElementAndNothingElse) {
  const Drawn drawn = DrawCase(MakeCase());
  const auto regimes = Regimes(drawn.plan, drawn.workload, {}, true, 3);
  for (const int place : {1, kCount - 1}) {
    const auto alone = Numbers(
        drawn.plan, Of(regimes, "element " + std::to_string(place) + " of 'in' and nothing"));
    EXPECT_EQ(std::count(alone.begin(), alone.end(), 0.0), kCount - 1);
    EXPECT_EQ(alone[static_cast<std::size_t>(place)], 1.0);
  }
}

TEST(Regimes, AreFunctionsOfTheirNameAndSeed) {
  const Drawn drawn = DrawCase(MakeCase());
  const auto one = Regimes(drawn.plan, drawn.workload, {7}, true, 3);
  const auto again = Regimes(drawn.plan, drawn.workload, {7}, true, 3);
  const auto other = Regimes(drawn.plan, drawn.workload, {8}, true, 3);
  ASSERT_EQ(one.size(), again.size());
  std::set<std::string> names;
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_TRUE(names.insert(one[i].name).second) << one[i].name;
    EXPECT_EQ(one[i].name, again[i].name);
    EXPECT_EQ(one[i].draw().regions, again[i].draw().regions);
    const bool of_two = one[i].name.find("array") != std::string::npos;
    EXPECT_EQ(one[i].draw().changed, !of_two) << one[i].name << ": there is one input";
  }
  // What is kept of one candidate's numbers is not taken for another's.
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i].draw().regions != other[i].draw().regions) {
      EXPECT_NE(one[i].name, other[i].name);
    }
  }
}

TEST(Regimes, OfIntegersAtTheEndsOfTheirRanges) {
  const auto plan = PlanOfIntegers("-5", "200");
  ASSERT_TRUE(plan) << plan.error().message;
  const CaseInputs workload = Zeros(*plan);
  const auto values = [&](const std::string& name) {
    const CaseInputs inputs = Of(Regimes(*plan, workload, {13, 500}, true, 3), name);
    std::set<std::int64_t> found;
    for (std::int64_t i = 0; i < kCount; ++i) {
      found.insert(device::ReadInteger(inputs.regions[0].data(), i, plan->layout.regions[0].type));
    }
    return found;
  };
  EXPECT_THAT(values("either end"), ElementsAre(-5, 200));
  EXPECT_THAT(values("integers of few kinds ("), ElementsAre(-5, -4, -1, 0, 1, 13, 199, 200));
  EXPECT_THAT(values("integers of the sources"), ElementsAre(13));
}

// Of '0' and '9' all digits.
TEST(Regimes, OfIntegersBetweenNumbersOfTheSources) {
  const auto plan = PlanOfIntegers("32", "58");
  ASSERT_TRUE(plan) << plan.error().message;
  const CaseInputs workload = Zeros(*plan);
  const auto regimes = Regimes(*plan, workload, {10, 32, 43, 45, 48, 57, 2147483647}, true, 3);
  const auto between = [&](int range) {
    std::set<std::int64_t> found;
    const CaseInputs inputs = Of(regimes, "sources, range " + std::to_string(range));
    for (std::int64_t i = 0; i < kCount; ++i) {
      found.insert(device::ReadInteger(inputs.regions[0].data(), i, plan->layout.regions[0].type));
    }
    return found;
  };
  EXPECT_THAT(between(1), ElementsAre(48, 49, 50, 51, 52, 53, 54, 55, 56, 57));
  EXPECT_EQ(*between(2).begin(), 32);
  EXPECT_EQ(*between(2).rbegin(), 43);
}

TEST(Regimes, OfPlacesAndMultiples) {
  const auto plan = PlanOfIntegers("0", "1000000");
  ASSERT_TRUE(plan) << plan.error().message;
  const Region& region = plan->layout.regions[0];
  CaseInputs workload = Zeros(*plan);
  for (std::int64_t i = 0; i < kCount; ++i) {
    device::WriteInteger(workload.regions[0].data(), i, region.type, 12345 + 7 * i);
  }
  const auto regimes = Regimes(*plan, workload, {100}, true, 3);
  const auto at = [&](const CaseInputs& inputs, std::int64_t i) {
    return device::ReadInteger(inputs.regions[0].data(), i, region.type);
  };
  const CaseInputs before = Of(regimes, "lead to the one before"),
                   themselves = Of(regimes, "lead to themselves"),
                   multiples = Of(regimes, "multiples of integers"),
                   runs = Of(regimes, "short runs");
  int equal = 0;
  std::set<std::int64_t> rests;
  for (std::int64_t i = 1; i < kCount; ++i) {
    EXPECT_EQ(at(before, i), i - 1);
    EXPECT_EQ(at(themselves, i), i);
    // The scalar is named as well.
    rests.insert(at(multiples, i) % 100);
    equal += at(runs, i) == at(runs, i - 1) ? 1 : 0;
  }
  EXPECT_TRUE(rests.contains(0));
  EXPECT_LT(rests.size(), 100u);
  EXPECT_GT(equal, kCount / 2);
}

TEST(Regimes, OfHalvesWhoseSumsAreMoreThanTheyHold) {
  records::Kernel kernel = MakeKernel();
  kernel.parameters[0].element = "__half";
  kernel.parameters[0].element_bytes = 2;
  const auto plan = PlanCase(kernel, MakeCase(), device::DescribeHost(), nullptr);
  ASSERT_TRUE(plan) << plan.error().message;
  const CaseInputs workload = Zeros(*plan);
  const CaseInputs inputs =
      Of(Regimes(*plan, workload, {}, true, 3), "largest numbers of half precision");
  for (const double value : Numbers(*plan, inputs)) {
    EXPECT_GE(value, 32768);
    EXPECT_LE(value, 65504);
  }
  // Where sums are made in half precision themselves, honest ones in another order differ.
  for (const Regime& regime : Regimes(*plan, workload, {}, false, 3)) {
    EXPECT_THAT(regime.name, Not(HasSubstr("largest numbers")));
  }
}

}  // namespace
}  // namespace cupilot::worker
