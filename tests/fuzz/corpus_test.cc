// The kept inputs of the fuzzers, without a fuzzer.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "tests/fuzz/fuzz_targets.h"

namespace cupilot::fuzz {
namespace {

class Corpus : public ::testing::TestWithParam<Target> {};

TEST_P(Corpus, HoldsWhatIsAsked) {
  const std::string folder =
      std::string(CUPILOT_TEST_SOURCE_DIR) + "/tests/fuzz/corpus/" + GetParam().name;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto bytes = base::ReadFile(entry.path());
    ASSERT_TRUE(bytes) << entry.path();
    EXPECT_EQ(GetParam().run(*bytes), "") << entry.path();
    // What is cut off is input, too.
    for (std::size_t size = 0; size < bytes->size(); size += 1 + bytes->size() / 64) {
      EXPECT_EQ(GetParam().run(std::string_view(*bytes).substr(0, size)), "")
          << entry.path() << " up to " << size;
    }
    ++files;
  }
  EXPECT_GE(files, 3);
}

INSTANTIATE_TEST_SUITE_P(All, Corpus, ::testing::ValuesIn(kTargets),
                         [](const auto& target) { return std::string(target.param.name); });

}  // namespace
}  // namespace cupilot::fuzz
