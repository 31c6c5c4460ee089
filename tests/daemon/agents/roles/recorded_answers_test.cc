// Answers of a real model, as they came (tests/data/models/*/README.md), are read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agents/roles/variant_answer.h"
#include "tests/daemon/agents/roles/examples.h"

namespace cupilot::agents {
namespace {

std::string Recorded(const std::string& name) {
  return std::string(CUPILOT_TEST_SOURCE_DIR) + "/tests/data/models/" + name;
}

std::string RecordedText(const std::string& name) {
  std::ifstream file(Recorded(name));
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string SystemOf(const records::Json& request) {
  return request["body"]["messages"][0]["content"].get<std::string>();
}

// Each tunable has its default among its values.
void ExpectDefaults(const records::Variant& variant) {
  for (const auto& [name, values] : variant.tunables) {
    EXPECT_THAT(values, testing::Contains(variant.values.at(name))) << name;
  }
}

records::Parameter FloatingParameter(const std::string& name) {
  records::Parameter parameter = IntegerParameter(name);
  parameter.type = parameter.canonical = "float";
  parameter.kind = records::ParameterKind::kFloating;
  return parameter;
}

TEST(RecordedAnswers, ARevisedVariantIsRead) {
  const auto request =
      records::ParseJson(RecordedText("recorded_2026-11-23/softmax_reviser.request.jsonl"));
  ASSERT_TRUE(request) << request.error().message;
  // What was asked is what today's prompt says of itself.
  EXPECT_THAT(SystemOf(*request), testing::HasSubstr("You are the reviser"));
  records::Kernel kernel;
  kernel.name = kernel.base_name = "softmax";
  kernel.parameters = {PointerParameter("in", "const float *"), PointerParameter("out", "float *"),
                       IntegerParameter("rows"), IntegerParameter("columns")};
  const auto read =
      ReadVariant(RecordedText("recorded_2026-11-23/softmax_reviser.answer.txt"), kernel);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->variant.kernel, "softmax");
  EXPECT_THAT(read->variant.source, testing::HasSubstr("__global__"));
  EXPECT_FALSE(read->variant.launches.empty());
  ExpectDefaults(read->variant);
}

using Kernels = std::map<std::string, std::vector<records::Parameter>>;

Kernels AnsweredKernels() {
  const auto in = [](const std::string& name, const std::string& type) {
    return PointerParameter(name, type);
  };
  return {
      {"attention",
       {in("q", "const float *"), in("k", "const float *"), in("v", "const float *"),
        in("out", "float *"), IntegerParameter("keys"), FloatingParameter("scale")}},
      {"convolution",
       {in("in", "const float *"), in("out", "float *"), IntegerParameter("width"),
        IntegerParameter("height")}},
      {"histogram",
       {in("data", "const unsigned char *"), in("bins", "unsigned int *"), IntegerParameter("n")}},
      {"layer_norm",
       {in("in", "const float *"), in("gain", "const float *"), in("bias", "const float *"),
        in("out", "float *"), IntegerParameter("rows"), IntegerParameter("columns"),
        FloatingParameter("epsilon")}},
      {"matmul",
       {in("a", "const float *"), in("b", "const float *"), in("c", "float *"),
        IntegerParameter("m"), IntegerParameter("n"), IntegerParameter("k")}},
      {"softmax", {in("in", "const float *"), in("out", "float *"), IntegerParameter("columns")}}};
}

// Of a day's recordings those of these kernels, two variants each.
void ExpectVariants(const std::string& day, const std::set<std::string>& names) {
  for (const auto& [name, parameters] : AnsweredKernels()) {
    if (!names.contains(name)) continue;
    const std::string folder = day + "/" + name;
    records::Kernel kernel;
    kernel.name = kernel.base_name = name;
    kernel.parameters = parameters;
    int variants = 0;
    for (const auto& file : std::filesystem::directory_iterator(Recorded(folder + "/requests"))) {
      const std::string id = file.path().stem();
      const auto request = records::ParseJson(RecordedText(folder + "/requests/" + id + ".jsonl"));
      ASSERT_TRUE(request) << id << ": " << request.error().message;
      if (SystemOf(*request).find("You are the translator") == std::string::npos) continue;
      const auto read = ReadVariant(RecordedText(folder + "/answers/" + id + ".txt"), kernel);
      ASSERT_TRUE(read) << id << ": " << read.error().message;
      EXPECT_FALSE(read->variant.launches.empty()) << id;
      ExpectDefaults(read->variant);
      ++variants;
    }
    EXPECT_GE(variants, 2) << name;
  }
}

TEST(RecordedAnswers, EachTranslatedVariantIsRead) {
  ExpectVariants("recorded_2026-11-24", {"attention", "histogram", "matmul", "softmax"});
  ExpectVariants("recorded_2026-11-26",
                 {"attention", "convolution", "histogram", "layer_norm", "matmul", "softmax"});
}

}  // namespace
}  // namespace cupilot::agents
