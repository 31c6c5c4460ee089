#include "source/command_flags.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/compiler_program.h"
#include "base/file.h"
#include "base/install_layout.h"

namespace cupilot::source {
namespace {

using Strings = std::vector<std::string>;

enum class Meaning {
  kInclude,
  kSystem,
  kQuote,
  kDefine,
  kUndefine,
  kForced,
  kStandard,
  kHost,
  kDrop,
  kKeep
};

// Options with a value, which may follow as the next argument; `joined`: or directly, `equals`: or
// after an equals sign. Longer spellings come first where one begins another.
struct Option {
  std::string_view name;
  Meaning meaning;
  bool joined;
  bool equals;
};
constexpr std::array kOptions = {
    Option{"--include-path", Meaning::kInclude, false, true},
    Option{"--system-include", Meaning::kSystem, false, true},
    Option{"--pre-include", Meaning::kForced, false, true},
    Option{"--define-macro", Meaning::kDefine, false, true},
    Option{"--undefine-macro", Meaning::kUndefine, false, true},
    Option{"--compiler-options", Meaning::kHost, false, true},
    Option{"--output-file", Meaning::kDrop, false, true},
    Option{"--dependency-output", Meaning::kDrop, false, true},
    Option{"--compiler-bindir", Meaning::kKeep, false, true},
    Option{"--options-file", Meaning::kDrop, false, true},
    Option{"--generate-code", Meaning::kKeep, false, true},
    Option{"--gpu-architecture", Meaning::kKeep, false, true},
    Option{"--gpu-code", Meaning::kKeep, false, true},
    Option{"--relocatable-device-code", Meaning::kKeep, false, true},
    Option{"--threads", Meaning::kDrop, false, true},
    Option{"--std", Meaning::kStandard, false, true},
    Option{"-isystem", Meaning::kSystem, true, true},
    Option{"-iquote", Meaning::kQuote, true, true},
    Option{"-include", Meaning::kForced, false, true},
    Option{"-std", Meaning::kStandard, false, true},
    Option{"-Xcompiler", Meaning::kHost, false, true},
    Option{"-Xptxas", Meaning::kKeep, false, true},
    Option{"-Xlinker", Meaning::kDrop, false, true},
    Option{"-ccbin", Meaning::kKeep, false, true},
    Option{"-rdc", Meaning::kKeep, false, true},
    Option{"-gencode", Meaning::kKeep, false, true},
    Option{"-arch", Meaning::kKeep, false, true},
    Option{"-code", Meaning::kKeep, false, true},
    Option{"-maxrregcount", Meaning::kKeep, false, true},
    Option{"-MF", Meaning::kDrop, false, true},
    Option{"-MT", Meaning::kDrop, false, true},
    Option{"-MQ", Meaning::kDrop, false, true},
    Option{"-I", Meaning::kInclude, true, true},
    Option{"-D", Meaning::kDefine, true, true},
    Option{"-U", Meaning::kUndefine, true, true},
    Option{"-o", Meaning::kDrop, false, true},
    Option{"-x", Meaning::kDrop, false, true},
    Option{"-t", Meaning::kDrop, false, true},
};

// Flags without a value that cannot change a kernel's code.
bool IsIrrelevant(std::string_view flag) {
  static constexpr std::array<std::string_view, 16> kWords = {
      "-c",      "-dw", "--compile", "-M",
      "-MM",     "-MD", "-MMD",      "-MP",
      "-MG",     "-v",  "--verbose", "-lineinfo",
      "-Werror", "-w",  "-s",        "-forward-unknown-to-host-compiler"};
  if (std::find(kWords.begin(), kWords.end(), flag) != kWords.end()) return true;
  if (flag.starts_with("-W") || flag.starts_with("-diag") || flag.starts_with("--diag"))
    return true;
  if (flag.starts_with("-f") && flag.find("-prefix-map=") != std::string_view::npos) return true;
  return flag == "-g" || (flag.starts_with("-g") && flag.size() == 3);
}

using Version = std::pair<std::string, std::string>;

// From `#define CUDART_VERSION 13000` of cuda_runtime_api.h.
Version ReadToolkitVersion(const std::string& header) {
  const auto text = base::ReadFile(header);
  if (text) {
    const std::size_t at = text->find("#define CUDART_VERSION");
    if (at != std::string::npos) {
      const int version = std::atoi(text->c_str() + at + 22);
      if (version > 0) return {std::to_string(version / 1000), std::to_string(version % 1000 / 10)};
    }
  }
  return {"13", "0"};
}

// The header has 600 KB, and is the same for each of a kernel's candidates.
Version ToolkitVersion(const std::string& include) {
  static std::mutex mutex;
  static std::map<std::string, std::pair<base::FileIdentity, Version>> known;
  const std::string header = include + "/cuda_runtime_api.h";
  const auto identity = base::IdentifyFile(header);
  if (!identity) return ReadToolkitVersion(header);
  const std::lock_guard lock(mutex);
  const auto found = known.find(header);
  if (found != known.end() && found->second.first == *identity) return found->second.second;
  Version version = ReadToolkitVersion(header);
  known[header] = {*identity, version};
  return version;
}

class Translator {
 public:
  explicit Translator(const records::CompileCommand& command) : command_(command) {}

