// Kernels that read addresses in memory: what these lead to is verified as arrays are, and the
// tables themselves stay what they were.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/daemon/worker/stages/steps_rig.h"

namespace cupilot::evaluate {
namespace {

using records::Json;
using ::testing::HasSubstr;

constexpr int kSide = 8, kBatch = 6;

constexpr const char* kBatched = R"(
__global__ void batched(const float* const* a, const float* const* b, float* const* c, int n,
                        int batch) {
  const int row = threadIdx.x / n, column = threadIdx.x % n;
  if (blockIdx.x >= batch || row >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[blockIdx.x][row * n + k] * b[blockIdx.x][k * n + column];
  c[blockIdx.x][row * n + column] = sum;
}
)";

Json Table(const char* name, const char* type, const char* access) {
  Json fill = {{"kind", "pointers"}, {"bytes", "4*n*n"}};
  if (std::string(access) == "in") fill["fill"] = {{"kind", "uniform"}, {"low", -1}, {"high", 1}};
  return {{"name", name}, {"type", type}, {"count", "batch"}, {"access", access}, {"fill", fill}};
}

Json BatchedWorkload() {
  return {{"schema", "cupilot.workload/1"},
          {"kernel", "batched"},
          {"cases",
           {{{"name", "small"},
             {"grid", {"batch", 1, 1}},
             {"block", {64, 1, 1}},
             {"arguments",
              {Table("a", "const float* const*", "in"),
               Table("b", "const float* const*", "in"),
               Table("c", "float* const*", "out"),
               {{"name", "n"}, {"type", "int"}, {"value", kSide}},
               {{"name", "batch"}, {"type", "int"}, {"value", kBatch}}}}}}}};
}

Json TablesVariant(const std::string& kernel, const std::string& parameters,
                   const std::string& body) {
  return {{"schema", "cupilot.variant/1"},
          {"kernel", kernel},
          {"source", "__global__ void other(" + parameters + ") {\n" + body + "\n}\n"},
          {"entry", "other"}};
}

// `body` knows the block's pointers x, y, z, and row and column; `before` stands in front of it.
Json Batched(const std::string& body, const std::string& before = "") {
  return TablesVariant(
      "batched", "const float* const* a, const float* const* b, float* const* c, int n, int batch",
      "const int row = threadIdx.x / n, column = threadIdx.x % n;\n"
      "if (blockIdx.x >= batch || row >= n) return;\n" +
          before +
          "const float* x = a[blockIdx.x];\nconst float* y = b[blockIdx.x];\n"
          "float* z = c[blockIdx.x];\nfloat sum = 0;\n" +
          body);
}

constexpr const char* kSum =
    "for (int k = 0; k < n; ++k) sum += x[row * n + k] * y[k * n + column];\n";
constexpr const char* kStore = "z[row * n + column] = sum;\n";

class PointerTablesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { rig_ = new StepsRig("batched", kBatched, BatchedWorkload()); }
  static void TearDownTestSuite() {
    delete rig_;
    rig_ = nullptr;
  }
  static StepsRig* rig_;
};
StepsRig* PointerTablesTest::rig_ = nullptr;

TEST_F(PointerTablesTest, ARightOnePasses) {
  const auto reply =
      rig_->Verify(Batched("const float* line = x + row * n;\n"
                           "for (int k = 0; k < n; ++k) sum += line[k] * y[k * n + column];\n" +
                           std::string(kStore)));
  EXPECT_TRUE(reply.passed) << reply.reason << ": " << reply.detail;
  std::string record;
  for (const records::Check& check : reply.checks)
    record += check.name + ": " + check.detail + "\n";
  // What was asked about what the tables lead to, and what not.
  EXPECT_THAT(record, HasSubstr("errors measured against the double twin"));
  EXPECT_THAT(record, HasSubstr("'a[*]': "));
  EXPECT_THAT(record, HasSubstr("'b[*]': "));
  EXPECT_THAT(record, HasSubstr("c[*] over a[*]: not asked: the original gives other results"));
  EXPECT_THAT(record, HasSubstr("batch = 1"));
}

TEST_F(PointerTablesTest, SumsInAnotherOrderPassAndShortOnesDoNot) {
  const auto passed = rig_->Verify(
      Batched("float odd = 0;\nfor (int k = 0; k < n; k += 2) {\n"
              "  sum += x[row * n + k] * y[k * n + column];\n"
              "  if (k + 1 < n) odd += x[row * n + k + 1] * y[(k + 1) * n + column];\n}\n"
              "sum += odd;\n" +
              std::string(kStore)));
  EXPECT_TRUE(passed.passed) << passed.reason << ": " << passed.detail;
  const auto rounded =
      rig_->Verify(Batched("for (int k = 0; k < n; ++k) {\n"
                           "  const float product = x[row * n + k] * y[k * n + column];\n"
                           "  sum += __int_as_float(__float_as_int(product) & 0xfffff000);\n}\n" +
                           std::string(kStore)));
  EXPECT_EQ(rounded.reason, "precision_loss") << rounded.detail;
}

TEST_F(PointerTablesTest, ArraysAtEqualDistancesAreNotTakenForGranted) {
  const auto reply =
      rig_->Verify(Batched("const long step = batch > 1 ? a[1] - a[0] : 0;\nx = a[0] + step * "
                           "static_cast<int>(blockIdx.x);\n" +
                           std::string(kSum) + kStore));
  EXPECT_FALSE(reply.passed);
}

TEST_F(PointerTablesTest, AnotherSlicesResultIsWrong) {
  const auto reply = rig_->Verify(
      Batched(std::string(kSum) + "c[(blockIdx.x + 1) % batch][row * n + column] = sum;\n"));
  EXPECT_EQ(reply.reason, "wrong_values") << reply.detail;
  EXPECT_THAT(reply.detail, HasSubstr("'c[0]'["));
  const auto one =
      rig_->Verify(Batched(std::string(kSum) + "if (blockIdx.x != 3 || row != 2) " + kStore));
  EXPECT_EQ(one.reason, "unwritten_output") << one.detail;
  EXPECT_THAT(one.detail, HasSubstr("'c[3]'[16]"));
}

TEST_F(PointerTablesTest, WhatLiesBesideASliceStays) {
  const auto reply = rig_->Verify(
      Batched(std::string(kSum) + kStore + "if (blockIdx.x + threadIdx.x == 0) z[n * n] = 0;\n"));
  EXPECT_FALSE(reply.passed);
  EXPECT_THAT(reply.detail, HasSubstr("'c[0]'[64] behind its end was written"));
}

TEST_F(PointerTablesTest, InputsBehindATableStay) {
  const auto reply = rig_->Verify(
      Batched(std::string(kSum) + kStore + "if (threadIdx.x == 5) ((float*)x)[5] = 0;\n"));
  EXPECT_EQ(reply.reason, "modified_input") << reply.detail;
  EXPECT_THAT(reply.detail, HasSubstr("'a[1]'[5]"));
}

TEST_F(PointerTablesTest, ATableStays) {
  const std::string swap =
      "if (blockIdx.x == 0 && threadIdx.x == 0) {\n"
      "  const float** table = (const float**)a;\n"
      "  const float* first = table[1];\n  table[1] = table[2];\n  table[2] = first;\n}\n";
  // Whoever comes later multiplies the others' matrices, or the right ones: the table tells.
  const auto reply = rig_->Verify(Batched(std::string(kSum) + kStore + swap));
  EXPECT_FALSE(reply.passed);
  const auto last = rig_->Verify(
      Batched(std::string(kSum) + kStore +
              "if (blockIdx.x == batch - 1 && threadIdx.x == 63) ((const float**)a)[2] = x;\n"));
  EXPECT_EQ(last.reason, "modified_input") << last.detail;
  EXPECT_THAT(last.detail, HasSubstr("'a'[2]"));
}

TEST_F(PointerTablesTest, AnInputThatIsIgnoredIsSeen) {
  const auto reply =
      rig_->Verify(Batched("for (int k = 0; k < n - (blockIdx.x == 4 && row == 1 ? 1 : 0); ++k) "
                           "sum += x[row * n + k] * y[k * n + column];\n" +
                           std::string(kStore)));
  EXPECT_EQ(reply.reason, "wrong_values") << reply.detail;
  EXPECT_THAT(reply.detail, HasSubstr("'c[4]'["));
}

// A kernel that changes its table, with equal and null entries, as a capture has them.
constexpr const char* kRotate = R"(
__global__ void rotate(float** parts, int n, int count) {
  __shared__ float* first;
  if (threadIdx.x == 0) {
    first = parts[0];
    for (int i = 0; i + 1 < count; ++i) parts[i] = parts[i + 1];
    parts[count - 1] = first;
  }
  __syncthreads();
  for (int i = 0; i < count; ++i) {
    if (parts[i] != nullptr && threadIdx.x < n) parts[i][threadIdx.x] += 1 + i;
  }
}
)";

