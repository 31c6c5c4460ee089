#include "source/swap/portable_command.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/child.h"
#include "base/compiler_program.h"
#include "base/file.h"
#include "records/code_targets.h"
#include "records/compile_flags.h"
#include "source/swap/selection_check.h"

namespace cupilot::source {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

constexpr const char* kBuild = "<build>";
constexpr const char* kIncluded = "<include>/";
constexpr const char* kProject = "<project>";

bool LiesIn(const std::string& path, const std::string& folder) {
  return !folder.empty() && (path == folder || path.starts_with(folder + "/"));
}

bool HasOwnBuildFolder(const ProjectFolders& folders) {
  return !folders.build.empty() && folders.build != folders.source;
}

std::string VariableOf(const records::CompileCommand& command, std::string_view name) {
  for (const auto& [key, value] : command.environment) {
    if (key == name) return value;
  }
  return {};
}

void AddWords(const std::string& text, Strings& words) {
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
}

// All words that the compiler takes as arguments, without the compiler itself.
Strings WordsFor(const records::CompileCommand& command) {
  Strings words;
  AddWords(VariableOf(command, "NVCC_PREPEND_FLAGS"), words);
  if (!command.arguments.empty()) {
    words.insert(words.end(), command.arguments.begin() + 1, command.arguments.end());
  }
  AddWords(VariableOf(command, "NVCC_APPEND_FLAGS"), words);
  return words;
}

enum class Kind { kInclude, kSystem, kQuote, kForced, kLeftOut };
struct OptionSpelling {
  std::string_view option;
  Kind kind;
  bool joined;  // "-Ifolder"
};
constexpr std::array kSpellings = {
    OptionSpelling{"--include-path", Kind::kInclude, false},
    OptionSpelling{"--system-include", Kind::kSystem, false},
    OptionSpelling{"--pre-include", Kind::kForced, false},
    OptionSpelling{"-isystem", Kind::kSystem, true},
    OptionSpelling{"-iquote", Kind::kQuote, true},
    OptionSpelling{"-include", Kind::kForced, false},
    OptionSpelling{"-I", Kind::kInclude, true},
    OptionSpelling{"--generate-code", Kind::kLeftOut, false},
    OptionSpelling{"-gencode", Kind::kLeftOut, false},
    OptionSpelling{"--gpu-architecture", Kind::kLeftOut, false},
    OptionSpelling{"-arch", Kind::kLeftOut, false},
    OptionSpelling{"--gpu-code", Kind::kLeftOut, false},
    OptionSpelling{"-code", Kind::kLeftOut, false},
    OptionSpelling{"--compiler-bindir", Kind::kLeftOut, false},
    OptionSpelling{"-ccbin", Kind::kLeftOut, false},
    OptionSpelling{"--x", Kind::kLeftOut, false},
    OptionSpelling{"-x", Kind::kLeftOut, false},
};

struct PathOption {
  Kind kind;
  std::string value;
};

// The option at words[at] if it is one of kSpellings; `at` is then at its last word.
std::optional<PathOption> ReadPathOption(const Strings& words, std::size_t& at) {
  const std::string& word = words[at];
  for (const OptionSpelling& spelling : kSpellings) {
    if (!word.starts_with(spelling.option)) continue;
    std::string rest = word.substr(spelling.option.size());
    if (rest.empty() && at + 1 < words.size()) return PathOption{spelling.kind, words[++at]};
    if (rest.starts_with('=')) return PathOption{spelling.kind, rest.substr(1)};
    if (spelling.joined && !rest.empty()) return PathOption{spelling.kind, rest};
  }
  return std::nullopt;
}

Strings SplitAt(const std::string& text, char separator) {
  Strings parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

// `folder` inside a word, as a whole path, becomes `name`.
std::string WithoutFolder(std::string word, const std::string& folder, const std::string& name) {
  if (folder.size() < 2) return word;
  const auto in_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  };
  for (std::size_t at = word.find(folder); at != std::string::npos;
       at = word.find(folder, at + name.size())) {
    const std::size_t end = at + folder.size();
    const bool whole = (at == 0 || (!in_name(word[at - 1]) && word[at - 1] != '/')) &&
                       (end == word.size() || !in_name(word[end]));
    if (whole) word.replace(at, folder.size(), name);
  }
  return word;
}

std::string WithFolder(std::string word, const std::string& name, const std::string& folder) {
  for (std::size_t at = word.find(name); at != std::string::npos && !folder.empty();
       at = word.find(name, at + folder.size())) {
    word.replace(at, name.size(), folder);
  }
  return word;
}

// What `program option` prints; empty if that fails.
std::string AskProgram(const std::string& program, std::string option) {
  int ends[2];
  if (program.empty() || ::pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string name = program;
  char* words[] = {name.data(), option.data(), nullptr};
  pid_t child = -1;
  const bool started =
      ::posix_spawnp(&child, program.c_str(), &actions, nullptr, words, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text;
  char block[256];
  for (ssize_t got = 0; started && (got = ::read(ends[0], block, sizeof block)) > 0;) {
    text.append(block, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  return started && base::WaitForEnd(child) == 0 ? text : "";
}

// The C++ compiler that cupilot-nvcc calls.
std::string HostCompilerOf(const records::CompileCommand& command) {
  std::string program = "g++";
  const Strings words = WordsFor(command);
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const std::string_view option : {"-ccbin", "--compiler-bindir"}) {
      if (words[i] == option && i + 1 < words.size()) program = words[i + 1];
      if (words[i].starts_with(std::string(option) + "=")) {
        program = words[i].substr(option.size() + 1);
      }
    }
  }
  return base::FindProgram(program, command.directory);
}

// "13.0.88" behind `mark` in a text; empty if it is not there.
std::string DigitsBehind(const std::string& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + mark.size();
  const std::size_t end = text.find_first_not_of("0123456789.", begin);
  return text.substr(begin, std::min(end, text.size()) - begin);
}

std::string VersionIn(const records::Json& json, const char* component) {
  const auto it = json.find(component);
  if (it == json.end() || !it->is_object()) return {};
  const auto version = it->find("version");
  return version != it->end() && version->is_string() ? version->get<std::string>() : "";
}

// Of version.json, or of `#define CUDART_VERSION 13000` where a distribution has no such file.
std::string ToolkitVersionOf(const std::string& toolkit) {
  if (const auto text = base::ReadFile(toolkit + "/version.json")) {
    const auto json = records::ParseJson(*text);
    for (const char* component : {"cuda_nvcc", "cuda"}) {
      const std::string version = json && json->is_object() ? VersionIn(*json, component) : "";
      if (!version.empty()) return version;
    }
  }
  for (const char* below : {"/include", "/targets/x86_64-linux/include"}) {
    const auto header = base::ReadFile(toolkit + below + "/cuda_runtime_api.h");
    const std::size_t at = header ? header->find("#define CUDART_VERSION") : std::string::npos;
    const int version = at == std::string::npos ? 0 : std::atoi(header->c_str() + at + 22);
    if (version > 0) {
      return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
    }
  }
  return {};
}

std::string CompilerOf(const records::CompileCommand& command) {
  if (command.arguments.empty()) return {};
  return base::FindProgram(command.arguments[0], command.directory);
}

}  // namespace

std::string PortablePath(const std::string& path, const ProjectFolders& folders) {
  if (HasOwnBuildFolder(folders) && LiesIn(path, folders.build)) {
    return kBuild + path.substr(folders.build.size());
  }
  if (!LiesIn(path, folders.lock) && !LiesIn(path, folders.source)) return {};
  return fs::path(path).lexically_relative(folders.lock).string();
}

std::string ActualPath(const std::string& portable, const ProjectFolders& folders) {
  if (portable.starts_with(kBuild)) return folders.build + portable.substr(std::strlen(kBuild));
  if (portable.empty() || portable[0] == '/' || portable[0] == '<') return portable;
  return base::AbsolutePath(portable, folders.lock);
}

std::vector<std::string> IncludeFolders(const records::CompileCommand& command) {
  Strings quote, include, system;
  const auto absolute = [&](const std::string& folder) {
    return base::AbsolutePath(folder, command.directory);
  };
  const Strings words = WordsFor(command);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto option = ReadPathOption(words, i);
    if (!option || option->kind == Kind::kForced || option->kind == Kind::kLeftOut) continue;
    Strings& folders = option->kind == Kind::kQuote    ? quote
                       : option->kind == Kind::kSystem ? system
                                                       : include;
    for (const std::string& folder : SplitAt(option->value, ',')) {
      folders.push_back(absolute(folder));
    }
  }
  Strings all = quote;
  all.insert(all.end(), include.begin(), include.end());
  for (const std::string& folder : SplitAt(VariableOf(command, "CPATH"), ':')) {
    all.push_back(absolute(folder));
  }
  all.insert(all.end(), system.begin(), system.end());
  for (const std::string& folder : SplitAt(VariableOf(command, "CPLUS_INCLUDE_PATH"), ':')) {
    all.push_back(absolute(folder));
  }
  return all;
}

std::string PortableFile(const std::string& path, const ProjectFolders& folders,
                         const std::vector<std::string>& include_folders) {
  if (std::string inside = PortablePath(path, folders); !inside.empty()) return inside;
  for (const std::string& folder : include_folders) {
    if (LiesIn(path, folder)) return kIncluded + path.substr(folder.size() + 1);
  }
  return path;
}

std::string ActualFile(const std::string& portable, const ProjectFolders& folders,
                       const std::vector<std::string>& include_folders) {
  if (!portable.starts_with(kIncluded)) {
    const std::string path = ActualPath(portable, folders);
    return base::FileExists(path) ? path : "";
  }
  for (const std::string& folder : include_folders) {
    std::string path = folder + "/" + portable.substr(std::strlen(kIncluded));
    if (base::FileExists(path)) return path;
  }
  return {};
}

std::vector<std::string> PortableFlags(const records::CompileCommand& command,
                                       const ProjectFolders& folders) {
  const Strings words = records::RelevantArguments(WordsFor(command));
  Strings flags;
  const auto portable = [&](const std::string& path) {
    return PortablePath(base::AbsolutePath(path, command.directory), folders);
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("-") &&
        base::AbsolutePath(words[i], command.directory) == command.source) {
      continue;
    }
    const auto option = ReadPathOption(words, i);
    if (!option) {
      std::string word = words[i];
      if (HasOwnBuildFolder(folders)) word = WithoutFolder(word, folders.build, kBuild);
      flags.push_back(WithoutFolder(word, folders.source, kProject));
    } else if (option->kind == Kind::kForced) {
      const std::string path = portable(option->value);
      flags.push_back("-include=" + (path.empty() ? option->value : path));
    } else if (option->kind != Kind::kLeftOut) {
      const std::string name = option->kind == Kind::kInclude  ? "-I"
                               : option->kind == Kind::kSystem ? "-isystem="
                                                               : "-iquote=";
      for (const std::string& folder : SplitAt(option->value, ',')) {
        if (const std::string path = portable(folder); !path.empty()) flags.push_back(name + path);
      }
    }
  }
  return flags;
}

