#include "json.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

namespace {

class Parser {
 public:
  explicit Parser(const std::string& text) : at_(text.data()), end_(at_ + text.size()) {}

  std::optional<Json> Document() {
    std::optional<Json> value = Value(0);
    Space();
    return at_ == end_ ? value : std::nullopt;
  }

 private:
  void Space() {
    while (at_ != end_ && std::strchr(" \t\r\n", *at_) != nullptr && *at_ != '\0') ++at_;
  }
  bool Take(char c) {
    Space();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool Word(const char* word) {
    const std::size_t size = std::strlen(word);
    if (static_cast<std::size_t>(end_ - at_) < size || std::memcmp(at_, word, size) != 0)
      return false;
    at_ += size;
    return true;
  }

  std::optional<Json> Value(int depth) {
    if (depth > 64) return std::nullopt;
    Space();
    if (at_ == end_) return std::nullopt;
    if (*at_ == '{') return ObjectValue(depth);
    if (*at_ == '[') return ArrayValue(depth);
    if (*at_ == '"') {
      auto text = Text();
      return text ? std::optional<Json>(Json(*text)) : std::nullopt;
    }
    if (Word("null")) return Json();
    if (Word("true")) return Json(true);
    if (Word("false")) return Json(false);
    double number = 0;
    const auto [end, error] = std::from_chars(at_, end_, number);
    if (error != std::errc() || end == at_) return std::nullopt;
    at_ = end;
    return Json(number);
  }

  std::optional<Json> ObjectValue(int depth) {
    Json::Object object;
    if (!Take('{')) return std::nullopt;
    if (Take('}')) return Json(object);
    do {
      Space();
      auto name = Text();
      if (!name || !Take(':')) return std::nullopt;
      auto value = Value(depth + 1);
      if (!value) return std::nullopt;
      object.emplace_back(*name, *value);
    } while (Take(','));
    return Take('}') ? std::optional<Json>(Json(object)) : std::nullopt;
  }

  std::optional<Json> ArrayValue(int depth) {
    Json::Array array;
    if (!Take('[')) return std::nullopt;
    if (Take(']')) return Json(array);
    do {
      auto value = Value(depth + 1);
      if (!value) return std::nullopt;
      array.push_back(*value);
    } while (Take(','));
    return Take(']') ? std::optional<Json>(Json(array)) : std::nullopt;
  }

  std::optional<std::string> Text() {
    if (at_ == end_ || *at_ != '"') return std::nullopt;
    std::string text;
    for (++at_; at_ != end_ && *at_ != '"'; ++at_) {
      if (*at_ != '\\') {
        text += *at_;
        continue;
      }
      if (++at_ == end_) return std::nullopt;
      constexpr char kNames[] = "bfnrt", kValues[] = "\b\f\n\r\t";
      if (const char* name = std::strchr(kNames, *at_); name != nullptr && *at_ != '\0') {
        text += kValues[name - kNames];
      } else if (*at_ == 'u') {
        unsigned code = 0;
        if (end_ - at_ < 5 || std::from_chars(at_ + 1, at_ + 5, code, 16).ptr != at_ + 5)
          return std::nullopt;
        text +=
            code < 0x80 ? static_cast<char>(code) : '?';  // only control characters are written so
        at_ += 4;
      } else {
        text += *at_;
      }
    }
    if (at_ == end_) return std::nullopt;
    ++at_;
    return text;
  }

  const char* at_;
  const char* end_;
};

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) {
      quoted += c;
    } else {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      quoted += code;
    }
  }
  return quoted + '"';
}

}  // namespace

Json Json::FromFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return Parser(text).Document().value_or(Json());
}

double Json::number(double otherwise) const {
  const double* value = std::get_if<double>(&value_);
  return value == nullptr ? otherwise : *value;
}

std::string Json::text(const std::string& otherwise) const {
  const std::string* value = std::get_if<std::string>(&value_);
  return value == nullptr ? otherwise : *value;
}

const Json::Array& Json::array() const {
  static const Array kNone;
  const Array* value = std::get_if<Array>(&value_);
  return value == nullptr ? kNone : *value;
}

const Json::Object& Json::object() const {
  static const Object kNone;
  const Object* value = std::get_if<Object>(&value_);
  return value == nullptr ? kNone : *value;
}

const Json& Json::operator[](const std::string& name) const {
  static const Json kNull;
  for (const auto& [key, value] : object()) {
    if (key == name) return value;
  }
  return kNull;
}

void Json::Set(const std::string& name, Json value) {
  if (!std::holds_alternative<Object>(value_)) value_ = Object();
  std::get<Object>(value_).emplace_back(name, std::move(value));
}

std::string Json::Dump(int indent) const {
  if (const bool* flag = std::get_if<bool>(&value_)) return *flag ? "true" : "false";
  if (const double* number = std::get_if<double>(&value_)) {
    if (!std::isfinite(*number))
      return Quoted(std::isnan(*number) ? "nan" : *number < 0 ? "-inf" : "inf");
    char text[40];
    if (*number == std::floor(*number) && std::fabs(*number) < 9007199254740992.0) {
      std::snprintf(text, sizeof text, "%.0f", *number);
      return text;
    }
    const auto written = std::to_chars(text, text + sizeof text, *number);
    return {text, written.ptr};
  }
  if (const std::string* text = std::get_if<std::string>(&value_)) return Quoted(*text);
  const std::string line = "\n" + std::string(indent + 2, ' ');
  std::string out;
  if (const Array* array = std::get_if<Array>(&value_)) {
    for (const Json& value : *array) out += (out.empty() ? "" : ", ") + value.Dump(indent + 2);
    return "[" + out + "]";
  }
  if (const Object* object = std::get_if<Object>(&value_)) {
    for (const auto& [name, value] : *object) {
      out += (out.empty() ? "" : ",") + line + Quoted(name) + ": " + value.Dump(indent + 2);
    }
    return out.empty() ? "{}" : "{" + out + line.substr(0, line.size() - 2) + "}";
  }
  return "null";
}
