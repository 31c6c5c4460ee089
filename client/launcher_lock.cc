#include "client/launcher_lock.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "base/file.h"
#include "records/json.h"
#include "records/lock.h"
#include "source/swap/selection_check.h"

namespace cupilot::client {
namespace {

namespace fs = std::filesystem;
using records::Json;

Json Document(const std::string& text) {
  auto json = records::ParseJson(text);
  return json && json->is_object() ? std::move(*json) : Json::object();
}

Json ReadDocument(const std::string& path) { return Document(base::ReadFile(path).value_or("")); }

struct Project {
  std::string source;
  std::map<std::string, std::string> locks;  // by target; empty: none
};

std::string ProjectText(const std::string& root) {
  return base::ReadFile(root + "/project.json").value_or("");
}

Project ParseProject(const std::string& text) {
  const Json json = Document(text);
  Project project;
  project.source = records::TextAt(json, "source_folder");
  const auto targets = json.find("targets");
  if (targets == json.end() || !targets->is_array()) return project;
  for (const Json& target : *targets) {
    project.locks[records::TextAt(target, "name")] = records::TextAt(target, "lock");
  }
  return project;
}

std::string LockOf(const Project& project, const std::string& target) {
  const auto lock = project.locks.find(target);
  return lock == project.locks.end() ? "" : lock->second;
}

source::LockQuestion QuestionOf(const std::string& root, const Project& project,
                                const std::string& target) {
  return {target,
          {fs::path(LockOf(project, target)).parent_path().string(), project.source,
           fs::path(root).parent_path().string()}};
}

// Of an object: does it have to be compiled again for what its lock file says now?
void LookAtObject(const source::LockFile& file, const source::LockQuestion& question,
                  const std::string& folder) {
  const auto command =
      records::ParseCompileCommand(ReadDocument(folder + "/" + source::kCommandFile));
  if (!command || command->source.empty()) return;
  const std::string was =
      records::TextAt(ReadDocument(folder + "/" + source::kAppliedFile), "lock");
  if (source::DigestFor(file, question, command->source) == was) return;
  ::utimensat(AT_FDCWD, (folder + "/" + source::kStampFile).c_str(), nullptr, 0);
}

void Complain(const std::string& lock, const source::LockFile& file, const Project& project) {
  if (!file.error.empty()) {
    std::printf("%s is not used: %s\n", lock.c_str(), file.error.c_str());
  }
  std::set<std::string> missing, untuned;
  for (const records::LockedKernel& entry : file.kernels) {
    const std::string path =
        source::ActualPath(entry.source, {fs::path(lock).parent_path().string(), "", ""});
    // What the build makes may not be there yet.
    const bool made = entry.source.starts_with("<");
    if (!made && !base::FileExists(path)) missing.insert(entry.source);
    for (const std::string& target : entry.cmake_targets) {
      if (!project.locks.contains(target)) untuned.insert(target);
    }
  }
  for (const std::string& source : missing) {
    std::printf("%s names %s, which is not there; run `cupilot lock`\n", lock.c_str(),
                source.c_str());
  }
  for (const std::string& target : untuned) {
    std::printf("%s names the target %s, which is not tuned; run `cupilot lock`\n", lock.c_str(),
                target.c_str());
  }
}

}  // namespace

source::LockChoice AskLock(const std::string& root, const std::string& target,
                           const records::CompileCommand& command) {
  // Each compile asks. Where no target names a lock file the word is not there.
  const std::string text = ProjectText(root);
  if (text.find("\"lock\"") == std::string::npos) return {};
  const Project project = ParseProject(text);
  const source::LockFile file = source::ReadLockFile(LockOf(project, target));
  if (!file.there) return {};
  return source::ChooseFromLock(file, QuestionOf(root, project, target), command);
}

void LookAtLocks(const std::string& root) {
  const Project project = ParseProject(ProjectText(root));
  std::map<std::string, source::LockFile> files;
  for (const auto& [target, lock] : project.locks) {
    const auto [file, fresh] = files.try_emplace(lock);
    if (fresh) file->second = source::ReadLockFile(lock);
    std::error_code error;
    for (auto it = fs::recursive_directory_iterator(
             fs::path(root) / target, fs::directory_options::skip_permission_denied, error);
         !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
      if (it->path().filename() != source::kCommandFile) continue;
      LookAtObject(file->second, QuestionOf(root, project, target),
                   it->path().parent_path().string());
    }
  }
  for (const auto& [lock, file] : files) Complain(lock, file, project);
}

}  // namespace cupilot::client