Json RotateWorkload() {
  const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
  return {{"schema", "cupilot.workload/1"},
          {"kernel", "rotate"},
          {"cases",
           {{{"name", "captured"},
             {"grid", {1, 1, 1}},
             {"block", {32, 1, 1}},
             {"buffers",
              {{{"name", "memory1"},
                {"bytes", 32},
                {"pointers",
                 {{{"at", 0}, {"buffer", "memory2"}, {"offset", 64}},
                  {{"at", 8}, {"buffer", "memory3"}, {"offset", 0}},
                  {{"at", 24}, {"buffer", "memory2"}, {"offset", 64}}}}},
               {{"name", "memory2"}, {"bytes", 256}, {"fill", normal}},
               {{"name", "memory3"}, {"bytes", 64}, {"fill", normal}}}},
             {"arguments",
              {{{"name", "parts"}, {"type", "float**"}, {"buffer", "memory1"}, {"access", "inout"}},
               {{"name", "n"}, {"type", "int"}, {"value", 16}},
               {{"name", "count"}, {"type", "int"}, {"value", 4}}}}}}}};
}

Json Rotate(const std::string& order, const std::string& after = "") {
  return TablesVariant("rotate", "float** parts, int n, int count",
                       "if (threadIdx.x == 0) {\n" + order +
                           "}\n__syncthreads();\nfor (int i = 0; i < count; ++i) {\n"
                           "  float* part = parts[i];\n"
                           "  if (part && threadIdx.x < n) part[threadIdx.x] += 1 + i;\n}\n" +
                           after);
}

