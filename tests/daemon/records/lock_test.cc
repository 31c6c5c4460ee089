#include "records/lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/support/make_lock.h"

namespace cupilot::records {
namespace {

using test::MakeLockedKernel;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kGpu = "compute_90,sm_90";
constexpr const char* kHost = "host-x86-64-v3";

std::string ErrorOf(const Json& json) {
  const auto lock = ParseLock(json.dump());
  return lock ? "" : lock.error().message;
}

Json FileOf(const LockedKernel& entry) {
  return {{"schema", Lock::kSchema}, {"kernels", {ToJson(entry)}}};
}

TEST(LockRecord, ComesBackAsItWas) {
  LockedKernel entry = MakeLockedKernel("blur", kGpu);
  entry.window = {{"x", "y"}, {"M"}};
  entry.files = {{"src/blur.cu", "outline", ""}, {"<build>/made.h", "", "hash"}};
  entry.devices = {"one"};
  entry.template_arguments = {"n::Shape<4, int>", "-1"};
  entry.label = "n::blur<n::Shape<4, int>, -1>";
  const std::string text = LockText({{entry}});
  const auto again = ParseLock(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->kernels[0].variant, entry.variant);
  EXPECT_EQ(again->kernels[0].evaluation, entry.evaluation);
  EXPECT_EQ(again->kernels[0].workload, entry.workload);
  EXPECT_EQ(LockText(*again), text);
}

TEST(LockRecord, IsTheSameBytesInWhateverOrder) {
  Lock lock{{MakeLockedKernel("b", kHost), MakeLockedKernel("b", kGpu),
             MakeLockedKernel("a", kHost), MakeLockedKernel("c", kGpu)}};
  const std::string text = LockText(lock);
  std::reverse(lock.kernels.begin(), lock.kernels.end());
  EXPECT_EQ(LockText(lock), text);
  const auto sorted = ParseLock(text);
  ASSERT_TRUE(sorted);
  std::string order;
  for (const LockedKernel& entry : sorted->kernels) order += entry.kernel + entry.target + " ";
  EXPECT_EQ(order,
            "n::ahost-x86-64-v3 n::bcompute_90,sm_90 n::bhost-x86-64-v3 n::ccompute_90,sm_90 ");
}

TEST(LockRecord, ReadsAsADiffShouldRead) {
  const std::string text = LockText({{MakeLockedKernel("blur", kGpu)}});
  EXPECT_THAT(text, StartsWith("{\n  \"schema\": \"cupilot.lock/1\",\n  \"kernels\": [\n"));
  EXPECT_THAT(text, HasSubstr("\"__global__ void v(float* x) {\",\n"));
  EXPECT_THAT(text, HasSubstr("\"  x[0] = 1;\",\n"));
  EXPECT_THAT(text, Not(HasSubstr("\r")));
  EXPECT_EQ(text.back(), '\n');
  // A change of one kernel shows in its lines only.
  Lock two{{MakeLockedKernel("blur", kGpu), MakeLockedKernel("edge", kGpu)}};
  const std::string before = LockText(two);
  two.kernels[1].evaluation.speedup = 1.75;
  const std::string after = LockText(two);
  EXPECT_EQ(std::count(before.begin(), before.end(), '\n'),
            std::count(after.begin(), after.end(), '\n'));
  const auto differs = std::mismatch(before.begin(), before.end(), after.begin());
  EXPECT_GT(differs.first - before.begin(),
            static_cast<std::ptrdiff_t>(before.find("\n    },\n    {")));
}

TEST(LockRecord, UnknownAndMissingKeysAreNamed) {
  const Json good = FileOf(MakeLockedKernel("blur", kGpu));
  EXPECT_EQ(ErrorOf(good), "");
  Json json = good;
  json["more"] = 1;
  EXPECT_THAT(ErrorOf(json), HasSubstr("more: unknown key"));
  json = good;
  json["kernels"][0]["gaurd"] = "1";
  EXPECT_THAT(ErrorOf(json), HasSubstr("kernels[0].gaurd: unknown key"));
  for (const auto& [key, value] : good["kernels"][0].items()) {
    json = good;
    json["kernels"][0].erase(key);
    EXPECT_THAT(ErrorOf(json), HasSubstr("kernels[0]." + key)) << key;
    json = good;
    json["kernels"][0][key] = 7.5;
    EXPECT_THAT(ErrorOf(json), HasSubstr("kernels[0]." + key)) << key;
  }
  json = good;
  json["schema"] = "cupilot.lock/2";
  EXPECT_THAT(ErrorOf(json), HasSubstr("schema"));
  EXPECT_FALSE(ParseLock("{"));
  EXPECT_FALSE(ParseLock(std::string(100000, '[')));
}

TEST(LockRecord, TheVariantIsTheOneThatWasProven) {
  const Json good = FileOf(MakeLockedKernel("blur", kGpu));
  const auto changed = [&](const std::function<void(Json & entry)>& change) {
    Json json = good;
    change(json["kernels"][0]);
    return ErrorOf(json);
  };
  EXPECT_THAT(changed([](Json& entry) { entry["variant"]["source"][1] = "  x[0] = 2;"; }),
              HasSubstr("variant.id: wrong"));
  EXPECT_THAT(changed([](Json& entry) { entry["variant"]["source"] = "text"; }),
              HasSubstr("array of lines"));
  EXPECT_THAT(changed([](Json& entry) { entry["variant"]["source"][0] = "a\nb"; }),
              HasSubstr("array of lines"));
  EXPECT_THAT(changed([](Json& entry) { entry["evaluation"]["variant"] = "other"; }),
              HasSubstr("another variant"));
  EXPECT_THAT(changed([](Json& entry) {
                entry["evaluation"]["verdict"] = "rejected";
                entry["evaluation"]["reason"] = "not_faster";
              }),
              HasSubstr("must be accepted"));
  EXPECT_THAT(changed([](Json& entry) { entry["target"] = "compute_80,sm_80"; }),
              HasSubstr("is not the evaluation's"));
  Json twice = good;
  twice["kernels"].push_back(twice["kernels"][0]);
  EXPECT_THAT(ErrorOf(twice), HasSubstr("kernels[1]: there is an entry"));
}

// Names and types of an entry become host code: nothing else may stand in their place.
TEST(LockRecord, NothingLeavesItsPlace) {
  const auto error = [](const std::function<void(LockedKernel & entry)>& change) {
    LockedKernel entry = MakeLockedKernel("blur", kGpu);
    change(entry);
    entry.variant.kernel = entry.workload.kernel = entry.kernel;
    entry.variant.id = entry.evaluation.variant = VariantId(entry.variant);
    return ErrorOf(FileOf(entry));
  };
  for (const char* type :
       {"", "int)>(0), evil((int", "int; evil()", "decltype([] { evil(); }())",
        "int\n#include \"x\"", "int\"", "a)(b", "int = {0}", "a>(b), c<d", "a<b"}) {
    EXPECT_THAT(error([&](LockedKernel& entry) { entry.parameters[0].canonical = type; }),
                HasSubstr("not a type"))
        << type;
  }
  for (const char* type : {"const float *__restrict", "n::Shape<4, (int)-1> &", "float (*)[4]"}) {
    EXPECT_EQ(error([&](LockedKernel& entry) { entry.parameters[0].canonical = type; }), "");
  }
  for (const char* name : {"", "n::", "::x", "n::blur)", "n::blur, evil", "1n::blur", "n blur"}) {
    EXPECT_THAT(error([&](LockedKernel& entry) { entry.kernel = name; }), Not("")) << name;
  }
  EXPECT_THAT(error([](LockedKernel& entry) { entry.namespaces = {"n {} evil() {"}; }),
              HasSubstr("not a name"));
  EXPECT_THAT(error([](LockedKernel& entry) { entry.template_arguments = {"1>(), evil(), f<1"}; }),
              HasSubstr("template_arguments"));
  EXPECT_THAT(error([](LockedKernel& entry) { entry.source = "/etc/x.cu"; }),
              HasSubstr("must be relative"));
}

}  // namespace
}  // namespace cupilot::records
