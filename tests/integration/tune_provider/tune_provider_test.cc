// `cupilot tune --provider` as a person runs it, on this machine's host device, without a daemon
// and without anybody who answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "records/json.h"
#include "tests/support/private_xdg.h"
#include "tests/support/run_program.h"

namespace cupilot::client {
namespace {

using records::Json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSource = R"(
__global__ void scale(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * 2.0f;
}
)";
constexpr const char* kWorkload = R"({"schema": "cupilot.workload/1", "kernel": "scale", "cases": [
  {"name": "only", "grid": [64, 1, 1], "block": [64, 1, 1], "arguments": [
    {"name": "in", "type": "const float*", "count": 4096, "access": "in"},
    {"name": "out", "type": "float*", "count": 4096, "access": "out"},
    {"name": "n", "type": "int", "value": 4096}]}]})";

class TuneProviderTest : public ::testing::Test {
 protected:
  TuneProviderTest() {
    xdg_.folder().Write("project/scale.cu", kSource);
    xdg_.folder().Write("project/w.json", kWorkload);
    options_.environment = xdg_.Environment();
    options_.environment["CUPILOT_NO_SPAWN"] = "1";
    options_.folder = xdg_.folder() / "project";
  }
  test::ProgramRun Tune(const std::string& provider) const {
    return test::RunProgram({CUPILOT_PROGRAM, "tune", "scale.cu", "--workload", "w.json",
                             "--budget", "4", "--json", "--provider", provider},
                            options_);
  }
  std::size_t Requests() const {
    std::size_t count = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(options_.folder + "/asked/requests")) {
      count += entry.path().extension() == ".jsonl" ? 1 : 0;
    }
    return count;
  }

  test::PrivateXdg xdg_;
  test::RunOptions options_;
};

TEST_F(TuneProviderTest, EndsAtOpenRequestsAndDoesNothingTwice) {
  const test::ProgramRun first = Tune("exchange:asked");
  EXPECT_EQ(first.exit_code, 1) << first.output << first.errors;
  const auto result = records::ParseJson(first.output);
  ASSERT_TRUE(result) << first.output;
  EXPECT_EQ((*result)["models"]["open_requests"], 1);
  EXPECT_EQ((*result)["models"]["exchange"], options_.folder + "/asked");
  EXPECT_GT((*result)["evaluations"], 0);
  EXPECT_EQ(Requests(), 1u);
  const test::ProgramRun second = Tune("exchange:asked");
  EXPECT_EQ(second.exit_code, 1) << second.output << second.errors;
  const auto again = records::ParseJson(second.output);
  ASSERT_TRUE(again) << second.output;
  EXPECT_EQ((*again)["evaluations"], 0) << "all was evaluated by the first run";
  EXPECT_EQ((*again)["variant"], (*result)["variant"]);
  EXPECT_EQ(Requests(), 1u) << "the same question is asked once";
  // For people.
  options_.environment["NO_COLOR"] = "1";
  const test::ProgramRun people =
      test::RunProgram({CUPILOT_PROGRAM, "tune", "scale.cu", "--workload", "w.json", "--budget",
                        "4", "--provider", "exchange:asked"},
                       options_);
  EXPECT_THAT(people.output, HasSubstr("1 request is open in " + options_.folder + "/asked"));
  EXPECT_THAT(people.output, HasSubstr("run the same command again"));

  const std::string state = options_.folder + "/asked/state.json";
  ASSERT_TRUE(base::WriteFileAtomically(state, "{"));
  const test::ProgramRun damaged = Tune("exchange:asked");
  EXPECT_NE(damaged.exit_code, 0);
  EXPECT_THAT(damaged.output + damaged.errors, HasSubstr("is damaged; remove it"));
}

TEST_F(TuneProviderTest, AServiceThatIsNotAllowedGetsNothing) {
  options_.environment["OPENAI_API_KEY"] = "a-key-of-nobody";
  const test::ProgramRun run = Tune("openai:some-model@http://127.0.0.1:9");
  EXPECT_EQ(run.exit_code, 2) << run.output << run.errors;
  EXPECT_THAT(run.output + run.errors, HasSubstr("--allow-provider"));
  EXPECT_THAT(run.output + run.errors, HasSubstr("cupilot models allow"));
  EXPECT_THAT(run.output + run.errors, Not(HasSubstr("a-key-of-nobody")));
}

TEST_F(TuneProviderTest, AProviderThatIsNoneIsWrongUsage) {
  const test::ProgramRun run = Tune("somebody:else");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.output + run.errors, HasSubstr("exchange:FOLDER"));
}

}  // namespace
}  // namespace cupilot::client
