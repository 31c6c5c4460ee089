#include "client/text_diff.h"

#include <algorithm>
#include <cstdint>
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
  const std::vector<std::string> a = LinesOf(before), b = LinesOf(after);
  std::size_t head = 0, tail = 0;
  while (head < std::min(a.size(), b.size()) && a[head] == b[head]) ++head;
  while (tail < std::min(a.size(), b.size()) - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    ++tail;
  }
  for (std::size_t i = 0; i < head; ++i) rows_.push_back({' ', a[i]});
  AddMiddle(
      {a.begin() + static_cast<std::ptrdiff_t>(head), a.end() - static_cast<std::ptrdiff_t>(tail)},
      {b.begin() + static_cast<std::ptrdiff_t>(head), b.end() - static_cast<std::ptrdiff_t>(tail)});
  for (std::size_t i = a.size() - tail; i < a.size(); ++i) rows_.push_back({' ', a[i]});
}

// By the longest common subsequence; of texts for which its table would be too large, all of the
// one in the place of all of the other.
void TextDiff::AddMiddle(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  constexpr std::size_t kMostCells = std::size_t{16} << 20;
  const bool known = (a.size() + 1) <= kMostCells / (b.size() + 1);
  const std::size_t width = b.size() + 1;
  // Of the rest of both texts from there on.
  std::vector<std::uint32_t> common(known ? (a.size() + 1) * width : 0);
  for (std::size_t i = a.size(); known && i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      common[i * width + j] =
          a[i] == b[j] ? common[(i + 1) * width + j + 1] + 1
                       : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  std::size_t i = 0, j = 0;
  while (known && i < a.size() && j < b.size()) {
    if (a[i] == b[j]) {
      rows_.push_back({' ', a[i++]});
      ++j;
    } else if (common[(i + 1) * width + j] >= common[i * width + j + 1]) {
      rows_.push_back({'<', a[i++]});
    } else {
      rows_.push_back({'>', b[j++]});
    }
  }
  while (i < a.size()) rows_.push_back({'<', a[i++]});
  while (j < b.size()) rows_.push_back({'>', b[j++]});
}

std::vector<std::string> TextDiff::Unified() const {
  constexpr std::size_t kContext = 3;
  // Which rows are shown: changed ones and those near them.
  std::vector<bool> shown(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].mark == ' ') continue;
    const std::size_t end = std::min(rows_.size(), i + kContext + 1);
    for (std::size_t k = i - std::min(i, kContext); k < end; ++k) shown[k] = true;
  }
  std::vector<std::string> lines;
  std::size_t line_a = 0, line_b = 0;  // that were passed
  for (std::size_t i = 0; i < rows_.size();) {
    if (!shown[i]) {
      ++line_a, ++line_b, ++i;
      continue;
    }
    const std::size_t at = lines.size(), first_a = line_a, first_b = line_b;
    lines.emplace_back();
    for (; i < rows_.size() && shown[i]; ++i) {
      const char mark = rows_[i].mark;
      line_a += mark != '>' ? 1 : 0;
      line_b += mark != '<' ? 1 : 0;
      lines.push_back((mark == '<' ? '-' : mark == '>' ? '+' : ' ') + rows_[i].line);
    }
    const auto range = [](std::size_t first, std::size_t end) {
      return std::to_string(end > first ? first + 1 : first) + "," + std::to_string(end - first);
    };
    lines[at] = "@@ -" + range(first_a, line_a) + " +" + range(first_b, line_b) + " @@";
  }
  return lines;
}

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
