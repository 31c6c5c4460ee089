// The formats: what is accepted, that it comes back the same, and what an error says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "records/evaluation.h"
#include "records/read_parts.h"
#include "records/selection.h"
#include "records/variant.h"
#include "records/workload.h"

namespace cupilot::records {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const char* const kWorkload = R"json({
 "schema": "cupilot.workload/1", "kernel": "image::blur",
 "cases": [{
   "name": "1080p", "weight": 1.5,
   "grid": [120, "ceil_div(height, 8)", 1], "block": [16, 8, 1], "shared_bytes": 0,
   "template_arguments": ["float"],
   "arguments": [
     {"name": "in", "type": "const float*", "count": "width*height", "access": "in",
      "fill": {"kind": "normal", "mean": 0.5, "stddev": 2}},
     {"name": "out", "type": "float*", "count": 2073600, "access": "out", "order": "free"},
     {"name": "alias", "type": "float*", "buffer": "pool", "offset": 64, "access": "inout"},
     {"name": "none", "type": "float*", "value": null},
     {"name": "p", "type": "Params", "bytes": "AAAAAAAAAAA=",
      "pointers": [{"at": 0, "buffer": "pool", "offset": 0}]},
     {"name": "big", "type": "unsigned long long", "value": "18446744073709551615"},
     {"name": "alpha", "type": "float", "value": 0.25},
     {"name": "beta", "type": "float", "value": "-inf"},
     {"name": "width", "type": "int", "value": 1920}],
   "buffers": [{"name": "pool", "bytes": 4096, "fill": {"kind": "uniform", "low": -1, "high": 0.5}}],
   "globals": [{"symbol": "ns::coef", "space": "constant", "count": 9,
                "fill": {"kind": "integers", "low": 0, "high": 9}, "access": "in"}],
   "attributes": {
  "max_dynamic_shared_bytes" : 98304, "cooperative" : true, "cluster" : [ 2, 1, 1 ]
}
}],
 "tolerance": {"relative": 1e-5}
})json";

const char* const kVariant = R"json({
 "schema": "cupilot.variant/1", "kernel": "image::blur",
 "includes": ["cuda_fp16.h"],
 "source": "__global__ void blur_t4(const float* in, float* out) {}",
 "launches": [{"fill": "partial", "byte": 0, "bytes": "4 * grid_x"},
   {"entry": "blur_t4", "grid": ["ceil_div(width, 4*BX)", "ceil_div(height, 8)", "1"],
    "block": ["BX", "8", "1"], "shared_bytes": "0",
    "arguments": ["in", {"type": "int", "value": "width / 4"}],
    "when": "width > 0", "repeat": {"count": "log2_ceil(width)", "index": "i"},
    "cooperative": true, "cluster": ["2", "1", "1"], "overlap_previous": true
}],
 "workspace": [{"name": "partial", "bytes": "4 * grid_x", "zeroed": true}],
 "guard": "width % 4 == 0 && aligned(in, 16)",
 "tunables": {"BX": [32, 64, 128]}, "require": ["BX * 8 <= 1024"], "values": {"BX": 64},
 "template_arguments": ["float"],
 "strategy": {"schema": "cupilot.strategy/1", "title": "wide loads", "bottleneck": "dram",
   "steps": [{"technique": "vectorized_access", "parameters": {"width": 4},
              "rationale": "dram", "expected_gain": 1.3}]},
 "parents": ["abc"]
})json";

Json Changed(const char* text, const std::function<void(Json&)>& change) {
  Json json = *ParseJson(text);
  change(json);
  return json;
}

std::string WorkloadError(const std::function<void(Json&)>& change) {
  const auto parsed = ParseWorkload(Changed(kWorkload, change));
  return parsed ? "" : parsed.error().message;
}

std::string VariantError(const std::function<void(Json&)>& change) {
  const auto parsed = ParseVariant(Changed(kVariant, change));
  return parsed ? "" : parsed.error().message;
}

