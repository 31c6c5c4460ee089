#include "worker/sanitizer_looks.h"

#include <algorithm>
#include <string_view>

namespace cupilot::worker {
namespace {

// A verification of a finalist takes at most 10 s (and 40 times the original's time). The longer
// one is for machines that are busy with something else.
constexpr std::chrono::milliseconds kSanitizedLimit{6000}, kLongSanitizedLimit{60000};
// Of what is not small: a proof takes 10 s in all.
constexpr std::chrono::milliseconds kLargeSanitizedLimit{4000};

constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;

// Those that may find something; of the others a note each.
std::vector<const SanitizerTool*> ToolsFor(const std::vector<std::string>& lacks,
                                           std::vector<std::string>& notes) {
  std::vector<const SanitizerTool*> tools;
  for (const SanitizerTool& tool : kSanitizerTools) {
    if (std::find(lacks.begin(), lacks.end(), tool.needs) == lacks.end()) {
      tools.push_back(&tool);
    } else {
      notes.push_back(
          std::string(tool.name) + ": nothing to find: the code has no " +
          (std::string_view(tool.needs) == "shared_memory" ? "shared memory" : tool.needs));
    }
  }
  return tools;
}

}  // namespace

bool IsSmallForSanitizers(std::int64_t bytes) { return bytes <= kSmallForSanitizers; }

std::optional<std::size_t> SizeForSanitizers(
    std::int64_t own, const std::vector<std::optional<std::int64_t>>& others) {
  if (own <= kSmallForSanitizers) return 0;
  std::optional<std::size_t> small, large;
  std::int64_t of_small = 0, of_large = own;
  if (own <= kMostBytes) large = 0;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const std::int64_t bytes = others[i].value_or(kMostBytes + 1);
    if (bytes > kMostBytes) continue;
    if (bytes <= kSmallForSanitizers ? bytes > of_small : !large || bytes < of_large) {
      (bytes <= kSmallForSanitizers ? small : large) = i + 1;
      (bytes <= kSmallForSanitizers ? of_small : of_large) = bytes;
    }
  }
  return small ? small : large;
}

SanitizerLook LookWithSanitizers(const std::string& case_name, bool small,
                                 const std::vector<std::string>& lacks,
                                 const RunSanitizers& candidate, const RunSanitizers& original) {
  SanitizerLook look;
  const std::string of = " (case '" + case_name + "')";
  std::string clean;
  const auto tools = ToolsFor(lacks, look.notes);
  for (SanitizedRun& run : candidate(tools, small ? kSanitizedLimit : kLargeSanitizedLimit)) {
    const std::string tool = run.tool->name;
    if (run.late && small && original({run.tool}, kLongSanitizedLimit).front().failed.empty()) {
      run = candidate({run.tool}, kLongSanitizedLimit).front();
      if (run.late) {
        look.finding.reason = "timed_out";
        look.finding.detail =
            "under compute-sanitizer's " + tool + " " + run.failed + ", as the original does" + of;
        return look;
      }
    }
    if (!run.failed.empty()) {
      look.notes.push_back("case '" + case_name + "': not looked at: " + tool + ": " + run.failed);
      look.whole = false;
      continue;
    }
    if (run.error.empty()) {
      clean += (clean.empty() ? "" : ", ") + tool;
      continue;
    }
    const auto limit = small ? kLongSanitizedLimit : kLargeSanitizedLimit;
    if (original({run.tool}, limit).front().error.empty()) {
      look.finding.reason = run.tool->reason;
      look.finding.detail = "compute-sanitizer's " + tool + ": " + run.error + of;
      return look;
    }
    look.notes.push_back(tool + ": does not count, since the original does the like: " + run.error);
  }
  if (!clean.empty()) {
    look.notes.push_back("case '" + case_name + "': nothing found by " + clean);
  }
  return look;
}

}  // namespace cupilot::worker
