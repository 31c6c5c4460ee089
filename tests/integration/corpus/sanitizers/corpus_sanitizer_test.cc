// Every source of the corpus that the host device builds, under a sanitizer: its program runs
// without a report, with its own kernels and with those that take their place; where its source
// says that it races, the thread sanitizer sees it. Which sanitizer is said by
// $CUPILOT_TEST_SANITIZER, "address" (and undefined behaviour) or "thread". One standard each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tests/integration/corpus/corpus.h"
#include "tests/integration/corpus/host_build.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::corpus {
namespace {

using Words = std::vector<std::string>;

bool IsThread() {
  const char* name = std::getenv("CUPILOT_TEST_SANITIZER");
  return name != nullptr && std::string(name) == "thread";
}

// With lines in the reports.
Words SanitizerFlags() {
  Words flags = {"-g"};
  const Words names = IsThread() ? Words{"thread"} : Words{"address", "undefined"};
  for (const std::string& name : names) {
    flags.insert(flags.end(), {"-Xcompiler", "-fsanitize=" + name});
  }
  return flags;
}

std::vector<Entry> HostEntries() {
  std::vector<Entry> entries = ReadCorpus();
  std::erase_if(entries, [](const Entry& entry) { return !entry.nvcc_only.empty(); });
  for (Entry& entry : entries) {
    const Words flags = SanitizerFlags();
    entry.flags.insert(entry.flags.end(), flags.begin(), flags.end());
    for (OtherUnit& other : entry.also) {
      other.flags.insert(other.flags.end(), flags.begin(), flags.end());
    }
  }
  return entries;
}

class CorpusSanitizer : public ::testing::TestWithParam<Entry> {
 protected:
  // Older versions of the thread sanitizer do not run where programs are placed at random in more
  // of the address space than they know.
  static void SetUpTestSuite() {
    const test::TemporaryFolder folder;
    Words words = {CUPILOT_TEST_HOST_NVCC, folder.Write("empty.cu", "int main() {}\n"), "-o",
                   folder / "empty"};
    const Words flags = SanitizerFlags();
    words.insert(words.end(), flags.begin(), flags.end());
    (void)test::RunProgram(words);
    const auto run = test::RunProgram({folder / "empty"});
    runs_ = run.errors.find("unexpected memory mapping") == std::string::npos;
  }
  void SetUp() override {
    if (!runs_) GTEST_SKIP() << "the thread sanitizer does not run on this machine";
  }

  void Do(const Words& words) const {
    test::RunOptions options;
    options.folder = build_;
    const auto run = test::RunProgram(words, options);
    ASSERT_EQ(run.exit_code, 0) << TextOf(words) << "\n" << run.output << run.errors;
    EXPECT_EQ(run.output + run.errors, "") << TextOf(words);
  }

  // What takes the place of a source that has kernels to swap, the source itself otherwise.
  void Compile(const Unit& unit) const {
    if (!unit.HasSwapped()) return Do(unit.command.arguments);
    const auto swap = SwapUnit(unit, "host", {HostTarget(CUPILOT_TEST_HOST_NVCC)});
    ASSERT_TRUE(swap) << swap.error().message;
    Do(SwappedCompile(unit, *swap, build_));
  }

  // Its output; all that it says besides is what the hook tells of its launches.
  std::string Run(const std::string& switched) const {
    test::RunOptions options;
    options.folder = build_;
    options.environment = {{switched, "1"},
                           {"CUPILOT_HOST_THREADS", "3"},
                           {"ASAN_OPTIONS", "detect_stack_use_after_return=1"}};
    const auto run = test::RunProgram({build_ + "/program"}, options);
    if (IsThread() && !GetParam().races.empty()) {
      EXPECT_THAT(run.errors, ::testing::HasSubstr("ThreadSanitizer: data race"));
      return run.output;
    }
    EXPECT_EQ(run.exit_code, 0);
    std::string reports;
    std::istringstream lines(run.errors);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("cupilot: ")) reports += line + "\n";
    }
    EXPECT_EQ(reports, "") << switched;
    return run.output;
  }

  static inline bool runs_ = true;
  test::TemporaryFolder folder_;
  const std::string build_ = std::filesystem::path(folder_.Write("build/log", "")).parent_path();
};

TEST_P(CorpusSanitizer, RunsWithoutAReport) {
  const auto units =
      ScanUnits(GetParam(), CUPILOT_TEST_HOST_NVCC, GetParam().standards.front(), build_);
  ASSERT_TRUE(units) << units.error().message;
  for (const Unit& unit : *units) ASSERT_NO_FATAL_FAILURE(Compile(unit));
  Words link = LinkWords(CUPILOT_TEST_HOST_NVCC, *units, build_ + "/program");
  const Words flags = SanitizerFlags();
  link.insert(link.end(), flags.begin(), flags.end());
  ASSERT_NO_FATAL_FAILURE(Do(link));
  const std::string before = Run("CUPILOT_DISABLE");
  if (GetParam().swapped) {
    EXPECT_EQ(Run("CUPILOT_STATS"), before);
  }
}

INSTANTIATE_TEST_SUITE_P(Sources, CorpusSanitizer, ::testing::ValuesIn(HostEntries()),
                         [](const auto& source) { return source.param.name; });

}  // namespace
}  // namespace cupilot::corpus
