// JSON as we use it: nlohmann's, with canonical bytes (RFC 8785) and errors as values.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupilot::records {

using Json = nlohmann::json;

// kInvalidArgument with line and column. Duplicate keys and invalid UTF-8 are errors.
base::Result<Json> ParseJson(std::string_view text);

// RFC 8785: sorted keys (UTF-16 order), no spaces, shortest round-trip numbers as ECMAScript prints
// them. What is hashed.
std::string CanonicalJson(const Json& json);

// BLAKE2b-160 of the canonical JSON.
std::string HashJson(const Json& json);

// For people: two spaces, keys sorted, a final newline.
std::string PrettyJson(const Json& json);

}  // namespace cupilot::records
