#include "source/swap/ask_compiler.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/child.h"
#include "base/compiler_program.h"
#include "base/file.h"
#include "base/shell_words.h"
#include "source/swap/selection_check.h"

namespace cupilot::source {
namespace {

using Words = std::vector<std::string>;
using Environment = std::vector<std::pair<std::string, std::optional<std::string>>>;

// A preprocessing of the dry run.
struct Step {
  std::string name;  // "host", or the value of __CUDA_ARCH__
  Words words;       // without its output
};

// What went wrong, of all that a compiler says; without such a line its first words.
std::string FirstLines(const std::string& text) {
  constexpr std::size_t kMost = 400;
  std::size_t begin = text.find("error: ");
  begin = begin == std::string::npos ? 0 : text.rfind('\n', begin) + 1;
  std::string shown = text.substr(begin, kMost);
  if (begin > 0) shown = shown.substr(0, shown.find('\n'));
  while (!shown.empty() && (shown.back() == '\n' || shown.back() == ' ')) shown.pop_back();
  std::replace(shown.begin(), shown.end(), '\n', ' ');
  return shown;
}

base::Result<base::ChildEnd> Run(Words words, const std::string& directory,
                                 const Environment& environment) {
  const std::string program = words.empty() ? "" : words.front();
  base::ChildEnd end;
  if (!base::RunToEnd({std::move(words), directory, environment}, end) ||
      (WIFEXITED(end.status) && WEXITSTATUS(end.status) == 127)) {
    return base::Fail(base::Unavailable("the compiler '" + program + "' cannot be run"));
  }
  return end;
}

// "#$ gcc -D... -E -x c++ ... "a b.cu" -o "/tmp/x.cpp1.ii"" and "#$ PATH=...".
struct DryRun {
  std::vector<Step> steps;
  std::optional<std::string> path;
};

Step StepOf(const Words& words) {
  constexpr std::string_view kArchitecture = "-D__CUDA_ARCH__=";
  Step step;
  step.name = "host";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "-o") {
      ++i;
      continue;
    }
    if (words[i].starts_with(kArchitecture)) step.name = words[i].substr(kArchitecture.size());
    step.words.push_back(words[i]);
  }
  return step;
}

DryRun ReadDryRun(const std::string& text) {
  constexpr std::string_view kMark = "#$ ";
  DryRun run;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(kMark)) continue;
    line.remove_prefix(kMark.size());
    if (line.starts_with("PATH=")) run.path = std::string(line.substr(5));
    Words words = base::ShellWords(line);
    if (std::find(words.begin(), words.end(), "-E") == words.end()) continue;
    run.steps.push_back(StepOf(words));
  }
  std::stable_partition(run.steps.begin(), run.steps.end(),
                        [](const Step& step) { return step.name == "host"; });
  return run;
}

// The folders of `gcc -v` from the line `head` on.
Words FoldersBehind(const std::string& text, std::string_view head) {
  Words folders;
  std::size_t at = text.find(head);
  if (at == std::string::npos) return folders;
  for (at = text.find('\n', at) + 1; at > 0 && at < text.size() && text[at] == ' ';) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    folders.push_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return folders;
}

std::string RealPathOf(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  std::string out = real == nullptr ? path : real;
  std::free(real);
  return out;
}

