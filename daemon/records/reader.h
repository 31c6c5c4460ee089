// Reading of JSON into our structures, with the path of every key, so that an error says where:
// "cases[0].arguments[1].fill.kind: unknown fill 'gauss'; one of ...".
//
// A structure T takes part by a function `void Read(const Json&, const std::string& path, T&,
// Reading&)` in its own namespace. The first error wins; after it all further reads do nothing.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "records/json.h"

namespace cupilot::records {

enum class Strictness {
  kStrict,   // a file that people write: unknown and missing keys are errors
  kLenient,  // what we wrote ourselves: unknown keys are kept or passed over, missing ones keep
             // their defaults
};

// The state of reading one document.
class Reading {
 public:
  explicit Reading(Strictness strictness) : strictness_(strictness) {}
  bool strict() const { return strictness_ == Strictness::kStrict; }
  bool ok() const { return !error_; }
  // Records the error, unless there is one already.
  void Fail(const std::string& path, const std::string& what);
  const std::optional<base::Error>& error() const { return error_; }

 private:
  Strictness strictness_;
  std::optional<base::Error> error_;
};

// "key" at the top, else "path.key".
std::string Join(const std::string& path, std::string_view key);
std::string Join(const std::string& path, std::size_t index);
// "expected an integer, found a string"
std::string Expected(std::string_view what, const Json& found);

void Read(const Json& json, const std::string& path, std::string& out, Reading& reading);
void Read(const Json& json, const std::string& path, bool& out, Reading& reading);
void Read(const Json& json, const std::string& path, double& out, Reading& reading);
void Read(const Json& json, const std::string& path, Json& out, Reading& reading);
// Integers beyond 2^53 are strings in JSON.
void Read(const Json& json, const std::string& path, std::int64_t& out, Reading& reading);
void Read(const Json& json, const std::string& path, std::uint64_t& out, Reading& reading);

template <class T>
void Read(const Json& json, const std::string& path, std::vector<T>& out, Reading& reading) {
  if (!json.is_array()) return reading.Fail(path, Expected("an array", json));
  out.clear();
  for (std::size_t i = 0; i < json.size() && reading.ok(); ++i) {
    T value{};
    Read(json[i], Join(path, i), value, reading);
    out.push_back(std::move(value));
  }
}

template <class T>
void Read(const Json& json, const std::string& path, std::optional<T>& out, Reading& reading) {
  T value{};
  Read(json, path, value, reading);
  out = std::move(value);
}

template <class A, class B>
void Read(const Json& json, const std::string& path, std::pair<A, B>& out, Reading& reading) {
  if (!json.is_array() || json.size() != 2) {
    return reading.Fail(path, Expected("an array of two", json));
  }
  Read(json[0], Join(path, 0), out.first, reading);
  Read(json[1], Join(path, 1), out.second, reading);
}

template <class T, std::size_t N>
void Read(const Json& json, const std::string& path, std::array<T, N>& out, Reading& reading) {
  if (!json.is_array() || json.size() != N) {
    return reading.Fail(path, Expected("an array of " + std::to_string(N), json));
  }
  for (std::size_t i = 0; i < N; ++i) Read(json[i], Join(path, i), out[i], reading);
}

template <class T>
void Read(const Json& json, const std::string& path, std::map<std::string, T>& out,
          Reading& reading) {
  if (!json.is_object()) return reading.Fail(path, Expected("an object", json));
  out.clear();
  for (const auto& [key, value] : json.items()) {
    Read(value, Join(path, key), out[key], reading);
  }
}

// One of a fixed list of words.
template <class E, std::size_t N>
void ReadWord(const Json& json, const std::string& path,
              const std::array<std::pair<std::string_view, E>, N>& words, E& out,
              Reading& reading) {
  std::string text;
  Read(json, path, text, reading);
  if (!reading.ok()) return;
  std::string known;
  for (const auto& [word, value] : words) {
    if (word == text) {
      out = value;
      return;
    }
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  reading.Fail(path, "unknown value '" + text + "'; one of " + known);
}

template <class E, std::size_t N>
std::string WordOf(const std::array<std::pair<std::string_view, E>, N>& words, E value) {
  for (const auto& [word, candidate] : words) {
    if (candidate == value) return std::string(word);
  }
  return {};
}

// The keys of one object.
class ObjectReader {
 public:
  ObjectReader(const Json& json, std::string path, Reading& reading);

  // "schema" must be there and have this value (in a lenient reading it may be missing).
  ObjectReader& Schema(std::string_view schema);

  template <class T>
  ObjectReader& Required(const char* key, T& out) {
    const Json* value = Find(key);
    if (value != nullptr) {
      Read(*value, Join(path_, key), out, reading_);
    } else if (reading_.strict()) {
      reading_.Fail(Join(path_, key), "missing");
    }
    return *this;
  }

  template <class T>
  ObjectReader& Optional(const char* key, T& out) {
    const Json* value = Find(key);
    if (value != nullptr) Read(*value, Join(path_, key), out, reading_);
    return *this;
  }

  template <class E, std::size_t N>
  ObjectReader& OptionalWord(const char* key,
                             const std::array<std::pair<std::string_view, E>, N>& words, E& out) {
    const Json* value = Find(key);
    if (value != nullptr) ReadWord(*value, Join(path_, key), words, out, reading_);
    return *this;
  }

  // The value of a key, or null; counts as known.
  const Json* Find(const char* key);
  bool Has(const char* key) const;
  std::string PathOf(std::string_view key) const { return Join(path_, key); }
  void Fail(std::string_view key, const std::string& what) { reading_.Fail(PathOf(key), what); }
  bool ok() const { return reading_.ok(); }
  bool strict() const { return reading_.strict(); }
  Reading& reading() { return reading_; }

  // In a strict reading keys that nobody asked for are errors. To be called last.
  void Finish();
  // As Finish(); in a lenient reading what a newer version may have written goes into `others`, for
  // WithOthers() when the record is written again.
  void Finish(Json& others);

 private:
  const Json& json_;
  std::string path_;
  Reading& reading_;
  std::set<std::string, std::less<>> known_;
};

// The whole document as a T.
template <class T>
base::Result<T> ReadDocument(const Json& json, Strictness strictness) {
  Reading reading(strictness);
  T value{};
  Read(json, std::string(), value, reading);
  if (reading.error()) return base::Fail(*reading.error());
  return value;
}

// ---- writing ----

// A number, or the string that stands for it where JSON has none: integers beyond 2^53, nan, inf.
Json NumberJson(std::int64_t value);
Json NumberJson(std::uint64_t value);
Json NumberJson(double value);

// The text of a number as a JSON number where that gives back the same text, else as a string; and
// what reads it: a number's exact text or the string's.
Json NumberTextJson(const std::string& text);
bool NumberText(const Json& json, std::string& text);

// The record with the keys that its reader did not know; those that are there already win.
Json WithOthers(Json json, const Json& others);

// Keys with empty values are left out.
inline void Put(Json& json, const char* key, const std::string& value) {
  if (!value.empty()) json[key] = value;
}
inline void Put(Json& json, const char* key, const std::vector<std::string>& value) {
  if (!value.empty()) json[key] = value;
}
inline void PutIf(Json& json, const char* key, bool value) {
  if (value) json[key] = true;
}

template <class T>
Json ArrayJson(const std::vector<T>& values) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(ToJson(value));
  return array;
}

}  // namespace cupilot::records
