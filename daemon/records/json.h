// JSON as we use it: nlohmann's, with canonical bytes (RFC 8785) and errors as values.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupilot::records {

using Json = nlohmann::json;

// kInvalidArgument with line and column. Duplicate keys, invalid UTF-8 and nesting beyond 200
// levels are errors.
base::Result<Json> ParseJson(std::string_view text);

// The largest integer up to which a double holds each.
inline constexpr std::int64_t kExactInteger = std::int64_t{1} << 53;

// RFC 8785: sorted keys (UTF-16 order), no spaces, shortest round-trip numbers as ECMAScript prints
// them. What is hashed. Integers beyond 2^53, which RFC 8785 cannot say, become strings.
std::string CanonicalJson(const Json& json);

// BLAKE2b-160 of the canonical JSON.
std::string HashJson(const Json& json);

// For people: two spaces, `schema` first, then keys sorted, a final newline.
std::string PrettyJson(const Json& json);

// The text that the object has there; empty where it has none.
std::string TextAt(const Json& json, const char* key);

// One line, for protocols: as nlohmann prints it, but bytes that are not UTF-8 (a compiler's log)
// are replaced in place of an exception.
std::string CompactJson(const Json& json);

}  // namespace cupilot::records