TEST(PointerTablesOfCapturesTest, MayBeChangedAsTheOriginalDoes) {
  StepsRig rig("rotate", kRotate, RotateWorkload());
  const std::string right =
      "float* moved = parts[0];\nfor (int i = 1; i < count; ++i) parts[i - 1] = parts[i];\n"
      "parts[count - 1] = moved;\n";
  const auto passed = rig.Verify(Rotate(right));
  EXPECT_TRUE(passed.passed) << passed.reason << ": " << passed.detail;
  // The contents are right, the table is not.
  const auto wrong =
      rig.Verify(Rotate(right, "__syncthreads();\nif (threadIdx.x == 0) parts[1] = parts[0];\n"));
  EXPECT_EQ(wrong.reason, "wrong_values") << wrong.detail;
  EXPECT_THAT(wrong.detail, HasSubstr("'memory1'[1]"));
  const auto address = rig.Verify(
      Rotate(right, "__syncthreads();\nif (threadIdx.x == 0) parts[0] = parts[0] + 1;\n"));
  EXPECT_EQ(address.reason, "wrong_values") << address.detail;
}

// What is right in place for the original has to be right there: no guard sees it.
TEST(PointerTablesInPlaceTest, WhatIsRightApartAloneIsUnsafe) {
  const Json workload = {{"schema", "cupilot.workload/1"},
                         {"kernel", "triple"},
                         {"cases",
                          {{{"name", "small"},
                            {"grid", {"batch", 1, 1}},
                            {"block", {64, 1, 1}},
                            {"arguments",
                             {Table("a", "const float* const*", "in"),
                              Table("c", "float* const*", "out"),
                              {{"name", "n"}, {"type", "int"}, {"value", kSide}},
                              {{"name", "batch"}, {"type", "int"}, {"value", 2}}}}}}}};
  StepsRig rig(
      "triple",
      "__global__ void triple(const float* const* a, float* const* c, int n, int batch) {\n"
      "  const int i = threadIdx.x;\n"
      "  if (i < n * n) c[blockIdx.x][i] = 3.0f * a[blockIdx.x][i];\n}\n",
      workload);
  const auto variant = [](const std::string& body) {
    return TablesVariant("triple", "const float* const* a, float* const* c, int n, int batch",
                         "const int i = threadIdx.x;\nif (i >= n * n) return;\n" + body);
  };
  const auto right = rig.Verify(variant("c[blockIdx.x][i] = a[blockIdx.x][i] * 3.0f;"));
  EXPECT_TRUE(right.passed) << right.reason << ": " << right.detail;
  const auto unsafe =
      rig.Verify(variant("c[blockIdx.x][i] = 0;\nc[blockIdx.x][i] = 3.0f * a[blockIdx.x][i];"));
  EXPECT_EQ(unsafe.reason, "alias_unsafe") << unsafe.detail;
  EXPECT_THAT(unsafe.detail, HasSubstr("c[*] over a[*]"));
}

