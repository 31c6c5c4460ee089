// daemon/ARCHITECTURE.md and daemon/DESIGN.md name files that exist, in lines that can be read.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestLine = 145;  // but for code
constexpr std::size_t kMostLines = 100;    // of ARCHITECTURE.md: one page

// All source files and headers below `root`, and each end of their paths that begins at a folder.
std::set<std::string> PathEndsBelow(const fs::path& root) {
  std::set<std::string> ends;
  for (const char* top : {"daemon", "cache", "client"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string path = fs::relative(entry.path(), root).string();
      ends.insert(path);
      for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
        ends.insert(path.substr(at + 1));
      }
    }
  }
  return ends;
}

// What stands between backquotes in the line and ends as a source file does.
std::set<std::string> FilesNamedIn(const std::string& line) {
  std::set<std::string> files;
  std::size_t begin = line.find('`');
  while (begin != std::string::npos) {
    const std::size_t end = line.find('`', begin + 1);
    if (end == std::string::npos) break;
    const std::string name = line.substr(begin + 1, end - begin - 1);
    if (name.ends_with(".h") || name.ends_with(".cc")) files.insert(name);
    begin = line.find('`', end + 1);
  }
  return files;
}

TEST(Architecture, NamesFilesThatExist) {
  const fs::path root = CUPILOT_TEST_SOURCE_DIR;
  const std::set<std::string> ends = PathEndsBelow(root);
  std::size_t named = 0;
  for (const char* document : {"daemon/ARCHITECTURE.md", "daemon/DESIGN.md"}) {
    std::ifstream file(root / document);
    for (std::string line; std::getline(file, line);) {
      for (const std::string& name : FilesNamedIn(line)) {
        ++named;
        // A build folder has it.
        if (name == "stamp.h") continue;
        EXPECT_TRUE(ends.contains(name)) << document << ": there is no file " << name;
      }
    }
  }
  EXPECT_GT(named, 100u);  // else this test looks at the wrong files
}

TEST(Architecture, CanBeRead) {
  const fs::path root = CUPILOT_TEST_SOURCE_DIR;
  for (const char* document : {"daemon/ARCHITECTURE.md", "daemon/DESIGN.md"}) {
    std::ifstream file(root / document);
    std::size_t lines = 0;
    bool code = false;
    for (std::string line; std::getline(file, line); ++lines) {
      if (line.starts_with("```")) code = !code;
      EXPECT_TRUE(code || line.size() <= kLongestLine) << document << ": " << line;
    }
    if (document == std::string("daemon/ARCHITECTURE.md")) {
      EXPECT_LE(lines, kMostLines);
    }
  }
}

}  // namespace
