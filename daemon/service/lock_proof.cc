#include "service/lock_proof.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "records/read_parts.h"
#include "source/swap/lock_entry.h"
#include "source/swap/selection_check.h"

namespace cupilot::service {
namespace {

namespace fs = std::filesystem;
using records::Json;
using records::LockedKernel;

// How many folders a path like "../../src/a.cu" leads up.
int StepsUp(const std::string& path) {
  int steps = 0;
  for (const fs::path& part : fs::path(path)) steps += part == ".." ? 1 : 0;
  return steps;
}

std::string SourceFolderOf(const LockedKernel& entry, const std::string& lock_folder) {
  int up = StepsUp(entry.source);
  for (const records::LockedFile& file : entry.files) up = std::max(up, StepsUp(file.file));
  for (const std::string& flag : entry.flags) {
    for (const std::string_view option : {"-I", "-isystem=", "-iquote=", "-include="}) {
      if (flag.starts_with(option)) up = std::max(up, StepsUp(flag.substr(option.size())));
    }
  }
  fs::path folder = lock_folder;
  for (; up > 0; --up) folder = folder.parent_path();
  return folder.string();
}

std::string Real(const std::string& target) { return target.substr(target.find(',') + 1); }
std::string Virtual(const std::string& target) { return target.substr(0, target.find(',')); }

}  // namespace

base::Result<LockedPlace> ReadLockedPlace(const Json& params) {
  const Json document = {{"schema", records::Lock::kSchema},
                         {"kernels", {params.value("entry", Json())}}};
  auto lock = records::ParseLock(records::CompactJson(document));
  if (!lock) return base::Fail(lock.error().In("entry"));
  LockedPlace place;
  place.entry = std::move(lock->kernels[0]);
  place.folders.lock = records::TextAt(params, "lock_folder");
  place.folders.source = SourceFolderOf(place.entry, place.folders.lock);
  place.folders.build = records::TextAt(params, "build_folder");
  if (place.folders.build.empty()) place.folders.build = place.folders.source + "/build";
  return place;
}

records::CompileCommand CommandOf(const LockedPlace& place, const std::string& compiler) {
  const std::string& target = place.entry.target;
  records::CompileCommand command;
  command.directory = place.folders.source;
  command.source = source::ActualPath(place.entry.source, place.folders);
  command.object = command.source + ".o";
  command.environment = source::CompilerEnvironment();
  command.arguments = {compiler};
  for (std::string& flag : source::ActualFlags(place.entry.flags, place.folders)) {
    command.arguments.push_back(std::move(flag));
  }
  if (target.starts_with("compute_")) {
    const std::string ptx = Virtual(target);
    const std::string own = "sm_" + ptx.substr(std::string("compute_").size());
    // Code of an older architecture is what the driver makes of its PTX.
    command.arguments.push_back("-gencode=arch=" + ptx +
                                ",code=" + (Real(target) == own ? own : ptx));
  }
  command.arguments.insert(command.arguments.end(), {"-c", command.source});
  return command;
}

base::Result<> CheckArchitecture(const LockedKernel& entry, const std::string& arch) {
  const bool host = entry.target.starts_with("host-");
  if (host || Real(entry.target) == arch) return {};
  return base::Fail(base::Unavailable("this machine's GPU is " + arch + ", and the entry is for " +
                                      entry.target + ": it is proven on such a GPU only"));
}

std::string WhyItDoesNotFit(const LockedPlace& place, const records::CompileCommand& command) {
  source::LockJudge judge(command, place.folders);
  return judge.Judge(place.entry).reason;
}

std::string WhyKernelDiffers(const LockedKernel& entry, const records::Kernel& kernel) {
  if (!kernel.declined.empty()) return kernel.declined;
  if (kernel.name != entry.kernel || kernel.namespaces != entry.namespaces ||
      kernel.template_arguments != entry.template_arguments ||
      records::ArrayJson(kernel.parameters) != records::ArrayJson(entry.parameters)) {
    return "its name, scope or parameters are not the source's";
  }
  const auto& tagged = kernel.cases;
  const auto& locked = entry.workload.cases;
  if (tagged.empty()) return {};
  const bool within = std::all_of(locked.begin(), locked.end(), [&](const records::Case& one) {
    return std::find(tagged.begin(), tagged.end(), one) != tagged.end();
  });
  // What a program did was proven instead; the guard says where.
  if (!within && !entry.captured) return "its workload is not the one of the kernel's tag";
  const auto& tolerance = entry.workload.tolerance;
  const bool bitwise = tolerance && tolerance->bitwise;
  if (!bitwise && tolerance != kernel.tolerance) {
    return "its tolerance is not the one of the kernel's tag";
  }
  return {};
}

base::Result<std::string> WhyNotProven(const LockedKernel& entry,
                                       const records::Evaluation& evaluation) {
  if (!evaluation.accepted) {
    return evaluation.reason + (evaluation.detail.empty() ? "" : ": " + evaluation.detail);
  }
  if (evaluation.target != entry.target) {
    return base::Fail(base::Unavailable("here it is compiled for " + evaluation.target +
                                        ", and the entry is for " + entry.target));
  }
  if (evaluation.guard != entry.evaluation.guard) {
    return "its guard is not the one that was verified: '" + entry.evaluation.guard +
           "' in the file, '" + evaluation.guard + "' here";
  }
  return std::string();
}

}  // namespace cupilot::service
