#include "worker/sandbox/request_access.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/compiler_program.h"
#include "base/file.h"
#include "records/compile_command.h"
#include "source/command_flags.h"

namespace cupilot::worker {
namespace {

namespace fs = std::filesystem;
using records::Json;

class Folders {
 public:
  explicit Folders(std::string directory) : directory_(std::move(directory)) {}

  // As it is named, and where links lead.
  void Add(const std::string& folder) {
    if (folder.empty()) return;
    const std::string absolute = base::AbsolutePath(folder, directory_);
    Put(fs::path(absolute).lexically_normal());
    std::error_code error;
    const fs::path real = fs::canonical(absolute, error);
    if (!error) Put(real);
  }
  void AddFolderOf(const std::string& file) {
    const std::string absolute = base::AbsolutePath(file, directory_);
    Add(fs::path(absolute).parent_path());
    std::error_code error;
    const fs::path real = fs::canonical(absolute, error);
    if (!error) Put(real.parent_path());
  }
  // .../gcc-13 of .../gcc-13/bin/g++, and likewise for all that it stands for.
  void AddInstallationOf(const std::string& program) {
    for (const std::string& behind : base::ProgramsBehind(program)) {
      const fs::path prefix = fs::path(behind).parent_path().parent_path();
      if (prefix.has_relative_path()) Put(prefix);
    }
  }
  std::vector<std::string> Take() { return std::move(found_); }

 private:
  void Put(const fs::path& path) {
    std::string text = path;
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    // A whole file system is nobody's project.
    if (text.size() > 1 && std::find(found_.begin(), found_.end(), text) == found_.end()) {
      found_.push_back(std::move(text));
    }
  }
  std::string directory_;
  std::vector<std::string> found_;
};

// The build tree that `directory` lies in, and the source tree that it was made from.
void AddCmakeTrees(const std::string& directory, Folders& folders) {
  for (fs::path at = directory; at.has_relative_path(); at = at.parent_path()) {
    std::ifstream cache(at / "CMakeCache.txt");
    if (!cache) continue;
    folders.Add(at);
    constexpr std::string_view kName = "CMAKE_HOME_DIRECTORY:INTERNAL=";
    for (std::string line; std::getline(cache, line);) {
      if (line.starts_with(kName)) folders.Add(line.substr(kName.size()));
    }
    return;
  }
}

void AddProject(const records::CompileCommand& command, Folders& folders) {
  folders.Add(command.directory);
  AddCmakeTrees(command.directory, folders);
  folders.AddFolderOf(command.source);
  const auto flags = source::TranslateCommand(command);
  if (!flags) return;  // the worker says it
  folders.AddFolderOf(flags->preprocess.file_name);
  for (const std::string& folder : flags->preprocess.include_folders) folders.Add(folder);
  for (const std::string& folder : flags->preprocess.quote_folders) folders.Add(folder);
  for (const std::string& folder : flags->preprocess.toolkit_folders) folders.Add(folder);
  for (const std::string& folder : flags->preprocess.compiler_folders) folders.Add(folder);
  for (const auto* files : {&flags->preprocess.includes, &flags->preprocess.forced_macros}) {
    for (const std::string& file : *files) {
      if (file.find('/') != std::string::npos) folders.AddFolderOf(file);
    }
  }
}

void AddCompilers(const records::CompileCommand& command, Folders& folders) {
  if (!command.arguments.empty()) {
    folders.AddInstallationOf(base::FindProgram(command.arguments.front(), command.directory));
  }
  const auto flags = source::TranslateCommand(command);
  if (flags) folders.Add(fs::path(flags->toolkit_include).parent_path());
  for (std::size_t i = 0; i < command.arguments.size(); ++i) {
    for (const std::string_view name : {"-ccbin", "--compiler-bindir"}) {
      const std::string& word = command.arguments[i];
      if (word == name && i + 1 < command.arguments.size()) {
        folders.AddInstallationOf(base::FindProgram(command.arguments[i + 1], command.directory));
      } else if (word.starts_with(std::string(name) + "=")) {
        folders.AddInstallationOf(
            base::FindProgram(word.substr(name.size() + 1), command.directory));
      }
    }
  }
  for (const char* name : {"g++", "c++", "nvcc"}) {
    folders.AddInstallationOf(base::FindProgram(name, ""));
  }
}

}  // namespace

Access AccessOf(const std::string& kind, const Json& request) {
  Access needs;
  if (!request.is_object()) return Joined(SystemAccess(), needs);
  const Json params = request.value("params", Json::object());
  if (!params.is_object()) return Joined(SystemAccess(), needs);
  records::CompileCommand command;
  if (params.contains("command")) {
    if (auto parsed = records::ParseCompileCommand(params["command"])) command = std::move(*parsed);
  }
  Folders folders(command.directory);
  const bool builds = kind == "build";
  if (!command.arguments.empty()) {
    builds ? AddCompilers(command, folders) : AddProject(command, folders);
  }
  for (const Json& toolkit : params.value("toolkits", Json::array())) {
    if (toolkit.is_string()) folders.Add(toolkit.get<std::string>());
  }
  if (builds && params.contains("object") && params["object"].is_string()) {
    // Its folder, not the file: a later build puts another file in the place of this one.
    folders.AddFolderOf(params["object"].get<std::string>());
  }
  needs.read = folders.Take();
  if (builds && params.contains("cache_folder") && params["cache_folder"].is_string()) {
    needs.write.push_back(params["cache_folder"].get<std::string>());
  }
  return Joined(SystemAccess(), needs);
}

const Access& RecentAccess::Of(const Json& request) {
  constexpr std::chrono::seconds kHolds{2};
  const Json params = request.is_object() ? request.value("params", Json()) : Json();
  Json about = Json::object();
  for (const char* name : {"command", "toolkits", "cache_folder", "object"}) {
    if (params.is_object() && params.contains(name)) about[name] = params[name];
  }
  std::string text = about.dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto now = std::chrono::steady_clock::now();
  if (text == about_ && now - found_ < kHolds) return access_;
  access_ = AccessOf(kind_, request);
  about_ = std::move(text);
  found_ = now;
  return access_;
}

std::string TemporaryFolder(const Access& access) {
  for (const std::string& path : access.write) {
    if (!path.starts_with("/dev/")) return path + "/tmp";
  }
  return "";
}

}  // namespace cupilot::worker