  base::Result<CommandFlags> Run() {
    flags_.preprocess.file_name = base::AbsolutePath(command_.source, command_.directory);
    flags_.preprocess.directory = command_.directory;
    Strings arguments = Words(Variable("NVCC_PREPEND_FLAGS"));
    if (!command_.arguments.empty()) {
      arguments.insert(arguments.end(), command_.arguments.begin() + 1, command_.arguments.end());
    }
    for (std::string& word : Words(Variable("NVCC_APPEND_FLAGS"))) arguments.push_back(word);
    Translate(arguments);
    AddFolders();
    TRY(AddToolkit());
    if (command_.setup) TakeSetup(*command_.setup);
    return std::move(flags_);
  }

 private:
  std::string Variable(std::string_view name) const {
    for (const auto& [key, value] : command_.environment) {
      if (key == name) return value;
    }
    return "";
  }

  static Strings Words(const std::string& text) {
    Strings words;
    std::string word;
    for (const char c : text + " ") {
      if (c != ' ' && c != '\t') {
        word += c;
      } else if (!word.empty()) {
        words.push_back(std::move(word));
        word.clear();
      }
    }
    return words;
  }

  void Translate(const Strings& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string& argument = arguments[i];
      const Option* option = nullptr;
      std::string value;
      for (const Option& candidate : kOptions) {
        const std::string_view rest =
            std::string_view(argument).substr(std::min(candidate.name.size(), argument.size()));
        if (!argument.starts_with(candidate.name)) continue;
        if (rest.empty() && i + 1 < arguments.size()) {
          value = arguments[++i];
        } else if (candidate.equals && rest.starts_with('=')) {
          value = rest.substr(1);
        } else if (candidate.joined && !rest.empty()) {
          value = rest;
        } else {
          continue;
        }
        option = &candidate;
        break;
      }
      if (option != nullptr) {
        Apply(*option, value);
      } else if (argument == "-dc" || argument == "--device-c") {
        flags_.code_flags.emplace_back("-rdc=true");  // what it implies
      } else if (argument.starts_with("-") && !IsIrrelevant(argument)) {
        flags_.code_flags.push_back(argument);
      }
    }
  }

  std::string Absolute(const std::string& path) const {
    return base::AbsolutePath(path, command_.directory);
  }

  void Apply(const Option& option, const std::string& value) {
    PreprocessOptions& preprocess = flags_.preprocess;
    switch (option.meaning) {
      case Meaning::kInclude:
        for (const std::string& folder : Split(value, ',')) include_.push_back(Absolute(folder));
        break;
      case Meaning::kSystem:
        for (const std::string& folder : Split(value, ',')) system_.push_back(Absolute(folder));
        break;
      case Meaning::kQuote:
        preprocess.quote_folders.push_back(Absolute(value));
        break;
      case Meaning::kDefine:
        preprocess.macros.push_back("-D" + value);
        break;
      case Meaning::kUndefine:
        preprocess.macros.push_back("-U" + value);
        break;
      case Meaning::kForced:
        forced_.push_back(value);
        break;
      case Meaning::kStandard:
        preprocess.standard = value;
        flags_.code_flags.push_back("-std=" + value);
        break;
      case Meaning::kHost:
        Translate(Split(value, ','));
        break;
      case Meaning::kKeep:
        flags_.code_flags.push_back(std::string(option.name) + "=" + value);
        break;
      case Meaning::kDrop:
        break;
    }
  }

