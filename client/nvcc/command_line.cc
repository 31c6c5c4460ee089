#include "client/nvcc/command_line.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/file.h"
#include "base/shell_words.h"

namespace cupilot::nvcc {
namespace {

// Options of the device compiler that say nothing on the host device.
constexpr std::array<std::string_view, 30> kIgnored = {"--expt-relaxed-constexpr",
                                                       "-expt-relaxed-constexpr",
                                                       "--expt-extended-lambda",
                                                       "-expt-extended-lambda",
                                                       "--extended-lambda",
                                                       "-extended-lambda",
                                                       "-lineinfo",
                                                       "--generate-line-info",
                                                       "-forward-unknown-to-host-compiler",
                                                       "--forward-unknown-to-host-compiler",
                                                       "-forward-unknown-to-host-linker",
                                                       "--forward-unknown-to-host-linker",
                                                       "--use_fast_math",
                                                       "-use_fast_math",
                                                       "--keep",
                                                       "-keep",
                                                       "-Wno-deprecated-gpu-targets",
                                                       "--no-device-link",
                                                       "-dlto",
                                                       "-restrict",
                                                       "--restrict",
                                                       "-extra-device-vectorization",
                                                       "--extra-device-vectorization",
                                                       "-m64",
                                                       "--disable-warnings",
                                                       "-noprof",
                                                       "-save-temps",
                                                       "--save-temps",
                                                       "-dopt=on",
                                                       "--allow-unsupported-compiler"};
// The same, with a value behind them or after "=".
constexpr std::array<std::string_view, 36> kIgnoredWithValue = {"-gencode",
                                                                "--generate-code",
                                                                "-arch",
                                                                "--gpu-architecture",
                                                                "-code",
                                                                "--gpu-code",
                                                                "-Xptxas",
                                                                "--ptxas-options",
                                                                "-Xcudafe",
                                                                "--cudafe-options",
                                                                "-Xnvlink",
                                                                "--nvlink-options",
                                                                "--keep-dir",
                                                                "-keep-dir",
                                                                "-maxrregcount",
                                                                "--maxrregcount",
                                                                "--default-stream",
                                                                "-default-stream",
                                                                "-t",
                                                                "--threads",
                                                                "-diag-suppress",
                                                                "--diag-suppress",
                                                                "-diag-error",
                                                                "--diag-error",
                                                                "-diag-warn",
                                                                "--diag-warn",
                                                                "-fmad",
                                                                "--fmad",
                                                                "-ftz",
                                                                "--ftz",
                                                                "-prec-div",
                                                                "--prec-div",
                                                                "-prec-sqrt",
                                                                "--prec-sqrt",
                                                                "-Xarchive",
                                                                "--relocatable-ptx"};
constexpr std::array<std::string_view, 8> kPreprocessorWithValue = {
    "-I", "-D", "-U", "-isystem", "-include", "-iquote", "-idirafter", "-imacros"};

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// Options with several values, as nvcc takes them: not within double quotes, nor behind a
// backslash.
std::vector<std::string> SplitCommas(const std::string& text) {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted) {
      parts.back() += text[i];
    } else if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      parts.back() += text[++i];
    } else if (text[i] == ',') {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  return parts;
}

class Parser {
 public:
  explicit Parser(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {}

  base::Result<CommandLine> Run() {
    for (at_ = 0; at_ < arguments_.size() && error_.empty(); ++at_) {
      const std::string argument = arguments_[at_];
      if (argument.empty()) continue;
      if (argument[0] != '-' || argument == "-") {
        line_.inputs.push_back(argument);
      } else if (!TakeMode(argument) && !TakeOwn(argument) && !TakeIgnored(argument) &&
                 !TakePreprocessor(argument) && !TakeLinker(argument)) {
        ForCompiler(argument);
      }
    }
    if (!error_.empty()) return base::Fail(base::InvalidArgument(error_));
    return std::move(line_);
  }

 private:
  // The value of "--name=value", or the next argument of "--name value".
  bool Value(std::string_view argument, std::string_view name, std::string& value) {
    if (argument == name) {
      if (at_ + 1 >= arguments_.size()) {
        error_ = "the option " + std::string(name) + " needs a value";
        return true;
      }
      value = arguments_[++at_];
      return true;
    }
    if (StartsWith(argument, name) && argument.size() > name.size() &&
        argument[name.size()] == '=') {
      value = argument.substr(name.size() + 1);
      return true;
    }
    return false;
  }

  bool TakeMode(const std::string& a) {
    if (a == "-c" || a == "--compile") return Set(Mode::kCompile);
    if (a == "-dc" || a == "--device-c" || a == "-dw" || a == "--device-w") {
      line_.relocatable = a == "-dc" || a == "--device-c";
      return Set(Mode::kCompile);
    }
    if (a == "-dlink" || a == "--device-link") return Set(Mode::kDeviceLink);
    if (a == "-E" || a == "--preprocess") return Set(Mode::kPreprocess);
    if (a == "-M" || a == "-MM" || a == "--generate-dependencies") return Set(Mode::kDependencies);
    if (a == "--version" || a == "-V") return Set(Mode::kVersion);
    if (a == "--help" || a == "-h") return Set(Mode::kHelp);
    return false;
  }
  bool Set(Mode mode) {
    line_.mode = mode;
    return true;
  }

  bool TakeOwn(const std::string& a) {
    std::string value;
    if (Value(a, "-o", value) || Value(a, "--output-file", value)) {
      line_.output = value;
    } else if (Value(a, "-x", value) || Value(a, "--x", value)) {
      line_.all_are_cuda = value == "cu";
    } else if (Value(a, "-std", value) || Value(a, "--std", value)) {
      line_.standard = value;
    } else if (Value(a, "-rdc", value) || Value(a, "--relocatable-device-code", value)) {
      line_.relocatable = value == "true";
    } else if (Value(a, "-cudart", value) || Value(a, "--cudart", value)) {
      line_.shared_runtime = value == "shared";
      line_.no_runtime = value == "none";
    } else if (Value(a, "-ccbin", value) || Value(a, "--compiler-bindir", value)) {
      line_.host_compiler = value;
    } else if (Value(a, "-Xcompiler", value) || Value(a, "--compiler-options", value)) {
      // nvcc hands the text on to a shell: several words may stand in one.
      for (const std::string& part : SplitCommas(value)) {
        for (const std::string& word : base::ShellWords(part)) ForHostCompiler(word);
      }
    } else if (Value(a, "--options-file", value) || Value(a, "-optf", value)) {
      InsertFile(value);
    } else if (Value(a, "-Werror", value) || Value(a, "--Werror", value)) {
      line_.compiler.emplace_back("-Werror");
    } else if (a == "--cupilot-candidate") {
      line_.candidate = true;
    } else if (a == "--cupilot-watch") {
      line_.watch = true;
    } else if (a == "-shared" || a == "--shared") {
      line_.shared = true;
    } else if (a == "-v" || a == "--verbose") {
      line_.verbose = true;
    } else if (a == "--dryrun" || a == "-dryrun") {
      line_.dry_run = true;
    } else if (a == "-G" || a == "--device-debug") {
      line_.compiler.emplace_back("-g");
    } else {
      return false;
    }
    return true;
  }

  void InsertFile(const std::string& path) {
    auto text = base::ReadFile(path);
    if (!text) {
      error_ = "--options-file: " + text.error().message;
      return;
    }
    const std::vector<std::string> words = base::ShellWords(*text);
    arguments_.insert(arguments_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, words.begin(),
                      words.end());
  }

  bool TakeIgnored(const std::string& a) {
    if (std::find(kIgnored.begin(), kIgnored.end(), a) != kIgnored.end()) return true;
    std::string value;
    return std::any_of(kIgnoredWithValue.begin(), kIgnoredWithValue.end(),
                       [&](std::string_view name) { return Value(a, name, value); });
  }

  bool TakePreprocessor(const std::string& a) {
    if (a == "-MD" || a == "-MMD" || a == "-MP") {
      line_.dependencies.push_back(a);
      return true;
    }
    std::string value;
    for (const char* name : {"-MF", "-MT", "-MQ"}) {
      if (!Value(a, name, value)) continue;
      line_.dependencies.insert(line_.dependencies.end(), {name, value});
      return true;
    }
    for (const std::string_view name : kPreprocessorWithValue) {
      if (Value(a, name, value)) {
        AddPreprocessor(std::string(name), value);
        return true;
      }
      const bool joined = StartsWith(a, name) && a.size() > name.size();
      if (!joined || (name == "-I" && StartsWith(a, "-Inull"))) continue;
      AddPreprocessor(std::string(name), a.substr(name.size()));
      return true;
    }
    return false;
  }

  // The lowered launch calls what this macro names; the header's own declaration must keep its
  // name.
  void AddPreprocessor(const std::string& name, const std::string& value) {
    constexpr std::string_view kHook = "__cudaLaunchKernel=";
    if (name == "-D" && StartsWith(value, kHook)) {
      line_.launch_function = value.substr(kHook.size());
      return;
    }
    if (name == "-D" && StartsWith(value, "__cudaLaunchKernel_ptsz=")) return;
    for (const std::string& part : SplitCommas(value)) {
      line_.preprocessor.push_back(name);
      line_.preprocessor.push_back(part);
    }
  }

  bool TakeLinker(const std::string& a) {
    std::string value;
    if (Value(a, "-Xlinker", value) || Value(a, "--linker-options", value)) {
      for (const std::string& part : SplitCommas(value)) {
        line_.linker.insert(line_.linker.end(), {"-Xlinker", part});
      }
      return true;
    }
    for (const char* name : {"-L", "-l"}) {
      if (Value(a, name, value)) {
        line_.linker.push_back(name + value);
        return true;
      }
    }
    if (StartsWith(a, "-L") || StartsWith(a, "-l") || StartsWith(a, "-Wl,")) {
      line_.linker.push_back(a);
      return true;
    }
    return false;
  }

  void ForHostCompiler(const std::string& option) {
    if (StartsWith(option, "-march=")) line_.march = option.substr(7);
    if (StartsWith(option, "-iquote") && option.size() > 7) {
      return AddPreprocessor("-iquote", option.substr(7));
    }
    if (!option.empty()) line_.compiler.push_back(option);
  }
  void ForCompiler(const std::string& option) { ForHostCompiler(option); }

  std::vector<std::string> arguments_;
  std::size_t at_ = 0;
  std::string error_;
  CommandLine line_;
};

}  // namespace

base::Result<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments) {
  return Parser(arguments).Run();
}

}  // namespace cupilot::nvcc
