#include "records/compiler_text.h"

#include "records/read_parts.h"
#include "records/reader.h"

namespace cupilot::records {

void Read(const Json& json, const std::string& path, CompilerSetup& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("predefined", out.predefined)
      .Optional("macros", out.macros)
      .Optional("forced", out.forced)
      .Optional("forced_macros", out.forced_macros)
      .Optional("quote_folders", out.quote_folders)
      .Optional("folders", out.folders)
      .Optional("system_folders", out.system_folders);
  object.Finish();
}

Json ToJson(const CompilerSetup& value) {
  return {{"predefined", value.predefined},
          {"macros", value.macros},
          {"forced", value.forced},
          {"forced_macros", value.forced_macros},
          {"quote_folders", value.quote_folders},
          {"folders", value.folders},
          {"system_folders", value.system_folders}};
}

void Read(const Json& json, const std::string& path, CompilerPass& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("name", out.name).Required("text", out.text).Optional("macros", out.macros);
  object.Finish();
}

Json ToJson(const CompilerPass& value) {
  return {{"name", value.name}, {"text", value.text}, {"macros", value.macros}};
}

void Read(const Json& json, const std::string& path, TextPiece& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("hash", out.hash)
      .Optional("names", out.names)
      .Optional("always", out.always)
      .Optional("scope", out.scope);
  object.Finish();
}

Json ToJson(const TextPiece& value) {
  Json json = {{"hash", value.hash}};
  if (!value.names.empty()) json["names"] = value.names;
  if (value.always) json["always"] = true;
  if (value.scope) json["scope"] = true;
  return json;
}

void Read(const Json& json, const std::string& path, PassSummary& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("name", out.name).Required("pieces", out.pieces).Optional("macros", out.macros);
  object.Finish();
}

Json ToJson(const PassSummary& value) {
  return {{"name", value.name}, {"pieces", ArrayJson(value.pieces)}, {"macros", value.macros}};
}

}  // namespace cupilot::records
