// The envelope of every value in the store: which version wrote it, and the toolchain and driver
// for which it holds. Written as JSON; see FORMAT.md.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "records/json.h"

namespace cupilot::cache {

// Raised whenever an older reader would misread a value.
inline constexpr int kSchemaVersion = 1;

// The version of cuPilot that this program writes into records.
std::string_view ToolVersion();

struct Record {
  int schema_version = kSchemaVersion;
  std::string tool;       // version of cuPilot that wrote it
  std::string toolchain;  // empty: does not depend on it
  std::string driver;     // empty: does not depend on it
  records::Json value;
};

// The bytes to store; schema version and tool are those of this program.
std::string Seal(records::Json value, std::string_view toolchain = {},
                 std::string_view driver = {});

// kCorruption for bytes that are no record; kUnsupported for one of a newer schema version.
base::Result<Record> Unseal(std::string_view bytes);

// True if the record was made under another toolchain or driver: evidence that is to be measured
// again, not to be thrown away. Empty strings match everything.
bool IsStale(const Record& record, std::string_view toolchain, std::string_view driver);

}  // namespace cupilot::cache
