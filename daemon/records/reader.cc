#include "records/reader.h"

#include <charconv>
#include <cmath>

namespace cupilot::records {
namespace {

template <class T>
bool ParseWhole(std::string_view text, T& out) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
  return code == std::errc() && end == text.data() + text.size();
}

std::string_view KindOf(const Json& json) {
  switch (json.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "an array";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "a boolean";
    default:
      return "a number";
  }
}

template <class T>
void ReadAnyInteger(const Json& json, const std::string& path, T& out, Reading& reading) {
  if (json.is_number_unsigned()) {
    const auto value = json.get<std::uint64_t>();
    if (std::in_range<T>(value)) {
      out = static_cast<T>(value);
      return;
    }
  } else if (json.is_number_integer()) {
    const auto value = json.get<std::int64_t>();
    if (std::in_range<T>(value)) {
      out = static_cast<T>(value);
      return;
    }
  } else if (json.is_number_float()) {
    const auto value = json.get<double>();
    const auto limit = static_cast<double>(kExactInteger);
    if (value == std::floor(value) && std::fabs(value) <= limit &&
        (value >= 0 || std::numeric_limits<T>::is_signed)) {
      out = static_cast<T>(value);
      return;
    }
    return reading.Fail(path, "expected an integer, found " + json.dump());
  } else if (json.is_string()) {
    if (ParseWhole(json.get_ref<const std::string&>(), out)) return;
    return reading.Fail(path, Expected("an integer", json));
  } else {
    return reading.Fail(path, Expected("an integer", json));
  }
  reading.Fail(path, "the integer " + json.dump() + " is out of range");
}

}  // namespace

void Reading::Fail(const std::string& path, const std::string& what) {
  if (error_) return;
  error_ = base::InvalidArgument((path.empty() ? "document" : path) + ": " + what);
}

std::string Join(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

std::string Join(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

std::string Expected(std::string_view what, const Json& found) {
  return "expected " + std::string(what) + ", found " + std::string(KindOf(found));
}

void Read(const Json& json, const std::string& path, std::string& out, Reading& reading) {
  if (!json.is_string()) return reading.Fail(path, Expected("a string", json));
  out = json.get_ref<const std::string&>();
}

void Read(const Json& json, const std::string& path, bool& out, Reading& reading) {
  if (!json.is_boolean()) return reading.Fail(path, Expected("true or false", json));
  out = json.get<bool>();
}

void Read(const Json& json, const std::string& path, double& out, Reading& reading) {
  if (json.is_number()) {
    out = json.get<double>();
    return;
  }
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    if (text == "nan") {
      out = std::numeric_limits<double>::quiet_NaN();
      return;
    }
    if (text == "inf" || text == "-inf") {
      out = std::numeric_limits<double>::infinity() * (text[0] == '-' ? -1 : 1);
      return;
    }
    std::int64_t integer = 0;
    if (ParseWhole(text, integer)) {
      out = static_cast<double>(integer);
      return;
    }
  }
  reading.Fail(path, Expected("a number", json));
}

void Read(const Json& json, const std::string& path, Json& out, Reading& reading) {
  (void)path;
  (void)reading;
  out = json;
}

void Read(const Json& json, const std::string& path, std::int64_t& out, Reading& reading) {
  ReadAnyInteger(json, path, out, reading);
}

void Read(const Json& json, const std::string& path, std::uint64_t& out, Reading& reading) {
  ReadAnyInteger(json, path, out, reading);
}

ObjectReader::ObjectReader(const Json& json, std::string path, Reading& reading)
    : json_(json), path_(std::move(path)), reading_(reading) {
  if (!json.is_object()) reading.Fail(path_, Expected("an object", json));
}

ObjectReader& ObjectReader::Schema(std::string_view schema) {
  const Json* value = Find("schema");
  if (value == nullptr) {
    if (strict()) Fail("schema", "missing; expected \"" + std::string(schema) + "\"");
  } else if (!value->is_string()) {
    Fail("schema", Expected("a string", *value));
  } else if (value->get_ref<const std::string&>() != schema) {
    Fail("schema", "expected \"" + std::string(schema) + "\", found " + value->dump());
  }
  return *this;
}

const Json* ObjectReader::Find(const char* key) {
  known_.emplace(key);
  if (!ok() || !json_.is_object()) return nullptr;
  const auto found = json_.find(key);
  return found == json_.end() ? nullptr : &*found;
}

bool ObjectReader::Has(const char* key) const { return json_.is_object() && json_.contains(key); }

void ObjectReader::Finish() {
  if (!strict() || !ok()) return;
  for (const auto& [key, value] : json_.items()) {
    if (known_.contains(key)) continue;
    std::string known;
    for (const std::string& name : known_) known += (known.empty() ? "" : ", ") + name;
    return Fail(key, "unknown key; known here: " + known);
  }
}

void ObjectReader::Finish(Json& others) {
  Finish();
  others = Json::object();
  if (strict() || !ok()) return;
  for (const auto& [key, value] : json_.items()) {
    if (!known_.contains(key)) others[key] = value;
  }
}

Json WithOthers(Json json, const Json& others) {
  for (const auto& [key, value] : others.items()) {
    if (!json.contains(key)) json[key] = value;
  }
  return json;
}

Json NumberJson(std::int64_t value) {
  if (value > kExactInteger || value < -kExactInteger) return std::to_string(value);
  return value;
}

Json NumberJson(std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(kExactInteger)) return std::to_string(value);
  return value;
}

Json NumberJson(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return value;
}

bool NumberText(const Json& json, std::string& text) {
  if (json.is_string()) {
    text = json.get<std::string>();
  } else if (json.is_boolean()) {
    text = json.get<bool>() ? "1" : "0";
  } else if (json.is_number_float()) {
    text = CanonicalJson(json);
  } else if (json.is_number_unsigned()) {
    text = std::to_string(json.get<std::uint64_t>());
  } else if (json.is_number_integer()) {
    text = std::to_string(json.get<std::int64_t>());
  } else {
    return false;
  }
  return true;
}

Json NumberTextJson(const std::string& text) {
  std::int64_t integer = 0;
  if (ParseWhole(text, integer) && std::to_string(integer) == text) {
    return NumberJson(integer);
  }
  double number = 0;
  if (ParseWhole(text, number) && std::isfinite(number) && CanonicalJson(number) == text) {
    return number;
  }
  return text;
}

}  // namespace cupilot::records
