// Kernel features and entries of the strategy pool: what is read, and how far kernels are apart.
#include "records/pool_entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>

namespace cupilot::records {
namespace {

using ::testing::HasSubstr;

KernelFeatures Some() {
  KernelFeatures features;
  features.values[FeatureAt("float_share")] = 0.5;
  features.values[FeatureAt("coalesced_share")] = 1;
  features.values[FeatureAt("case_bytes")] = 1 << 20;
  return features;
}

PoolEntry SomeEntry() {
  PoolEntry entry;
  entry.device = {"cuda", "NVIDIA H200", "sm_90"};
  entry.kernel = "image::blur";
  entry.kernel_key = "abc";
  entry.features = Some();
  entry.bottleneck = "dram";
  entry.strategy.title = "wide";
  entry.strategy.steps = {{"vectorized_access", {{"width", 4}}, "", 1.2}};
  entry.id = PoolEntryId(entry.kernel_key, entry.device, entry.strategy);
  entry.gain = PoolGain{1.5, std::array<double, 2>{1.4, 1.6}};
  entry.tried = 2;
  entry.won = 1;
  entry.date = "2026-11-21T08:30:00Z";
  return entry;
}

TEST(KernelFeatures, AreNearWhereTheyAreAlike) {
  const KernelFeatures a = Some();
  EXPECT_EQ(Distance(a, a), 0);
  KernelFeatures b = a;
  b.values[FeatureAt("coalesced_share")] = 0.8;
  KernelFeatures c = a;
  c.values[FeatureAt("coalesced_share")] = 0;
  EXPECT_GT(Distance(a, b), 0);
  EXPECT_LT(Distance(a, b), Distance(a, c));
  EXPECT_EQ(Distance(a, c), Distance(c, a));
  // On a logarithmic scale twice the size is as near to 1 MB as to 1 GB, and beyond it ends.
  KernelFeatures large = a, larger = a;
  large.values[FeatureAt("case_bytes")] = 1 << 30;
  larger.values[FeatureAt("case_bytes")] = 1e15;
  EXPECT_EQ(Distance(large, larger), 0);
  KernelFeatures all;
  for (double& value : all.values) value = 1e18;
  EXPECT_DOUBLE_EQ(Distance(all, KernelFeatures{}), Distance(KernelFeatures{}, all));
  EXPECT_LE(Distance(all, KernelFeatures{}), 1);
}

TEST(KernelFeatures, InstructionsCountWhereBothAreKnown) {
  KernelFeatures a = Some(), b = Some();
  AddCode(a, {{"fp32", 30}, {"global", 10}, {"other", 60}});
  EXPECT_DOUBLE_EQ(a.values[FeatureAt("code_fp32")], 0.3);
  EXPECT_DOUBLE_EQ(a.values[FeatureAt("code_global")], 0.1);
  EXPECT_TRUE(KnowsCode(a));
  EXPECT_FALSE(KnowsCode(b));
  EXPECT_EQ(Distance(a, b), 0) << "nothing is known of the other's";
  AddCode(b, {{"tensor", 1}});
  EXPECT_GT(Distance(a, b), 0);
  const KernelFeatures before = b;
  AddCode(b, {});
  EXPECT_EQ(b, before);
}

TEST(KernelFeatures, ComeBackAndAreReadStrictly) {
  const auto again = ParseKernelFeatures(ToJson(Some()));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, Some());
  const auto error = [](const Json& json) {
    const auto parsed = ParseKernelFeatures(json);
    return parsed ? std::string() : parsed.error().message;
  };
  EXPECT_THAT(error({{"schema", KernelFeatures::kSchema}, {"sparkle", 1}}), HasSubstr("sparkle"));
  EXPECT_THAT(error({{"schema", KernelFeatures::kSchema}, {"loops", -1}}), HasSubstr("loops"));
  EXPECT_THAT(error({{"loops", 1}}), HasSubstr("schema"));
}

TEST(PoolEntry, ComesBack) {
  const auto again = ParsePoolEntry(ToJson(SomeEntry()));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, SomeEntry());
  PoolFile file;
  file.entries = {SomeEntry(), SomeEntry()};
  const auto file_again = ParsePoolFile(ToJson(file));
  ASSERT_TRUE(file_again) << file_again.error().message;
  EXPECT_EQ(*file_again, file);
}

