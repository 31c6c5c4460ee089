// What a program sees of a kernel that failed: an error that stays, and a text that says why.
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>

#include "tests/daemon/host_runtime/host_program.h"

namespace cupilot::test {
namespace {

using ::testing::HasSubstr;

class HostFailures : public HostProgram {
 protected:
  static void ExpectSticky(const ProgramRun& run, const std::string& reason,
                           const std::string& error = "cudaErrorLaunchFailure",
                           const std::string& text = "unspecified launch failure") {
    EXPECT_THAT(run.errors, HasSubstr(reason));
    for (const char* call : {"synchronize", "again", "copy", "malloc", "memset", "next"}) {
      EXPECT_THAT(run.output, HasSubstr(std::string(call) + ": " + error + "\n"));
    }
    EXPECT_THAT(run.output, HasSubstr("text: " + text + "\n"));
  }
  // `what`: "void k(int*): block: [1,0,0], ...", behind the place in the source.
  static void ExpectAssertion(const ProgramRun& run, const std::string& what) {
    ExpectSticky(run, "failures.cu:", "cudaErrorAssert", "device-side assert triggered");
    EXPECT_THAT(run.errors, HasSubstr(": " + what + "\n"));
    // Behind the path, which may have any word in it.
    const std::size_t place = std::min(run.errors.find("failures.cu:"), run.errors.size());
    EXPECT_THAT(run.errors.substr(place), ::testing::Not(HasSubstr("cupilot")));
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

TEST_F(HostFailures, AnAssertionNamesTheThread) {
  ExpectAssertion(RunCase("failures", "assertion"),
                  "void Asserts(T*, int) [with T = int]: block: [3,0,0], thread: [8,0,0] Assertion "
                  "`i < n` failed.");
}
TEST_F(HostFailures, AnAssertionOfAFunctionNamesItAndTheThread) {
  ExpectAssertion(RunCase("failures", "assertion_in_a_function"),
                  "int Positive(int): block: [0,0,0], thread: [3,1,0] Assertion `value > 0` "
                  "failed.");
}
TEST_F(HostFailures, AnAssertionOfAThreadThatOthersWaitFor) {
  ExpectAssertion(RunCase("failures", "assertion_between_barriers"),
                  "void AssertsBetweenBarriers(int*): block: [0,0,0], thread: [40,0,0] Assertion "
                  "`box[63 - threadIdx.x] != 23` failed.");
}
TEST_F(HostFailures, AnAssertionOfTheHostEndsTheProgram) {
  const ProgramRun run = RunCase("failures", "assertion_of_the_host");
  EXPECT_EQ(run.exit_code, 128 + SIGABRT);
  EXPECT_THAT(run.errors, HasSubstr("int Positive(int): Assertion `value > 0' failed."));
}
TEST_F(HostFailures, ATrapIsAnError) {
  ExpectSticky(RunCase("failures", "trap"), "kernel Traps: a thread called __trap()");
}
TEST_F(HostFailures, AGridThatWaitsInAPlainLaunchIsAnError) {
  ExpectSticky(RunCase("failures", "grid_barrier_in_a_plain_launch"),
               "the launch was no cooperative one");
}
TEST_F(HostFailures, ABarrierOfTheGridThatABlockDoesNotReachIsAnError) {
  ExpectSticky(RunCase("failures", "grid_barrier_that_a_block_does_not_reach"),
               "a barrier of the grid was not reached by all blocks");
}

TEST_F(HostFailures, AnObjectOfAnotherVersionSaysSo) {
  const ProgramRun run = RunCase("failures", "object_of_another_version");
  EXPECT_THAT(run.errors, HasSubstr("was compiled for version 1 of the runtime"));
  EXPECT_THAT(run.output, HasSubstr("launch: cudaErrorInvalidDeviceFunction\n"));
}

}  // namespace
}  // namespace cupilot::test
