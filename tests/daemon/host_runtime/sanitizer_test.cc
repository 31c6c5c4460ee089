// The host device under sanitizers: no false reports, and no missed ones.
#include <gmock/gmock.h>

#include "tests/daemon/host_runtime/host_program.h"

namespace cupilot::test {
namespace {

using ::testing::HasSubstr;

class HostSanitizers : public HostProgram {
 protected:
  static ProgramRun Run(const std::string& name, std::vector<std::string> arguments = {}) {
    const std::string program = Compile(
        SourceOf(name + ".cu"),
        {"-O1", "-g", "-Xcompiler", "-fsanitize=address", "-Xcompiler", "-fsanitize=undefined"});
    if (program.empty()) return {};
    arguments.insert(arguments.begin(), program);
    RunOptions options;
    options.environment["ASAN_OPTIONS"] = "detect_stack_use_after_return=1:abort_on_error=0";
    return RunProgram(arguments, options);
  }
};

TEST_F(HostSanitizers, ThreadsThatWaitForEachOtherGiveNoReports) {
  for (const char* name : {"blocks", "warps"}) {
    const ProgramRun run = Run(name);
    EXPECT_EQ(run.exit_code, 0) << name;
    EXPECT_EQ(run.errors, "") << name;
    EXPECT_THAT(run.output, HasSubstr("all cases hold")) << name;
  }
}
TEST_F(HostSanitizers, AFailedBarrierGivesNoReport) {
  const ProgramRun run = Run("failures", {"some_threads_at_a_barrier"});
  EXPECT_THAT(run.output, HasSubstr("synchronize: cudaErrorLaunchFailure"));
  EXPECT_THAT(run.errors, ::testing::Not(HasSubstr("Sanitizer")));
}
TEST_F(HostSanitizers, AnOverrunOfAWaitingThreadIsReported) {
  EXPECT_EQ(Run("overrun").exit_code, 0);
  const ProgramRun run = Run("overrun", {"one"});
  EXPECT_NE(run.exit_code, 0);
  EXPECT_THAT(run.errors, HasSubstr("heap-buffer-overflow"));
  EXPECT_THAT(run.errors, HasSubstr("overrun.cu:8"));
}

}  // namespace
}  // namespace cupilot::test
