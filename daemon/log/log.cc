#include "log/log.h"

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

namespace cupilot::log {
namespace {

struct Log {
  std::shared_ptr<spdlog::logger> logger;
  bool json = false;
};

std::mutex& Guard() {
  static std::mutex guard;
  return guard;
}

spdlog::level::level_enum SpdlogLevel(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarning:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
    case Level::kOff:
      break;
  }
  return spdlog::level::off;
}

constexpr const char* kTextPattern = "%Y-%m-%dT%H:%M:%S.%eZ %l %v";
constexpr const char* kJsonPattern = R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","pid":%P,%v})";

Log MakeLog(const Settings& settings, spdlog::sink_ptr sink) {
  Log made;
  made.json = settings.json;
  made.logger = std::make_shared<spdlog::logger>("cupilot", std::move(sink));
  made.logger->set_pattern(settings.json ? kJsonPattern : kTextPattern,
                           spdlog::pattern_time_type::utc);
  made.logger->set_level(SpdlogLevel(settings.level));
  made.logger->flush_on(spdlog::level::warn);
  return made;
}

Log& Current() {
  static Log log = MakeLog(Settings{.level = Level::kWarning, .file = {}},
                           std::make_shared<spdlog::sinks::stderr_sink_mt>());
  return log;
}

Log CurrentCopy() {
  const std::lock_guard lock(Guard());
  return Current();
}

void AppendQuoted(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", byte);
      out += escape.data();
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string JsonLine(std::string_view event, Fields fields) {
  std::string line = "\"event\":";
  AppendQuoted(event, line);
  for (const Field& field : fields) {
    line += ',';
    AppendQuoted(field.key, line);
    line += ':';
    if (field.bare) {
      line += field.value;
    } else {
      AppendQuoted(field.value, line);
    }
  }
  return line;
}

// Values with spaces, quotes or control characters are quoted, so that a line stays one line.
bool NeedsQuotes(std::string_view value) {
  if (value.empty()) return true;
  for (const char c : value) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == '"' || c == '=' || c == 0x7f) return true;
  }
  return false;
}

std::string TextLine(std::string_view event, Fields fields) {
  std::string line;
  for (const char c : event) line += c == '\n' || c == '\r' ? ' ' : c;
  for (const Field& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    if (NeedsQuotes(field.value)) {
      AppendQuoted(field.value, line);
    } else {
      line += field.value;
    }
  }
  return line;
}

}  // namespace

Field::Field(std::string_view k, double v) : key(k), bare(std::isfinite(v)) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", v);
  value = text.data();
}

base::Result<Level> LevelOf(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Level>, 5> kLevels = {{
      {"debug", Level::kDebug},
      {"info", Level::kInfo},
      {"warning", Level::kWarning},
      {"error", Level::kError},
      {"off", Level::kOff},
  }};
  for (const auto& [text, level] : kLevels) {
    if (text == name) return level;
  }
  return base::Fail(base::InvalidArgument("unknown log level '" + std::string(name) +
                                          "'; one of debug, info, warning, error, off"));
}

base::Result<> Configure(const Settings& settings) {
  try {
    spdlog::sink_ptr sink;
    if (settings.file.empty()) {
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else {
      sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
          settings.file, settings.max_bytes, settings.kept_files);
    }
    Log made = MakeLog(settings, std::move(sink));
    const std::lock_guard lock(Guard());
    Current() = std::move(made);
  } catch (const std::exception& error) {
    return base::Fail(base::IoError("cannot log to " + settings.file + ": " + error.what()));
  }
  return {};
}

void Write(Level level, std::string_view event, Fields fields) {
  const Log log = CurrentCopy();
  const spdlog::level::level_enum spdlog_level = SpdlogLevel(level);
  if (!log.logger->should_log(spdlog_level)) return;
  const std::string line = log.json ? JsonLine(event, fields) : TextLine(event, fields);
  log.logger->log(spdlog_level, spdlog::string_view_t(line.data(), line.size()));
}

void Flush() { CurrentCopy().logger->flush(); }

}  // namespace cupilot::log
