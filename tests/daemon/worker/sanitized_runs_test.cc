// What is made of compute-sanitizer's tools: what they report, what the program in them says, and
// what becomes of those that do not end. The tool is a script here.
#include "worker/sanitized_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "base/file.h"
#include "tests/daemon/worker/case_fixture.h"
#include "tests/support/processes.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::worker {
namespace {

using records::Json;
using ::testing::HasSubstr;

// As compute-sanitizer 2025.3.1 wrote them on an H200.
constexpr const char* kRace = R"(========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at race+0x120
=========     and Read access at race+0x130 [1024 hazards]
========= 
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
)";
constexpr const char* kDivergent = R"(========= COMPUTE-SANITIZER
========= Barrier error detected. Divergent thread(s) in warp.
=========     at divergent+0xb0 in k.cu:12
=========     by thread (64,0,0) in block (0,0,0)
========= 
========= Barrier error detected. Divergent thread(s) in warp.
=========     at divergent+0xb0 in k.cu:12
=========     by thread (65,0,0) in block (0,0,0)
========= 
========= ERROR SUMMARY: 128 errors
)";
constexpr const char* kBeyond = R"(========= COMPUTE-SANITIZER
========= Invalid __shared__ write of size 4 bytes
=========     at oobs+0xf0
=========     by thread (0,0,0) in block (0,0,0)
=========     Access to 0x800 is out of bounds
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: cuLaunchKernel [0x39fb94] in libcuda.so.1
=========         Host Frame: __libc_start_main [0x2a28a] in libc.so.6
========= 
========= ERROR SUMMARY: 256 errors
========= ERROR SUMMARY: 255 errors were not printed. Use --print-limit option to adjust the number of printed errors
)";
constexpr const char* kRefusedCall = R"(========= COMPUTE-SANITIZER
========= Program hit CUDA_ERROR_INVALID_VALUE (error 1) due to "invalid argument" on CUDA API call to cuMemHostRegister_v2.
=========     Saved host backtrace up to driver entry point at error
=========         Host Frame: __libc_start_main [0x2a28a] in libc.so.6
========= 
========= ERROR SUMMARY: 1 error
)";
constexpr const char* kNothing = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n";

constexpr std::chrono::milliseconds kLimit{60000};

const SanitizerTool& Tool(const std::string& name) {
  for (const SanitizerTool& tool : kSanitizerTools) {
    if (tool.name == name) return tool;
  }
  ADD_FAILURE() << "no tool " << name;
  return kSanitizerTools[0];
}

TEST(SanitizerReportTest, TheFirstErrorOfAKernelIsSaidInOneLine) {
  EXPECT_EQ(FirstError(Tool("racecheck"), kRace),
            "Error: Race reported between Write access at race+0x120, and Read access at "
            "race+0x130 [1024 hazards]");
  EXPECT_EQ(FirstError(Tool("memcheck"), kBeyond),
            "Invalid __shared__ write of size 4 bytes, at oobs+0xf0, by thread (0,0,0) in block "
            "(0,0,0), Access to 0x800 is out of bounds");
  EXPECT_EQ(FirstError(Tool("synccheck"), kDivergent),
            "Barrier error detected. Divergent thread(s) in warp. at divergent+0xb0 in k.cu:12, by "
            "thread (64,0,0) in block (0,0,0)");
}

TEST(SanitizerReportTest, CallsThatTheDriverRefusesAreNoErrorsOfAKernel) {
  for (const SanitizerTool& tool : kSanitizerTools) {
    EXPECT_EQ(FirstError(tool, kRefusedCall), "") << tool.name;
    EXPECT_EQ(FirstError(tool, kNothing), "") << tool.name;
    EXPECT_EQ(FirstError(tool, ""), "") << tool.name;
  }
}

class SanitizedRunsTest : public ::testing::Test {
 protected:
  // As a worker does: a script may end before it has read.
  void SetUp() override { before_ = ::signal(SIGPIPE, SIG_IGN); }
  void TearDown() override { ::signal(SIGPIPE, before_); }

  // A script that is called as the tool is: `log` and `requests` are files.
  SanitizedRuns::Subject With(const std::string& script) {
    folder_.Write("log_text", log_text_);
    const std::string tool = folder_.Write("tool.sh",
                                           "#!/bin/sh\nwhile [ \"$1\" != --log-file ]; do shift; "
                                           "done\nlog=$2\nhere='" +
                                               folder_.path() + "'\n" + script);
    EXPECT_EQ(::chmod(tool.c_str(), 0700), 0);
    return {tool,         "host",  folder_ / "artifact.so", {{"steps", Json::array()}},
            plan_.layout, inputs_, folder_ / "scratch"};
  }

