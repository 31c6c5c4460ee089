#include "source/closure_options.h"

#include <algorithm>
#include <string_view>

#include "base/file.h"
#include "base/install_layout.h"
#include "source/command_flags.h"
#include "source/syntax/headers.h"

namespace cupilot::source {
namespace {

bool Finds(const std::vector<std::string>& folders, const std::string& header) {
  return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
    return base::FileExists(folder + "/" + header);
  });
}

// Whether the #include <...> lines that a text begins with find their files.
bool HasItsHeaders(const std::string& text, const ParseOptions& options) {
  constexpr std::string_view kInclude = "#include <";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (line.empty() || line.front() != '#') {
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      break;
    }
    const std::size_t close = line.find('>');
    if (!line.starts_with(kInclude) || close == std::string_view::npos) continue;
    const std::string header(line.substr(kInclude.size(), close - kInclude.size()));
    if (!Finds(options.system_folders, header) &&
        !Finds(HostSystemFolders(FindResourceDir()), header)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string ClosureStandard(const std::string& written) {
  static constexpr std::string_view kOlder[] = {"98", "03", "0x", "11", "1y", "14"};
  const std::size_t plus = written.rfind('+');
  const std::string_view year =
      plus == std::string::npos ? std::string_view() : std::string_view(written).substr(plus + 1);
  const bool older = std::find(std::begin(kOlder), std::end(kOlder), year) != std::end(kOlder);
  return year.empty() || older ? "c++17" : written;
}

ParseOptions ClosureParseOptions(const records::Kernel& kernel) {
  ParseOptions options;
  options.standard = ClosureStandard(kernel.standard);
  options.file_name = "closure.cu";
  options.system_folders = {base::HostToolkitFolder() + "/include"};
  options.include_runtime = true;
  return options;
}

ParseOptions ToolkitParseOptions(const records::Kernel& kernel) {
  ParseOptions options = ClosureParseOptions(kernel);
  const ToolkitHeaders headers = ReadToolkitHeaders(kernel.toolkit_include);
  options.system_folders = headers.folders;
  options.defines = headers.macros;
  return options;
}

base::Result<ParseOutcome> ParseClosure(const records::Kernel& kernel, const std::string& text,
                                        const ParseOptions& options) {
  if (kernel.toolkit_include.empty()) return Parse(text, options);
  const auto with_toolkit = [&] {
    ParseOptions toolkit = ToolkitParseOptions(kernel);
    toolkit.expand_begin = options.expand_begin;
    toolkit.expand_end = options.expand_end;
    return Parse(text, toolkit);
  };
  if (!HasItsHeaders(text, options)) return with_toolkit();
  TRY_ASSIGN(ParseOutcome outcome, Parse(text, options));
  if (outcome.errors.empty()) return outcome;
  TRY_ASSIGN(ParseOutcome other, with_toolkit());
  return other.errors.size() < outcome.errors.size() ? std::move(other) : std::move(outcome);
}

base::Result<ParseOutcome> ParseClosure(const records::Kernel& kernel, const std::string& text) {
  return ParseClosure(kernel, text, ClosureParseOptions(kernel));
}

std::string FirstError(const ParseOutcome& outcome) {
  if (outcome.errors.empty()) return {};
  const Diagnostic& first = outcome.errors.front();
  return "line " + std::to_string(first.line) + ", column " + std::to_string(first.column) + ": " +
         first.message;
}

}  // namespace cupilot::source
