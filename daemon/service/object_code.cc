#include "service/object_code.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "source/swap/selection_check.h"

namespace cupilot::service {
namespace {

using records::Json;

// One for each kernel of an object, whatever becomes of its text.
std::string FactOf(const std::string& object_folder, const records::Kernel& kernel,
                   const Place& place) {
  return "object_code/" + base::Hasher()
                              .Add(object_folder)
                              .Add(records::LabelOf(kernel))
                              .Add(place.identity.name)
                              .Add(place.target)
                              .Hex();
}

}  // namespace

std::string BuiltObjectOf(const ObjectScan& scan) {
  const records::CompileCommand& command = scan.object.command;
  const auto object = base::IdentifyFile(base::AbsolutePath(command.object, command.directory));
  if (!object) return {};
  const auto recorded = base::IdentifyFile(scan.object.folder + "/" + source::kCommandFile);
  const bool newer = std::all_of(
      scan.files.begin(), scan.files.end(),
      [&](const records::SelectedFile& file) { return file.mtime_ns <= object->mtime_ns; });
  if (!newer || !recorded || recorded->mtime_ns > object->mtime_ns) return {};
  return std::to_string(object->mtime_ns) + "," + std::to_string(object->size);
}

std::optional<ObjectCode> FindObjectCode(Catalog& catalog, const std::string& object_folder,
                                         const records::Kernel& kernel, const Place& place) {
  const auto text = catalog.Fact(FactOf(object_folder, kernel, place));
  if (!text) return std::nullopt;
  const auto json = records::ParseJson(*text);
  if (!json || !json->is_object()) return std::nullopt;
  ObjectCode code;
  code.object = records::TextAt(*json, "object");
  code.kernel_key = records::TextAt(*json, "kernel_key");
  code.workload = records::TextAt(*json, "workload");
  code.check.difference = records::TextAt(*json, "difference");
  code.check.declined = records::TextAt(*json, "declined");
  return code;
}

base::Result<> SaveObjectCode(Catalog& catalog, const std::string& object_folder,
                              const records::Kernel& kernel, const Place& place,
                              const ObjectCode& code) {
  const Json json = {{"object", code.object},
                     {"kernel_key", code.kernel_key},
                     {"workload", code.workload},
                     {"difference", code.check.difference},
                     {"declined", code.check.declined}};
  return catalog.SaveFact(FactOf(object_folder, kernel, place), records::CompactJson(json));
}

bool IsAbout(const ObjectCode& code, const std::string& object, const records::Kernel& kernel,
             const std::string& workload_hash) {
  const bool equal = code.check == evaluate::ObjectCheck{};
  return code.object == object && code.kernel_key == kernel.key &&
         (equal || code.workload == workload_hash);
}

std::string NoteOf(const ObjectCode& code) {
  if (code.check.difference.empty() || !code.check.declined.empty()) return {};
  return "the object's kernel " + code.check.difference +
         "; it gave the same results in all that a variant has to pass";
}

}  // namespace cupilot::service
