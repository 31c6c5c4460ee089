// What captures keep of a program's data, and of themselves, with everything real on the host
// device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "records/workload.h"
#include "tests/integration/capture/capture_fixture.h"

namespace cupilot {
namespace {

namespace fs = std::filesystem;
using records::Json;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SparseProjectTest : public BuiltProjectTest {
 protected:
  SparseProjectTest() : BuiltProjectTest(CUPILOT_SPARSE_PROJECT) {}

  static std::vector<std::string> FilesIn(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
      files.push_back(entry.path());
    }
    return files;
  }
  std::vector<std::string> KeptContents() const {
    return FilesIn(xdg_.folder() / "state/cupilot/blobs");
  }
  std::vector<std::string> Recordings() const {
    return FilesIn(xdg_.folder() / "cache/cupilot/capture");
  }
  // Of the original itself as a variant of its kernel, on that workload.
  std::string VerdictOn(const std::string& workload) {
    const std::string variant = xdg_.folder().Write("same.json", R"json({
      "schema": "cupilot.variant/1", "kernel": "spmv", "entry": "same",
      "source": "__global__ void same(const int* begins, const int* columns, const float* values, const float* x, float* y, int rows) {\n  int row = blockIdx.x * blockDim.x + threadIdx.x;\n  if (row >= rows) return;\n  float sum = 0;\n  for (int k = begins[row]; k < begins[row + 1]; ++k) sum += values[k] * x[columns[k]];\n  y[row] = sum;\n}\n"})json");
    const auto run =
        Run({CUPILOT_PROGRAM, "--json", "evaluate", xdg_.folder() / "source/main.cu", "--kernel",
             "spmv", "--workload", workload, "--variant", variant, "--device", "host"});
    const auto evaluation = records::ParseJson(run.output);
    if (!evaluation) return run.output + run.errors;
    // Empty where it was accepted.
    const std::string reason = records::TextAt(*evaluation, "reason");
    return records::TextAt(*evaluation, "verdict") + (reason.empty() ? "" : ": " + reason) +
           records::TextAt(*evaluation, "message");
  }
};

TEST_F(SparseProjectTest, WhatIsKeptSyntheticallyIsTunedOnAndHoldsNoData) {
  ASSERT_TRUE(WaitFor([&] { return Row("spmv").value("state", "") == "no workload"; }));
  const std::string abandoned = xdg_.folder() / "cache/cupilot/capture/1.1.1.1";
  fs::create_directories(abandoned);
  xdg_.folder().Write("cache/cupilot/capture/1.1.1.1/1.capture",
                      "data of a client that was killed");
  Succeed({CUPILOT_PROGRAM, "capture", "--synthetic", "--", "./app"});
  EXPECT_THAT(KeptContents(), ElementsAre());
  EXPECT_THAT(Recordings(), ElementsAre());

  const Json shown = Ask({"workload", "show", "spmv"});
  EXPECT_EQ(shown["synthetic"], true);
  const Json of_case = shown["distributions"].begin().value();
  EXPECT_EQ(of_case["begins"]["kind"], "sorted") << of_case.dump();
  EXPECT_NEAR(of_case["values"]["zeros"].get<double>(), 0.9, 0.01);
  EXPECT_EQ(of_case["values"]["high"], "4711.25");
  EXPECT_THAT(Succeed({CUPILOT_PROGRAM, "workload", "show", "spmv"}), HasSubstr("4711.25"));

  // What leaves is a workload that we take ourselves, whoever made it synthetic.
  Succeed({CUPILOT_PROGRAM, "workload", "export", "spmv", "-o", "kept.json"});
  EXPECT_TRUE(records::ParseWorkload(*records::ParseJson(*base::ReadFile(build() + "/kept.json"))));
  EXPECT_THAT(VerdictOn("kept.json"), AnyOf("rejected: not_faster", "accepted"));
  EXPECT_TRUE(WaitFor([&] {
    const Json row = Row("spmv");
    return row.value("tried", 0) > 0 || row.value("state", "") == "done";
  })) << Row("spmv").dump();

  Succeed({CUPILOT_PROGRAM, "capture", "--", "./app"});
  EXPECT_FALSE(KeptContents().empty());
  const Json fits = Ask({"workload", "show", "spmv"})["fits"].begin().value();
  EXPECT_EQ(fits["begins"]["fill"]["kind"], "sorted") << fits.dump();
  EXPECT_FALSE(fits["values"]["contents"].get<std::string>().empty());
  Succeed({CUPILOT_PROGRAM, "workload", "export", "spmv", "-o", "shapes.json"});
  EXPECT_THAT(VerdictOn("shapes.json"), AnyOf("rejected: not_faster", "accepted"));
  Succeed({CUPILOT_PROGRAM, "workload", "drop", "spmv"});
  EXPECT_THAT(KeptContents(), ElementsAre()) << "at once";
}

TEST_F(SparseProjectTest, WhatWasRecordedByNameStaysWhenTheProgramIsCapturedAgain) {
  ASSERT_TRUE(WaitFor([&] { return !Row("twice").empty(); }));
  Succeed({CUPILOT_PROGRAM, "capture", "--kernel", "twice", "--", "./app"});
  const Json recorded = Ask({"workload", "show", "twice"});
  ASSERT_GE(recorded["workload"]["cases"].size(), 1u) << recorded.dump();
  Succeed({CUPILOT_PROGRAM, "capture", "--", "./app"});
  const Json again = Ask({"workload", "show", "twice"});
  EXPECT_EQ(again["workload"]["cases"].size(), recorded["workload"]["cases"].size());
  EXPECT_EQ(again["replaces_tag"], true);
  EXPECT_EQ(again["workload"]["cases"][0]["arguments"],
            recorded["workload"]["cases"][0]["arguments"]);
}

TEST_F(SparseProjectTest, AClientThatIsEndedEndsTheProgramAndKeepsWhatItHasSeen) {
  ASSERT_TRUE(WaitFor([&] { return Row("spmv").value("state", "") == "no workload"; }));
  const auto run = Run({CUPILOT_PROGRAM, "--json", "capture", "--", "sh", "-c",
                        "./app; kill -TERM $PPID; while :; do :; done"});
  EXPECT_EQ(run.exit_code, 1) << run.output << run.errors;
  const auto document = records::ParseJson(run.output);
  ASSERT_TRUE(document) << run.output;
  EXPECT_THAT((*document)["program"]["ending"].get<std::string>(), HasSubstr("Terminated"));
  EXPECT_EQ((*document)["kernels"].size(), 2u) << run.output;
  EXPECT_THAT(Recordings(), ElementsAre());
}

}  // namespace
}  // namespace cupilot
