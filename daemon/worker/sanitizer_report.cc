#include "worker/sanitizer_report.h"

#include <sstream>

namespace cupilot::worker {
namespace {

constexpr std::string_view kMargin = "=========";  // before each line of a log

// A line without its margin, or empty.
std::string Content(const std::string& line) {
  if (!line.starts_with(kMargin)) return {};
  const std::size_t begin = line.find_first_not_of(' ', kMargin.size());
  return begin == std::string::npos ? "" : line.substr(begin);
}

}  // namespace

const std::vector<SanitizerTool> kSanitizerTools = {
    {"memcheck", "Invalid ", "out_of_bounds", ""},
    {"racecheck", "Error: Race reported", "race", "shared_memory"},
    {"initcheck", "Uninitialized ", "nondeterministic", ""},
    {"synccheck", "Barrier error detected", "race", "synchronisation"},
};

std::string FirstError(const SanitizerTool& tool, const std::string& log) {
  std::istringstream lines(log);
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    const std::string content = Content(line);
    if (found.empty()) {
      if (content.starts_with(tool.error)) found = content;
      continue;
    }
    // What belongs to an error is further in, up to an empty line; where the host was says nothing.
    if (content.empty() || content.starts_with("Saved host backtrace")) break;
    found += (found.ends_with('.') || found.ends_with(',') ? " " : ", ") + content;
  }
  return found;
}

}  // namespace cupilot::worker
