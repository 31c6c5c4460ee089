// The difference of two texts, line by line, for people. Only text_diff.cc includes dtl.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cupilot::client {

class TextDiff {
 public:
  TextDiff(const std::string& before, const std::string& after);

  // As `diff -u` prints it, without the names of the files: "@@ ...", then lines that begin with
  // ' ', '-' or '+'. Nothing where the texts are equal.
  std::vector<std::string> Unified() const;
  // Two columns with a mark between them, '|' changed, '<' and '>' only on one side; all lines, cut
  // to `width` in bytes between characters.
  std::vector<std::string> SideBySide(const std::string& left_name, const std::string& right_name,
                                      std::size_t width) const;

 private:
  struct Row {
    char mark = ' ';  // ' ' both, '<' before only, '>' after only
    std::string line;
  };
  std::vector<std::string> unified_;
  std::vector<Row> rows_;
};

}  // namespace cupilot::client
