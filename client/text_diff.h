// The difference of two texts, line by line, for people. Our own: the header of the distribution's
// library for it (dtl 1.20) is no C++ for clang, and a subsequence is a table.
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
  void AddMiddle(const std::vector<std::string>& a, const std::vector<std::string>& b);
  std::vector<Row> rows_;
};

}  // namespace cupilot::client
