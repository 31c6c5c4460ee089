#include "records/kernel.h"

#include <array>

#include "records/read_parts.h"
#include "records/reader.h"

namespace cupilot::records {
namespace {

constexpr std::array<std::pair<std::string_view, ParameterKind>, 4> kKinds = {{
    {"pointer", ParameterKind::kPointer},
    {"integer", ParameterKind::kInteger},
    {"floating", ParameterKind::kFloating},
    {"other", ParameterKind::kOther},
}};

}  // namespace

void Read(const Json& json, const std::string& path, Parameter& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("name", out.name)
      .Required("type", out.type)
      .Optional("canonical", out.canonical)
      .OptionalWord("kind", kKinds, out.kind)
      .Optional("bytes", out.bytes)
      .Optional("element", out.element)
      .Optional("element_bytes", out.element_bytes)
      .Optional("element_const", out.element_const)
      .Optional("is_signed", out.is_signed);
  object.Finish();
}

Json ToJson(const Parameter& value) {
  Json json = {{"name", value.name},
               {"type", value.type},
               {"canonical", value.canonical},
               {"kind", WordOf(kKinds, value.kind)},
               {"bytes", value.bytes}};
  if (value.kind == ParameterKind::kPointer) {
    json["element"] = value.element;
    json["element_bytes"] = value.element_bytes;
    json["element_const"] = value.element_const;
  }
  PutIf(json, "is_signed", value.is_signed);
  return json;
}

void Read(const Json& json, const std::string& path, Tunable& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("name", out.name)
      .Required("values", out.values)
      .Optional("default", out.default_value);
  object.Finish();
}

Json ToJson(const Tunable& value) {
  return {{"name", value.name}, {"values", value.values}, {"default", value.default_value}};
}

void Read(const Json& json, const std::string& path, ClosureGlobal& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("symbol", out.symbol)
      .Required("space", out.space)
      .Optional("element", out.element)
      .Optional("element_bytes", out.element_bytes)
      .Optional("count", out.count);
  object.Finish();
}

Json ToJson(const ClosureGlobal& value) {
  return {{"symbol", value.symbol},
          {"space", value.space},
          {"element", value.element},
          {"element_bytes", value.element_bytes},
          {"count", value.count}};
}

void Read(const Json& json, const std::string& path, ClosureRange& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("file", out.file)
      .Required("begin", out.begin)
      .Required("end", out.end)
      .Required("hash", out.hash);
  object.Finish();
}

Json ToJson(const ClosureRange& value) {
  return {{"file", value.file}, {"begin", value.begin}, {"end", value.end}, {"hash", value.hash}};
}

void Read(const Json& json, const std::string& path, Kernel& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("name", out.name)
      .Optional("base_name", out.base_name)
      .Optional("namespaces", out.namespaces)
      .Optional("signature", out.signature)
      .Optional("key", out.key)
      .Optional("file", out.file)
      .Optional("line", out.line)
      .Optional("parameters", out.parameters)
      .Optional("globals", out.globals)
      .Optional("tunables", out.tunables)
      .Optional("require", out.require)
      .Optional("launch_block", out.launch_block)
      .Optional("launch_grid", out.launch_grid)
      .Optional("launch_shared_bytes", out.launch_shared_bytes)
      .Optional("cases", out.cases)
      .Optional("tolerance", out.tolerance)
      .Optional("synchronises", out.synchronises)
      .Optional("uses_atomics", out.uses_atomics)
      .Optional("closure_source", out.closure_source)
      .Optional("closure_macros", out.closure_macros)
      .Optional("standard", out.standard)
      .Optional("toolkit_include", out.toolkit_include)
      .Optional("closure", out.closure)
      .Optional("declined", out.declined);
  object.Finish();
}

bool NamesKernel(const std::string& name, const std::string& qualified) {
  if (qualified == name) return true;
  const std::string suffix = "::" + name;
  return qualified.size() > suffix.size() &&
         qualified.compare(qualified.size() - suffix.size(), suffix.size(), suffix) == 0;
}

base::Result<Kernel> ParseKernel(const Json& json) {
  return ReadDocument<Kernel>(json, Strictness::kLenient);
}

Json ToJson(const Kernel& kernel) {
  Json json = {{"name", kernel.name},
               {"base_name", kernel.base_name},
               {"signature", kernel.signature},
               {"key", kernel.key},
               {"file", kernel.file},
               {"line", kernel.line},
               {"synchronises", kernel.synchronises},
               {"uses_atomics", kernel.uses_atomics}};
  Put(json, "namespaces", kernel.namespaces);
  if (!kernel.parameters.empty()) json["parameters"] = ArrayJson(kernel.parameters);
  if (!kernel.globals.empty()) json["globals"] = ArrayJson(kernel.globals);
  if (!kernel.tunables.empty()) json["tunables"] = ArrayJson(kernel.tunables);
  Put(json, "require", kernel.require);
  Put(json, "launch_block", kernel.launch_block);
  Put(json, "launch_grid", kernel.launch_grid);
  Put(json, "launch_shared_bytes", kernel.launch_shared_bytes);
  if (!kernel.cases.empty()) json["cases"] = ArrayJson(kernel.cases);
  if (kernel.tolerance) json["tolerance"] = ToJson(*kernel.tolerance);
  Put(json, "closure_source", kernel.closure_source);
  Put(json, "closure_macros", kernel.closure_macros);
  Put(json, "standard", kernel.standard);
  Put(json, "toolkit_include", kernel.toolkit_include);
  if (!kernel.closure.empty()) json["closure"] = ArrayJson(kernel.closure);
  Put(json, "declined", kernel.declined);
  return json;
}

}  // namespace cupilot::records