TEST(Workload, ComesBackTheSame) {
  const auto workload = ParseWorkload(*ParseJson(kWorkload));
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  const Case& first = workload->cases[0];
  EXPECT_EQ(first.grid[1], "ceil_div(height, 8)");
  EXPECT_EQ(first.arguments[0].count, "width*height");
  EXPECT_TRUE(first.arguments[1].order_free);
  EXPECT_TRUE(first.arguments[3].null);
  EXPECT_EQ(first.arguments[5].value, "18446744073709551615");
  EXPECT_EQ(first.buffers[0].fill->high, "0.5");
  EXPECT_EQ(first.attributes->cluster.size(), 3U);
  const Json again = *ParseJson(PrettyJson(ToJson(*workload)));
  const auto second = ParseWorkload(again);
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_EQ(*second, *workload);
  EXPECT_EQ(HashJson(ToJson(*second)), HashJson(ToJson(*workload)));
}

TEST(Workload, ReadsEveryFill) {
  const std::vector<std::string> fills = {R"({"kind": "normal"})",
                                          R"({"kind": "uniform", "low": 0, "high": 1})",
                                          R"({"kind": "integers", "low": -3, "high": 3})",
                                          R"({"kind": "constant", "value": 2.5})",
                                          R"({"kind": "iota"})",
                                          R"({"kind": "permutation"})",
                                          R"({"kind": "offsets", "total": 100})",
                                          R"({"kind": "indices", "low": 0, "high": "width"})",
                                          R"({"kind": "sorted"})",
                                          R"({"kind": "sorted", "low": 0, "high": "width"})",
                                          R"({"kind": "sorted", "low": -0.5, "high": 1e3})",
                                          R"({"kind": "normal", "zeros": 0.95})",
                                          R"({"kind": "integers", "low": 0, "high": 1,
                                              "zeros": 1})",
                                          R"({"kind": "uniform", "low": 1, "high": 2,
                                              "zeros": 0.5})",
                                          R"({"kind": "bits"})",
                                          R"({"kind": "file", "path": "data/in.bin"})",
                                          R"({"kind": "pointers", "bytes": "4*width"})",
                                          R"({"kind": "pointers", "bytes": 64,
                                              "fill": {"kind": "uniform", "low": 0, "high": 1}})"};
  for (const std::string& fill : fills) {
    const Json json = Changed(
        kWorkload, [&](Json& w) { w["cases"][0]["arguments"][0]["fill"] = *ParseJson(fill); });
    const auto parsed = ParseWorkload(json);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
    EXPECT_EQ(*ParseWorkload(ToJson(*parsed)), *parsed) << fill;
  }
}

TEST(Workload, ZerosAreAShareOfWhatIsDrawn) {
  const auto error = [](const std::string& fill) {
    const auto parsed = ParseWorkload(Changed(
        kWorkload, [&](Json& w) { w["cases"][0]["arguments"][0]["fill"] = *ParseJson(fill); }));
    return parsed ? std::string() : parsed.error().message;
  };
  EXPECT_THAT(error(R"({"kind": "normal", "zeros": 1.5})"),
              HasSubstr("cases[0].arguments[0].fill.zeros: is a share"));
  EXPECT_THAT(error(R"({"kind": "normal", "zeros": -0.5})"), HasSubstr("is a share"));
  EXPECT_THAT(error(R"({"kind": "iota", "zeros": 0.5})"), HasSubstr("fill.zeros"));
}

