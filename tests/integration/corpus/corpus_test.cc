// Every source of the corpus on the host device: scanned as its build compiles it, its kernels
// declined or swapped as it says, and run before and after.
#include "corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/compiler_program.h"
#include "base/file.h"
#include "source/swap/elf_file.h"
#include "tests/integration/corpus/host_build.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::corpus {
namespace {

using Words = std::vector<std::string>;

class Corpus : public ::testing::TestWithParam<Entry> {
 protected:
  const Entry& entry() const { return GetParam(); }

  void CheckDeclined(const std::vector<Unit>& units) const {
    std::vector<Reason> expected = entry().declined;
    for (const Unit& unit : units) {
      for (const records::Kernel& kernel : unit.scan.kernels) {
        if (kernel.declined.empty()) continue;
        const auto fits = [&](const Reason& reason) { return Fits(reason, unit, kernel.declined); };
        const auto found = std::find_if(expected.begin(), expected.end(), fits);
        if (found == expected.end()) {
          ADD_FAILURE() << kernel.name << " is declined: " << kernel.declined << "\n"
                        << kernel.closure_source;
        } else {
          expected.erase(found);
        }
      }
    }
    for (const Reason& reason : expected) {
      ADD_FAILURE() << "no kernel is declined because of '" << reason.text << "'";
    }
  }

  // The reason begins with FILE:LINE: of the right file.
  static bool Fits(const Reason& reason, const Unit& unit, const std::string& declined) {
    std::string file = reason.file.empty() ? unit.command.source : reason.file;
    const std::string beside = SourcesFolder() + "/" + reason.file;
    if (!reason.file.empty() && base::FileExists(beside)) file = beside;
    if (!declined.starts_with(file + ":")) return false;
    const std::size_t end = declined.find_first_not_of("0123456789", file.size() + 1);
    return end != std::string::npos && end > file.size() + 1 &&
           declined.compare(end, 2, ": ") == 0 &&
           declined.find(reason.text, end) != std::string::npos;
  }

  void Run(const Words& words) const {
    test::RunOptions options;
    options.folder = build_;
    const auto run = test::RunProgram(words, options);
    ASSERT_EQ(run.exit_code, 0) << TextOf(words) << "\n" << run.output << run.errors;
    EXPECT_EQ(run.output + run.errors, "") << TextOf(words);
  }

  void Link(const std::vector<Unit>& units, const std::string& program) const {
    Run(LinkWords(CUPILOT_TEST_HOST_NVCC, units, build_ + "/" + program));
  }

  test::ProgramRun RunProgram(const std::string& program) const {
    test::RunOptions options;
    options.folder = build_;
    options.environment["CUPILOT_STATS"] = "1";
    return test::RunProgram({build_ + "/" + program}, options);
  }

  void CompileSwapped(const Unit& unit) const {
    const auto swap = SwapUnit(unit, "host", {HostTarget(CUPILOT_TEST_HOST_NVCC)});
    ASSERT_TRUE(swap) << swap.error().message;
    ASSERT_NO_FATAL_FAILURE(Run(SwappedCompile(unit, *swap, build_)));
    EXPECT_TRUE(source::ObjectRefersTo(unit.command.object, swap->hook).value_or(false));
  }

  // Kernels whose variants ran at each of their launches, as the program told at its end.
  static int TunedKernels(const std::string& statistics) {
    int tuned = 0;
    std::istringstream lines(statistics);
    for (std::string line; std::getline(lines, line);) {
      unsigned long long ran = 0, not_ran = 0;
      const std::size_t numbers = line.rfind(": ");
      if (!line.starts_with("cupilot: ") || numbers == std::string::npos ||
          std::sscanf(line.c_str() + numbers, ": %llu launches tuned, %llu outside", &ran,
                      &not_ran) != 2) {
        ADD_FAILURE() << line;
        continue;
      }
      EXPECT_EQ(not_ran, 0u) << line;
      tuned += ran > 0 ? 1 : 0;
    }
    return tuned;
  }

  test::TemporaryFolder folder_;
  // Below the folder: sources outside of it lie there, too.
  const std::string build_ = std::filesystem::path(folder_.Write("build/log", "")).parent_path();
};

TEST_P(Corpus, IsSwappedOrDeclinedAsItSays) {
  ASSERT_EQ(entry().problem, "");
  ASSERT_TRUE(entry().swapped || !entry().declined.empty()) << "it says nothing";
  const bool host = entry().nvcc_only.empty();
  const std::string nvcc = host ? CUPILOT_TEST_HOST_NVCC : base::FindNvcc();
  if (nvcc.empty()) GTEST_SKIP() << "nvcc is not installed: " << entry().nvcc_only;
  const auto units = ScanUnits(entry(), nvcc, entry().standards.front(), build_);
  ASSERT_TRUE(units) << units.error().message;
  CheckDeclined(*units);
  int swapped = 0;
  std::string warnings;
  for (const Unit& unit : *units) {
    for (const records::Kernel& kernel : unit.scan.kernels) swapped += kernel.declined.empty();
    for (const std::string& warning : unit.scan.warnings) warnings += warning + "\n";
  }
  ASSERT_EQ(swapped, entry().kernels) << warnings;
  if (swapped == 0) return;
  if (!host) {
    for (const Unit& unit : *units) {
      if (!unit.HasSwapped()) continue;
      const auto swap = SwapUnit(unit, "cuda", entry().Targets());
      EXPECT_TRUE(swap) << swap.error().message;
    }
    return;
  }
  for (const Unit& unit : *units) ASSERT_NO_FATAL_FAILURE(Run(unit.command.arguments));
  ASSERT_NO_FATAL_FAILURE(Link(*units, "before"));
  const auto before = RunProgram("before");
  EXPECT_EQ(before.exit_code, 0) << before.errors;
  EXPECT_EQ(before.errors, "");
  EXPECT_NE(before.output, "") << "it shows no result";
  for (const Unit& unit : *units) {
    if (!unit.HasSwapped()) continue;
    ASSERT_NO_FATAL_FAILURE(CompileSwapped(unit));
  }
  ASSERT_NO_FATAL_FAILURE(Link(*units, "after"));
  const auto after = RunProgram("after");
  EXPECT_EQ(after.exit_code, before.exit_code) << after.errors;
  EXPECT_EQ(after.output, before.output);
  EXPECT_EQ(TunedKernels(after.errors), entry().kernels - entry().idle) << after.errors;
}

INSTANTIATE_TEST_SUITE_P(Sources, Corpus, ::testing::ValuesIn(ReadCorpus()),
                         [](const auto& source) { return source.param.name; });

TEST(CorpusOfSources, HasWhatIsAskedOfIt) {
  const std::vector<Entry> entries = ReadCorpus();
  EXPECT_GE(entries.size(), 60u);
}

}  // namespace
}  // namespace cupilot::corpus
