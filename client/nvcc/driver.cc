#include "client/nvcc/driver.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/child.h"
#include "base/file.h"
#include "base/install_layout.h"
#include "client/nvcc/architecture.h"
#include "client/nvcc/architecture_branches.h"
#include "client/nvcc/missing.h"
#include "client/nvcc/variant_object.h"
#include "client/nvcc/variant_words.h"
#include "source/lower/lower.h"
#include "source/syntax/parse.h"

extern char** environ;

namespace cupilot::nvcc {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr const char* kVersionText =
    "nvcc: NVIDIA (R) Cuda compiler driver\n"
    "(the command line of it: cuPilot's compiler for the host device, version " CUPILOT_VERSION
    ")\nCuda compilation tools, release 13.0, V13.0.48\n";
constexpr const char* kHelpText =
    "cupilot-nvcc: compiles CUDA C++ for this machine's processor, with nvcc's options.\n"
    "Device code is compiled for the highest level of x86-64 that this machine has, as "
    "-arch=native\n"
    "would be; -Xcompiler -march=... says otherwise. Options of the device compiler are accepted "
    "and\n"
    "have no effect; others go to the host compiler.\n";

// A folder for intermediate files that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    const fs::path parent = fs::temp_directory_path(error);
    std::string pattern = (parent / "cupilot-nvcc-XXXXXX").string();
    if (!error && ::mkdtemp(pattern.data()) != nullptr) {
      path_ = pattern;
      return;
    }
    const char* named = std::getenv("TMPDIR");
    problem_ = "no temporary files can be made in " + std::string(named ? named : "/tmp") + ": " +
               (error ? error.message() : std::strerror(errno)) +
               "; set TMPDIR to a folder that can be written";
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  // Why there is none; empty if there is one.
  const std::string& problem() const { return problem_; }

 private:
  std::string path_, problem_;
};