TEST(Workload, BuffersHoldPointersToBuffers) {
  const auto with = [](const std::function<void(Json&)>& change) {
    return Changed(kWorkload, [&](Json& w) {
      Json& buffers = w["cases"][0]["buffers"];
      buffers.push_back(
          {{"name", "ptrs"},
           {"bytes", 16},
           {"pointers",
            {{{"at", 0}, {"buffer", "pool"}, {"offset", 8}}, {{"at", 8}, {"buffer", "ptrs"}}}}});
      change(buffers[1]);
    });
  };
  const auto parsed = ParseWorkload(with([](Json&) {}));
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  const Buffer& buffer = parsed->cases[0].buffers[1];
  ASSERT_EQ(buffer.pointers.size(), 2u);
  EXPECT_EQ(buffer.pointers[0].offset, 8);
  EXPECT_EQ(buffer.pointers[1].buffer, "ptrs");
  EXPECT_EQ(*ParseWorkload(ToJson(*parsed)), *parsed);
  const auto error = [&](const std::function<void(Json&)>& change) {
    const auto wrong = ParseWorkload(with(change));
    return wrong ? "" : wrong.error().message;
  };
  EXPECT_EQ(error([](Json& b) { b["pointers"][1]["buffer"] = "pond"; }),
            "cases[0].buffers[1].pointers[1].buffer: no buffer 'pond' in this case; there are "
            "pool, ptrs");
  EXPECT_EQ(error([](Json& b) { b["pointers"][0]["at"] = -8; }),
            "cases[0].buffers[1].pointers[0].at: cannot be negative");
  EXPECT_EQ(error([](Json& b) { b["pointers"][0]["to"] = 1; }).substr(0, 46),
            "cases[0].buffers[1].pointers[0].to: unknown ke");
  EXPECT_THAT(error([](Json& b) { b["fill"] = {{"kind", "pointers"}, {"bytes", 8}}; }),
              StartsWith("cases[0].buffers[1].fill.kind: only an argument with count can be"));
}

TEST(Workload, AFillOfPointersIsStrict) {
  const auto error = [](const std::string& fill) {
    return WorkloadError(
        [&](Json& w) { w["cases"][0]["arguments"][0]["fill"] = *ParseJson(fill); });
  };
  const std::string fill = "cases[0].arguments[0].fill.";
  EXPECT_THAT(error(R"({"kind": "pointers"})"), StartsWith(fill + "bytes: missing"));
  EXPECT_THAT(error(R"({"kind": "pointers", "bytes": "n +"})"), StartsWith(fill + "bytes: column"));
  EXPECT_THAT(error(R"({"kind": "normal", "bytes": 4})"), StartsWith(fill + "bytes: unknown key"));
  EXPECT_THAT(error(R"({"kind": "pointers", "bytes": 4, "fill": {"kind": "gauss"}})"),
              StartsWith(fill + "fill.kind: unknown fill 'gauss'"));
  EXPECT_THAT(
      error(R"({"kind": "pointers", "bytes": 4, "fill": {"kind": "pointers", "bytes": 4}})"),
      StartsWith(fill + "fill.kind: pointers are followed one level"));
  EXPECT_THAT(error(R"({"kind": "pointers", "bytes": 4, "fill": {"kind": "file", "path": "x"}})"),
              StartsWith(fill + "fill.kind: a file cannot fill slices"));
}

