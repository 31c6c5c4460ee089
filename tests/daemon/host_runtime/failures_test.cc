// What a program sees of a kernel that failed: an error that stays, and a text that says why.
#include <gmock/gmock.h>

#include "tests/daemon/host_runtime/host_program.h"

namespace cupilot::test {
namespace {

using ::testing::HasSubstr;

class HostFailures : public HostProgram {
 protected:
  static void ExpectSticky(const ProgramRun& run, const std::string& reason) {
    EXPECT_THAT(run.errors, HasSubstr(reason));
    for (const char* call : {"synchronize", "again", "copy", "malloc", "memset", "next"}) {
      EXPECT_THAT(run.output, HasSubstr(std::string(call) + ": cudaErrorLaunchFailure\n"));
    }
    EXPECT_THAT(run.output, HasSubstr("text: unspecified launch failure\n"));
  }
};

TEST_F(HostFailures, ABarrierThatSomeThreadsDoNotReachIsAnError) {
  ExpectSticky(
      RunCase("failures", "some_threads_at_a_barrier"),
      "kernel HalfAtBarrier: a barrier of the block was reached by 5 of 32 threads of block");
}
TEST_F(HostFailures, ThreadsThatEndBeforeABarrierAreAnError) {
  const ProgramRun run = RunCase("failures", "threads_end_before_a_barrier");
  ExpectSticky(run, "a barrier of the block was reached by 40 of 64 threads of block (0,0,0)");
  EXPECT_THAT(run.errors, HasSubstr("24 had ended"));
}
TEST_F(HostFailures, AWarpThatWaitsForLanesAtABarrierIsAnError) {
  ExpectSticky(RunCase("failures", "barrier_and_warp_operation"),
               "16 waited in operations of a warp");
}
TEST_F(HostFailures, ALaneThatIsMissingIsAnError) {
  ExpectSticky(RunCase("failures", "lane_missing"), "kernel LaneMissing: ");
}
TEST_F(HostFailures, AKernelWhoseThreadsAllReachTheBarrierWorks) {
  const ProgramRun run = RunCase("failures", "all_threads_reach_the_barrier");
  EXPECT_EQ(run.errors, "");
  for (const char* call : {"launch", "synchronize", "again", "copy", "malloc", "memset", "next"}) {
    EXPECT_THAT(run.output, HasSubstr(std::string(call) + ": cudaSuccess\n"));
  }
}

TEST_F(HostFailures, AnObjectOfAnotherVersionSaysSo) {
  const ProgramRun run = RunCase("failures", "object_of_another_version");
  EXPECT_THAT(run.errors, HasSubstr("was compiled for version 1 of the runtime"));
  EXPECT_THAT(run.output, HasSubstr("launch: cudaErrorInvalidDeviceFunction\n"));
}

}  // namespace
}  // namespace cupilot::test