std::string Join(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// As nvcc lists what it runs: a shell reads the same words again.
std::string Quoted(const Words& words) {
  std::string text;
  for (const std::string& word : words) {
    text += text.empty() ? "" : " ";
    const bool plain =
        !word.empty() && word.find_first_of(" \t\n\"\\'$`;&|<>()*?[]{}#~!") == std::string::npos;
    if (plain) {
      text += word;
      continue;
    }
    text += '"';
    for (const char c : word) {
      if (c == '"' || c == '\\' || c == '$' || c == '`') text += '\\';
      text += c;
    }
    text += '"';
  }
  return text;
}

class Driver {
 public:
  explicit Driver(const CommandLine& line)
      : line_(line), toolkit_(base::HostToolkitFolder()), architecture_(ArchitectureOf(line)) {}

  int Run() {
    if (line_.mode == Mode::kVersion) return std::fputs(kVersionText, stdout), 0;
    if (line_.mode == Mode::kHelp) return std::fputs(kHelpText, stdout), 0;
    if (line_.verbose || line_.dry_run) PrintFolders();
    if (line_.inputs.empty()) return Complain("no input files");
    if (!temporary_.problem().empty()) return Complain(temporary_.problem());
    if (line_.mode == Mode::kDeviceLink) return DeviceLink();
    if (line_.mode == Mode::kPreprocess || line_.mode == Mode::kDependencies) return Preprocess();
    if (line_.mode == Mode::kCompile && !line_.output.empty() && line_.inputs.size() > 1) {
      return Complain("-o with several inputs needs linking");
    }
    Words objects;
    for (const std::string& input : line_.inputs) {
      const std::string object = ObjectOf(input);
      if (object.empty()) {
        objects.push_back(input);
        continue;
      }
      if (const int code = Compile(input, object); code != 0) return code;
      objects.push_back(object);
    }
    return line_.mode == Mode::kCompile ? 0 : Link(objects);
  }

 private:
  static int Complain(const std::string& what) {
    std::fprintf(stderr, "nvcc fatal   : %s\n", what.c_str());
    return 1;
  }

  bool IsCuda(const std::string& input) const {
    return line_.all_are_cuda || fs::path(input).extension() == ".cu";
  }
  static bool IsSource(const std::string& input) {
    const std::string extension = fs::path(input).extension();
    return extension == ".cpp" || extension == ".cc" || extension == ".cxx" || extension == ".c" ||
           extension == ".C" || extension == ".c++";
  }

  // Where the object of an input goes; empty: it is no source.
  std::string ObjectOf(const std::string& input) const {
    if (!IsCuda(input) && !IsSource(input)) return "";
    if (line_.mode == Mode::kCompile) {
      return line_.output.empty() ? fs::path(input).stem().string() + ".o" : line_.output;
    }
    return temporary_.File(fs::path(input).stem().string() + ".o");
  }

  // What CMake reads of `nvcc -v`.
  void PrintFolders() const {
    std::fprintf(stderr,
                 "#$ _NVVM_BRANCH_=nvvm\n#$ TOP=%s\n#$ NVVMIR_LIBRARY_DIR=%s/nvvm/libdevice\n"
                 "#$ LIBRARIES=  \"-L%s/lib64\"\n#$ INCLUDES=\"-I%s/include\"\n"
                 "#$ cicc -arch compute_75\n",
                 toolkit_.c_str(), toolkit_.c_str(), toolkit_.c_str(), toolkit_.c_str());
  }

  // `messages` gets what the program says to standard error; without it that goes to ours.
  int Execute(const Words& words, std::string* messages = nullptr) const {
    if (line_.dry_run) return std::fprintf(stderr, "#$ %s\n", Quoted(words).c_str()), 0;
    if (line_.verbose) std::fprintf(stderr, "#$ %s\n", Join(words).c_str());
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    // A pipe and not a file, which a full disk would leave empty.
    int ends[2] = {-1, -1};
    if (messages != nullptr) {
      if (::pipe2(ends, O_CLOEXEC) != 0)
        return Complain(std::string("pipe: ") + std::strerror(errno));
      ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    }
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    pid_t child = 0;
    const int error =
        ::posix_spawnp(&child, pointers[0], &actions, nullptr, pointers.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (messages != nullptr) *messages = ReadAll(ends);
    if (error != 0) {
      return Complain("cannot run the host compiler " + words[0] + ": " + std::strerror(error));
    }
    const int status = base::WaitForEnd(child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  // Closes the writing end, then reads until all others have closed theirs.
  static std::string ReadAll(const int (&ends)[2]) {
    ::close(ends[1]);
    std::string text;
    char buffer[4096];
    ssize_t n = 0;
    while ((n = ::read(ends[0], buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR)) {
      if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
    }
    ::close(ends[0]);
    return text;
  }

  // Runs a step of a compilation. Where it fails for something of CUDA that the host device does
  // not have, one line says so instead of all that follows from it. `known`: what clang has found.
  int ExecuteStep(Words words, const Missing& known = {}) const {
    std::string messages;
    if (::isatty(STDERR_FILENO) != 0) {
      words.insert(words.begin() + 1, "-fdiagnostics-color=always");
    }
    const int code = Execute(words, &messages);
    if (code != 0) {
      const Missing missing = known.empty() ? MissingInOutput(messages) : known;
      if (!missing.empty()) return Refuse(missing);
      if (messages.empty()) {
        messages = "nvcc fatal   : " + words[0] + " ended with " + std::to_string(code) +
                   " and gave no reason; is the disk full?\n";
      }
    }
    std::fwrite(messages.data(), 1, messages.size(), stderr);
    return code;
  }
  static int Refuse(const Missing& missing) {
    std::fprintf(stderr, "%s\n", DescribeMissing(missing).c_str());
    return 1;
  }

  Words PreprocessorWords(bool cuda) const {
    Words words = {"-isystem", toolkit_ + "/include"};
    if (line_.watch)
      words.insert(words.end(), {"-DCUPILOT_HOST_WATCH", "-include", "cupilot_host_watch.h"});
    if (cuda) {
      words.insert(words.end(), {"-D__CUDACC__=1", "-D__NVCC__=1", "-D__CUDACC_VER_MAJOR__=13",
                                 "-D__CUDACC_VER_MINOR__=0", "-D__CUDACC_VER_BUILD__=48",
                                 "-include", "cuda_runtime.h"});
      if (line_.relocatable) words.emplace_back("-D__CUDACC_RDC__=1");
    }
    words.insert(words.end(), line_.preprocessor.begin(), line_.preprocessor.end());
    return words;
  }

  Words CompilerWords() const {
    Words words = line_.compiler;
    if (!line_.standard.empty()) words.push_back("-std=" + line_.standard);
    if (line_.watch) {
      // Calls before each access, which our own library answers. The fewer accesses are moved or
      // joined, the more of what the text says is seen.
      // Copies of the C library are told by our own functions, so they have to be calls.
      words.insert(words.end(), {"-O1", "-fsanitize=thread", "-fno-builtin-memcpy",
                                 "-fno-builtin-memmove", "-fno-builtin-memset"});
      const bool clang = fs::path(line_.host_compiler).filename().string().starts_with("clang");
      // Likewise what is undefined. Not asked: which bits a shift loses (compilers define it),
      // pointers that are computed and not used, and what ends the process anyway.
      for (const char* check :
           {"alignment", "signed-integer-overflow", "shift-exponent", "integer-divide-by-zero",
            "float-cast-overflow", "object-size", clang ? "array-bounds" : "bounds"}) {
        words.insert(words.end(), {std::string("-fsanitize=") + check,
                                   std::string("-fsanitize-recover=") + check});
      }
      for (const char* option :
           {"tsan-distinguish-volatile=1", "tsan-instrument-func-entry-exit=0"}) {
        if (clang) {
          words.insert(words.end(), {"-mllvm", std::string("-") + option});
        } else {
          words.insert(words.end(), {"--param", option});
        }
      }
    }
    return words;
  }

  Words PreprocessWords(const std::string& input) const {
    Words words = {line_.host_compiler, "-E", "-x", "c++"};
    for (const std::string& word : CompilerWords()) words.push_back(word);
    for (const std::string& word : PreprocessorWords(true)) words.push_back(word);
    // A listed preprocessing, as nvcc's, writes no dependencies.
    if (!line_.dry_run) {
      words.insert(words.end(), line_.dependencies.begin(), line_.dependencies.end());
    }
    words.push_back(input);
    return words;
  }

  int Preprocess() {
    Words words = PreprocessWords(line_.inputs[0]);
    if (line_.mode == Mode::kDependencies) words[1] = "-M";
    if (!line_.output.empty()) words.insert(words.end(), {"-o", line_.output});
    return Execute(words);
  }

  int Compile(const std::string& input, const std::string& object) {
    if (!IsCuda(input)) {
      Words words = {line_.host_compiler, "-c"};
      for (const std::string& word : CompilerWords()) words.push_back(word);
      for (const std::string& word : PreprocessorWords(false)) words.push_back(word);
      for (const std::string& word : line_.dependencies) words.push_back(word);
      words.insert(words.end(), {input, "-o", object});
      return ExecuteStep(words);
    }
    const std::string preprocessed = temporary_.File("preprocessed.ii");
    const std::string lowered = temporary_.File("lowered.ii");
    Words words = PreprocessWords(input);
    if (!line_.dry_run && !line_.dependencies.empty() && !HasTarget())
      words.insert(words.end(), {"-MT", object});
    words.insert(words.end(), {"-o", preprocessed});
    if (const int code = ExecuteStep(words); code != 0) return code;
    if (line_.dry_run) return 0;
    const auto unit = ParseFile(input, preprocessed);
    if (!unit) return ComplainOf(input, unit.error());
    const Missing unsupported = source::FindUnsupported(unit->tree);
    if (!unsupported.empty()) return Refuse(unsupported);
    if (HasVariants()) {
      const std::string why = WhyNotVariants(*unit, Place());
      if (!why.empty()) return RefuseVariant(input, object, why);
    }
    // A candidate's text is preprocessed, and a watched run's has been built before.
    if (!line_.candidate && !line_.watch) {
      for (const ArchitectureBranch& branch : FindArchitectureBranches(unit->tree)) {
        std::fprintf(stderr, "%s\n", DescribeBranch(branch).c_str());
      }
    }
    if (const auto done = LowerFile(unit->tree, lowered); !done) {
      return ComplainOf(input, done.error());
    }
    // What clang could not read the host compiler will complain about, at the user's own line.
    const int code = CompileLowered(lowered, object, MissingNames(unit->errors));
    return code == 0 && !line_.watch ? LookInto(input, object) : code;
  }

  // A watched candidate's object has the sanitizer's own code at start, and its text was built
  // without that before.
  int LookInto(const std::string& input, const std::string& object) const {
    if (!HasVariants()) return 0;
    const auto why = WhyNotDeviceCode(object, Place());
    if (!why) return ComplainOf(input, why.error());
    if (why->empty()) return 0;
    return RefuseVariant(input, object, *why);
  }
  bool HasVariants() const { return line_.candidate || !line_.launch_function.empty(); }
  VariantPlace Place() const {
    return line_.candidate ? VariantPlace::kCandidate : VariantPlace::kSwapped;
  }
  static int RefuseVariant(const std::string& input, const std::string& object,
                           const std::string& why) {
    std::error_code error;
    fs::remove(object, error);
    std::fprintf(stderr, "%s: error: a variant is not device code alone: %s\n", input.c_str(),
                 why.c_str());
    return 1;
  }

  bool HasThreadSanitizer() const {
    for (const std::string& word : line_.compiler) {
      if (word.starts_with("-fsanitize=") && word.find("thread") != std::string::npos) return true;
    }
    return false;
  }

  bool HasTarget() const {
    for (const std::string& word : line_.dependencies) {
      if (word == "-MT" || word == "-MQ") return true;
    }
    return false;
  }

  static int ComplainOf(const std::string& input, const base::Error& error) {
    std::fprintf(stderr, "%s: error: %s\n", input.c_str(), error.message.c_str());
    return 1;
  }

  base::Result<source::ParseOutcome> ParseFile(const std::string& input,
                                               const std::string& preprocessed) const {
    TRY_ASSIGN(const std::string text, base::ReadFile(preprocessed));
    source::ParseOptions parse;
    parse.file_name = input;
    parse.standard = line_.standard.empty() ? "c++17" : line_.standard;
    parse.preprocessed = true;
    return source::Parse(text, parse);
  }

  base::Result<> LowerFile(const source::Tree& tree, const std::string& to) const {
    source::LowerOptions options;
    options.launch_function = line_.launch_function;
    options.architecture = architecture_;
    options.candidate = line_.candidate;
    options.relocatable = line_.relocatable;
    options.thread_sanitizer = line_.watch || HasThreadSanitizer();
    options.watch = line_.watch;
    TRY_ASSIGN(const std::string lowered, source::Lower(tree, options));
    return base::WriteFileAtomically(to, lowered);
  }

  int CompileLowered(const std::string& lowered, const std::string& object,
                     const Missing& missing) const {
    Words words = {line_.host_compiler, "-c", "-x", "c++-cpp-output"};
    if (line_.march.empty()) words.push_back("-march=" + architecture_.substr(5));
    for (const std::string& word : CompilerWords()) words.push_back(word);
    // Attributes and pragmas of CUDA mean nothing to this compiler; what we add may stay unused.
    words.insert(words.end(), {"-Wno-attributes", "-Wno-unknown-pragmas", "-Wno-unused-function",
                               "-fno-math-errno"});
    // A candidate is one text, so nothing is lost, and its code is there to be looked at.
    if (line_.candidate) words.emplace_back("-fno-lto");
    words.insert(words.end(), {lowered, "-o", object});
    return ExecuteStep(words, missing);
  }

  // Nothing is left to link on a device; build systems want the object.
  int DeviceLink() {
    const std::string empty = temporary_.File("device_link.cc");
    if (!base::WriteFileAtomically(empty, "")) return Complain("cannot write " + empty);
    Words words = {line_.host_compiler, "-c"};
    for (const std::string& word : line_.compiler) words.push_back(word);
    words.insert(words.end(), {empty, "-o", line_.output.empty() ? "a_dlink.o" : line_.output});
    return Execute(words);
  }

  int Link(const Words& objects) const {
    Words words = {line_.host_compiler};
    if (line_.shared) words.emplace_back("-shared");
    for (const std::string& word : line_.compiler) words.push_back(word);
    words.insert(words.end(), objects.begin(), objects.end());
    if (line_.watch) words.push_back(toolkit_ + "/lib64/libcupilot_watch.a");
    words.insert(words.end(), line_.linker.begin(), line_.linker.end());
    // In the form in which CMake looks for its libraries.
    words.push_back((line_.verbose ? "\"-L" : "-L") + toolkit_ +
                    (line_.verbose ? "/lib64\"" : "/lib64"));
    if (line_.verbose) {
      Words shown = words;
      AppendRuntime(shown);
      std::fprintf(stderr, "#$ %s\n", Join(shown).c_str());
      words.back() = "-L" + toolkit_ + "/lib64";
    }
    AppendRuntime(words);
    words.insert(words.end(), {"-o", line_.output.empty() ? "a.out" : line_.output});
    return Execute(words);
  }

  void AppendRuntime(Words& words) const {
    if (line_.no_runtime || line_.candidate) return;
    if (line_.shared_runtime) {
      words.insert(words.end(), {"-lcudadevrt", "-lcudart", "-Wl,-rpath," + toolkit_ + "/lib64"});
    } else {
      words.insert(words.end(), {"-lcudadevrt", "-lcudart_static"});
    }
    words.insert(words.end(), {"-lrt", "-lpthread", "-ldl"});
  }

  const CommandLine& line_;
  std::string toolkit_;
  std::string architecture_;
  TemporaryFolder temporary_;
};

}  // namespace

int RunCommand(const CommandLine& line) { return Driver(line).Run(); }

}  // namespace cupilot::nvcc
