#include "client/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "client/watch/text.h"

namespace cupilot::client {
namespace {

using records::Json;

std::string Format(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

int TerminalWidth(int file) {
  winsize size{};
  return ::ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::size_t WidthOf(const std::string& cell) {
  return static_cast<std::size_t>(Columns(cell, Charset::kUnicode));
}

void Narrow(const std::vector<NarrowColumn>& narrow, std::vector<std::size_t>& widths) {
  std::size_t all = 2 * (widths.size() - 1);
  for (const std::size_t width : widths) all += width;
  const auto room = static_cast<std::size_t>(TerminalWidth(STDOUT_FILENO));
  for (const NarrowColumn& one : narrow) {
    std::size_t& width = widths[one.column];
    if (all <= room || width <= one.least) continue;
    const std::size_t less = std::min(all - room, width - one.least);
    width -= less;
    all -= less;
  }
}

}  // namespace

int ExitCodeOf(const base::Error& error) {
  switch (error.code) {
    case base::ErrorCode::kInvalidArgument:
      return kUsage;
    case base::ErrorCode::kNotFound:
    case base::ErrorCode::kUnsupported:
      return kNo;
    default:
      return kEnvironment;
  }
}

bool IsCapableTerminal(int file) {
  const char* term = std::getenv("TERM");
  return ::isatty(file) == 1 && term != nullptr && *term != '\0' && std::strcmp(term, "dumb") != 0;
}

Output::Output(bool json) : json_(json), terminal_(IsCapableTerminal(STDERR_FILENO)) {}

Output::Output(std::vector<std::string>& lines) : json_(false), terminal_(false), lines_(&lines) {}

bool Output::colours() const {
  const char* off = std::getenv("NO_COLOR");
  const bool wanted = off == nullptr || *off == '\0';
  return !json_ && lines_ == nullptr && wanted && IsCapableTerminal(STDOUT_FILENO);
}

void Output::Document(const Json& document) {
  if (!json_) return;
  std::fputs(records::PrettyJson(document).c_str(), stdout);
  std::fflush(stdout);
}

void Output::Line(std::string_view text) {
  if (json_) return;
  if (lines_ != nullptr) {
    lines_->emplace_back(text);
    return;
  }
  EndProgress();
  std::printf("%.*s\n", static_cast<int>(text.size()), text.data());
}

void Output::Table(const std::vector<std::vector<std::string>>& rows,
                   const std::vector<NarrowColumn>& narrow) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], WidthOf(row[i]));
  }
  if (!narrow.empty() && lines_ == nullptr && ::isatty(STDOUT_FILENO) == 1) Narrow(narrow, widths);
  const auto from_behind = [&](std::size_t column) {
    return std::any_of(narrow.begin(), narrow.end(), [&](const NarrowColumn& one) {
      return one.column == column && one.end_counts;
    });
  };
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string cell = row[i];
      if (WidthOf(cell) > widths[i]) {
        const auto columns = static_cast<int>(widths[i]);
        cell = from_behind(i) ? FitEnd(cell, columns, CharsetOfEnvironment())
                              : Fit(cell, columns, CharsetOfEnvironment());
      }
      line += cell;
      if (i + 1 < row.size()) line.append(widths[i] - WidthOf(cell) + 2, ' ');
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    Line(line);
  }
}

void Output::Progress(const std::string& text) {
  if (json_ || text == last_progress_) return;
  last_progress_ = text;
  if (!terminal_) {
    std::fprintf(stderr, "%s\n", text.c_str());
    return;
  }
  // A line that wraps could not be taken back.
  std::fprintf(stderr, "\r\033[K%s",
               Fit(text, TerminalWidth(STDERR_FILENO) - 1, CharsetOfEnvironment()).c_str());
  std::fflush(stderr);
  progress_shown_ = true;
}

void Output::EndProgress() {
  if (!progress_shown_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  progress_shown_ = false;
}

void Output::Warning(const std::string& text) {
  EndProgress();
  std::fprintf(stderr, "cupilot: %s\n", text.c_str());
}

int Output::Fail(const base::Error& error, const Json& more) {
  EndProgress();
  const int code = ExitCodeOf(error);
  std::fprintf(stderr, "cupilot: %s\n", error.message.c_str());
  Json document = {{"schema", "cupilot.error/1"},
                   {"code", std::string(base::Name(error.code))},
                   {"message", error.message},
                   {"exit", code}};
  document.update(more);
  Document(document);
  return code;
}

std::string TextOf(const Json& json, const char* key) { return records::TextAt(json, key); }

double NumberOf(const Json& json, const char* key, double otherwise) {
  if (!json.is_object()) return otherwise;
  const auto it = json.find(key);
  return it != json.end() && it->is_number() ? it->get<double>() : otherwise;
}

std::string CountOf(const Json& json, const char* key) {
  return Format("%.0f", NumberOf(json, key));
}

bool FlagOf(const Json& json, const char* key, bool otherwise) {
  if (!json.is_object()) return otherwise;
  const auto it = json.find(key);
  return it != json.end() && it->is_boolean() ? it->get<bool>() : otherwise;
}

Json ListOf(const Json& json, const char* key) {
  if (!json.is_object()) return Json::array();
  const auto it = json.find(key);
  return it != json.end() && it->is_array() ? *it : Json::array();
}

Json ObjectOf(const Json& json, const char* key) {
  if (!json.is_object()) return Json::object();
  const auto it = json.find(key);
  return it != json.end() && it->is_object() ? *it : Json::object();
}

std::string SpeedupOf(const Json& json, const char* key) {
  const double value = NumberOf(json, key, 0);
  return value > 0 ? Format("%.2fx", value) : "-";
}

std::string IntervalOf(const Json& json, const char* key) {
  const Json ends = ListOf(json, key);
  if (ends.size() != 2 || !ends[0].is_number() || !ends[1].is_number()) return {};
  return "[" + Format("%.2f", ends[0].get<double>()) + ", " +
         Format("%.2f", ends[1].get<double>()) + "]";
}

std::string Microseconds(double us) {
  if (us < 1000) return Format("%.1f us", us);
  if (us < 1e6) return Format("%.2f ms", us / 1000);
  return Format("%.2f s", us / 1e6);
}

std::string Duration(double seconds) {
  if (seconds < 120) return Format("%.0f s", seconds);
  if (seconds < 7200) return Format("%.0f min", std::floor(seconds / 60));
  return Format("%.0f h", std::floor(seconds / 3600)) + " " +
         Format("%.0f min", std::floor(std::fmod(seconds, 3600) / 60));
}

}  // namespace cupilot::client
