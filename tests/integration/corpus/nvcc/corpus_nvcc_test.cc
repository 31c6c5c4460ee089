// Every swapped source of the corpus as the toolkit's nvcc compiles it: for two architectures at
// once, as each C++ standard that it is valid as. No GPU is needed. The toolkit is that of the nvcc
// on PATH; of an older one (11.8, 12) what it knows.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/compiler_program.h"
#include "source/swap/elf_file.h"
#include "tests/integration/corpus/corpus.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::corpus {
namespace {

using Words = std::vector<std::string>;

std::vector<Entry> SwappedEntries() {
  std::vector<Entry> entries = ReadCorpus();
  std::erase_if(entries, [](const Entry& entry) { return !entry.swapped; });
  return entries;
}

class CorpusNvcc : public ::testing::TestWithParam<Entry> {
 protected:
  void SetUp() override {
    nvcc_ = base::FindNvcc();
    if (nvcc_.empty()) GTEST_SKIP() << "nvcc is not installed";
    test::RunOptions options;
    options.folder = build_;
    const std::string help = test::RunProgram({nvcc_, "--help"}, options).output;
    const auto knows = [&](const std::string& value) {
      return help.find("'" + value + "'") != std::string::npos;
    };
    ASSERT_TRUE(knows("c++17")) << help;
    std::erase_if(entry_.standards, [&](const std::string& one) { return !knows("c++" + one); });
    std::erase_if(entry_.architectures,
                  [&](const std::string& number) { return !knows("compute_" + number); });
    if (entry_.standards.empty() || entry_.architectures.empty()) {
      GTEST_SKIP() << nvcc_ << " knows none of its standards or architectures";
    }
  }

  // With CUPILOT_CORPUS_ONE_STANDARD one of them, another for each source.
  Words Standards() const {
    const Words& all = entry_.standards;
    if (std::getenv("CUPILOT_CORPUS_ONE_STANDARD") == nullptr) return all;
    std::size_t sum = 0;
    for (const char c : entry_.name) sum += static_cast<unsigned char>(c);
    return {all[sum % all.size()]};
  }

  void Compile(const Unit& unit, const source::SwappedSource& swap) const {
    for (const std::string& standard : Standards()) {
      Words words = SwappedCompile(unit, swap, build_);
      std::replace(words.begin(), words.end(), "-std=c++" + entry_.standards.front(),
                   "-std=c++" + standard);
      for (const std::string& number : entry_.architectures) {
        words.push_back("-gencode=arch=compute_" + number + ",code=sm_" + number);
      }
      test::RunOptions options;
      options.folder = build_;
      const auto run = test::RunProgram(words, options);
      EXPECT_EQ(run.exit_code, 0) << "C++" << standard;
      EXPECT_EQ(run.output + run.errors, "") << "C++" << standard;
      EXPECT_TRUE(source::ObjectRefersTo(unit.command.object, swap.hook).value_or(false));
    }
  }

  Entry entry_ = GetParam();
  std::string nvcc_;
  test::TemporaryFolder folder_;
  const std::string build_ = std::filesystem::path(folder_.Write("build/log", "")).parent_path();
};

TEST_P(CorpusNvcc, CompilesForTwoArchitecturesAsEachStandard) {
  const auto units = ScanUnits(entry_, nvcc_, entry_.standards.front(), build_);
  ASSERT_TRUE(units) << units.error().message;
  int swapped = 0;
  std::string warnings;
  for (const Unit& unit : *units) {
    for (const records::Kernel& kernel : unit.scan.kernels) swapped += kernel.declined.empty();
    for (const std::string& warning : unit.scan.warnings) warnings += warning + "\n";
  }
  if (warnings.find("needs a CUDA toolkit of") != std::string::npos) GTEST_SKIP() << warnings;
  ASSERT_EQ(swapped, entry_.kernels) << warnings;
  for (const Unit& unit : *units) {
    if (!unit.HasSwapped()) continue;
    const auto swap = SwapUnit(unit, "cuda", entry_.Targets());
    ASSERT_TRUE(swap) << swap.error().message;
    Compile(unit, *swap);
  }
}

INSTANTIATE_TEST_SUITE_P(Sources, CorpusNvcc, ::testing::ValuesIn(SwappedEntries()),
                         [](const auto& source) { return source.param.name; });

}  // namespace
}  // namespace cupilot::corpus
