// Holds what compilers do not warn of: until C++23 the range of a loop may not be a part of a value
// that ends before the loop begins.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

namespace {

namespace fs = std::filesystem;

// A range that is asked of a call's result. A name for that result makes it right whatever the call
// returns.
bool IteratesOverAResult(const std::string& line) {
  static const std::regex pattern(R"(\bfor \([^;]* : [^;]*\)\.[a-z_]+\(\)\) )");
  return std::regex_search(line, pattern);
}

TEST(Lifetimes, TheRuleTells) {
  EXPECT_TRUE(IteratesOverAResult("  for (const auto& [a, b] : Of(gpu, \"left\").items()) {"));
  EXPECT_TRUE(IteratesOverAResult("for (const Row& row : Read(file).value()) Add(row);"));
  EXPECT_FALSE(IteratesOverAResult("for (const auto& [a, b] : left.items()) {"));
  EXPECT_FALSE(IteratesOverAResult("for (const Json& row : ListOf(json, \"rows\")) {"));
}

TEST(Lifetimes, RangesOfLoopsLive) {
  int read = 0;
  for (const char* top : {"daemon", "cache", "client", "tests", "examples"}) {
    const fs::path root = fs::path(CUPILOT_TEST_SOURCE_DIR) / top;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      const std::string extension = entry.path().extension();
      if (extension != ".cc" && extension != ".h") continue;
      if (entry.path().filename() == "lifetimes_test.cc") continue;
      std::ifstream file(entry.path());
      int number = 0;
      for (std::string line; std::getline(file, line);) {
        ++number;
        EXPECT_FALSE(IteratesOverAResult(line)) << entry.path() << ":" << number << ": " << line;
      }
      ++read;
    }
  }
  EXPECT_GT(read, 500);
}

}  // namespace