// Measured, too: original and candidate have tables of their own, and what launches change is put
// back. The original idles where `at` stands in its text.
records::Evaluation EvaluateAgainstASlowOne(const std::string& kernel, std::string text,
                                            const std::string& at, const Json& workload,
                                            const Json& variant) {
  test::EvaluatorRig rig;
  text.insert(text.find(at), "  for (volatile int idle = 0; idle < 20000;) idle = idle + 1;\n");
  auto request = rig.RequestFor(kernel + ".cu", text, kernel);
  if (!request) return {};
  request->workload = *records::ParseWorkload(workload);
  request->variant = *records::ParseVariant(variant);
  const auto evaluation = rig.Evaluate(*request);
  EXPECT_TRUE(evaluation) << evaluation.error().message;
  return evaluation ? *evaluation : records::Evaluation{};
}

TEST(PointerTablesMeasuredTest, AFasterOneIsAccepted) {
  const auto evaluation =
      EvaluateAgainstASlowOne("batched", kBatched, "  c[blockIdx.x]", BatchedWorkload(),
                              Batched(std::string(kSum) + kStore));
  EXPECT_TRUE(evaluation.accepted) << evaluation.reason << ": " << evaluation.detail;
}

TEST(PointerTablesMeasuredTest, SoIsOneThatChangesItsTable) {
  const auto evaluation = EvaluateAgainstASlowOne(
      "rotate", kRotate, "  __syncthreads();", RotateWorkload(),
      Rotate("float* moved = parts[0];\nfor (int i = 1; i < count; ++i) parts[i - 1] = parts[i];\n"
             "parts[count - 1] = moved;\n"));
  EXPECT_TRUE(evaluation.accepted) << evaluation.reason << ": " << evaluation.detail;
}

// Its results are right: the watched run sees it.
TEST(PointerTablesMeasuredTest, NothingBehindASliceIsRead) {
  const auto evaluation = EvaluateAgainstASlowOne(
      "batched", kBatched, "  c[blockIdx.x]", BatchedWorkload(),
      Batched(std::string(kSum) + "if (blockIdx.x == 0 && x[n * n + row] == 12.5f) sum = 0;\n" +
              kStore));
  EXPECT_FALSE(evaluation.accepted);
  EXPECT_EQ(evaluation.reason, "out_of_bounds") << evaluation.detail;
  EXPECT_THAT(evaluation.detail, HasSubstr("'a[0]'"));
}

}  // namespace
}  // namespace cupilot::evaluate
