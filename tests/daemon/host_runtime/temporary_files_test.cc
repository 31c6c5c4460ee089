// Folders of temporary files that cannot be used: a build ends with a message.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/daemon/host_runtime/host_program.h"

namespace cupilot::test {
namespace {

using ::testing::HasSubstr;

class HostTemporaryFiles : public HostProgram {
 protected:
  static ProgramRun Build(const std::string& temporary, std::vector<std::string> words = {}) {
    const std::string source = folder().Write("empty.cu", "__global__ void k() {}\n");
    RunOptions options;
    options.environment["TMPDIR"] = temporary;
    words.insert(words.end(), {CUPILOT_HOST_NVCC, "-c", source, "-o", folder() / "empty.o"});
    return RunProgram(words, options);
  }
};

TEST_F(HostTemporaryFiles, AFolderThatIsNotThereIsSaidInALine) {
  for (const std::string& temporary : {std::string("/nonexistent"), folder().Write("file", "")}) {
    const ProgramRun run = Build(temporary);
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.errors, HasSubstr("no temporary files can be made in " + temporary + ": "));
    EXPECT_THAT(run.errors, HasSubstr("set TMPDIR to a folder"));
    EXPECT_EQ(std::count(run.errors.begin(), run.errors.end(), '\n'), 1) << run.errors;
  }
}
TEST_F(HostTemporaryFiles, QuestionsNeedNone) {
  RunOptions options;
  options.environment["TMPDIR"] = "/nonexistent";
  const ProgramRun run = RunProgram({CUPILOT_HOST_NVCC, "--version"}, options);
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("release 13.0"));
}
TEST_F(HostTemporaryFiles, AFullDiskIsSaid) {
  const std::string full = folder().path() + "/full";
  const std::vector<std::string> on_a_small_disk = {"bwrap",  "--dev-bind", "/",       "/",
                                                    "--size", "65536",      "--tmpfs", full};
  std::vector<std::string> probe = on_a_small_disk;
  probe.emplace_back("true");
  if (RunProgram(probe).exit_code != 0) GTEST_SKIP() << "bubblewrap does not work here";
  const ProgramRun run = Build(full, on_a_small_disk);
  EXPECT_NE(run.exit_code, 0);
  EXPECT_THAT(run.errors, HasSubstr("No space left on device"));
}

}  // namespace
}  // namespace cupilot::test
