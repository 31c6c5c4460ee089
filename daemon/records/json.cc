#include "records/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace cupilot::records {
namespace {

constexpr int kMaxDepth = 200;

std::string Printable(const Json& scalar) {
  return scalar.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Keeps the library's position and reason, not its exception's number.
std::string ShortParseError(std::string_view what) {
  const std::size_t bracket = what.find("] ");
  if (bracket != std::string_view::npos) what.remove_prefix(bracket + 2);
  constexpr std::string_view kPrefix = "parse error at ";
  if (what.starts_with(kPrefix)) what.remove_prefix(kPrefix.size());
  return std::string(what);
}

std::u16string Utf16(std::string_view text) {
  std::u16string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const int length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    std::uint32_t code = length == 1 ? lead : lead & (0xffU >> (length + 1));
    for (int k = 1; k < length && i + static_cast<std::size_t>(k) < text.size(); ++k) {
      code =
          (code << 6) | (static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]) & 0x3fU);
    }
    if (code >= 0x10000) {
      out += static_cast<char16_t>(0xd800 + ((code - 0x10000) >> 10));
      out += static_cast<char16_t>(0xdc00 + ((code - 0x10000) & 0x3ffU));
    } else {
      out += static_cast<char16_t>(code);
    }
    i += static_cast<std::size_t>(length);
  }
  return out;
}

// Number::toString of ECMAScript: shortest digits that give the value back, decimal notation for
// exponents -7 < n <= 21.
std::string EcmaNumber(double value) {
  if (!std::isfinite(value)) return "null";
  if (value == 0) return "0";
  std::array<char, 40> buffer{};
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value),
                                     std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data()));
  const std::size_t mark = text.find('e');
  std::string digits;
  for (const char c : text.substr(0, mark)) {
    if (c != '.') digits += c;
  }
  int exponent = 0;
  std::string_view power = text.substr(mark + 1);
  if (power.starts_with('+')) power.remove_prefix(1);
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  const int count = static_cast<int>(digits.size());
  const int point = exponent + 1;  // the decimal point stands after this many digits
  std::string out = value < 0 ? "-" : "";
  if (count <= point && point <= 21) {
    out += digits + std::string(static_cast<std::size_t>(point - count), '0');
  } else if (0 < point && point <= 21) {
    out += digits.substr(0, static_cast<std::size_t>(point)) + "." +
           digits.substr(static_cast<std::size_t>(point));
  } else if (-6 < point && point <= 0) {
    out += "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  } else {
    out += digits.substr(0, 1) + (count > 1 ? "." + digits.substr(1) : "") + "e" +
           (exponent < 0 ? "-" : "+") + std::to_string(std::abs(exponent));
  }
  return out;
}

// Characters of ASCII that stand for themselves in a JSON string.
bool IsPlain(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
}

// Strings need no escape but those that JSON demands, which is how the library prints them; it
// takes its time for each, and most need none.
void AppendString(const std::string& text, std::string& out) {
  if (IsPlain(text)) {
    out += '"';
    out += text;
    out += '"';
  } else {
    out += Printable(Json(text));
  }
}

void AppendCanonical(const Json& json, std::string& out);

void AppendMember(const Json::const_iterator& member, std::string& out) {
  if (out.back() != '{') out += ',';
  AppendString(member.key(), out);
  out += ':';
  AppendCanonical(member.value(), out);
}

void AppendCanonicalObject(const Json& json, std::string& out) {
  out += '{';
  bool plain = true;
  for (auto it = json.begin(); it != json.end(); ++it) plain = plain && IsPlain(it.key());
  if (plain) {
    // They are sorted: UTF-16 has the order of ASCII.
    for (auto it = json.begin(); it != json.end(); ++it) AppendMember(it, out);
  } else {
    std::vector<std::pair<std::u16string, Json::const_iterator>> keys;
    for (auto it = json.begin(); it != json.end(); ++it) keys.emplace_back(Utf16(it.key()), it);
    std::sort(keys.begin(), keys.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [sort_key, it] : keys) AppendMember(it, out);
  }
  out += '}';
}

