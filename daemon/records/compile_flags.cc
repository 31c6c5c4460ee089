#include "records/compile_flags.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace cupilot::records {
namespace {

// Options that change where output goes or what is said about it, not the code.
constexpr std::array<std::string_view, 16> kIgnoredWithValue = {"-o",
                                                                "--output-file",
                                                                "-MF",
                                                                "-MT",
                                                                "-MQ",
                                                                "--dependency-output",
                                                                "--dependency-target-name",
                                                                "-odir",
                                                                "--output-directory",
                                                                "-t",
                                                                "--threads",
                                                                "-Xcudafe",
                                                                "--diag-suppress",
                                                                "-diag-suppress",
                                                                "--diag-warn",
                                                                "-diag-warn"};
constexpr std::array<std::string_view, 18> kIgnored = {"-MD",
                                                       "-MMD",
                                                       "-MP",
                                                       "-M",
                                                       "-MM",
                                                       "-g",
                                                       "-lineinfo",
                                                       "--generate-line-info",
                                                       "--debug",
                                                       "-w",
                                                       "--disable-warnings",
                                                       "-Wno-deprecated-gpu-targets",
                                                       "-c",
                                                       "-dc",
                                                       "--device-c",
                                                       "-v",
                                                       "--verbose",
                                                       "-keep"};

template <std::size_t N>
bool In(const std::array<std::string_view, N>& list, std::string_view word) {
  for (const std::string_view entry : list) {
    if (entry == word) return true;
  }
  return false;
}

bool IsWarningOrDebug(std::string_view argument) {
  // Options for the preprocessor and the assembler, not warnings.
  if (argument.starts_with("-Wp,") || argument.starts_with("-Wa,")) return false;
  return argument.starts_with("-W") || argument.starts_with("-g") ||
         argument.starts_with("-fdiagnostics") || argument.starts_with("-fcolor-diagnostics");
}

// "-Wall,-fno-math-errno" of -Xcompiler= without what IsWarningOrDebug ignores.
std::string WithoutWarnings(std::string_view list) {
  std::string kept;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view item = list.substr(0, comma);
    if (!IsWarningOrDebug(item)) kept += (kept.empty() ? "" : ",") + std::string(item);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return kept;
}

bool IsIgnoredWithJoinedValue(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  return equals != std::string_view::npos && In(kIgnoredWithValue, argument.substr(0, equals));
}

}  // namespace

std::vector<std::string> RelevantArguments(const std::vector<std::string>& arguments) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (In(kIgnoredWithValue, argument)) {
      ++i;
    } else if (argument == "-dc" || argument == "--device-c") {
      kept.emplace_back("-rdc=true");
    } else if (argument == "-G" || argument == "--device-debug") {
      kept.emplace_back("-G");
    } else if ((argument == "-Xcompiler" || argument == "--compiler-options") &&
               i + 1 < arguments.size()) {
      const std::string options = WithoutWarnings(arguments[++i]);
      if (!options.empty()) kept.push_back("-Xcompiler=" + options);
    } else if (argument.starts_with("-Xcompiler=")) {
      const std::string options = WithoutWarnings(argument.substr(11));
      if (!options.empty()) kept.push_back("-Xcompiler=" + options);
    } else if (In(kIgnored, argument) || IsIgnoredWithJoinedValue(argument)) {
      continue;
    } else if (IsWarningOrDebug(argument) && !argument.starts_with("-gencode")) {
      continue;
    } else {
      kept.emplace_back(argument);
    }
  }
  return kept;
}

}  // namespace cupilot::records
