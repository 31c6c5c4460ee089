#include "protocol/worker_messages.h"

#include <gtest/gtest.h>

namespace cupilot::protocol {
namespace {

records::Kernel SomeKernel() {
  records::Kernel kernel;
  kernel.name = "image::blur";
  kernel.namespaces = {"image", ""};
  records::Parameter in;
  in.name = "in";
  in.type = "const float *";
  in.canonical = "const float *";
  in.kind = records::ParameterKind::kPointer;
  in.element = "float";
  in.element_bytes = 4;
  in.element_const = true;
  kernel.parameters = {in};
  kernel.tunables = {{"BX", {16, 32}, 16}};
  kernel.globals = {{"ns::w", "constant", "float", 4, 9}};
  kernel.closure_source = "__global__ void blur(const float* in);\n";
  kernel.depends_on_lines = true;
  kernel.closure = {{"/p/a.cu", 1, 9, "hash"}};
  records::Case workload;
  workload.name = "c";
  workload.grid = {"1", "1", "1"};
  workload.block = {"32", "1", "1"};
  kernel.cases = {workload};
  kernel.tolerance = records::Tolerance{.relative = 1e-4, .absolute = {}, .bitwise = false};
  return kernel;
}

// To JSON, through its text, and back: the same JSON again.
template <class T, class Parse>
T Again(const T& message, Parse parse) {
  const records::Json json = ToJson(message);
  auto back = parse(*records::ParseJson(records::CompactJson(json)));
  EXPECT_TRUE(back.has_value()) << (back ? "" : back.error().message);
  if (!back) return T{};
  EXPECT_EQ(ToJson(*back), json);
  return *back;
}

TEST(WorkerMessages, ComeBackTheSame) {
  ScanReply scan;
  scan.kernels = {SomeKernel()};
  scan.warnings = {"a.cu:3: no workload"};
  EXPECT_EQ(Again(scan, ParseScanReply).kernels[0].parameters[0].element, "float");

  RewriteRequest rewrite;
  rewrite.kernel = SomeKernel();
  rewrite.workload = rewrite.kernel.cases[0];
  rewrite.strategy.steps = {{"block_size", {{"x", 256}}, "", 1.2}};
  EXPECT_EQ(Again(rewrite, ParseRewriteRequest).strategy, rewrite.strategy);

  RewriteReply reply;
  reply.declined = true;
  reply.reason = "aliasing";
  EXPECT_EQ(Again(reply, ParseRewriteReply).reason, "aliasing");
  reply.variant.kernel = "blur";
  reply.variant.source = "__global__ void v() {}";
  reply.variant.entry = "v";
  reply.variant.id = records::VariantId(reply.variant);
  EXPECT_EQ(Again(reply, ParseRewriteReply).variant, reply.variant);

  ProposeReply propose;
  propose.proposals = {{"unrolling", true, "", {{{"factor", 4}}}}};
  EXPECT_EQ(Again(propose, ParseProposeReply).proposals[0].parameters.size(), 1U);
  EXPECT_EQ(Again(propose, ParseProposeReply).features, std::nullopt);
  propose.features.emplace().values[records::FeatureAt("loops")] = 2;
  EXPECT_EQ(Again(propose, ParseProposeReply).features, propose.features);

  RetuneRequest retune;
  retune.values = {{"BX", 32}, {"BY", -1}};
  EXPECT_EQ(Again(retune, ParseRetuneRequest).values, retune.values);

  TwinReply twin;
  twin.widened = {true, false};
  twin.shared_growth = 4;
  twin.significand_bits = 11;
  twin.device = "host";
  twin.structures = {{1, 32, {{"float", 4, 4, 8, 8}, {"int", 8, 4, 16, 4}}}};
  const TwinReply again = Again(twin, ParseTwinReply);
  EXPECT_EQ(again.widened, twin.widened);
  EXPECT_EQ(again.shared_growth, 4);
  EXPECT_EQ(again.significand_bits, 11);
  EXPECT_EQ(again.device, "host");
  EXPECT_EQ(again.structures, twin.structures);

  BuildReply build;
  build.text_hashes = {{"blur", "abc"}};
  build.losses = {{"blur", "f16 cvt.rn.f16.f32"}};
  build.log = "line 3: error";
  EXPECT_EQ(Again(build, ParseBuildReply).text_hashes, build.text_hashes);
  EXPECT_EQ(Again(build, ParseBuildReply).losses, build.losses);
  build.lacks = {"shared_memory"};
  EXPECT_EQ(Again(build, ParseBuildReply).lacks, build.lacks);

  MeasureRequest measure;
  measure.set.kernel = SomeKernel();
  measure.set.seed = 18446744073709551615U;
  measure.set.twin = twin;
  measure.set.lacks = {"synchronisation"};
  measure.confirm = true;
  EXPECT_EQ(Again(measure, ParseMeasureRequest).set.seed, measure.set.seed);
  EXPECT_EQ(Again(measure, ParseMeasureRequest).set.lacks, measure.set.lacks);
  ProfileRequest profile;
  profile.set = measure.set;
  profile.cases.emplace_back();
  profile.cases[0].name = "all";
  profile.cases[0].original_us = 3;
  profile.compiler = "nvcc";
  profile.compile_folder = "/p/build";
  const ProfileRequest read = Again(profile, ParseProfileRequest);
  EXPECT_EQ(read.set.seed, profile.set.seed);
  EXPECT_EQ(read.cases, profile.cases);
  EXPECT_EQ(read.compiler, profile.compiler);
  EXPECT_EQ(read.compile_folder, profile.compile_folder);

  VerifyReply verify;
  verify.checks = {{"red_zones", true, ""}};
  records::CaseResult result;
  result.name = "c";
  result.error = 0.5;
  verify.cases = {result};
  verify.steps = {{"second_call", {{"launches", 2}}}};
  EXPECT_EQ(Again(verify, ParseVerifyReply).cases[0].error, 0.5);
  EXPECT_EQ(Again(verify, ParseVerifyReply).steps, verify.steps);
  VerifyRequest rest;
  rest.depth = "rest";
  rest.left_out = {"plants"};
  EXPECT_EQ(Again(rest, ParseVerifyRequest).depth, "rest");
  EXPECT_EQ(Again(rest, ParseVerifyRequest).left_out, rest.left_out);
}

TEST(WorkerMessages, KeepDefaultsAndNameBadKeys) {
  const auto request = ParseBuildRequest(*records::ParseJson(R"({"text": "x"})"));
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->timeout_ms, 60000);
  const auto bad = ParseVerifyRequest(
      *records::ParseJson(R"({"set": {"kernel": {"parameters": [{"kind": 1}]}}})"));
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().message,
            "set.kernel.parameters[0].kind: expected a string, found a number");
}

}  // namespace
}  // namespace cupilot::protocol
