#include "cache/record.h"

#include "records/reader.h"

#ifndef CUPILOT_VERSION
#define CUPILOT_VERSION "unknown"
#endif

namespace cupilot::cache {

std::string_view ToolVersion() { return CUPILOT_VERSION; }

std::string Seal(records::Json value, std::string_view toolchain, std::string_view driver) {
  records::Json json = {{"schema_version", kSchemaVersion}, {"tool", CUPILOT_VERSION}};
  if (!toolchain.empty()) json["toolchain"] = toolchain;
  if (!driver.empty()) json["driver"] = driver;
  json["value"] = std::move(value);
  return records::CompactJson(json);
}

base::Result<Record> Unseal(std::string_view bytes) {
  const base::Result<records::Json> json = records::ParseJson(bytes);
  if (!json) return base::Fail(base::Corruption("no record: " + json.error().message));
  records::Reading reading(records::Strictness::kLenient);
  records::ObjectReader object(*json, "", reading);
  std::int64_t version = 0;
  Record record;
  object.Optional("schema_version", version)
      .Optional("tool", record.tool)
      .Optional("toolchain", record.toolchain)
      .Optional("driver", record.driver)
      .Optional("value", record.value);
  if (reading.ok() && (version < 1 || !json->contains("value"))) {
    object.Fail("schema_version", "no record");
  }
  if (reading.error()) return base::Fail(base::Corruption(reading.error()->message));
  if (version > kSchemaVersion) {
    return base::Fail(
        base::Unsupported("written by cuPilot " + record.tool + ", which is newer than this one"));
  }
  record.schema_version = static_cast<int>(version);
  return record;
}

bool IsStale(const Record& record, std::string_view toolchain, std::string_view driver) {
  const auto differs = [](const std::string& was, std::string_view is) {
    return !was.empty() && !is.empty() && was != is;
  };
  return differs(record.toolchain, toolchain) || differs(record.driver, driver);
}

}  // namespace cupilot::cache