  SanitizedRun Run(const std::string& script) {
    return SanitizedRuns(With(script), {&Tool("racecheck")}, kLimit).Wait().front();
  }

  sighandler_t before_ = SIG_DFL;
  test::TemporaryFolder folder_;
  std::string log_text_ = kNothing;
  CasePlan plan_ = MakePlan();
  CaseInputs inputs_{std::vector<std::vector<std::byte>>(plan_.layout.regions.size())};
};

constexpr const char* kReplies = "echo '{\"resources\":[]}'\necho '{\"microseconds\":1}'\n";

TEST_F(SanitizedRunsTest, TheProgramRunsInTheToolAndWhatItReportsIsSaid) {
  log_text_ = kRace;
  const SanitizedRun run = Run(
      "head -n 2 > \"$here/requests\"; echo \"$TMPDIR\" > \"$here/tmpdir\"; cp \"$here/log_text\" "
      "\"$log\"\n" +
      std::string(kReplies) + "exit 86\n");
  EXPECT_THAT(run.error, HasSubstr("Race reported"));
  EXPECT_EQ(run.failed, "");
  std::string temporary;
  std::getline(std::ifstream(folder_ / "tmpdir") >> std::ws, temporary);
  EXPECT_THAT(temporary, HasSubstr(folder_ / "scratch/racecheck."));
  std::ifstream requests(folder_ / "requests");
  std::string load, program;
  std::getline(requests, load);
  std::getline(requests, program);
  EXPECT_EQ(records::ParseJson(load)->at("modules"), Json::array({folder_ / "artifact.so"}));
  EXPECT_EQ(records::ParseJson(program)->at("op"), "run");
  EXPECT_EQ(records::ParseJson(program)->at("bytes"), plan_.layout.bytes);
}

TEST_F(SanitizedRunsTest, WithoutAReportItCountsIfTheProgramRan) {
  const std::string writes = "cp \"$here/log_text\" \"$log\"\n";
  const SanitizedRun clean = Run(writes + kReplies);
  EXPECT_EQ(clean.error, "");
  EXPECT_EQ(clean.failed, "");
  const struct {
    std::string script, why;
  } failures[] = {
      {writes, "did not run"},
      {writes + "echo '{\"resources\":[]}'\necho '{\"error\":\"no memory\"}'\n", "no memory"},
      {writes + "echo nonsense\n", "no reply"},
      {kReplies, "no log"},
      {writes + kReplies + "exit 3\n", "exited with 3"},
  };
  for (const auto& [script, why] : failures) {
    const SanitizedRun run = Run(script);
    EXPECT_EQ(run.error, "");
    EXPECT_THAT(run.failed, HasSubstr(why)) << script;
  }
}

TEST_F(SanitizedRunsTest, AToolThatCannotBeStartedHasFailed) {
  SanitizedRuns::Subject subject = With("");
  subject.sanitizer = folder_ / "missing";
  const SanitizedRun run = SanitizedRuns(subject, {&Tool("memcheck")}, kLimit).Wait().front();
  EXPECT_EQ(run.error, "");
  EXPECT_NE(run.failed, "");
}

// A candidate that another step rejects must not leave them on the GPU.
TEST_F(SanitizedRunsTest, WhoEndsThemEndsAllThatTheyHaveStarted) {
  const std::string place = folder_ / "pids";
  ASSERT_EQ(::mkfifo(place.c_str(), 0600), 0);
  pid_t script = 0, child = 0;
  {
    const SanitizedRuns runs(With("sleep 100000 & echo $$ $! > \"$here/pids\"\nwait\n"),
                             {&Tool("memcheck")}, kLimit);
    std::ifstream pids(place);  // waits for the script
    pids >> script >> child;
  }
  ASSERT_GT(script, 0);
  ASSERT_GT(child, 0);
  EXPECT_TRUE(test::HasEnded(script));
  EXPECT_TRUE(test::HasEnded(child));
}

