// `cupilot workload show` and `export`, of what a daemon says was captured.
#include <gmock/gmock.h>

#include "base/file.h"
#include "records/workload.h"
#include "tests/client/client_fixture.h"
#include "workloads/synthetic.h"

namespace cupilot::client {
namespace {

using records::Json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class WorkloadCommandsTest : public ClientTest {
 protected:
  WorkloadCommandsTest() : blobs_(xdg_.folder() / "state/cupilot/blobs") {
    captured_.kernel = "app::spmv";
    captured_.file = "/p/spmv.cu";
    captured_.parameters = {"const int *", "const float *", "int"};
    records::Case one;
    one.name = "rows=4";
    one.grid = one.block = {"1", "1", "1"};
    one.arguments = {Array("begins", "const int *", std::vector<int>{0, 0, 3, 17}),
                     Array("values", "const float *", std::vector<float>{0, 0, 4711.5f, 0})};
    records::Argument rows;
    rows.name = "rows";
    rows.type = "int";
    rows.value = "4";
    one.arguments.push_back(rows);
    captured_.cases = {one};
  }

  template <class T>
  records::Argument Array(const std::string& name, const std::string& type,
                          const std::vector<T>& values) {
    records::Argument array;
    array.name = name;
    array.type = type;
    array.count = std::to_string(values.size());
    array.fill.emplace();
    array.fill->kind = "file";
    array.fill->path =
        "blob:" +
        blobs_.Put({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)})
            .value();
    return array;
  }

  blobs::BlobStore blobs_;
  workloads::Captured captured_;
};

TEST_F(WorkloadCommandsTest, WhatIsExportedWithoutDataIsAWorkloadAsPeopleWriteThem) {
  Serve("workload_show", workloads::ToJson(captured_));
  const auto run = Run({"workload", "export", "spmv", "-o", "shapes.json"});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  const std::string text = *base::ReadFile(xdg_.folder() / "shapes.json");
  EXPECT_THAT(text, Not(HasSubstr("blob:")));
  const auto workload = records::ParseWorkload(*records::ParseJson(text));
  ASSERT_TRUE(workload) << workload.error().message << "\n" << text;
  const records::Case& one = workload->cases[0];
  EXPECT_EQ(one.arguments[0].fill->kind, "sorted");
  EXPECT_EQ(one.arguments[0].fill->low, "0");
  EXPECT_EQ(one.arguments[0].fill->high, "17");
  EXPECT_EQ(one.arguments[1].fill->zeros, 0.75);
}

TEST_F(WorkloadCommandsTest, ShowSaysWhatContentsWereLikeThatAreNotKept) {
  ASSERT_TRUE(workloads::MakeSynthetic(captured_, blobs_));
  Serve("workload_show", workloads::ToJson(captured_));
  const auto run = Run({"workload", "show", "spmv"});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, ContainsRegex("case +of +kind +mean +stddev +zero"));
  EXPECT_THAT(run.output, ContainsRegex("rows=4 +begins +sorted +5 .* 50 % +100 % +0 +17 +yes"));
  EXPECT_THAT(run.output, ContainsRegex("rows=4 +values .* 75 % +100 % +0 +4711.5 +no"));
  EXPECT_EQ(RunJson({"workload", "show", "spmv"}, 0)["distributions"]["rows=4"]["begins"]["high"],
            "17");
}

}  // namespace
}  // namespace cupilot::client
