// The host device under sanitizers: no false reports, and no missed ones.
#include <gmock/gmock.h>

#include "tests/daemon/host_runtime/host_program.h"

namespace cupilot::test {
namespace {

using ::testing::HasSubstr;

class HostSanitizers : public HostProgram {
 protected:
  static ProgramRun Run(const std::string& name, std::vector<std::string> arguments = {},
                        std::vector<std::string> flags = {"-O0"}) {
    flags.insert(flags.end(),
                 {"-Xcompiler", "-fsanitize=address", "-Xcompiler", "-fsanitize=undefined"});
    const std::string program = Compile(SourceOf(name + ".cu"), flags);
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
TEST_F(HostSanitizers, AFailedAssertionGivesNoReport) {
  for (const char* name : {"assertion", "assertion_between_barriers"}) {
    const ProgramRun run = Run("failures", {name});
    EXPECT_THAT(run.output, HasSubstr("synchronize: cudaErrorAssert"));
    EXPECT_THAT(run.errors, ::testing::Not(HasSubstr("Sanitizer"))) << name;
  }
}
TEST_F(HostSanitizers, AnOverrunOfAWaitingThreadIsReported) {
  EXPECT_EQ(Run("overrun", {}, {"-O1", "-g"}).exit_code, 0);
  const ProgramRun run = Run("overrun", {"one"}, {"-O1", "-g"});
  EXPECT_NE(run.exit_code, 0);
  EXPECT_THAT(run.errors, HasSubstr("heap-buffer-overflow"));
  EXPECT_THAT(run.errors, HasSubstr("overrun.cu:8"));
}

class HostThreadSanitizer : public HostProgram {
 protected:
  // Older versions of the sanitizer do not run where the kernel places programs at random in more
  // of the address space than they know.
  void SetUp() override {
    const ProgramRun run = Run("races", "atomic_counters");
    if (run.errors.find("unexpected memory mapping") != std::string::npos) {
      GTEST_SKIP() << "the thread sanitizer does not run on this machine";
    }
  }
  static ProgramRun Run(const std::string& name, const std::string& one_case = "") {
    const std::string program =
        Compile(SourceOf(name + ".cu"), {"-O1", "-Xcompiler", "-fsanitize=thread"});
    if (program.empty()) return {};
    std::vector<std::string> words = {program};
    if (!one_case.empty()) words.push_back(one_case);
    RunOptions options;
    options.environment["CUPILOT_HOST_THREADS"] = "3";
    return RunProgram(words, options);
  }
  static void ExpectRace(const ProgramRun& run, const std::string& where) {
    EXPECT_NE(run.exit_code, 0);
    EXPECT_THAT(run.errors, HasSubstr("ThreadSanitizer: data race"));
    EXPECT_THAT(run.errors, HasSubstr(where));
  }
};

TEST_F(HostThreadSanitizer, ThreadsThatWaitForEachOtherGiveNoReports) {
  const ProgramRun run = Run("groups");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.errors, "");
  EXPECT_THAT(run.output, HasSubstr("all cases hold"));
}
TEST_F(HostThreadSanitizer, BarriersFencesAndAtomicOperationsGiveNoReports) {
  for (const char* name : {"a_barrier_is_there", "the_last_block_adds_up", "atomic_counters",
                           "loops_around_compare_and_swap", "blocks_that_wait_for_each_other"}) {
    const ProgramRun run = Run("races", name);
    EXPECT_EQ(run.exit_code, 0) << name;
    EXPECT_EQ(run.errors, "") << name;
  }
}
TEST_F(HostThreadSanitizer, ARaceBetweenBlocksIsReported) {
  ExpectRace(Run("races", "blocks_write_one_place"), "BlocksWriteOnePlace");
}
TEST_F(HostThreadSanitizer, AnUpdateThatAnotherMayInterruptIsReported) {
  ExpectRace(Run("races", "threads_count_without_atomics"), "CountWithoutAtomics");
  ExpectRace(Run("races", "blocks_count_without_atomics"), "CountWithoutAtomics");
}
TEST_F(HostThreadSanitizer, AMissingBarrierIsReported) {
  ExpectRace(Run("races", "a_barrier_is_missing"), "Neighbours");
}

}  // namespace
}  // namespace cupilot::test
