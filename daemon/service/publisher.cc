#include "service/publisher.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "records/json.h"
#include "service/kernel_job.h"
#include "source/swap/swapped_source.h"

namespace cupilot::service {

base::Result<bool> PublishFiles::Write(const std::string& path, const std::string& bytes) {
  return base::WriteFileIfDifferent(path, bytes);
}

base::Result<> PublishFiles::Touch(const std::string& path) {
  if (::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) != 0) {
    return base::Fail(base::IoError("cannot touch " + path + ": " + std::strerror(errno)));
  }
  return {};
}

base::Result<records::Selection> Publisher::Select(const ObjectScan& scan,
                                                   const std::string& toolchain,
                                                   std::string& swap_text, Published& published) {
  records::Selection selection;
  selection.source = scan.object.command.source;
  selection.command_hash = scan.command_hash;
  selection.environment_hash = records::EnvironmentHash(scan.object.command);
  selection.toolchain = toolchain;
  selection.files = scan.files;
  source::SwapRequest request;
  request.source = scan.object.command.source;
  request.unit = scan.object.folder;
  for (const records::Kernel& kernel : scan.kernels) {
    const records::Workload workload = WorkloadOf(kernel);
    if (!kernel.declined.empty() || workload.cases.empty()) continue;
    const auto best = catalog_.Best(kernel.key, workload, "");
    if (!best) continue;
    const std::string title = best->variant.strategy ? best->variant.strategy->title : "";
    source::SwappedVariant variant{best->variant,
                                   best->evaluation.target,
                                   {},
                                   best->evaluation.guard,
                                   title,
                                   best->evaluation.speedup.value_or(1.0)};
    // A variant that cannot be written out must not take the others with it.
    source::SwapRequest alone{request.source, request.unit, {{kernel, {variant}}}};
    if (auto written = source::WriteSwappedSource(alone); !written) {
      published.problems.push_back(kernel.name + ": " + written.error().message);
      continue;
    }
    request.kernels.push_back({kernel, {variant}});
    selection.closure.insert(selection.closure.end(), kernel.closure.begin(), kernel.closure.end());
    selection.kernels.push_back({kernel.name,
                                 kernel.signature,
                                 kernel.key,
                                 {{best->variant.id,
                                   best->evaluation.target,
                                   {},
                                   records::HashJson(records::ToJson(best->evaluation)),
                                   title,
                                   best->evaluation.speedup.value_or(1.0)}}});
  }
  if (request.kernels.empty()) return selection;
  TRY_ASSIGN(const source::SwappedSource swapped, source::WriteSwappedSource(request));
  selection.swap = swapped.file_name;
  selection.hook = swapped.hook;
  swap_text = swapped.text;
  return selection;
}

base::Result<Published> Publisher::Publish(const ObjectScan& scan, const std::string& toolchain) {
  Published published;
  std::string swap_text;
  TRY_ASSIGN(const records::Selection selection, Select(scan, toolchain, swap_text, published));
  const std::string& folder = scan.object.folder;
  const std::string path = folder + "/selection.json";
  if (selection.kernels.empty() && !base::FileExists(path)) return published;
  if (!selection.swap.empty()) {
    // Named by its hash: if it is there, it is right.
    TRY(files_.Write(folder + "/" + selection.swap, swap_text));
  }
  const std::string bytes = records::PrettyJson(records::ToJson(selection));
  TRY_ASSIGN(published.changed, files_.Write(path, bytes));
  published.selection = base::HashHex(bytes);
  published.swap = selection.swap;
  published.stamp_due = !selection.kernels.empty() && StampIsDue(folder, published.selection);
  return published;
}

base::Result<> Publisher::TouchStamp(const std::string& object_folder) {
  return files_.Touch(object_folder + "/stamp.h");
}

bool StampIsDue(const std::string& object_folder, const std::string& selection) {
  const auto text = base::ReadFile(object_folder + "/applied.json");
  if (!text) return true;
  const auto json = records::ParseJson(*text);
  if (!json || !json->is_object()) return true;
  // A swapped source that was refused is not offered again under the same name.
  if (const auto refused = base::ReadFile(object_folder + "/refused.json")) {
    const auto refusal = records::ParseJson(*refused);
    if (refusal && refusal->is_object() && refusal->value("selection", "") == selection)
      return false;
  }
  return json->value("selection", "") != selection;
}

}  // namespace cupilot::service