std::vector<std::string> ActualFlags(const std::vector<std::string>& flags,
                                     const ProjectFolders& folders) {
  Strings words;
  for (const std::string& flag : flags) {
    bool path = false;
    for (const std::string_view option : {"-include=", "-isystem=", "-iquote=", "-I"}) {
      if (path || !flag.starts_with(option)) continue;
      path = true;
      words.emplace_back(option.substr(0, option.find('=')));
      words.push_back(ActualPath(flag.substr(option.size()), folders));
    }
    if (path) continue;
    const std::string word = WithFolder(flag, kBuild, folders.build);
    words.push_back(
        WithFolder(word, kProject, folders.source.empty() ? folders.lock : folders.source));
  }
  return words;
}

std::string CompilerVersion(const records::CompileCommand& command) {
  const std::string compiler = CompilerOf(command);
  const bool host = base::IsHostCompiler(compiler);
  // A daemon asks for many objects of the same compiler.
  const std::string other = host ? HostCompilerOf(command) : "";
  const auto identity = base::IdentifyFile(other);
  const std::string key =
      ToolchainIdentity(command) + other + (identity ? std::to_string(identity->mtime_ns) : "");
  thread_local std::pair<std::string, std::string> last;
  if (!last.second.empty() && last.first == key) return last.second;
  const std::string said = AskProgram(compiler, "--version");
  std::string version = DigitsBehind(said, host ? "host device, version " : ", V");
  for (const std::string& toolkit : base::ToolkitFoldersOf(compiler)) {
    if (version.empty()) version = ToolkitVersionOf(toolkit);
  }
  if (version.empty()) return {};
  version = (host ? "cupilot-nvcc " : "nvcc ") + version;
  if (host) {
    const std::string major = AskProgram(other, "-dumpversion");
    const std::size_t end = std::min(major.find_first_not_of("0123456789"), major.size());
    if (end > 0) version += ", g++ " + major.substr(0, end);
  }
  last = {key, version};
  return version;
}

bool MakesTarget(const records::CompileCommand& command, const std::string& version,
                 const std::string& target) {
  const bool host = version.starts_with("cupilot-nvcc ");
  if (host || target.starts_with("host-")) return host == target.starts_with("host-");
  const bool old = version.starts_with("nvcc 11.") || version.starts_with("nvcc 12.");
  const auto made = records::CodeTargets(command, "", old ? "sm_52" : "sm_75");
  if (made.empty()) return true;
  const std::string ptx = target.substr(0, target.find(','));
  return std::any_of(made.begin(), made.end(), [&](const records::CodeTarget& one) {
    return one.Text() == target || (one.ptx == ptx && one.code.starts_with("compute_"));
  });
}

}  // namespace cupilot::source
