// Values of a structure's tunables, found without a model.
#include "service/variant_numbers.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace cupilot::service {
namespace {

using search::evolution::Evidence;

class VariantNumbersTest : public ::testing::Test {
 protected:
  VariantNumbersTest() {
    records::Case one;
    one.name = "only";
    one.grid = {"4", "1", "1"};
    one.block = {"64", "1", "1"};
    input_.workload.cases = {one};
    structure_.kernel = "one";
    structure_.source = "__global__ void fast(float* out, int n) {}";
    records::Launch launch;
    launch.entry = "fast";
    launch.grid = {"4", "1", "1"};
    launch.block = {"T", "1", "1"};
    structure_.launches = {launch};
    structure_.tunables = {{"T", {32, 64, 128, 256}}, {"U", {1, 2, 3, 4}}};
    structure_.values = {{"T", 64}, {"U", 1}};
    structure_.require = {"T * U <= 512"};
    structure_.strategy = records::Strategy{"fast", "", {}};
    structure_.id = records::VariantId(structure_);
  }

  // Right and faster the greater T and U.
  static Evidence Judge(const records::Variant& variant) {
    Evidence evidence;
    evidence.speedup =
        0.5 + variant.values.at("T").get<double>() / 256 + variant.values.at("U").get<double>() / 4;
    evidence.kind =
        *evidence.speedup > 1.02 ? Evidence::Kind::kAccepted : Evidence::Kind::kRejected;
    if (evidence.kind == Evidence::Kind::kRejected) evidence.reason = "not_faster";
    return evidence;
  }

  JobInput input_;
  records::Variant structure_;
};

TEST_F(VariantNumbersTest, TheDefaultComesFirstAndTheBestCounts) {
  VariantNumbers numbers(input_, {}, structure_, 100);
  std::set<std::string> seen;
  while (const auto variant = numbers.Next()) {
    EXPECT_EQ(seen.empty(), variant->id == structure_.id);
    EXPECT_TRUE(seen.insert(variant->id).second) << "each once";
    EXPECT_EQ(variant->id, records::VariantId(*variant));
    EXPECT_LE(variant->values.at("T").get<int>() * variant->values.at("U").get<int>(), 512);
    EXPECT_FALSE(numbers.Next()) << "one after the other";
    numbers.Report({}, Judge(*variant));
  }
  EXPECT_TRUE(numbers.done());
  EXPECT_EQ(numbers.evaluations(), 14) << "all that are allowed of 16, each once";
  EXPECT_EQ(numbers.best().values.at("T"), 128);
  EXPECT_EQ(numbers.best().values.at("U"), 4);
  EXPECT_EQ(numbers.best().parents, std::vector<std::string>{structure_.id});
  EXPECT_EQ(numbers.evidence().speedup, 2.0);
}

TEST_F(VariantNumbersTest, NoMoreEvaluationsThanWereGiven) {
  VariantNumbers numbers(input_, {}, structure_, 3);
  while (const auto variant = numbers.Next()) numbers.Report({}, Judge(*variant));
  EXPECT_EQ(numbers.evaluations(), 3);
}

TEST_F(VariantNumbersTest, OfWhatIsWrongNoValuesAreLookedFor) {
  VariantNumbers numbers(input_, {}, structure_, 100);
  ASSERT_TRUE(numbers.Next());
  Evidence wrong;
  wrong.kind = Evidence::Kind::kRejected;
  wrong.reason = "wrong_values";
  numbers.Report({}, wrong);
  EXPECT_TRUE(numbers.done());
  EXPECT_FALSE(numbers.Next());
  EXPECT_EQ(numbers.evidence().reason, "wrong_values");
  EXPECT_EQ(numbers.evaluations(), 1);
}

// Wrong at other values, it is still what it was at its own.
TEST_F(VariantNumbersTest, ValuesThatFailDoNotCountAgainstTheStructure) {
  VariantNumbers numbers(input_, {}, structure_, 100);
  while (const auto variant = numbers.Next()) {
    Evidence evidence = Judge(*variant);
    if (variant->id != structure_.id) {
      evidence = {};
      evidence.kind = Evidence::Kind::kRejected;
      evidence.reason = "race";
    } else {
      evidence.kind = Evidence::Kind::kRejected;
      evidence.reason = "not_faster";
      evidence.speedup = 0.9;
    }
    numbers.Report({}, evidence);
  }
  EXPECT_EQ(numbers.best().id, structure_.id);
  EXPECT_EQ(numbers.evidence().reason, "not_faster");
}

TEST_F(VariantNumbersTest, WithoutTunablesThereIsOneEvaluation) {
  structure_.tunables.clear();
  structure_.values.clear();
  structure_.require.clear();
  structure_.launches[0].block = {"64", "1", "1"};
  VariantNumbers numbers(input_, {}, structure_, 100);
  ASSERT_TRUE(numbers.Next());
  Evidence right;
  right.kind = Evidence::Kind::kAccepted;
  right.speedup = 2;
  numbers.Report({}, right);
  EXPECT_TRUE(numbers.done());
}

}  // namespace
}  // namespace cupilot::service
