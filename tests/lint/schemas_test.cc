// client/SCHEMAS.md names every schema that our programs know, and no other.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace {

namespace fs = std::filesystem;

std::set<std::string> SchemasIn(const fs::path& path) {
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::string begin = "cupilot.";
  const std::string letters = "abcdefghijklmnopqrstuvwxyz_0123456789";
  std::set<std::string> schemas;
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
    const std::size_t slash = text.find_first_not_of(letters, at + begin.size());
    if (slash == std::string::npos || text[slash] != '/') continue;
    const std::size_t end = text.find_first_not_of("0123456789", slash + 1);
    if (slash == at + begin.size() || end == slash + 1) continue;
    schemas.insert(text.substr(at, end - at));
  }
  return schemas;
}

TEST(Schemas, AreAllDescribed) {
  const fs::path root = CUPILOT_TEST_SOURCE_DIR;
  const std::set<std::string> described = SchemasIn(root / "client/SCHEMAS.md");
  std::set<std::string> used;
  for (const char* top : {"daemon", "cache", "client"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string extension = entry.path().extension();
      if (extension != ".cc" && extension != ".h" && extension != ".json") continue;
      for (const std::string& schema : SchemasIn(entry.path())) {
        EXPECT_TRUE(described.contains(schema))
            << entry.path() << ": client/SCHEMAS.md says nothing of " << schema;
        used.insert(schema);
      }
    }
  }
  EXPECT_EQ(used, described) << "client/SCHEMAS.md names what is nowhere";
  EXPECT_GT(used.size(), 40u);  // else this test looks at the wrong tree
}

}  // namespace
