// What two runs of the original have to have in common for their contents to count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/daemon/worker/stages/steps_rig.h"

namespace cupilot::evaluate {
namespace {

using records::Json;
using ::testing::HasSubstr;

Json RepeatsArray(const char* name, const char* type, const char* count, const char* access,
                  const Json& fill = nullptr) {
  Json array = {{"name", name}, {"type", type}, {"count", count}, {"access", access}};
  if (!fill.is_null()) array["fill"] = fill;
  return array;
}

Json RepeatsWorkload(const char* kernel, const Json& arguments) {
  return {
      {"schema", "cupilot.workload/1"},
      {"kernel", kernel},
      {"cases",
       {{{"name", "all"}, {"grid", {1, 1, 1}}, {"block", {64, 1, 1}}, {"arguments", arguments}}}}};
}

Json RepeatsVariant(const char* kernel, const std::string& source) {
  return {
      {"schema", "cupilot.variant/1"}, {"kernel", kernel}, {"source", source}, {"entry", "other"}};
}

std::string RepeatsRecord(const protocol::VerifyReply& reply) {
  std::string record;
  for (const records::Check& check : reply.checks)
    record += check.name + ": " + check.detail + "\n";
  return record;
}

// Atomic additions may give the same bits twice on the workload and other bits on what comes next:
// here they do for certain, by what the other output holds before.
constexpr const char* kAdded = R"(
__global__ void added(const float* in, float* total, float* spare, int n) {
  if (threadIdx.x != 0) return;
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  const bool other_order = *total != 0 && spare[0] > 0;
  *total += other_order ? sum * 1.000001f : sum;
  spare[0] = sum;
}
)";

TEST(RepeatsTest, SumsInAnotherOrderOnOtherContentsCount) {
  const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
  const Json zero = {{"kind", "constant"}, {"value", 0}};
  StepsRig rig("added", kAdded,
               RepeatsWorkload("added", {RepeatsArray("in", "const float*", "n", "in", normal),
                                         RepeatsArray("total", "float*", "1", "inout", zero),
                                         RepeatsArray("spare", "float*", "1", "out"),
                                         {{"name", "n"}, {"type", "int"}, {"value", 500}}}));
  const auto reply = rig.Verify(
      RepeatsVariant(
          "added",
          "__global__ void other(const float* in, float* total, float* spare, int n) {\n"
          "  if (threadIdx.x != 0) return;\n  float sum = 0;\n"
          "  for (int i = 0; i < n; ++i) sum += in[i];\n  *total = sum;\n  spare[0] = sum;\n}\n"),
      {"second_call", "more_calls"});
  EXPECT_EQ(reply.reason, "wrong_values") << reply.detail << RepeatsRecord(reply);
  EXPECT_THAT(reply.detail, HasSubstr("other constants"));
}

// Two runs may give the same bits by luck where blocks add in any order: who adds in another one is
// not wrong.
TEST(RepeatsTest, WhoAddsInAnotherOrderThanAtomicsIsNotWrong) {
  const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
  const Json zero = {{"kind", "constant"}, {"value", 0}};
  Json workload = RepeatsWorkload("sums", {RepeatsArray("in", "const float*", "n", "in", normal),
                                           RepeatsArray("out", "float*", "8", "inout", zero),
                                           {{"name", "n"}, {"type", "int"}, {"value", 4096}}});
  workload["cases"][0]["grid"] = {64, 1, 1};
  workload["cases"][0]["shared_bytes"] = 512;
  StepsRig rig("sums", R"(
__global__ void sums(const float* in, float* out, int n) {
  extern __shared__ float buffer[];
  int* places = (int*)&buffer[blockDim.x];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  places[threadIdx.x] = i % 8;
  __syncthreads();
  if (i < n) atomicAdd(&out[places[threadIdx.x]], in[i]);
}
)",
               workload);
  const std::string why = rig.WhyNoVerdict(
      RepeatsVariant("sums",
                     "__global__ void other(const float* in, float* out, int n) {\n"
                     "  if (blockIdx.x != 0 || threadIdx.x >= 8) return;\n  float sum = 0;\n"
                     "  for (int i = n - 8 + threadIdx.x; i >= 0; i -= 8) sum += in[i];\n"
                     "  out[threadIdx.x] += sum;\n}\n"));
  EXPECT_THAT(why, HasSubstr("the original gives other bits when it runs again"));
}

// Places outside of the table are found in the next buffer, or behind all of them, whatever lies
// between them.
class ReadsOutsideTest : public ::testing::TestWithParam<int> {};

TEST_P(ReadsOutsideTest, DoNotCount) {
  const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
  const Json places = {{"kind", "uniform"}, {"low", 0}, {"high", 1}};
  StepsRig rig(
      "looked_up",
      "__global__ void looked_up(const float* table, const float* at, float* out, int n) {\n"
      "  for (int i = threadIdx.x; i < n; i += blockDim.x) {\n"
      "    out[i] = table[(int)(at[i] * 4.0f)];\n  }\n}\n",
      RepeatsWorkload("looked_up", {RepeatsArray("table", "const float*", "5", "in", normal),
                                    RepeatsArray("at", "const float*", "n", "in", places),
                                    RepeatsArray("out", "float*", "n", "out"),
                                    {{"name", "n"}, {"type", "int"}, {"value", GetParam()}}}));
  const auto reply = rig.Verify(RepeatsVariant(
      "looked_up",
      "__global__ void other(const float* table, const float* at, float* out, int n) {\n"
      "  for (int i = threadIdx.x; i < n; i += blockDim.x) {\n"
      "    const int place = (int)(at[i] * 4.0f);\n"
      "    out[i] = place < 5 ? table[place] : 1.0f;\n  }\n}\n"));
  EXPECT_TRUE(reply.passed) << reply.reason << ": " << reply.detail;
  EXPECT_THAT(RepeatsRecord(reply), HasSubstr("fill offset: dropped: the original"));
  EXPECT_THAT(RepeatsRecord(reply), HasSubstr("depend on what lies beside its buffers"));
}

INSTANTIATE_TEST_SUITE_P(RepeatsTest, ReadsOutsideTest, ::testing::Values(20000, 300));

}  // namespace
}  // namespace cupilot::evaluate
