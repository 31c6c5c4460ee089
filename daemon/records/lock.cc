#include "records/lock.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>

#include "records/read_parts.h"
#include "records/reader.h"
#include "records/source_text.h"

namespace cupilot::records {
namespace {

auto PlaceOf(const LockedKernel& entry) {
  return std::tie(entry.source, entry.signature, entry.kernel, entry.target, entry.devices,
                  entry.toolchain, entry.flags, entry.cmake_targets, entry.rank);
}

bool IsPlainName(std::string_view name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
}

bool IsQualifiedName(std::string_view name) {
  for (std::size_t at = name.find("::"); at != std::string_view::npos; at = name.find("::")) {
    if (!IsPlainName(name.substr(0, at))) return false;
    name.remove_prefix(at + 2);
  }
  return IsPlainName(name);
}

// Types stand in the swapped source between parentheses, template arguments between angle brackets:
// none may leave these, and none can hold a statement.
bool IsTypeText(std::string_view text) {
  int depth = 0;
  int angles = 0;
  for (const char c : text) {
    const bool allowed = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                         std::string_view("_ :<>,*&()[]-+").find(c) != std::string_view::npos;
    if (!allowed) return false;
    if (c == '(' || c == '[') ++depth;
    if ((c == ')' || c == ']') && --depth < 0) return false;
    if (depth == 0 && c == '<') ++angles;
    if (depth == 0 && c == '>' && --angles < 0) return false;
  }
  return !text.empty() && depth == 0 && angles == 0;
}

// "a/b.cu", "../b.cu", "<build>/b.h"; never an absolute path.
bool IsRelativePath(const std::string& path) { return !path.empty() && path[0] != '/'; }

Json LinesOf(const std::string& text) {
  Json lines = Json::array();
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  lines.push_back(text.substr(begin));
  return lines;
}

// The variant with its source as one text again. False: the lines are none.
bool JoinSource(Json& variant) {
  if (!variant.is_object() || !variant.contains("source") || !variant["source"].is_array()) {
    return false;
  }
  std::string text;
  bool first = true;
  for (const Json& line : variant["source"]) {
    if (!line.is_string() || line.get_ref<const std::string&>().find('\n') != std::string::npos) {
      return false;
    }
    text += (first ? "" : "\n") + line.get_ref<const std::string&>();
    first = false;
  }
  variant["source"] = text;
  return true;
}

void CheckNames(const LockedKernel& entry, ObjectReader& object) {
  if (!IsQualifiedName(entry.kernel)) object.Fail("kernel", "is not a kernel's name");
  for (const std::string& scope : entry.namespaces) {
    if (!scope.empty() && !IsPlainName(scope)) object.Fail("namespaces", "not a name: " + scope);
  }
  for (const Parameter& parameter : entry.parameters) {
    if (!parameter.name.empty() && !IsPlainName(parameter.name)) {
      object.Fail("parameters", "not a name: " + parameter.name);
    }
    if (!IsTypeText(parameter.canonical)) {
      object.Fail("parameters", "not a type: " + parameter.canonical);
    }
  }
  for (const auto* arguments : {&entry.template_arguments, &entry.variant.template_arguments}) {
    for (const std::string& argument : *arguments) {
      if (!IsTypeText(argument)) object.Fail("template_arguments", "not one: " + argument);
    }
  }
}

void CheckEntry(const LockedKernel& entry, ObjectReader& object) {
  // Nothing stands between a lock file and the compiler.
  if (const auto source = ResolveText(entry.variant.source); !source) {
    object.Fail("variant", "source: " + source.error().message);
  }
  if (!IsRelativePath(entry.source)) {
    object.Fail("source", "must be relative to the folder of the lock file");
  }
  CheckNames(entry, object);
  if (entry.variant.kernel != entry.kernel) object.Fail("variant.kernel", "is for another kernel");
  if (entry.workload.kernel != entry.kernel) {
    object.Fail("workload.kernel", "is for another kernel");
  }
  for (const std::string& line : entry.macros_back) {
    const bool directive = line.starts_with("#define ") || line.starts_with("#undef ");
    if (!directive || line.find_first_of("\n\r\\") != std::string::npos) {
      object.Fail("macros_back", "'" + line + "' is no #define or #undef of one line");
    }
  }
  if (entry.evaluation.variant != entry.variant.id) {
    object.Fail("evaluation.variant", "is about another variant");
  }
  if (!entry.evaluation.accepted) object.Fail("evaluation.verdict", "must be accepted");
  if (entry.evaluation.target != entry.target) object.Fail("target", "is not the evaluation's");
}

}  // namespace

void Read(const Json& json, const std::string& path, LockedFile& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("file", out.file).Optional("outline", out.outline).Optional("hash", out.hash);
  object.Finish();
  if (object.ok() && out.outline.empty() == out.hash.empty()) {
    object.Fail("outline", "a file has either an outline or a hash");
  }
}

Json ToJson(const LockedFile& value) {
  Json json = {{"file", value.file}};
  Put(json, "outline", value.outline);
  Put(json, "hash", value.hash);
  return json;
}

void Read(const Json& json, const std::string& path, LockedKernel& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("source", out.source)
      .Required("kernel", out.kernel)
      .Optional("label", out.label)
      .Optional("template_arguments", out.template_arguments)
      .Required("signature", out.signature)
      .Required("kernel_key", out.kernel_key)
      .Required("cmake_targets", out.cmake_targets)
      .Required("target", out.target)
      .Required("devices", out.devices)
      .Optional("rank", out.rank)
      .Optional("captured", out.captured)
      .Required("toolchain", out.toolchain)
      .Required("flags", out.flags)
      .Required("namespaces", out.namespaces)
      .Required("parameters", out.parameters)
      .Required("names", out.window.names)
      .Required("macros", out.window.macros)
      .Optional("macros_back", out.macros_back)
      .Optional("tokens", out.tokens)
      .Required("files", out.files)
      .Required("workload", out.workload)
      .Required("evaluation", out.evaluation);
  if (const Json* variant = object.Find("variant"); variant != nullptr) {
    Json whole = *variant;
    if (!JoinSource(whole)) {
      object.Fail("variant.source", "expected an array of lines");
    } else {
      Read(whole, object.PathOf("variant"), out.variant, reading);
    }
  } else if (object.ok()) {
    object.Fail("variant", "missing");
  }
  object.Finish();
  if (object.ok()) CheckEntry(out, object);
}

Json ToJson(const LockedKernel& entry) {
  Json variant = ToJson(entry.variant);
  variant["source"] = LinesOf(entry.variant.source);
  Json json = {{"source", entry.source},
               {"kernel", entry.kernel},
               {"signature", entry.signature},
               {"kernel_key", entry.kernel_key},
               {"cmake_targets", entry.cmake_targets},
               {"target", entry.target},
               {"devices", entry.devices},
               {"toolchain", entry.toolchain},
               {"flags", entry.flags},
               {"namespaces", entry.namespaces},
               {"parameters", ArrayJson(entry.parameters)},
               {"names", entry.window.names},
               {"macros", entry.window.macros},
               {"files", ArrayJson(entry.files)},
               {"variant", std::move(variant)},
               {"workload", ToJson(entry.workload)},
               {"evaluation", ToJson(entry.evaluation)}};
  Put(json, "tokens", entry.tokens);
  Put(json, "macros_back", entry.macros_back);
  if (entry.rank != 0) json["rank"] = entry.rank;
  if (entry.captured) json["captured"] = true;
  Put(json, "label", entry.label);
  Put(json, "template_arguments", entry.template_arguments);
  return json;
}

void Read(const Json& json, const std::string& path, Lock& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Schema(Lock::kSchema);
  object.Required("kernels", out.kernels);
  object.Finish();
  if (!object.ok()) return;
  const auto before = [&out](std::size_t a, std::size_t b) {
    return ComesBefore(out.kernels[a], out.kernels[b]);
  };
  std::set<std::size_t, decltype(before)> seen(before);
  for (std::size_t i = 0; i < out.kernels.size(); ++i) {
    if (seen.insert(i).second) continue;
    return reading.Fail(Join("kernels", i), "there is an entry for this compile already");
  }
}

bool ComesBefore(const LockedKernel& a, const LockedKernel& b) { return PlaceOf(a) < PlaceOf(b); }

bool SamePlace(const LockedKernel& a, const LockedKernel& b) { return PlaceOf(a) == PlaceOf(b); }

void SortLock(Lock& lock) {
  std::stable_sort(lock.kernels.begin(), lock.kernels.end(), ComesBefore);
}

base::Result<Lock> ParseLock(std::string_view text) {
  TRY_ASSIGN(const Json json, ParseJson(text));
  return ReadDocument<Lock>(json, Strictness::kStrict);
}

std::string LockText(Lock lock) {
  SortLock(lock);
  return PrettyJson({{"schema", Lock::kSchema}, {"kernels", ArrayJson(lock.kernels)}});
}

}  // namespace cupilot::records
