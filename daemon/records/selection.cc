#include "records/selection.h"

#include "records/read_parts.h"
#include "records/reader.h"

namespace cupilot::records {
void Read(const Json& json, const std::string& path, SelectedFile& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("path", out.path)
      .Required("size", out.size)
      .Required("mtime_ns", out.mtime_ns)
      .Required("hash", out.hash)
      .Optional("tags", out.tags);
  object.Finish(out.others);
}

Json ToJson(const SelectedFile& value) {
  Json json = {{"path", value.path},
               {"size", NumberJson(value.size)},
               {"mtime_ns", NumberJson(value.mtime_ns)},
               {"hash", value.hash}};
  Put(json, "tags", value.tags);
  return WithOthers(std::move(json), value.others);
}

void Read(const Json& json, const std::string& path, SelectedVariant& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("id", out.id)
      .Required("target", out.target)
      .Optional("devices", out.devices)
      .Optional("evaluation", out.evaluation)
      .Optional("title", out.title)
      .Optional("speedup", out.speedup);
  object.Finish(out.others);
}

Json ToJson(const SelectedVariant& value) {
  return WithOthers({{"id", value.id},
                     {"target", value.target},
                     {"devices", value.devices},
                     {"evaluation", value.evaluation},
                     {"title", value.title},
                     {"speedup", NumberJson(value.speedup)}},
                    value.others);
}

void Read(const Json& json, const std::string& path, SelectedKernel& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("kernel", out.kernel)
      .Required("signature", out.signature)
      .Required("kernel_key", out.kernel_key)
      .Required("variants", out.variants);
  object.Finish(out.others);
}

Json ToJson(const SelectedKernel& value) {
  return WithOthers({{"kernel", value.kernel},
                     {"signature", value.signature},
                     {"kernel_key", value.kernel_key},
                     {"variants", ArrayJson(value.variants)}},
                    value.others);
}

void Read(const Json& json, const std::string& path, Selection& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  // The launcher acts on this document: one of another format must not pass for an empty selection.
  const Json* schema = object.Find("schema");
  if (object.ok() && schema == nullptr) object.Fail("schema", "missing");
  object.Schema(Selection::kSchema);
  object.Required("source", out.source)
      .Required("swap", out.swap)
      .Required("hook", out.hook)
      .Required("command_hash", out.command_hash)
      .Required("environment_hash", out.environment_hash)
      .Required("toolchain", out.toolchain)
      .Required("files", out.files)
      .Required("closure", out.closure)
      .Optional("names", out.names)
      .Optional("tokens", out.tokens)
      .Required("kernels", out.kernels);
  object.Finish(out.others);
}

base::Result<Selection> ParseSelection(const Json& json) {
  return ReadDocument<Selection>(json, Strictness::kLenient);
}

Json ToJson(const Selection& selection) {
  Json json = {{"schema", Selection::kSchema},
               {"source", selection.source},
               {"swap", selection.swap},
               {"hook", selection.hook},
               {"command_hash", selection.command_hash},
               {"environment_hash", selection.environment_hash},
               {"toolchain", selection.toolchain},
               {"files", ArrayJson(selection.files)},
               {"closure", ArrayJson(selection.closure)},
               {"kernels", ArrayJson(selection.kernels)}};
  if (!selection.names.empty()) json["names"] = selection.names;
  Put(json, "tokens", selection.tokens);
  return WithOthers(std::move(json), selection.others);
}

std::string CompiledHash(const Selection& selection) {
  Selection compiled = selection;
  compiled.files.clear();
  compiled.closure.clear();
  compiled.names.clear();
  compiled.tokens.clear();
  return HashJson(ToJson(compiled));
}

}  // namespace cupilot::records
