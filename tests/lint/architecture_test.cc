// daemon/ARCHITECTURE.md and daemon/DESIGN.md name files that exist, in lines that can be read.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = CUPILOT_TEST_SOURCE_DIR;
constexpr const char* kDocuments[] = {"daemon/ARCHITECTURE.md", "daemon/DESIGN.md"};
constexpr std::size_t kLongestLine = 145;  // but for code
constexpr std::size_t kMostLines = 100;    // of the first document: one page

// Paths of all files of the product, and each end of them that begins at a folder.
std::set<std::string> PathEnds() {
  std::set<std::string> ends;
  for (const char* top : {"daemon", "cache", "client"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
      const std::string path = fs::relative(entry.path(), kRoot).string();
      ends.insert(path);
      for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
        ends.insert(path.substr(at + 1));
      }
    }
  }
  return ends;
}

// Source files and headers that the line names in backquotes.
std::vector<std::string> FilesNamedIn(const std::string& line) {
  static const std::regex pattern(R"(`([^` ]+\.(h|cc))`)");
  std::vector<std::string> files;
  for (std::sregex_iterator match(line.begin(), line.end(), pattern), end; match != end; ++match) {
    files.push_back((*match)[1]);
  }
  return files;
}

std::vector<std::string> LinesOf(const std::string& document) {
  std::ifstream file(kRoot / document);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(Architecture, NamesFilesThatExist) {
  const std::set<std::string> ends = PathEnds();
  std::size_t named = 0;
  for (const char* document : kDocuments) {
    for (const std::string& line : LinesOf(document)) {
      for (const std::string& name : FilesNamedIn(line)) {
        ++named;
        if (name == "stamp.h") continue;  // in build folders
        EXPECT_TRUE(ends.contains(name)) << document << ": there is no file " << name;
      }
    }
  }
  EXPECT_GT(named, 100u);  // else this test looks at the wrong files
}

TEST(Architecture, CanBeRead) {
  for (const char* document : kDocuments) {
    bool code = false;
    for (const std::string& line : LinesOf(document)) {
      if (line.starts_with("```")) code = !code;
      EXPECT_TRUE(code || line.size() <= kLongestLine) << document << ": " << line;
    }
  }
  EXPECT_LE(LinesOf(kDocuments[0]).size(), kMostLines);
}

}  // namespace
