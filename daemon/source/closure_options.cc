#include "source/closure_options.h"

#include <algorithm>
#include <string_view>

#include "base/install_layout.h"

namespace cupilot::source {

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

std::string FirstError(const ParseOutcome& outcome) {
  if (outcome.errors.empty()) return {};
  const Diagnostic& first = outcome.errors.front();
  return "line " + std::to_string(first.line) + ", column " + std::to_string(first.column) + ": " +
         first.message;
}

}  // namespace cupilot::source