TEST(Workload, NamesThePathOfTheBadKey) {
  const auto argument = [](Json& w, int i) -> Json& { return w["cases"][0]["arguments"][i]; };
  EXPECT_THAT(WorkloadError([&](Json& w) { argument(w, 0)["fill"]["kind"] = "gauss"; }),
              StartsWith("cases[0].arguments[0].fill.kind: unknown fill 'gauss'; one of normal"));
  EXPECT_THAT(WorkloadError([&](Json& w) { argument(w, 0)["fill"]["low"] = 1; }),
              StartsWith("cases[0].arguments[0].fill.low: unknown key"));
  EXPECT_EQ(WorkloadError([](Json& w) { w["schema"] = "cupilot.workload/2"; }),
            "schema: expected \"cupilot.workload/1\", found \"cupilot.workload/2\"");
  EXPECT_THAT(WorkloadError([](Json& w) { w.erase("schema"); }), StartsWith("schema: missing"));
  EXPECT_EQ(WorkloadError([](Json& w) { w["cases"][0]["grid"] = {1, 2}; }),
            "cases[0].grid: expected three sizes, found 2");
  EXPECT_THAT(WorkloadError([](Json& w) { w["cases"][0]["grid"][0] = "1 +"; }),
              StartsWith("cases[0].grid[0]: column 4: expected"));
  EXPECT_THAT(WorkloadError([&](Json& w) { argument(w, 1)["access"] = "write"; }),
              StartsWith("cases[0].arguments[1].access: unknown value 'write'; one of in, out"));
  EXPECT_EQ(WorkloadError([&](Json& w) { argument(w, 2)["buffer"] = "pond"; }),
            "cases[0].arguments[2].buffer: no buffer 'pond' in this case; there are pool");
  EXPECT_EQ(WorkloadError([&](Json& w) { argument(w, 8)["count"] = 3; }),
            "cases[0].arguments[8].value: an argument cannot have count and value together");
  EXPECT_THAT(WorkloadError([&](Json& w) { argument(w, 8).erase("value"); }),
              StartsWith("cases[0].arguments[8].value: missing"));
  EXPECT_EQ(WorkloadError([&](Json& w) { argument(w, 4)["bytes"] = "??"; }),
            "cases[0].arguments[4].bytes: not base64");
  EXPECT_EQ(WorkloadError([&](Json& w) { argument(w, 1)["name"] = "in"; }),
            "cases[0].arguments[1].name: two arguments are called 'in'");
  EXPECT_EQ(WorkloadError([](Json& w) { w["cases"] = Json::array(); }),
            "cases: is empty; a workload has at least one case");
  EXPECT_EQ(WorkloadError([](Json& w) { w["tolerance"]["relative"] = -1; }),
            "tolerance.relative: cannot be negative");
  EXPECT_EQ(WorkloadError([](Json& w) { w["cases"][0]["weight"] = 0; }),
            "cases[0].weight: must be positive");
}

TEST(Variant, ComesBackTheSameWithItsId) {
  const auto variant = ParseVariant(*ParseJson(kVariant));
  ASSERT_TRUE(variant.has_value()) << variant.error().message;
  EXPECT_EQ(variant->id.size(), 40U);
  EXPECT_EQ(variant->id, VariantId(*variant));
  EXPECT_EQ(VariantNamespace(variant->id), "cupilot_" + variant->id.substr(0, 16));
  const auto second = ParseVariant(*ParseJson(PrettyJson(ToJson(*variant))));
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_EQ(*second, *variant);
}

TEST(Variant, TheIdIsOfWhatRuns) {
  const std::string id = ParseVariant(*ParseJson(kVariant))->id;
  const auto id_with = [](const std::function<void(Json&)>& change) {
    return ParseVariant(Changed(kVariant, change))->id;
  };
  EXPECT_EQ(id_with([](Json& v) { v.erase("strategy"); }), id);
  EXPECT_EQ(id_with([](Json& v) { v["parents"] = Json::array(); }), id);
  EXPECT_NE(id_with([](Json& v) { v["values"]["BX"] = 128; }), id);
  EXPECT_NE(id_with([](Json& v) { v["guard"] = "1"; }), id);
  EXPECT_THAT(VariantError([](Json& v) { v["id"] = std::string(40, '0'); }),
              StartsWith("id: wrong: the document's id is " + id));
  EXPECT_EQ(VariantError([&](Json& v) { v["id"] = id; }), "");
  // The hash of the document as it stands is right too.
  EXPECT_EQ(VariantError([](Json& v) {
              v["tensor_maps"] = Json::array();
              Json bare = v;
              bare.erase("strategy");
              bare.erase("parents");
              v["id"] = HashJson(bare);
            }),
            "");
}

