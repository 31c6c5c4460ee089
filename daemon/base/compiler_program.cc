#include "base/compiler_program.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "base/file.h"
#include "base/shell_words.h"

namespace cupilot::base {
namespace {

namespace fs = std::filesystem;

// A script that only starts a compiler is short; of a program nothing but "#!" is looked at.
constexpr std::size_t kScriptBytes = 16384;
constexpr int kScriptsDeep = 4;  // scripts that start each other end here
// Of the host device's toolkit only.
constexpr const char* kHostMark = "/include/cupilot_host_abi.h";

void AddOnce(std::vector<std::string>& to, std::string text) {
  if (std::find(to.begin(), to.end(), text) == to.end()) to.push_back(std::move(text));
}

std::string TextOfVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The files of this name in a list of folders like PATH.
std::vector<std::string> ProgramsIn(std::string folders, const std::string& name) {
  std::vector<std::string> programs;
  while (!folders.empty()) {
    const std::size_t colon = std::min(folders.find(':'), folders.size());
    const std::string program = folders.substr(0, colon) + "/" + name;
    if (FileExists(program)) AddOnce(programs, program);
    folders.erase(0, std::min(colon + 1, folders.size()));
  }
  return programs;
}

std::string TextOfScript(const std::string& program) {
  std::ifstream file(program, std::ios::binary);
  std::string text(2, '\0');
  if (!file.read(text.data(), 2) || text != "#!") return {};
  text.resize(kScriptBytes);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

// The absolute paths in a shell's text that end in /NAME.
std::vector<std::string> PathsTo(const std::string& name, std::string_view text) {
  constexpr std::string_view kEnds = " \t\r=;|&()<>";
  std::vector<std::string> found;
  while (!text.empty()) {
    // An apostrophe of a comment ends with its line.
    const std::size_t end = std::min(text.find('\n'), text.size());
    for (std::string& word : ShellWords(text.substr(0, end), kEnds)) {
      if (word.starts_with('/') && word.ends_with("/" + name)) found.push_back(std::move(word));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

void AddBehind(const std::string& program, int deep, std::vector<std::string>& programs) {
  std::error_code error;
  const fs::path real = fs::canonical(program, error);
  if (error) return;
  AddOnce(programs, real.string());
  AddOnce(programs, program);
  if (deep == kScriptsDeep) return;
  for (const std::string& other : PathsTo(fs::path(program).filename(), TextOfScript(real))) {
    AddBehind(other, deep + 1, programs);
  }
}

}  // namespace

std::string FindProgram(const std::string& word, const std::string& folder) {
  if (word.empty()) return {};
  if (word.find('/') != std::string::npos) return AbsolutePath(word, folder);
  const std::vector<std::string> found = ProgramsIn(TextOfVariable("PATH"), word);
  return found.empty() ? "" : found.front();
}

std::vector<std::string> NvccPrograms() {
  std::string folders = TextOfVariable("PATH");
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) {
    const std::string toolkit = TextOfVariable(variable);
    if (!toolkit.empty()) folders += ":" + toolkit + "/bin";
  }
  return ProgramsIn(folders + ":/usr/local/cuda/bin", "nvcc");
}

bool IsHostCompiler(const std::string& program) {
  const std::vector<std::string> toolkits = ToolkitFoldersOf(program);
  return std::any_of(toolkits.begin(), toolkits.end(),
                     [](const std::string& toolkit) { return FileExists(toolkit + kHostMark); });
}

std::string FindNvcc() {
  const std::vector<std::string> programs = NvccPrograms();
  const auto found = std::find_if_not(programs.begin(), programs.end(), IsHostCompiler);
  return found == programs.end() ? "" : *found;
}

std::vector<std::string> ProgramsBehind(const std::string& program) {
  std::vector<std::string> programs;
  AddBehind(program, 0, programs);
  return programs;
}

std::vector<std::string> ToolkitFoldersOf(const std::string& program) {
  std::vector<std::string> folders;
  for (const fs::path one : ProgramsBehind(program)) {
    AddOnce(folders, one.parent_path().parent_path().string());
  }
  return folders;
}

}  // namespace cupilot::base
