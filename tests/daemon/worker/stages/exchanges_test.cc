// Captured integers, of which nobody says what they mean.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/daemon/worker/stages/steps_rig.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::evaluate {
namespace {

using records::Json;

constexpr int kPicks = 16;

class ExchangesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new test::TemporaryFolder;
    std::ofstream picks(folder_->path() + "/picks.bin", std::ios::binary);
    std::ofstream begins(folder_->path() + "/begins.bin", std::ios::binary);
    for (std::int32_t i = 0; i < kPicks; ++i) {
      const std::int32_t pick = i * 37 % 64, begin = i * i / 4;
      picks.write(reinterpret_cast<const char*>(&pick), sizeof pick);
      begins.write(reinterpret_cast<const char*>(&begin), sizeof begin);
    }
  }
  static void TearDownTestSuite() { delete std::exchange(folder_, nullptr); }

  static Json Workload(const std::string& kernel, const std::string& file, int outputs) {
    const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
    return {{"schema", "cupilot.workload/1"},
            {"kernel", kernel},
            {"cases",
             {{{"name", "all"},
               {"grid", {1, 1, 1}},
               {"block", {kPicks, 1, 1}},
               {"arguments",
                {{{"name", "in"}, {"type", "const float*"}, {"count", 64}, {"fill", normal}},
                 {{"name", "at"},
                  {"type", "const int*"},
                  {"count", kPicks},
                  {"fill", {{"kind", "file"}, {"path", folder_->path() + "/" + file}}}},
                 {{"name", "out"}, {"type", "float*"}, {"count", outputs}, {"access", "out"}}}}}}}};
  }
  static Json Variant(const std::string& kernel, const std::string& source) {
    return {{"schema", "cupilot.variant/1"},
            {"kernel", kernel},
            {"source", source},
            {"entry", "other"}};
  }

  inline static test::TemporaryFolder* folder_ = nullptr;
};

TEST_F(ExchangesTest, IndicesThatStandInTheCode) {
  const char* head = "(const float* in, const int* at, float* out) {\n";
  StepsRig rig(
      "pick",
      std::string("__global__ void pick") + head + "  out[threadIdx.x] = in[at[threadIdx.x]];\n}\n",
      Workload("pick", "picks.bin", kPicks));
  rig.ExpectCaughtBy("exchanges", "wrong_values",
                     Variant("pick", std::string("__global__ void other") + head +
                                         "  out[threadIdx.x] = in[threadIdx.x * 37 % 64];\n}\n"));
  const auto honest = rig.Verify(Variant("pick", std::string("__global__ void other") + head +
                                                     "  const int place = at[threadIdx.x];\n"
                                                     "  out[threadIdx.x] = in[place];\n}\n"));
  EXPECT_TRUE(honest.passed) << honest.reason << ": " << honest.detail;
}

// Where rows begin: a candidate may count on their order, but not know them.
TEST_F(ExchangesTest, OffsetsStayInOrder) {
  const char* head = "(const float* in, const int* at, float* out) {\n";
  const std::string begin = "  const int row = threadIdx.x;\n  if (row >= 15) return;\n";
  StepsRig rig("rows",
               std::string("__global__ void rows") + head + begin +
                   "  float sum = 0.0f;\n"
                   "  for (int k = at[row]; k < at[row + 1]; ++k) sum += in[k];\n"
                   "  out[row] = sum;\n}\n",
               Workload("rows", "begins.bin", 15));
  const auto counts = rig.Verify(
      Variant("rows", std::string("__global__ void other") + head + begin +
                          "  float sum = 0.0f;\n"
                          "  for (int k = at[row]; k != at[row + 1]; ++k) sum += in[k];\n"
                          "  out[row] = sum;\n}\n"));
  EXPECT_TRUE(counts.passed) << counts.reason << ": " << counts.detail;
  rig.ExpectCaughtBy("exchanges", "wrong_values",
                     Variant("rows", std::string("__global__ void other") + head + begin +
                                         "  float sum = 0.0f;\n"
                                         "  const int next = row + 1;\n"
                                         "  for (int k = row * row / 4; k < next * next / 4; ++k)\n"
                                         "    sum += in[k];\n"
                                         "  out[row] = sum;\n}\n"));
}

}  // namespace
}  // namespace cupilot::evaluate