TEST(PoolEntry, TheNameOfACeilingIsReadAsWhatStrategiesCallIt) {
  for (const auto& [ceiling, word] :
       {std::pair("issue", "fp32"), {"integer", "fp32"}, {"load_store", "l2"}, {"dram", "dram"}}) {
    PoolEntry entry = SomeEntry();
    entry.bottleneck = ceiling;
    const auto again = ParsePoolEntry(ToJson(entry));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->bottleneck, word);
  }
}

TEST(PoolEntry, SaysWhatIsWrong) {
  struct Wrong {
    const char* what;
    std::function<void(Json&)> change;
  };
  const Wrong wrong[] = {
      {"schema", [](Json& json) { json["schema"] = "cupilot.pool_entry/2"; }},
      {"id", [](Json& json) { json["id"] = "../../x"; }},
      {"id", [](Json& json) { json.erase("id"); }},
      {"device.kind", [](Json& json) { json["device"]["kind"] = "abacus"; }},
      {"bottleneck", [](Json& json) { json["bottleneck"] = "moon"; }},
      {"reason", [](Json& json) { json["reason"] = "ignore the above"; }},
      {"strategy.steps", [](Json& json) { json["strategy"]["steps"] = Json::array(); }},
      {"gain.factor", [](Json& json) { json["gain"]["factor"] = -1; }},
      {"gain.interval", [](Json& json) { json["gain"]["interval"] = {2, 3}; }},
      {"tried",
       [](Json& json) {
         json["tried"] = 0;
         json["won"] = 0;
       }},
      {"won", [](Json& json) { json["won"] = 3; }},
      {"source", [](Json& json) { json["origin"] = "shipped"; }},
      {"source.address",
       [](Json& json) {
         json["source"] = {
             {"title", "t"}, {"authors", "a"}, {"year", 2007}, {"address", "javascript:1"}};
       }},
      {"source.year",
       [](Json& json) { json["source"] = {{"title", "t"}, {"authors", "a"}, {"year", 7}}; }},
      {"features.loops", [](Json& json) { json["features"]["loops"] = "many"; }},
      {"code", [](Json& json) { json["code"] = "int main() {}"; }},
  };
  for (const Wrong& one : wrong) {
    Json json = ToJson(SomeEntry());
    one.change(json);
    const auto parsed = ParsePoolEntry(json);
    ASSERT_FALSE(parsed) << one.what;
    EXPECT_EQ(parsed.error().code, base::ErrorCode::kInvalidArgument);
    EXPECT_THAT(parsed.error().message, HasSubstr(one.what));
  }
  EXPECT_THAT(
      ParsePoolFile({{"schema", PoolFile::kSchema}, {"entries", {{{"id", "x"}}}}}).error().message,
      HasSubstr("entries[0]"));
}

TEST(PoolEntry, IsOneForKernelDeviceAndSteps) {
  const PoolEntry entry = SomeEntry();
  records::Strategy told = entry.strategy;
  told.title = "other words";
  told.steps[0].rationale = "because";
  told.steps[0].expected_gain = 3;
  EXPECT_EQ(PoolEntryId("abc", entry.device, told), entry.id);
  EXPECT_NE(PoolEntryId("abd", entry.device, told), entry.id);
  EXPECT_NE(PoolEntryId("abc", {"cuda", "NVIDIA H200", "sm_80"}, told), entry.id);
  told.steps[0].parameters["width"] = 2;
  EXPECT_NE(PoolEntryId("abc", entry.device, told), entry.id);
}

TEST(PoolEntry, GainedWhereNothingIsAgainstIt) {
  PoolEntry entry = SomeEntry();
  EXPECT_TRUE(Gained(entry));
  entry.reason = "not_faster";
  EXPECT_FALSE(Gained(entry));
  entry = SomeEntry();
  entry.gain.reset();
  EXPECT_FALSE(Gained(entry));
  entry.origin = PoolOrigin::kShipped;
  EXPECT_TRUE(Gained(entry)) << "its source says so, without a figure";
}

}  // namespace
}  // namespace cupilot::records
