// A scratch folder for the tests of the swapped source.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/file.h"
#include "scale_kernel.h"
#include "source/swap/swapped_source.h"

namespace cupilot::source {

class SwapFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/cupilot_swap_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = folder_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }

  void Write(const SwappedSource& swapped) const {
    for (const SwappedText& one : swapped.Files()) Write(one.file_name, one.text);
  }

  // Exit status; output is in Log().
  int Run(const std::string& command) const {
    const int status =
        std::system(("cd " + folder_ + " && (" + command + ") > log.txt 2>&1").c_str());
    return status;
  }
  std::string Log() const { return base::ReadFile(folder_ + "/log.txt").value_or(""); }

  std::string folder_;
};

// On PATH, so that another toolkit is tested where it stands first there.
inline bool HasNvcc() { return std::system("nvcc --version > /dev/null 2>&1") == 0; }

// A path as one word for Run().
inline std::string Quoted(const std::string& path) {
  std::string text = "'";
  for (const char c : path) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

inline std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += " " + word;
  return text;
}

}  // namespace cupilot::source