// A kernel with an error in every thread: the launch goes on for seconds.
TEST_F(SanitizedRunsTest, WhatItReportsIsSaidWhileTheProgramRuns) {
  log_text_ = kBeyond;
  const std::string never = folder_ / "never";
  ASSERT_EQ(::mkfifo(never.c_str(), 0600), 0);  // nobody writes to it
  const std::string writes = "cp \"$here/log_text\" \"$log\"\n",
                    waits = "read -r line < \"$here/never\"\n";
  const SanitizerTool& memcheck = Tool("memcheck");
  constexpr std::chrono::hours kNever{24};
  for (const std::string& script : {writes + waits, kReplies + writes + waits}) {
    const SanitizedRun run = SanitizedRuns(With(script), {&memcheck}, kNever).Wait().front();
    EXPECT_THAT(run.error, HasSubstr("Invalid __shared__ write")) << script;
    EXPECT_EQ(run.failed, "");
  }
}

TEST_F(SanitizedRunsTest, WhatDoesNotEndIsLate) {
  const std::chrono::milliseconds none{0};
  const SanitizedRun run =
      SanitizedRuns(With("sleep 100000\n"), {&Tool("memcheck")}, none).Wait().front();
  EXPECT_TRUE(run.late);
  EXPECT_EQ(run.failed, "it did not end within 0 ms");
  EXPECT_FALSE(Run("exit 3\n").late);
}

// As the tool does: its first line comes at once. Each program's requests are answered; how many
// times a script was started is in "$here/starts".
TEST_F(SanitizedRunsTest, WhoHasReportedAnErrorIsNotWaitedFor) {
  log_text_ = kRace;
  // It reads what nobody sends: it would never end.
  const SanitizedRun run =
      Run("head -n 2 > /dev/null; cp \"$here/log_text\" \"$log\"\n" + std::string(kReplies) +
          "mkfifo \"$here/never\"; cat \"$here/never\"\n");
  EXPECT_THAT(run.error, HasSubstr("Race reported"));
  EXPECT_EQ(run.failed, "");
  EXPECT_FALSE(run.late);
}

constexpr const char* kServes = R"(echo start >> "$here/starts"
echo '========= COMPUTE-SANITIZER' > "$log"
count=0
while read -r load && read -r run; do
  count=$((count + 1))
  echo "$count $load" >> "$here/loads"
  echo '{"resources":[]}'
  . "$here/each"
  echo '{"microseconds":1}'
done
)";

class KeptSanitizersTest : public SanitizedRunsTest {
 protected:
  void TearDown() override {
    SanitizedRuns::EndKept();
    SanitizedRunsTest::TearDown();
  }
  // `each`: what the script does in each run, the first of this process being $count 1.
  void Serve(const std::string& each) {
    folder_.Write("each", each);
    subject_.emplace(With(kServes));
    subject_->keep = true;
  }
  SanitizedRun RunKept(const std::string& artifact = "artifact.so") {
    subject_->artifact = folder_ / artifact;
    return SanitizedRuns(*subject_, {&Tool("racecheck")}, kLimit).Wait().front();
  }
  std::size_t Lines(const std::string& file) const {
    std::ifstream in(folder_ / file);
    std::size_t count = 0;
    for (std::string line; std::getline(in, line);) ++count;
    return count;
  }
  std::optional<SanitizedRuns::Subject> subject_;
};

TEST_F(KeptSanitizersTest, WhatFoundNothingRunsTheNextProgram) {
  Serve(":");
  for (const char* artifact : {"artifact.so", "other.so", "third.so"}) {
    const SanitizedRun run = RunKept(artifact);
    EXPECT_EQ(run.failed, "");
    EXPECT_EQ(run.error, "");
  }
  EXPECT_EQ(Lines("starts"), 1u);
  std::ifstream loads(folder_ / "loads");
  for (const char* artifact : {"artifact.so", "other.so", "third.so"}) {
    std::string load;
    std::getline(loads, load);
    EXPECT_THAT(load, HasSubstr(artifact));
  }
}

// As another kernel's case is: starting a process takes half a second. The memory of each ends
// where its buffers do.
TEST_F(KeptSanitizersTest, TheNextProgramMayHaveOtherBuffers) {
  Serve(":");
  const std::int64_t own = plan_.layout.bytes;
  const std::int64_t sizes[] = {own, 3 * own, 2 * own};
  for (const std::int64_t bytes : sizes) {
    plan_.layout.bytes = bytes;
    EXPECT_EQ(RunKept().failed, "");
  }
  EXPECT_EQ(Lines("starts"), 1u);
  std::ifstream loads(folder_ / "loads");
  for (const std::int64_t bytes : sizes) {
    std::string load;
    std::getline(loads, load);
    EXPECT_THAT(load, HasSubstr("\"memory_bytes\":" + std::to_string(bytes) + ","));
  }
  plan_.layout.bytes = kSmallForSanitizers + own;
  EXPECT_EQ(RunKept().failed, "");
  EXPECT_EQ(Lines("starts"), 2u) << "there was no room for them";
}

