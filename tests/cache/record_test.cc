#include "cache/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cache/keys.h"

namespace cupilot::cache {
namespace {

using ::testing::StartsWith;

TEST(Record, ComesBackTheSame) {
  const std::string bytes = Seal({{"a", 1}}, "nvcc 13.0", "driver 580");
  const auto record = Unseal(bytes);
  ASSERT_TRUE(record.has_value()) << record.error().message;
  EXPECT_EQ(record->value, (records::Json{{"a", 1}}));
  EXPECT_EQ(record->schema_version, kSchemaVersion);
  EXPECT_THAT(record->tool, ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_EQ(record->toolchain, "nvcc 13.0");
}

TEST(Record, IsStaleUnderAnotherToolchainOrDriver) {
  const Record record = *Unseal(Seal({}, "nvcc 13.0", "driver 580"));
  EXPECT_FALSE(IsStale(record, "nvcc 13.0", "driver 580"));
  EXPECT_TRUE(IsStale(record, "nvcc 13.1", "driver 580"));
  EXPECT_TRUE(IsStale(record, "nvcc 13.0", "driver 590"));
  EXPECT_FALSE(IsStale(record, "", "driver 580"));
  EXPECT_FALSE(IsStale(*Unseal(Seal({})), "nvcc 13.0", "driver 580"));
}

TEST(Record, TellsDamageFromNewerVersions) {
  EXPECT_EQ(Unseal("{").error().code, base::ErrorCode::kCorruption);
  EXPECT_EQ(Unseal("[]").error().code, base::ErrorCode::kCorruption);
  EXPECT_EQ(Unseal("{}").error().code, base::ErrorCode::kCorruption);
  EXPECT_EQ(Unseal(R"({"schema_version": 1, "tool": "0.1.0"})").error().code,
            base::ErrorCode::kCorruption);
  EXPECT_EQ(Unseal(R"({"schema_version": 99, "tool": "9.0.0", "value": 1})").error().code,
            base::ErrorCode::kUnsupported);
}

records::Evaluation SomeEvaluation() {
  records::Evaluation evaluation;
  evaluation.kernel_key = "kkk";
  evaluation.variant = "vvv";
  evaluation.device = {"cpu", "host-x86-64-v3", 2, 1024};
  evaluation.toolchain = "g++ 12";
  return evaluation;
}

TEST(Keys, FindEvidenceByPrefix) {
  const records::Evaluation evaluation = SomeEvaluation();
  const std::string key = EvaluationKey(evaluation);
  EXPECT_THAT(key, StartsWith(EvaluationPrefix("kkk")));
  EXPECT_THAT(key, StartsWith(EvaluationPrefix("kkk", evaluation.device)));
  EXPECT_THAT(VariantKey("kkk", "vvv"), StartsWith(VariantPrefix("kkk")));
}

TEST(Keys, KeepEvidenceUnderOtherConditionsApart) {
  const std::string key = EvaluationKey(SomeEvaluation());
  const auto with = [](auto change) {
    records::Evaluation evaluation = SomeEvaluation();
    change(evaluation);
    return EvaluationKey(evaluation);
  };
  EXPECT_EQ(with([](auto& e) { e.date = "later"; }), key);
  EXPECT_NE(with([](auto& e) { e.toolchain = "g++ 13"; }), key);
  EXPECT_NE(with([](auto& e) { e.driver = "580"; }), key);
  EXPECT_NE(with([](auto& e) { e.workload = "other"; }), key);
  EXPECT_NE(with([](auto& e) { e.device.sm_count = 4; }), key);
  EXPECT_NE(with([](auto& e) { e.target = "sm_90"; }), key);
  // Two compilers of one name.
  EXPECT_EQ(EvaluationKey(SomeEvaluation(), "g++ 12"), key);
  EXPECT_NE(EvaluationKey(SomeEvaluation(), "/opt/one/g++ 12"), key);
  EXPECT_NE(EvaluationKey(SomeEvaluation(), "/opt/one/g++ 12"),
            EvaluationKey(SomeEvaluation(), "/opt/two/g++ 12"));
}

TEST(Keys, DependOnContentOnly) {
  EXPECT_EQ(PoolKey("abc"), PoolPrefix() + "abc");
  EXPECT_NE(ProjectKey("/a"), ProjectKey("/b"));
  EXPECT_EQ(SelectionKey("/a").size(), 40U);
}

}  // namespace
}  // namespace cupilot::cache