void AppendInteger(const Json& json, std::string& out) {
  const bool is_unsigned = json.is_number_unsigned();
  const bool beyond = is_unsigned
                          ? json.get<std::uint64_t>() > static_cast<std::uint64_t>(kExactInteger)
                          : json.get<std::int64_t>() < -kExactInteger;
  const std::string digits = is_unsigned ? std::to_string(json.get<std::uint64_t>())
                                         : std::to_string(json.get<std::int64_t>());
  out += beyond ? "\"" + digits + "\"" : digits;
}

void AppendCanonical(const Json& json, std::string& out) {
  if (json.is_object()) {
    AppendCanonicalObject(json, out);
  } else if (json.is_array()) {
    out += '[';
    for (std::size_t i = 0; i < json.size(); ++i) {
      if (i > 0) out += ',';
      AppendCanonical(json[i], out);
    }
    out += ']';
  } else if (json.is_number_float()) {
    out += EcmaNumber(json.get<double>());
  } else if (json.is_number_integer()) {
    AppendInteger(json, out);
  } else if (json.is_string()) {
    AppendString(json.get_ref<const std::string&>(), out);
  } else {
    out += Printable(json);
  }
}

void AppendPretty(const Json& json, const std::string& indent, std::string& out) {
  const std::string deeper = indent + "  ";
  if (json.is_object() && !json.empty()) {
    out += "{\n";
    bool first = true;
    const auto append = [&](const std::string& key, const Json& value) {
      if (!first) out += ",\n";
      first = false;
      out += deeper + Printable(Json(key)) + ": ";
      AppendPretty(value, deeper, out);
    };
    if (json.contains("schema")) append("schema", json["schema"]);
    for (const auto& [key, value] : json.items()) {
      if (key != "schema") append(key, value);
    }
    out += "\n" + indent + "}";
  } else if (json.is_array() && !json.empty()) {
    out += "[\n";
    for (std::size_t i = 0; i < json.size(); ++i) {
      out += deeper;
      AppendPretty(json[i], deeper, out);
      out += i + 1 < json.size() ? ",\n" : "\n";
    }
    out += indent + "]";
  } else {
    out += Printable(json);
  }
}

// What the parser itself does not refuse: duplicate keys and deep nesting.
class Refusals {
 public:
  bool See(int depth, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start) {
      if (depth >= kMaxDepth && error_.empty()) {
        error_ = "nested more than " + std::to_string(kMaxDepth) + " levels deep";
      }
    }
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end && !keys_.empty()) keys_.pop_back();
    if (event == Json::parse_event_t::key && !keys_.empty()) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second && error_.empty()) {
        error_ = "the key '" + key + "' occurs twice in one object";
      }
    }
    return error_.empty();
  }
  const std::string& error() const { return error_; }

 private:
  std::vector<std::set<std::string>> keys_;
  std::string error_;
};

}  // namespace

base::Result<Json> ParseJson(std::string_view text) {
  Refusals refusals;
  try {
    Json json = Json::parse(text, [&](int depth, Json::parse_event_t event, Json& parsed) {
      return refusals.See(depth, event, parsed);
    });
    if (!refusals.error().empty()) return base::Fail(base::InvalidArgument(refusals.error()));
    return json;
  } catch (const std::exception& error) {
    if (!refusals.error().empty()) return base::Fail(base::InvalidArgument(refusals.error()));
    return base::Fail(base::InvalidArgument(ShortParseError(error.what())));
  }
}

std::string CanonicalJson(const Json& json) {
  std::string out;
  AppendCanonical(json, out);
  return out;
}

std::string HashJson(const Json& json) { return base::HashHex(CanonicalJson(json)); }

std::string PrettyJson(const Json& json) {
  std::string out;
  AppendPretty(json, "", out);
  out += '\n';
  return out;
}

std::string TextAt(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : "";
}

std::string CompactJson(const Json& json) { return Printable(json); }

}  // namespace cupilot::records