  static Strings Split(const std::string& text, char separator) {
    Strings parts;
    std::size_t begin = 0;
    while (begin <= text.size()) {
      const std::size_t end = std::min(text.find(separator, begin), text.size());
      if (end > begin) parts.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    return parts;
  }

  // The compiler's order: -I, then CPATH, then -isystem, then CPLUS_INCLUDE_PATH.
  void AddFolders() {
    Strings& folders = flags_.preprocess.include_folders;
    const auto add = [&](const Strings& more) {
      for (const std::string& folder : more) folders.push_back(Absolute(folder));
    };
    add(include_);
    add(Split(Variable("CPATH"), ':'));
    add(system_);
    add(Split(Variable("CPLUS_INCLUDE_PATH"), ':'));
  }

  base::Result<> AddToolkit() {
    const std::string compiler = command_.arguments.empty() ? "" : command_.arguments.front();
    Strings roots = base::ToolkitFoldersOf(base::FindProgram(compiler, command_.directory));
    roots.push_back(base::HostToolkitFolder());
    for (const std::string& root : roots) {
      for (const char* below : {"/include", "/targets/x86_64-linux/include"}) {
        if (!base::FileExists(root + below + "/cuda_runtime.h")) continue;
        UseToolkit(root + below);
        return {};
      }
    }
    return base::Fail(base::Unavailable("no cuda_runtime.h was found for the compiler '" +
                                        compiler + "': it should lie in ../include beside it"));
  }

  void UseToolkit(const std::string& include) {
    flags_.toolkit_include = include;
    flags_.host_toolkit = base::FileExists(include + "/cupilot_host_abi.h");
    PreprocessOptions& preprocess = flags_.preprocess;
    const ToolkitHeaders headers = ReadToolkitHeaders(include);
    preprocess.toolkit_folders.insert(preprocess.toolkit_folders.end(), headers.folders.begin(),
                                      headers.folders.end());
    Strings macros;
    for (const std::string& macro : headers.macros) macros.push_back("-D" + macro);
    preprocess.macros.insert(preprocess.macros.begin(), macros.begin(), macros.end());
    preprocess.includes.push_back("cuda_runtime.h");
    preprocess.includes.insert(preprocess.includes.end(), forced_.begin(), forced_.end());
    flags_.toolkit_version = headers.number;
    flags_.code_flags.push_back("toolkit=" + headers.version);
  }

  // What the compiler has said of itself takes the place of what we believe of it.
  void TakeSetup(const records::CompilerSetup& setup) {
    PreprocessOptions& preprocess = flags_.preprocess;
    preprocess.predefined = setup.predefined;
    preprocess.macros = setup.macros;
    preprocess.includes = setup.forced;
    preprocess.forced_macros = setup.forced_macros;
    preprocess.quote_folders = setup.quote_folders;
    preprocess.compiler_folders = setup.folders;
    preprocess.system_folders = setup.system_folders;
    preprocess.include_folders.clear();
    for (const std::string& folder : setup.folders) {
      char* real = ::realpath(folder.c_str(), nullptr);
      const std::string path = real == nullptr ? folder : real;
      std::free(real);
      const Strings& system = setup.system_folders;
      if (std::find(system.begin(), system.end(), path) == system.end()) {
        preprocess.include_folders.push_back(folder);
      }
    }
  }

  const records::CompileCommand& command_;
  CommandFlags flags_;
  Strings include_, system_, forced_;
};

}  // namespace

ToolkitHeaders ReadToolkitHeaders(const std::string& include) {
  ToolkitHeaders headers;
  headers.folders = {include};
  if (base::FileExists(include + "/cccl/cuda/std/version")) {
    headers.folders.push_back(include + "/cccl");
  }
  const auto [major, minor] = ToolkitVersion(include);
  headers.macros = {"__CUDACC__", "__NVCC__", "__CUDACC_VER_MAJOR__=" + major,
                    "__CUDACC_VER_MINOR__=" + minor, "__CUDACC_VER_BUILD__=0",
                    // An older toolkit refuses a clang as new as the one that we read with.
                    "__NV_NO_HOST_COMPILER_CHECK=1"};
  headers.version = major + "." + minor;
  headers.number = std::atoi(major.c_str()) * 1000 + std::atoi(minor.c_str()) * 10;
  return headers;
}

base::Result<CommandFlags> TranslateCommand(const records::CompileCommand& command) {
  return Translator(command).Run();
}

}  // namespace cupilot::source
