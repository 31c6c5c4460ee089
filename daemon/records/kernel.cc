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

void Read(const Json& json, const std::string& path, Parameter::Member& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("name", out.name)
      .Required("canonical", out.canonical)
      .OptionalWord("kind", kKinds, out.kind)
      .Required("offset", out.offset)
      .Required("bytes", out.bytes)
      .Optional("is_signed", out.is_signed);
  object.Finish();
}

Json ToJson(const Parameter::Member& value) {
  Json json = {{"name", value.name},
               {"canonical", value.canonical},
               {"kind", WordOf(kKinds, value.kind)},
               {"offset", value.offset},
               {"bytes", value.bytes}};
  PutIf(json, "is_signed", value.is_signed);
  return json;
}

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
      .Optional("element_has_pointers", out.element_has_pointers)
      .Optional("is_signed", out.is_signed)
      .Optional("pointee", out.pointee)
      .Optional("pointee_bytes", out.pointee_bytes)
      .Optional("pointee_const", out.pointee_const)
      .Optional("table", out.table)
      .Optional("members", out.members);
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
    PutIf(json, "element_has_pointers", value.element_has_pointers);
  }
  PutIf(json, "is_signed", value.is_signed);
  if (IsTable(value)) {
    json["pointee"] = value.pointee;
    json["pointee_bytes"] = value.pointee_bytes;
    PutIf(json, "pointee_const", value.pointee_const);
    PutIf(json, "table", value.table);
  }
  if (!value.members.empty()) json["members"] = ArrayJson(value.members);
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

void Read(const Json& json, const std::string& path, MadeType::Integer& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("name", out.name)
      .Required("offset", out.offset)
      .Required("bytes", out.bytes)
      .Required("is_signed", out.is_signed);
  object.Finish();
}

Json ToJson(const MadeType::Integer& value) {
  return {{"name", value.name},
          {"offset", value.offset},
          {"bytes", value.bytes},
          {"is_signed", value.is_signed}};
}

void Read(const Json& json, const std::string& path, MadeType& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("namespaces", out.namespaces)
      .Required("name", out.name)
      .Required("text", out.text)
      .Optional("integers", out.integers)
      .Required("holds_pointers", out.holds_pointers);
  object.Finish();
}

Json ToJson(const MadeType& value) {
  Json json = {{"namespaces", value.namespaces},
               {"name", value.name},
               {"text", value.text},
               {"holds_pointers", value.holds_pointers}};
  if (!value.integers.empty()) json["integers"] = ArrayJson(value.integers);
  return json;
}

void Read(const Json& json, const std::string& path, Kernel& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("name", out.name)
      .Optional("base_name", out.base_name)
      .Optional("namespaces", out.namespaces)
      .Optional("template_arguments", out.template_arguments)
      .Optional("label", out.label)
      .Optional("signature", out.signature)
      .Optional("key", out.key)
      .Optional("instance", out.instance)
      .Optional("made_types", out.made_types)
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
      .Optional("depends_on_lines", out.depends_on_lines)
      .Optional("closure_source", out.closure_source)
      .Optional("closure_macros", out.closure_macros)
      .Optional("macros_back", out.macros_back)
      .Optional("standard", out.standard)
      .Optional("toolkit_include", out.toolkit_include)
      .Optional("closure", out.closure)
      .Optional("names", out.names)
      .Optional("declined", out.declined);
  object.Finish();
}

std::string NameWithArguments(const std::string& name, const std::vector<std::string>& arguments) {
  if (arguments.empty()) return name;
  std::string text = name + "<";
  for (const std::string& argument : arguments) {
    text += (text.back() == '<' ? "" : ", ") + argument;
  }
  return text + (text.back() == '>' ? " >" : ">");
}

const std::string& LabelOf(const Kernel& kernel) {
  return kernel.label.empty() ? kernel.name : kernel.label;
}

bool NamesKernel(const std::string& name, const std::string& label) {
  const auto without_spaces = [](std::string text) {
    std::erase(text, ' ');
    return text;
  };
  const auto is_suffix = [](const std::string& suffix, const std::string& whole) {
    return whole == suffix || whole.ends_with("::" + suffix);
  };
  const std::string asked = without_spaces(name);
  const std::string whole = without_spaces(label);
  if (asked.empty()) return false;
  return is_suffix(asked, whole) || is_suffix(asked, whole.substr(0, whole.find_first_of("<(")));
}

bool NamesKernel(const std::string& name, const Kernel& kernel) {
  return NamesKernel(name, LabelOf(kernel)) ||
         (!kernel.template_arguments.empty() &&
          NamesKernel(name, NameWithArguments(kernel.name, kernel.template_arguments)));
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
  PutIf(json, "depends_on_lines", kernel.depends_on_lines);
  Put(json, "namespaces", kernel.namespaces);
  Put(json, "template_arguments", kernel.template_arguments);
  Put(json, "label", kernel.label);
  Put(json, "instance", kernel.instance);
  if (!kernel.made_types.empty()) json["made_types"] = ArrayJson(kernel.made_types);
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
  Put(json, "macros_back", kernel.macros_back);
  Put(json, "standard", kernel.standard);
  Put(json, "toolkit_include", kernel.toolkit_include);
  if (!kernel.closure.empty()) json["closure"] = ArrayJson(kernel.closure);
  Put(json, "names", kernel.names);
  Put(json, "declined", kernel.declined);
  return json;
}

}  // namespace cupilot::records
