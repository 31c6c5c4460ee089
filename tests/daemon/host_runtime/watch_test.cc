// Watched runs: what is wrong is found by what orders accesses, once and with its place; honest
// kernels give no findings.
#include <gmock/gmock.h>

#include "base/compiler_program.h"
#include "host_runtime/include/cupilot_host_watch.h"
#include "tests/daemon/host_runtime/host_program.h"

namespace cupilot::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class HostWatch : public HostProgram {
 protected:
  static std::string Findings(const std::string& one_case, const std::string& level = "-O1",
                              const std::string& compiler = "g++") {
    const std::string program =
        Compile(SourceOf("watched.cu"), {level, "--cupilot-watch", "-w", "-ccbin=" + compiler});
    if (program.empty()) return "not compiled";
    const ProgramRun run = RunProgram({program, one_case});
    EXPECT_EQ(run.exit_code, 0) << one_case << run.errors;
    const std::size_t end = run.output.find("all cases hold");
    EXPECT_NE(end, std::string::npos) << one_case;
    return run.output.substr(0, end);
  }
  // Its only finding, and the same each time.
  static void ExpectOnly(const std::string& one_case, int kind, const std::string& what) {
    const std::string found = Findings(one_case);
    EXPECT_THAT(found, AllOf(StartsWith(std::to_string(kind) + " "), HasSubstr(what))) << one_case;
    EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 1) << one_case << ": " << found;
    EXPECT_EQ(Findings(one_case), found);
  }
};

TEST_F(HostWatch, HonestKernelsGiveNoFindings) {
  for (const char* name : {"clean_tree",
                           "clean_last_block",
                           "clean_last_block_of_all",
                           "clean_last_block_by_reference",
                           "clean_warps",
                           "clean_double_buffer",
                           "clean_atomics",
                           "clean_same_value",
                           "clean_bytes",
                           "clean_dynamic",
                           "clean_two_launches",
                           "clean_hint",
                           "clean_chain",
                           "clean_counter_reset",
                           "clean_counter_reset_without_fences",
                           "clean_flag_reset",
                           "clean_copied_structures",
                           "clean_copies_of_odd_sizes",
                           "clean_copies_of_the_library",
                           "clean_definitions"}) {
    EXPECT_EQ(Findings(name), "") << name;
  }
}
TEST_F(HostWatch, AMissingBarrierIsARace) {
  ExpectOnly("no_barrier", cupilot_host_watch_shared_race,
             "a write by thread (0,0,0) of block (0,0,0) and a read by thread (1,0,0) of block "
             "(0,0,0) at 'box'[0] of shared memory");
  ExpectOnly("no_second_barrier", cupilot_host_watch_shared_race, "'box'[63]");
  ExpectOnly("atomics_not_awaited", cupilot_host_watch_shared_race, "an atomic change");
}
TEST_F(HostWatch, LanesAreOrderedByWhatTheyTakePartIn) {
  for (const char* name : {"lanes_in_step", "wrong_mask", "warp_for_block"}) {
    EXPECT_THAT(Findings(name), HasSubstr("1 box: ")) << name;
  }
}
TEST_F(HostWatch, ALostUpdateIsARace) {
  ExpectOnly("lost_in_shared", cupilot_host_watch_shared_race, "'sum'[0]");
  ExpectOnly("lost_in_global", cupilot_host_watch_global_race, "'out'[0]");
  ExpectOnly("lost_volatile", cupilot_host_watch_global_race, "a volatile write");
}
TEST_F(HostWatch, BlocksAreOrderedByFencesAndAtomicOperations) {
  ExpectOnly("no_fence", cupilot_host_watch_global_race, "of block (3,0,0) at 'out'[0]");
  ExpectOnly("not_the_last", cupilot_host_watch_global_race, "of block (3,0,0) at 'out'[0]");
}
TEST_F(HostWatch, ACopiedStructureIsARaceToo) {
  ExpectOnly("structures_collide", cupilot_host_watch_global_race, "'out'[0]");
  ExpectOnly("copies_of_the_library_collide", cupilot_host_watch_global_race, "'out'[0]");
}
TEST_F(HostWatch, SharedMemoryThatNobodyWroteIsNotRead) {
  ExpectOnly("unwritten", cupilot_host_watch_unwritten_shared,
             "a read by thread (5,0,0) of block (0,0,0) at 'box'[5]");
}
TEST_F(HostWatch, AccessesOutsideOfAllMemoryAreFound) {
  ExpectOnly("past_the_end", cupilot_host_watch_outside_read, "at byte 1024 of 'in'");
  ExpectOnly("before_the_start", cupilot_host_watch_outside_write, "a write");
  EXPECT_THAT(Findings("past_the_shared"), HasSubstr("of 'dynamic shared memory', which has 256"));
}
TEST_F(HostWatch, AccessesThatAGpuDoesNotAlignAreFound) {
  ExpectOnly("off_its_alignment", cupilot_host_watch_misaligned,
             "an access by thread (0,0,0) of block (0,0,0) at byte 4 of 'in', whose address is no "
             "multiple of 8");
}
TEST_F(HostWatch, WritesToWhatIsReadOnlyAreFound) {
  ExpectOnly("borrows_its_input", cupilot_host_watch_read_only_write, "'in'[0]");
  ExpectOnly("state_in_constant_memory", cupilot_host_watch_constant_write, "'calls'");
}
TEST_F(HostWatch, WhatTheLanguageDoesNotDefineIsFound) {
  ExpectOnly("overflow", cupilot_host_watch_signed_overflow,
             "watched.cu: a signed overflow, 7 + 2147483641 in 'int', by thread (1,0,0) of block "
             "(0,0,0)");
  ExpectOnly("shift", cupilot_host_watch_shift, "a shift of 'unsigned int' by 32");
  ExpectOnly("conversion", cupilot_host_watch_conversion,
             "a conversion of 7e+09 to 'int', which cannot hold it, by thread (1,0,0)");
  ExpectOnly("object", cupilot_host_watch_object, "beyond the object that it is in by thread");
  EXPECT_THAT(Findings("index"), HasSubstr("index 30 of 'int [30]' by thread"));
}
TEST_F(HostWatch, ClangFindsWhatIsUndefinedToo) {
  if (base::FindProgram("clang++", "").empty()) GTEST_SKIP() << "no clang++ here";
  const auto findings = [](const char* one_case) { return Findings(one_case, "-O1", "clang++"); };
  EXPECT_THAT(findings("overflow"), HasSubstr("a signed overflow, 2147483641 + 7 in 'int'"));
  EXPECT_THAT(findings("shift"), HasSubstr("a shift of 'unsigned int' by 32"));
  EXPECT_THAT(findings("conversion"), HasSubstr("a conversion of 7e+09 to 'int'"));
  EXPECT_THAT(findings("index"), HasSubstr("index 30 of 'const int[30]'"));
  EXPECT_EQ(findings("clean_definitions"), "");
}
TEST_F(HostWatch, ALaunchEndsAtItsLimit) { EXPECT_EQ(Findings("limit_of_accesses"), "stopped\n"); }
TEST_F(HostWatch, OtherLevelsOfOptimisationAreTheSame) {
  for (const char* level : {"-O0", "-O3"}) {
    EXPECT_EQ(Findings("clean_two_launches", level), "") << level;
    EXPECT_EQ(Findings("lost_in_global", level), Findings("lost_in_global")) << level;
  }
}

}  // namespace
}  // namespace cupilot::test
