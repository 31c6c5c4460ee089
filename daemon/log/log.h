// The log of a process: one line an event, as text or JSON, to standard error or to a rotated file.
// Thread-safe. A Secret cannot be logged: it does not convert to a Field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace cupilot::log {

enum class Level { kDebug, kInfo, kWarning, kError, kOff };

// "debug", "info", "warning", "error", "off"; kInvalidArgument for other names.
base::Result<Level> LevelOf(std::string_view name);

struct Settings {
  Level level = Level::kInfo;
  bool json = false;
  std::string file;                     // empty: standard error
  std::size_t max_bytes = 1024 * 1024;  // of one file, then it is rotated
  std::size_t kept_files = 3;           // rotated ones
};

// Replaces what was configured before; until the first call warnings and errors go to standard
// error. kIo if the file cannot be opened.
base::Result<> Configure(const Settings& settings);

// Something about an event: {"kernel", name}, {"seconds", 1.5}.
struct Field {
  Field(std::string_view k, std::string_view v) : key(k), value(v) {}
  Field(std::string_view k, const char* v) : key(k), value(v) {}
  Field(std::string_view k, const std::string& v) : key(k), value(v) {}
  Field(std::string_view k, bool v) : key(k), value(v ? "true" : "false"), bare(true) {}
  Field(std::string_view k, int v) : key(k), value(std::to_string(v)), bare(true) {}
  Field(std::string_view k, std::int64_t v) : key(k), value(std::to_string(v)), bare(true) {}
  Field(std::string_view k, std::size_t v) : key(k), value(std::to_string(v)), bare(true) {}
  Field(std::string_view k, double v);
  Field(std::string_view k, const base::Error& e) : key(k), value(e.message) {}
  Field(std::string_view k, const base::Secret&) = delete;

  std::string key;
  std::string value;
  bool bare = false;  // a number or boolean: not quoted in JSON
};
using Fields = std::initializer_list<Field>;

void Write(Level level, std::string_view event, Fields fields = {});
inline void Debug(std::string_view event, Fields fields = {}) {
  Write(Level::kDebug, event, fields);
}
inline void Info(std::string_view event, Fields fields = {}) { Write(Level::kInfo, event, fields); }
inline void Warning(std::string_view event, Fields fields = {}) {
  Write(Level::kWarning, event, fields);
}
inline void Error(std::string_view event, Fields fields = {}) {
  Write(Level::kError, event, fields);
}

// Writes out what is buffered; before a process ends or is replaced.
void Flush();

}  // namespace cupilot::log
