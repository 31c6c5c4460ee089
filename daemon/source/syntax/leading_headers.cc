#include "source/syntax/leading_headers.h"

#include <algorithm>
#include <cctype>

#include "source/syntax/lexer.h"

namespace cupilot::source {
namespace {

// `# 12 "name" 1 3`: what stands behind the name tells whether a file begins (1), another one is
// resumed (2), and whether it is the system's (3).
struct Marker {
  std::string_view name;  // with its quotes
  bool begins = false, resumes = false, system = false;
};

bool ReadMarker(std::string_view line, Marker& marker) {
  if (!line.starts_with("# ") || line.size() < 3 || std::isdigit(line[2]) == 0) return false;
  const std::size_t open = line.find('"'), close = line.rfind('"');
  if (open == std::string_view::npos || open == close) return false;
  marker.name = line.substr(open, close + 1 - open);
  const std::string_view flags = line.substr(close + 1);
  marker.begins = flags.find(" 1") != std::string_view::npos;
  marker.resumes = flags.find(" 2") != std::string_view::npos;
  marker.system = flags.find(" 3") != std::string_view::npos;
  return true;
}

}  // namespace

LeadingHeaders::LeadingHeaders(std::string_view text) {
  std::vector<Entered> files;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    at = end;
    Marker marker;
    if (ReadMarker(line, marker)) {
      if (marker.resumes && files.size() > 1) files.pop_back();
      if (marker.begins || files.empty()) files.emplace_back();
      files.back() = {std::string(marker.name), marker.system};
      continue;
    }
    if (line.find_first_not_of(" \t\r\n") == std::string_view::npos) continue;
    if (files.empty() || !files.back().system) break;
    end_ = end;
    entered_ = files;
  }
  if (end_ > 0) markers_ = Markers();
}

std::string LeadingHeaders::Markers() const {
  std::string markers = "\n";
  for (std::size_t i = 0; i < entered_.size(); ++i) {
    markers.append("# 1 ").append(entered_[i].name);
    if (i > 0) markers += " 1";
    if (entered_[i].system) markers += " 3";
    markers += '\n';
  }
  return markers;
}

std::string LeadingHeaders::Text(std::string_view text) const {
  if (end_ == 0) return {};
  std::string headers(text.substr(0, end_));
  return headers.append("# 1 ").append(entered_.front().name).append("\n");
}

void LeadingHeaders::LeaveOut(std::string& text) const {
  // They are shorter than the headers' own, of which they are some.
  std::fill_n(text.begin(), end_, ' ');
  text.replace(end_ - markers_.size(), markers_.size(), markers_);
}

bool IsWhole(std::string_view text) {
  std::size_t open = 0;
  std::string_view last = ";";
  for (const Token& token : Lex(text)) {
    if (token.kind == TokenKind::kDirective) continue;
    last = Spelling(text, token);
    if (token.kind != TokenKind::kPunctuator) continue;
    if (last == "{" || last == "(" || last == "[") ++open;
    if (last == "}" || last == ")" || last == "]") {
      if (open == 0) return false;
      --open;
    }
  }
  return open == 0 && (last == ";" || last == "}");
}

}  // namespace cupilot::source
