#include "source/swap/compile_line.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/file.h"
#include "base/shell_words.h"

namespace cupilot::source {
namespace {

constexpr int kMostNesting = 8;

template <std::size_t N>
bool In(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// The file that a word (with the next one) names as a response file; empty if it names none.
std::string ResponseFile(const std::vector<std::string>& words, std::size_t& at) {
  const std::string& word = words[at];
  if (word == "--options-file" || word == "-optf") {
    return at + 1 < words.size() ? words[++at] : std::string();
  }
  if (word.starts_with("--options-file=")) return word.substr(15);
  if (word.starts_with("-optf=")) return word.substr(6);
  if (word.size() > 1 && word[0] == '@') return word.substr(1);
  return {};
}

void Expand(const std::vector<std::string>& words, const std::string& folder, int depth,
            std::vector<std::string>& out) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::size_t first = at;
    const std::string file = ResponseFile(words, at);
    if (!file.empty() && depth < kMostNesting) {
      const auto text = base::ReadFile(base::AbsolutePath(file, folder));
      if (text) {
        Expand(base::ShellWords(*text), folder, depth + 1, out);
        continue;
      }
    }
    for (std::size_t i = first; i <= at; ++i) out.push_back(words[i]);
  }
}

bool TakesValue(std::string_view word) {
  constexpr std::array<std::string_view, 40> kOptions = {"-o",
                                                         "--output-file",
                                                         "-MF",
                                                         "--dependency-output",
                                                         "-MT",
                                                         "-MQ",
                                                         "-include",
                                                         "--pre-include",
                                                         "-I",
                                                         "--include-path",
                                                         "-isystem",
                                                         "--system-include",
                                                         "-D",
                                                         "--define-macro",
                                                         "-U",
                                                         "--undefine-macro",
                                                         "-Xcompiler",
                                                         "--compiler-options",
                                                         "-Xptxas",
                                                         "--ptxas-options",
                                                         "-Xcudafe",
                                                         "-Xnvlink",
                                                         "-Xlinker",
                                                         "-ccbin",
                                                         "--compiler-bindir",
                                                         "-x",
                                                         "--x",
                                                         "-std",
                                                         "--std",
                                                         "-arch",
                                                         "--gpu-architecture",
                                                         "-code",
                                                         "-gencode",
                                                         "--generate-code",
                                                         "-idirafter",
                                                         "-iquote",
                                                         "-imacros",
                                                         "-L",
                                                         "-l",
                                                         "-t"};
  return In(kOptions, word);
}

bool IsSource(std::string_view word) { return word.ends_with(".cu") && !word.starts_with("-"); }

// Anything that makes another product than one object file, or none.
bool MakesSomethingElse(std::string_view word) {
  constexpr std::array<std::string_view, 30> kOptions = {"-E",
                                                         "--preprocess",
                                                         "-S",
                                                         "-ptx",
                                                         "--ptx",
                                                         "-cubin",
                                                         "--cubin",
                                                         "-fatbin",
                                                         "--fatbin",
                                                         "-dlink",
                                                         "--device-link",
                                                         "-link",
                                                         "--link",
                                                         "-lib",
                                                         "--lib",
                                                         "-run",
                                                         "--run",
                                                         "-M",
                                                         "-MM",
                                                         "-cuda",
                                                         "--cuda",
                                                         "-optix-ir",
                                                         "--optix-ir",
                                                         "-ltoir",
                                                         "--ltoir",
                                                         "-dryrun",
                                                         "--dryrun",
                                                         "-dw",
                                                         "--generate-dependencies",
                                                         "--help"};
  return In(kOptions, word);
}

std::string WhyLeftAlone(const std::vector<std::string>& arguments) {
  constexpr std::array<std::string_view, 7> kParts = {
      "-fsanitize=",     "--coverage",         "-fprofile-",
      "-ftest-coverage", "-fcoverage-mapping", "-finstrument-functions",
      "-fxray-"};
  for (const std::string& argument : arguments) {
    if (argument == "-G" || argument == "--device-debug") return argument + ": device debugging";
    for (const std::string_view part : kParts) {
      if (argument.find(part) != std::string::npos) return argument + ": instrumented code";
    }
  }
  return {};
}

}  // namespace

CompileLine ReadCompileLine(const std::vector<std::string>& words, const std::string& folder) {
  CompileLine line;
  if (words.empty()) return line;
  Expand(words, folder, 0, line.arguments);
  bool compiles = false;
  bool other = false;
  std::vector<std::string> sources;
  std::string object;
  for (std::size_t i = 1; i < line.arguments.size(); ++i) {
    const std::string& word = line.arguments[i];
    if (word == "-c" || word == "--compile" || word == "-dc" || word == "--device-c") {
      compiles = true;
    } else if (MakesSomethingElse(word)) {
      other = true;
    } else if (TakesValue(word)) {
      if ((word == "-o" || word == "--output-file") && i + 1 < line.arguments.size()) {
        object = line.arguments[i + 1];
      }
      ++i;
    } else if (IsSource(word)) {
      sources.push_back(word);
    }
  }
  // The source must be a word of the command itself, since a swap replaces it there.
  const bool in_words =
      sources.size() == 1 && std::count(words.begin(), words.end(), sources[0]) == 1;
  if (!compiles || other || object.empty() || !in_words) return line;
  line.compiles = true;
  line.source_word = sources[0];
  line.source = base::AbsolutePath(sources[0], folder);
  line.object = base::AbsolutePath(object, folder);
  line.left_alone = WhyLeftAlone(line.arguments);
  return line;
}

}  // namespace cupilot::source
