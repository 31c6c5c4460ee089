// `cupilot lock --verify` as a person runs it, without a daemon, on a lock file of a variant that
// was proven on this machine's host device: what holds, and what somebody changed in the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "base/file.h"
#include "records/lock.h"
#include "source/swap/ask_compiler.h"
#include "source/swap/compiled_text.h"
#include "source/swap/lock_entry.h"
#include "tests/support/evaluator_rig.h"
#include "tests/support/private_xdg.h"
#include "tests/support/run_program.h"

namespace cupilot::client {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSource = R"(
namespace sums {
// cupilot: tune
// cupilot: workload all grid=(256) block=(64) m=200 n=16384 in=normal[n] out=[n]
__global__ void times(const float* in, float* out, int m, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float count = 0;
  for (int k = 0; k < m; ++k) count += 1.0f;
  if (i < n) out[i] = in[i] * count;
}
}
int main() { return 0; }
)";

records::Variant MakeVariant(const std::string& body) {
  records::Variant variant;
  variant.kernel = "sums::times";
  variant.source =
      "__global__ void at_once(const float* in, float* out, int m, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " +
      body + "\n}\n";
  variant.entry = "at_once";
  variant.id = records::VariantId(variant);
  return variant;
}

class LockVerifyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    source_ = xdg_.folder().Write("project/src/times.cu", kSource);
    auto request = rig_.RequestFor("times.cu", kSource);
    ASSERT_TRUE(request);
    request->max_seconds = 0.5;
    request->variant = MakeVariant("if (i < n) out[i] = in[i] * (float)m;");
    request->command.source = source_;
    request->command.arguments.back() = source_;
    const auto evaluation = rig_.Evaluate(*request);
    ASSERT_TRUE(evaluation) << evaluation.error().message;
    ASSERT_TRUE(evaluation->accepted) << evaluation->reason << ": " << evaluation->detail;
    const std::string project = xdg_.folder() / "project";
    const source::ProjectFolders folders{project, project, project + "/build"};
    source::LockJudge judge(request->command, folders);
    const std::vector<std::pair<std::string, std::string>> files = {{source_, kSource}};
    const auto compiler = source::AskCompiler(request->command);
    ASSERT_TRUE(compiler) << compiler.error().message;
    const auto compiled = source::Summarise(compiler->passes);
    auto entry = source::MakeLockedKernel(
        {"app",
         request->kernel,
         request->workload,
         *evaluation,
         {request->variant, evaluation->target, {}, evaluation->guard, "", 1.0},
         files,
         compiled},
        judge);
    ASSERT_TRUE(entry) << entry.error().message;
    entry_ = std::move(*entry);
    options_.environment = xdg_.Environment();
    options_.folder = project;
  }

  // With the entry as `change` leaves it, ids and all made to fit.
  test::ProgramRun Verify(const std::function<void(records::LockedKernel& entry)>& change) {
    records::LockedKernel entry = entry_;
    change(entry);
    entry.variant.id = entry.evaluation.variant = records::VariantId(entry.variant);
    xdg_.folder().Write("project/cupilot.lock", records::LockText({{entry}}));
    return test::RunProgram({CUPILOT_PROGRAM, "lock", "--verify"}, options_);
  }
  void ExpectFails(const std::string& reason,
                   const std::function<void(records::LockedKernel& entry)>& change) {
    const auto run = Verify(change);
    EXPECT_EQ(run.exit_code, 1) << run.output << run.errors;
    EXPECT_THAT(run.output, HasSubstr("fails sums::times for host-"));
    EXPECT_THAT(run.output, HasSubstr(reason));
    EXPECT_THAT(run.output, HasSubstr("0 of 1 entry holds"));
  }

  test::PrivateXdg xdg_;
  test::EvaluatorRig rig_;
  std::string source_;
  records::LockedKernel entry_;
  test::RunOptions options_;
};

TEST_F(LockVerifyTest, WhatHoldsIsProvenAndWhatWasChangedIsFound) {
  // The file of the project is found from below.
  xdg_.folder().Write("project/cupilot.lock", records::LockText({{entry_}}));
  test::RunOptions below = options_;
  below.folder = xdg_.folder() / "project/src";
  const auto good = test::RunProgram({CUPILOT_PROGRAM, "lock", "--verify", "--json"}, below);
  EXPECT_EQ(good.exit_code, 0) << good.output << good.errors;
  const auto json = records::ParseJson(good.output);
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["schema"], "cupilot.lock_verified/1");
  EXPECT_EQ((*json)["holds"], true);
  EXPECT_EQ((*json)["entries"][0]["state"], "holds");
  EXPECT_EQ((*json)["entries"][0]["evaluation"]["verdict"], "accepted");

  ExpectFails("wrong_values", [](records::LockedKernel& entry) {
    entry.variant = MakeVariant("if (i < n) out[i] = 7;");
  });
  ExpectFails("forbidden_construct", [](records::LockedKernel& entry) {
    entry.variant.source += "static int started = (printf(\"host code\"), 1);\n";
  });
  ExpectFails("parameters are not the source's", [](records::LockedKernel& entry) {
    entry.parameters[2].kind = records::ParameterKind::kOther;
  });
  xdg_.folder().Write("project/src/times.cu",
                      std::string(kSource).replace(std::string(kSource).find("1.0f"), 4, "2.0f"));
  ExpectFails("its text has changed", [](records::LockedKernel&) {});

  options_.environment["CUDA_VISIBLE_DEVICES"] = "";
  const auto gpu = Verify([](records::LockedKernel& entry) {
    entry.target = entry.evaluation.target = "compute_90,sm_90";
  });
  EXPECT_EQ(gpu.exit_code, 3) << gpu.output << gpu.errors;
  EXPECT_THAT(gpu.output, HasSubstr("not checked sums::times for compute_90,sm_90"));
}

}  // namespace
}  // namespace cupilot::client