TEST(Variant, NamesThePathOfTheBadKey) {
  EXPECT_THAT(VariantError([](Json& v) { v["launches"][1]["grid"][0] = "ceil_div(width"; }),
              StartsWith("launches[1].grid[0]: column 15: expected ',' or ')'"));
  EXPECT_THAT(VariantError([](Json& v) { v["guard"] = "a ** b"; }),
              StartsWith("guard: column 4: expected"));
  EXPECT_EQ(VariantError([](Json& v) { v["launches"][0]["fill"] = "other"; }),
            "launches[0].fill: no workspace 'other'");
  EXPECT_THAT(VariantError([](Json& v) { v["launches"][1]["arguments"][1]["kind"] = 1; }),
              StartsWith("launches[1].arguments[1].kind: unknown key"));
  EXPECT_THAT(VariantError([](Json& v) { v["host_code"] = ""; }),
              StartsWith("host_code: unknown key"));
  EXPECT_EQ(VariantError([](Json& v) { v.erase("launches"); }),
            "launches: missing; a variant has launches, or an entry");
  EXPECT_EQ(VariantError([](Json& v) { v["values"]["A B"] = 1; }), "values.A B: not an identifier");
  EXPECT_EQ(VariantError([](Json& v) { v["require"][0] = "BX <"; }).substr(0, 12), "require[0]: ");
  EXPECT_THAT(VariantError([](Json& v) { v["strategy"]["bottleneck"] = "luck"; }),
              StartsWith("strategy.bottleneck: unknown value 'luck'; one of dram"));
}

TEST(Variant, WithoutLaunchesHasOneLaunchOfItsEntry) {
  const auto variant = ParseVariant(Changed(kVariant, [](Json& v) {
    v.erase("launches");
    v["entry"] = "blur_t4";
  }));
  ASSERT_TRUE(variant.has_value()) << variant.error().message;
  const std::vector<Launch> launches = LaunchesOf(*variant);
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_EQ(launches[0].entry, "blur_t4");
  EXPECT_TRUE(launches[0].grid.empty());
}

TEST(Evaluation, ComesBackTheSame) {
  Evaluation evaluation;
  evaluation.variant = "abc";
  evaluation.kernel_key = "key";
  evaluation.target = "host-x86-64-v3";
  evaluation.device = {"cpu", "host-x86-64-v3", 2, std::int64_t{1} << 60};
  evaluation.seed = std::numeric_limits<std::uint64_t>::max();
  evaluation.accepted = true;
  CaseResult result;
  result.name = "1080p";
  result.original_us = 41.2;
  result.interval = {1.79, 1.84};
  result.l2 = "warm";
  result.error = 0.4;
  evaluation.cases = {result};
  evaluation.speedup = 1.81;
  evaluation.interval = {1.79, 1.84};
  evaluation.checks = {{"red_zones", true, ""}};
  evaluation.metrics = {{"twin", true}};
  const Json json = ToJson(evaluation);
  EXPECT_EQ(json["verdict"], "accepted");
  EXPECT_TRUE(json["cases"][0]["original_error"].is_null());
  const auto again = ParseEvaluation(*ParseJson(PrettyJson(json)));
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(*again, evaluation);
}

TEST(Evaluation, SaysWhichCasesTheGuardLeavesToTheOriginal) {
  CaseResult measured;
  measured.name = "large";
  Evaluation evaluation;
  evaluation.variant = "variant";
  evaluation.accepted = true;
  evaluation.cases = {measured, LeftToOriginal("small")};
  const Json json = ToJson(evaluation);
  EXPECT_FALSE(json["cases"][0].contains("admitted"));
  EXPECT_EQ(json["cases"][1]["admitted"], false);
  EXPECT_EQ(json["cases"][1]["speedup"], 1);
  const auto again = ParseEvaluation(json);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(*again, evaluation);
}

TEST(Evaluation, KnowsItsReasons) {
  Evaluation evaluation;
  evaluation.reason = "not_faster";
  EXPECT_TRUE(ParseEvaluation(ToJson(evaluation)).has_value());
  EXPECT_FALSE(ToJson(evaluation).contains("speedup"));
  evaluation.reason = "too_slow";
  EXPECT_THAT(ParseEvaluation(ToJson(evaluation)).error().message, HasSubstr("reason: unknown"));
}

