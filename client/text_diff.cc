#include "client/text_diff.h"

#include <algorithm>
#include <dtl/dtl.hpp>
#include <sstream>
#include <utility>

namespace cupilot::client {
namespace {

// Tabs would break columns.
std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::string spaced;
    for (const char c : line) spaced += c == '\t' ? "    " : std::string(1, c);
    lines.push_back(std::move(spaced));
  }
  return lines;
}

// Cut between characters, or filled with spaces.
std::string Cell(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text + std::string(width - text.size(), ' ');
  std::size_t end = width;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + std::string(width - end, ' ');
}

}  // namespace

TextDiff::TextDiff(const std::string& before, const std::string& after) {
  dtl::Diff<std::string, std::vector<std::string>> diff(LinesOf(before), LinesOf(after));
  diff.compose();
  diff.composeUnifiedHunks();
  std::ostringstream unified;
  if (diff.getEditDistance() > 0) diff.printUnifiedFormat(unified);
  std::istringstream lines(unified.str());
  for (std::string line; std::getline(lines, line);) unified_.push_back(line);
  for (const auto& [line, info] : diff.getSes().getSequence()) {
    rows_.push_back({info.type == dtl::SES_DELETE ? '<'
                     : info.type == dtl::SES_ADD  ? '>'
                                                  : ' ',
                     line});
  }
}

std::vector<std::string> TextDiff::Unified() const { return unified_; }

std::vector<std::string> TextDiff::SideBySide(const std::string& left_name,
                                              const std::string& right_name,
                                              std::size_t width) const {
  constexpr std::size_t kBetween = 3;
  const std::size_t half = width > kBetween + 2 ? (width - kBetween) / 2 : 1;
  std::vector<std::string> lines;
  const auto add = [&](const std::string& left, char mark, const std::string& right) {
    std::string line = Cell(left, half) + ' ' + mark + ' ' + Cell(right, half);
    while (!line.empty() && line.back() == ' ') line.pop_back();
    lines.push_back(std::move(line));
  };
  add(left_name, ' ', right_name);
  for (std::size_t i = 0; i < rows_.size();) {
    if (rows_[i].mark == ' ') {
      add(rows_[i].line, ' ', rows_[i].line);
      ++i;
      continue;
    }
    // A stretch of what went and what came stands side by side.
    std::vector<std::string> left, right;
    for (; i < rows_.size() && rows_[i].mark != ' '; ++i) {
      (rows_[i].mark == '<' ? left : right).push_back(rows_[i].line);
    }
    for (std::size_t k = 0; k < std::max(left.size(), right.size()); ++k) {
      const char mark = k >= left.size() ? '>' : k >= right.size() ? '<' : '|';
      add(k < left.size() ? left[k] : "", mark, k < right.size() ? right[k] : "");
    }
  }
  return lines;
}

}  // namespace cupilot::client
