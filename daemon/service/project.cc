#include "service/project.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/file.h"
#include "log/log.h"
#include "records/json.h"

namespace cupilot::service {
namespace {

namespace fs = std::filesystem;
using records::Json;

constexpr std::int64_t kBuildGapNs = 2'000'000'000;

base::Result<Json> ReadJsonFile(const std::string& path) {
  TRY_ASSIGN(const std::string text, base::ReadFile(path));
  auto json = records::ParseJson(text);
  if (!json) return base::Fail(json.error().In(path));
  return *json;
}

std::string StringOr(const Json& json, const char* key, const std::string& otherwise) {
  const auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : otherwise;
}

// The file has the working folder, then a word a line.
CaptureTest ReadCaptureTest(const Json& entry) {
  CaptureTest test;
  test.name = StringOr(entry, "name", "");
  const auto text = base::ReadFile(StringOr(entry, "command_file", ""));
  if (!text) return test;
  std::vector<std::string> lines;
  for (std::size_t begin = 0, end; (end = text->find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    lines.push_back(text->substr(begin, end - begin));
  }
  if (lines.size() < 2 || lines[1].empty()) return test;
  test.folder = lines[0];
  test.words.assign(lines.begin() + 1, lines.end());
  return test;
}

}  // namespace

const CaptureTest* Project::FindCaptureTest(const std::string& name) const {
  for (const CaptureTest& test : capture_tests) {
    if (test.name == name) return &test;
  }
  return nullptr;
}

Target Project::FindTarget(const std::string& name) const {
  for (const Target& target : targets) {
    if (target.name == name) return target;
  }
  Target target;
  target.name = name;
  return target;
}

base::Result<Project> ReadProject(const std::string& build_folder) {
  const std::string path = build_folder + "/cupilot/project.json";
  TRY_ASSIGN(const Json json, ReadJsonFile(path));
  if (!json.is_object() || StringOr(json, "schema", "") != "cupilot.project/1") {
    return base::Fail(base::InvalidArgument(path + ": not a document of schema cupilot.project/1"));
  }
  Project project;
  project.build_folder = build_folder;
  project.source_folder = StringOr(json, "source_folder", "");
  if (json.contains("ctest")) project.ctest = StringOr(json, "ctest", "");
  project.configuration = StringOr(json, "configuration", "");
  if (const auto tests = json.find("capture_tests"); tests != json.end() && tests->is_array()) {
    for (const Json& entry : *tests) {
      if (entry.is_object()) project.capture_tests.push_back(ReadCaptureTest(entry));
    }
  }
  if (const auto configured = base::IdentifyFile(build_folder + "/cupilot/configured")) {
    project.configured_ns = configured->mtime_ns;
  }
  const auto targets = json.find("targets");
  if (targets == json.end() || !targets->is_array()) return project;
  for (const Json& entry : *targets) {
    if (!entry.is_object()) continue;
    Target target;
    target.name = StringOr(entry, "name", "");
    target.apply = StringOr(entry, "apply", "auto");
    target.numerics = StringOr(entry, "numerics", "close");
    target.lock = StringOr(entry, "lock", "");
    target.capture_test = StringOr(entry, "capture_test", "");
    const auto kernels = entry.find("kernels");
    if (kernels != entry.end() && kernels->is_array()) {
      for (const Json& kernel : *kernels) {
        if (kernel.is_string()) target.kernels.push_back(kernel.get<std::string>());
      }
    }
    project.targets.push_back(std::move(target));
  }
  return project;
}

std::vector<Object> FindObjects(const Project& project) {
  std::vector<Object> objects;
  const fs::path root = fs::path(project.build_folder) / "cupilot";
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(
           root, fs::directory_options::skip_permission_denied, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (it->path().filename() != "command.json") continue;
    auto json = ReadJsonFile(it->path().string());
    if (!json) continue;  // being written, or gone again
    auto command = records::ParseCompileCommand(*json);
    if (!command) {
      log::Warning("a recorded command cannot be read",
                   {{"file", it->path().string()}, {"reason", command.error()}});
      continue;
    }
    Object object;
    object.folder = it->path().parent_path().string();
    object.target = fs::relative(it->path(), root, error).begin()->string();
    object.command = std::move(*command);
    object.command.folder = object.folder;
    objects.push_back(std::move(object));
  }
  std::sort(objects.begin(), objects.end(),
            [](const Object& a, const Object& b) { return a.folder < b.folder; });
  return objects;
}

std::vector<std::string> ReadRegistrations(const std::string& state_folder) {
  std::vector<std::string> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(state_folder + "/projects", error)) {
    if (entry.path().extension() != ".json") continue;
    auto json = ReadJsonFile(entry.path().string());
    if (!json) continue;
    const std::string folder = StringOr(*json, "build_folder", "");
    if (!folder.empty() && base::FileExists(folder + "/cupilot/project.json")) {
      folders.push_back(folder);
    } else if (!folder.empty() && !base::FileExists(folder)) {
      log::Info("a project is gone", {{"build_folder", folder}});
      (void)base::RemoveTree(entry.path().string());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

base::Result<> RemoveRegistration(const std::string& state_folder,
                                  const std::string& build_folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(state_folder + "/projects", error)) {
    if (entry.path().extension() != ".json") continue;
    const auto json = ReadJsonFile(entry.path().string());
    if (json && StringOr(*json, "build_folder", "") == build_folder) {
      files.push_back(entry.path().string());
    }
  }
  for (const std::string& file : files) TRY(base::RemoveTree(file));
  return {};
}

bool BuildRuns(const std::string& build_folder, std::int64_t wall_time_ns) {
  const std::string path = build_folder + "/cupilot/build.lock";
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool locked = ::flock(file, LOCK_EX | LOCK_NB) != 0;
  ::close(file);
  if (locked) return true;
  const auto identity = base::IdentifyFile(path);
  return identity && std::abs(wall_time_ns - identity->mtime_ns) < kBuildGapNs;
}

}  // namespace cupilot::service
