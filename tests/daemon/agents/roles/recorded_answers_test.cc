// Answers of a real model, as they came (tests/data/models/recorded_2026-11-23/README.md), are
// read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "agents/roles/variant_answer.h"
#include "tests/daemon/agents/roles/examples.h"

namespace cupilot::agents {
namespace {

std::string RecordedText(const std::string& name) {
  std::ifstream file(std::string(CUPILOT_TEST_SOURCE_DIR) +
                     "/tests/data/models/recorded_2026-11-23/" + name);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(RecordedAnswers, ARevisedVariantIsRead) {
  const auto request = records::ParseJson(RecordedText("softmax_reviser.request.jsonl"));
  ASSERT_TRUE(request) << request.error().message;
  // What was asked is what today's prompt says of itself.
  EXPECT_THAT((*request)["body"]["messages"][0]["content"].get<std::string>(),
              testing::HasSubstr("You are the reviser"));
  records::Kernel kernel;
  kernel.name = kernel.base_name = "softmax";
  kernel.parameters = {PointerParameter("in", "const float *"), PointerParameter("out", "float *"),
                       IntegerParameter("rows"), IntegerParameter("columns")};
  const auto read = ReadVariant(RecordedText("softmax_reviser.answer.txt"), kernel);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->variant.kernel, "softmax");
  EXPECT_THAT(read->variant.source, testing::HasSubstr("__global__"));
  EXPECT_FALSE(read->variant.launches.empty());
  // Each tunable has its default among its values.
  for (const auto& [name, values] : read->variant.tunables) {
    EXPECT_THAT(values, testing::Contains(read->variant.values.at(name))) << name;
  }
}

}  // namespace
}  // namespace cupilot::agents