TEST_F(KeptSanitizersTest, WhereProcessesMayNotLiveOnNoneDoes) {
  Serve(":");
  subject_->keep = false;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(RunKept().failed, "");
  EXPECT_EQ(Lines("starts"), 2u);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "scratch"));
}

// A new one decides, so that nothing of earlier programs does.
TEST_F(KeptSanitizersTest, WhatAKeptOneFindsANewOneIsAsked) {
  const std::string report = "cat \"$here/log_text\" >> \"$log\"\n";
  log_text_ = kRace;
  Serve("if [ \"$count\" = 2 ]; then " + report + "fi\n");
  EXPECT_EQ(RunKept().error, "");
  const SanitizedRun spurious = RunKept();
  EXPECT_EQ(spurious.error, "");
  EXPECT_EQ(spurious.failed, "");
  EXPECT_EQ(Lines("starts"), 2u);

  SanitizedRuns::EndKept();
  Serve("case \"$load\" in *bad.so*) " + report + ";; esac\n");
  EXPECT_EQ(RunKept("good.so").error, "");
  EXPECT_THAT(RunKept("bad.so").error, HasSubstr("Race reported"));
  EXPECT_EQ(RunKept("good.so").error, "") << "what had something to report is not kept";
}

TEST_F(KeptSanitizersTest, WhatAKeptOneFailsAtANewOneIsAsked) {
  Serve("if [ \"$count\" = 2 ]; then exit 3; fi\n");
  EXPECT_EQ(RunKept().failed, "");
  EXPECT_EQ(RunKept().failed, "");
  EXPECT_EQ(Lines("starts"), 2u);
  SanitizedRuns::EndKept();
  Serve("case \"$load\" in *bad.so*) exit 3;; esac\n");
  EXPECT_EQ(RunKept("good.so").failed, "");
  EXPECT_THAT(RunKept("bad.so").failed, HasSubstr("exited with 3"));
}

// A log that is only written at the end may hold back what was found: such a tool is ended each
// time.
TEST_F(KeptSanitizersTest, WhoDoesNotWriteAtOnceIsNotKept) {
  log_text_ = kRace;
  Serve("rm -f \"$log\"\n");
  const std::string at_the_end = kServes + std::string("cp \"$here/log_text\" \"$log\"\n");
  subject_.emplace(With(at_the_end));
  subject_->keep = true;
  EXPECT_THAT(RunKept().error, HasSubstr("Race reported"));
  EXPECT_THAT(RunKept().error, HasSubstr("Race reported"));
  EXPECT_EQ(Lines("starts"), 2u);
}

TEST_F(KeptSanitizersTest, ArtifactsOfAnotherFolderNeedAnotherProcess) {
  Serve(":");
  EXPECT_EQ(RunKept().failed, "");
  EXPECT_EQ(RunKept("elsewhere/artifact.so").failed, "");
  EXPECT_EQ(Lines("starts"), 2u);
}

TEST_F(KeptSanitizersTest, NoneLivesForEver) {
  Serve(":");
  for (int i = 0; i < 101; ++i) EXPECT_EQ(RunKept().failed, "");
  EXPECT_EQ(Lines("loads"), 101u);
  EXPECT_EQ(Lines("starts"), 3u);
}

// Of a worker that was killed.
TEST_F(KeptSanitizersTest, WhatOthersHaveLeftBehindGoes) {
  Serve(":");
  const pid_t ended = ::fork();
  if (ended == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(ended, nullptr, 0), ended);
  const std::string left = folder_ / ("scratch/racecheck." + std::to_string(ended) + ".1.0");
  const std::string alive = folder_ / ("scratch/racecheck." + std::to_string(::getpid()) + ".1.0");
  ASSERT_TRUE(base::MakeFolders(left));
  ASSERT_TRUE(base::MakeFolders(alive));
  EXPECT_EQ(RunKept().failed, "");
  EXPECT_FALSE(base::FileExists(left));
  EXPECT_TRUE(base::FileExists(alive));
}

TEST_F(SanitizedRunsTest, LogsAreNotKept) {
  Run("cp \"$here/log_text\" \"$log\"\n" + std::string(kReplies));
  EXPECT_TRUE(base::FileExists(folder_ / "scratch"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "scratch"));
}

}  // namespace
}  // namespace cupilot::worker
