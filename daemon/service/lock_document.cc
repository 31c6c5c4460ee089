#include "service/lock_document.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "records/lock.h"

namespace cupilot::service {
namespace {

using records::Json;
using records::LockedKernel;

bool IsBelow(const std::string& folder, const std::string& root) {
  return !root.empty() && (folder == root || folder.starts_with(root + "/"));
}

bool Contains(const Project& project, const std::string& folder) {
  return folder.empty() || IsBelow(folder, project.build_folder) ||
         IsBelow(folder, project.source_folder);
}

bool NamesLocks(const Project& project) {
  return std::any_of(project.targets.begin(), project.targets.end(),
                     [](const Target& target) { return !target.lock.empty(); });
}

// Where the object's entries go; empty: nowhere.
std::string FileFor(const Project& project, const ObjectState& state, const std::string& output) {
  if (!output.empty()) return output;
  if (NamesLocks(project)) return state.target.lock;
  return project.source_folder + "/cupilot.lock";
}

// One file as it grows.
struct Growing {
  records::Lock lock;
  std::set<std::string> targets;  // architectures that this machine speaks about

  // The same source with the same flags in several CMake targets is one entry; in several build
  // folders the first counts.
  void Add(LockedKernel entry) {
    const std::string target = entry.cmake_targets[0];
    for (LockedKernel& there : lock.kernels) {
      LockedKernel same = entry;
      same.cmake_targets = there.cmake_targets;
      if (!records::SamePlace(there, same)) continue;
      std::vector<std::string>& named = there.cmake_targets;
      const auto at = std::lower_bound(named.begin(), named.end(), target);
      if (at != named.end() && *at == target) return;
      if (records::ToJson(there) != records::ToJson(same)) continue;
      named.insert(at, target);
      return;
    }
    lock.kernels.push_back(std::move(entry));
  }
};

}  // namespace

base::Result<Json> LockDocument(Service& service, const std::string& folder,
                                const std::string& output, const std::string& reply_folder) {
  std::map<std::string, Growing> files;
  std::set<std::string> problems;
  bool known = false;
  for (const auto& [object, state] : service.objects()) {
    const auto project = service.projects().find(state.build_folder);
    if (project == service.projects().end() || !Contains(project->second, folder)) continue;
    known = true;
    const std::string path = FileFor(project->second, state, output);
    if (path.empty()) continue;
    Growing& growing = files[path];
    if (state.scan == nullptr) {
      problems.insert(state.object.command.source + " was not looked at yet; try again");
      continue;
    }
    for (const Place& place : state.places.places) {
      growing.targets.insert(place.target.empty() ? place.identity.arch : place.target);
    }
    Publisher::Locked locked =
        service.Lock(state, std::filesystem::path(path).parent_path().string());
    problems.insert(locked.problems.begin(), locked.problems.end());
    for (LockedKernel& entry : locked.kernels) growing.Add(std::move(entry));
  }
  if (!known) {
    return base::Fail(base::NotFound("no tuned project contains " + folder +
                                     "; configure and build it once, so that the daemon knows it"));
  }
  Json document = {{"schema", "cupilot.locked/1"}, {"locks", Json::array()}};
  document["problems"] = problems;
  for (const auto& [path, growing] : files) {
    const std::string text = records::LockText(growing.lock);
    const std::string written = reply_folder + "/" + base::HashHex(path + text) + ".json";
    TRY(base::WriteFileAtomically(written, text));
    document["locks"].push_back({{"path", path},
                                 {"document", written},
                                 {"kernels", growing.lock.kernels.size()},
                                 {"targets", growing.targets}});
  }
  return document;
}

}  // namespace cupilot::service
