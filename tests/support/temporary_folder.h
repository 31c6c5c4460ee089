// A folder of its own for one test, removed at its end.
#pragma once

#include <string>

namespace cupilot::test {

class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }
  // The path of a name in the folder.
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file (missing folders are made) and returns its path.
  std::string Write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

}  // namespace cupilot::test