bool IsBelow(const std::string& path, const std::string& folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

// What packages of the system bring. A project may lie below /usr, as in many containers.
bool IsOfDistribution(const std::string& real) {
  for (const char* folder : {"/usr/include", "/usr/lib", "/usr/lib64", "/usr/share",
                             "/usr/local/include", "/usr/local/lib"}) {
    if (real == folder || IsBelow(real, folder)) return true;
  }
  return false;
}

class Asker {
 public:
  explicit Asker(const records::CompileCommand& command) : command_(command) {}

  base::Result<CompilerAnswer> Run() {
    if (command_.arguments.empty()) {
      return base::Fail(base::InvalidArgument("the recorded command is empty"));
    }
    // Messages in other languages cannot be read.
    environment_ = {{"LC_ALL", "C"}, {"LANGUAGE", std::nullopt}};
    for (const char* name : CompilerVariables()) environment_.emplace_back(name, Recorded(name));
    Words words = command_.arguments;
    words.emplace_back("-dryrun");
    TRY_ASSIGN(const base::ChildEnd listed,
               source::Run(std::move(words), command_.directory, environment_));
    DryRun run = ReadDryRun(listed.errors);
    if (!listed.succeeded() || run.steps.empty()) {
      return base::Fail(base::ToolFailed("the compiler does not list what it runs: " +
                                         FirstLines(listed.errors)));
    }
    // What nvcc starts it finds by a PATH of its own.
    if (run.path) environment_.emplace_back("PATH", run.path);
    for (Step& step : run.steps) TRY(Take(step));
    return std::move(answer_);
  }

 private:
  std::optional<std::string> Recorded(std::string_view name) const {
    for (const auto& [key, value] : command_.environment) {
      if (key == name) return value;
    }
    return std::nullopt;
  }

  base::Result<> Take(Step& step) {
    const bool first = answer_.passes.empty();
    step.words.emplace_back("-dD");
    if (first) step.words.emplace_back("-v");
    TRY_ASSIGN(const base::ChildEnd end, source::Run(step.words, command_.directory, environment_));
    if (!end.succeeded()) {
      return base::Fail(
          base::ToolFailed("the source cannot be preprocessed: " + FirstLines(end.errors)));
    }
    if (first) {
      TakeFolders(step.words, end.errors);
      TakeOptions(step.words);
      TakeMacros(end.output);
    }
    UserLines lines =
        UserLinesOf(end.output, [this](const std::string& name) { return IsSystem(name); });
    answer_.passes.push_back({step.name, std::move(lines.text), std::move(lines.macros)});
    for (const std::string& name : lines.files) {
      const std::string path = base::AbsolutePath(name, command_.directory);
      if (std::find(answer_.files.begin(), answer_.files.end(), path) == answer_.files.end()) {
        answer_.files.push_back(path);
      }
    }
    return {};
  }

  // The folders that are searched, and those of them that the command does not name.
  void TakeFolders(const Words& words, const std::string& said) {
    records::CompilerSetup& setup = answer_.setup;
    for (const std::string& folder : FoldersBehind(said, "#include \"...\" search starts here:")) {
      setup.quote_folders.push_back(base::AbsolutePath(folder, command_.directory));
    }
    Words named;
    for (std::size_t i = 0; i < words.size(); ++i) {
      for (const std::string_view option : {"-I", "-isystem", "-idirafter", "-iquote"}) {
        if (!words[i].starts_with(option)) continue;
        const bool joined = words[i].size() > option.size();
        const std::string value = joined                 ? words[i].substr(option.size())
                                  : i + 1 < words.size() ? words[i + 1]
                                                         : "";
        named.push_back(RealPathOf(base::AbsolutePath(value, command_.directory)));
        break;
      }
    }
    for (const char* name : {"CPATH", "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH"}) {
      for (const std::string& folder : SplitAtColons(Recorded(name).value_or(""))) {
        named.push_back(RealPathOf(base::AbsolutePath(folder, command_.directory)));
      }
    }
    const std::string program = base::FindProgram(command_.arguments[0], command_.directory);
    for (const std::string& toolkit : base::ToolkitFoldersOf(program)) {
      for (const char* below : {"/include", "/targets/x86_64-linux/include"}) {
        AddSystem(RealPathOf(toolkit + below));
      }
    }
    for (const std::string& folder : FoldersBehind(said, "#include <...> search starts here:")) {
      const std::string path = base::AbsolutePath(folder, command_.directory);
      setup.folders.push_back(path);
      const std::string real = RealPathOf(path);
      const bool of_user = std::find(named.begin(), named.end(), real) != named.end() &&
                           !IsOfDistribution(real) && !IsSystemPath(real + "/header");
      if (!of_user) AddSystem(real);
    }
  }

  static Words SplitAtColons(const std::string& text) {
    Words parts;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(':', at), text.size());
      if (end > at) parts.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return parts;
  }

  void AddSystem(std::string folder) {
    Words& known = answer_.setup.system_folders;
    if (std::find(known.begin(), known.end(), folder) == known.end()) {
      known.push_back(std::move(folder));
    }
  }

  bool IsSystemPath(const std::string& real) const {
    const Words& folders = answer_.setup.system_folders;
    return std::any_of(folders.begin(), folders.end(),
                       [&](const std::string& folder) { return IsBelow(real, folder); });
  }

  bool IsSystem(const std::string& name) {
    const auto known = known_.find(name);
    if (known != known_.end()) return known->second;
    const bool system = IsSystemPath(RealPathOf(base::AbsolutePath(name, command_.directory)));
    known_.emplace(name, system);
    return system;
  }

  void TakeOptions(const Words& words) {
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i] == "-include") answer_.setup.forced.push_back(words[i + 1]);
      if (words[i] == "-imacros") answer_.setup.forced_macros.push_back(words[i + 1]);
    }
  }

  // What stands before the first file: the compiler's own, then the command line's.
  void TakeMacros(const std::string& text) {
    records::CompilerSetup& setup = answer_.setup;
    Words* into = nullptr;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view line = std::string_view(text).substr(at, end - at);
      at = end + 1;
      if (line.starts_with("# ")) {
        if (line.find("\"<built-in>\"") != std::string_view::npos) {
          into = &setup.predefined;
        } else if (line.find("\"<command-line>\"") != std::string_view::npos) {
          into = &setup.macros;
        } else if (into != nullptr) {
          return;
        }
      } else if (into != nullptr) {
        // Compilers' drivers pass these as if the user had.
        const bool drivers =
            line.starts_with("#define _GNU_SOURCE ") || line.starts_with("#define _REENTRANT ");
        TakeDirective(line, drivers ? setup.predefined : *into);
      }
    }
  }

  // "#define A(x) x + 1" is "-DA(x)=x + 1".
  static void TakeDirective(std::string_view line, Words& into) {
    constexpr std::string_view kDefine = "#define ", kUndefine = "#undef ";
    if (line.starts_with(kUndefine)) {
      into.push_back("-U" + std::string(line.substr(kUndefine.size())));
    } else if (line.starts_with(kDefine)) {
      line.remove_prefix(kDefine.size());
      std::size_t name_end = line.find_first_of(" (");
      if (name_end != std::string_view::npos && line[name_end] == '(') {
        name_end = line.find(')', name_end) + 1;
      }
      const std::string name(line.substr(0, name_end));
      // What asks the compiler cannot be defined.
      if (name.starts_with("__has_")) return;
      const bool empty = name_end == std::string_view::npos || name_end + 1 > line.size();
      into.push_back("-D" + name + "=" + std::string(empty ? "" : line.substr(name_end + 1)));
    }
  }

  const records::CompileCommand& command_;
  Environment environment_;
  std::map<std::string, bool> known_;  // whether a name is the system's
  CompilerAnswer answer_;
};