TEST(Selection, ComesBackTheSame) {
  Selection selection;
  selection.source = "/p/main.cu";
  selection.swap = "swap.abc.cu";
  selection.hook = "cupilot_hook_abc";
  selection.files = {{"/p/main.cu", 123, 1795249800123456789, "hash"}};
  selection.files[0].tags = "tags";
  selection.closure = {{"/p/main.cu", 10, 90, "range"}};
  selection.names = {"blur", "weight"};
  selection.tokens = "tokens";
  SelectedVariant variant;
  variant.id = "abc";
  variant.target = "host-x86-64-v3";
  variant.speedup = 1.5;
  selection.kernels = {{"blur", "_Z4blur", "key", {variant}}};
  const Json json = ToJson(selection);
  const auto again = ParseSelection(*ParseJson(PrettyJson(json)));
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(ToJson(*again), json);
  EXPECT_EQ(again->files[0].mtime_ns, 1795249800123456789);
  EXPECT_FALSE(ParseSelection(Json::object()).has_value());
}

TEST(Selection, WhatIsCompiledDoesNotDependOnTheFilesAsTheyWere) {
  Selection selection;
  selection.swap = "swap.abc.cu";
  selection.files = {{"/p/main.cu", 123, 1, "hash"}};
  Selection again = selection;
  again.files = {{"/p/main.cu", 124, 2, "another", "tags"}};
  again.closure = {{"/p/main.cu", 10, 90, "range"}};
  again.names = {"blur"};
  again.tokens = "tokens";
  EXPECT_EQ(CompiledHash(again), CompiledHash(selection));
  again.swap = "swap.def.cu";
  EXPECT_NE(CompiledHash(again), CompiledHash(selection));
}

// What a newer version wrote into a record is there when an older one writes it again.
TEST(Records, KeepTheKeysOfANewerVersion) {
  Evaluation evaluation;
  evaluation.variant = "abc";
  evaluation.accepted = true;
  evaluation.cases.resize(1);
  evaluation.checks = {{"red_zones", true, ""}};
  Json json = ToJson(evaluation);
  json["energy"] = {{"joule", 2.5}};
  json["cases"][0]["median_us"] = 3;
  json["checks"][0]["seed"] = 7;
  json["resources"]["spills"] = 0;
  const auto again = ParseEvaluation(json);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(ToJson(*again), json);

  Selection selection;
  selection.files = {{"/p/main.cu", 123, 1, "hash"}};
  SelectedVariant variant;
  variant.id = "abc";
  selection.kernels = {{"blur", "_Z4blur", "key", {variant}}};
  json = ToJson(selection);
  json["policy"] = "newest";
  json["files"][0]["inode"] = 9;
  json["kernels"][0]["uses"] = {1, 2};
  json["kernels"][0]["variants"][0]["origin"] = "mechanical";
  const auto selected = ParseSelection(json);
  ASSERT_TRUE(selected.has_value()) << selected.error().message;
  EXPECT_EQ(ToJson(*selected), json);
}

TEST(CompileCommand, IsHashedByWhatChangesTheCode) {
  CompileCommand command;
  command.directory = "/p/build";
  command.arguments = {"nvcc", "-O3",  "-std=c++17", "-Xcompiler", "-Wall,-fno-math-errno",
                       "-c",   "a.cu", "-o",         "a.o",        "-MD",
                       "-MF",  "a.d"};
  command.source = "/p/a.cu";
  const std::string hash = CommandHash(command);
  const auto with = [&](std::vector<std::string> more) {
    CompileCommand changed = command;
    changed.arguments.insert(changed.arguments.end(), more.begin(), more.end());
    return CommandHash(changed);
  };
  EXPECT_EQ(with({"-g", "-lineinfo", "-Wextra"}), hash);
  EXPECT_NE(with({"-DN=3"}), hash);
  EXPECT_NE(with({"--use_fast_math"}), hash);
  EXPECT_NE(with({"-gencode=arch=compute_90,code=sm_90"}), hash);
  EXPECT_NE(with({"-rdc=true"}), hash);
  EXPECT_NE(with({"-Xcompiler=-ffast-math"}), hash);
  command.environment = {{"CPATH", "/x"}, {"NVCC_APPEND_FLAGS", ""}};
  const auto again = ParseCompileCommand(*ParseJson(PrettyJson(ToJson(command))));
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(ToJson(*again), ToJson(command));
  EXPECT_EQ(EnvironmentHash(*again), EnvironmentHash(command));
}

}  // namespace
}  // namespace cupilot::records
