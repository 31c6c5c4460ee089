#include "source/closure_options.h"

#include "base/install_layout.h"

namespace cupilot::source {

ParseOptions ClosureParseOptions() {
  ParseOptions options;
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