// Reads what -E -dD prints, line by line.
class LineReader {
 public:
  explicit LineReader(const std::function<bool(const std::string&)>& is_system)
      : is_system_(is_system) {}

  void Take(std::string_view line) {
    if (line.starts_with("# ") && line.size() > 2 && line[2] >= '0' && line[2] <= '9') {
      return TakeMarker(line);
    }
    if (line.starts_with("#define ")) return Define(line.substr(8));
    if (line.starts_with("#undef ")) {
      out_.macros.erase(std::string(line.substr(7)));
      return;
    }
    if (line.starts_with("#pragma ")) TakePragma(line.substr(8));
    if (!user_) return;
    out_.text.append(line);
    out_.text += '\n';
  }

  UserLines Finish() { return std::move(out_); }

 private:
  void TakeMarker(std::string_view line) {
    const std::size_t open = line.find('"');
    const std::size_t close = line.rfind('"');
    if (open == std::string_view::npos || close <= open) return;
    std::string name;
    for (std::size_t i = open + 1; i < close; ++i) {
      if (line[i] == '\\' && i + 1 < close) ++i;
      name += line[i];
    }
    // With -g the working folder stands there, and ends so.
    if (name == name_ || name.ends_with("//")) return;
    name_ = name;
    user_ = !name.starts_with("<") && !is_system_(name);
    if (user_ && std::find(out_.files.begin(), out_.files.end(), name) == out_.files.end()) {
      out_.files.push_back(std::move(name));
    }
  }

  void Define(std::string_view definition) {
    const std::string name(definition.substr(0, definition.find_first_of(" (")));
    if (user_) {
      out_.macros[name] = std::string(definition);
    } else {
      out_.macros.erase(name);
    }
  }

  // push_macro("NAME") and pop_macro("NAME"), of which -dD prints no definition.
  void TakePragma(std::string_view pragma) {
    const bool push = pragma.starts_with("push_macro");
    if (!push && !pragma.starts_with("pop_macro")) return;
    const std::size_t open = pragma.find('"');
    const std::size_t close = pragma.rfind('"');
    if (open == std::string_view::npos || close <= open) return;
    const std::string name(pragma.substr(open + 1, close - open - 1));
    std::vector<std::optional<std::string>>& kept = pushed_[name];
    const auto live = out_.macros.find(name);
    if (push) {
      kept.push_back(live == out_.macros.end() ? std::nullopt : std::optional(live->second));
    } else if (!kept.empty()) {
      if (kept.back()) {
        out_.macros[name] = *kept.back();
      } else if (live != out_.macros.end()) {
        out_.macros.erase(live);
      }
      kept.pop_back();
    }
  }

  const std::function<bool(const std::string&)>& is_system_;
  UserLines out_;
  std::string name_;
  bool user_ = false;
  std::map<std::string, std::vector<std::optional<std::string>>> pushed_;
};

}  // namespace

UserLines UserLinesOf(std::string_view preprocessed,
                      const std::function<bool(const std::string&)>& is_system) {
  LineReader reader(is_system);
  for (std::size_t at = 0; at < preprocessed.size();) {
    const std::size_t end = std::min(preprocessed.find('\n', at), preprocessed.size());
    reader.Take(preprocessed.substr(at, end - at));
    at = end + 1;
  }
  return reader.Finish();
}

base::Result<CompilerAnswer> AskCompiler(const records::CompileCommand& command) {
  return Asker(command).Run();
}

}  // namespace cupilot::source
