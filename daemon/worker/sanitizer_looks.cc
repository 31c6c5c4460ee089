#include "worker/sanitizer_looks.h"

namespace cupilot::worker {
namespace {

// A verification of a finalist takes at most 10 s (and 40 times the original's time). The longer
// one is for machines that are busy with something else.
constexpr std::chrono::milliseconds kSanitizedLimit{6000}, kLongSanitizedLimit{60000};

std::vector<const SanitizerTool*> AllTools() {
  std::vector<const SanitizerTool*> tools;
  tools.reserve(kSanitizerTools.size());
  for (const SanitizerTool& tool : kSanitizerTools) tools.push_back(&tool);
  return tools;
}

}  // namespace

SanitizerLook LookWithSanitizers(const std::string& case_name, const RunSanitizers& candidate,
                                 const RunSanitizers& original) {
  SanitizerLook look;
  const std::string of = " (case '" + case_name + "')";
  std::string clean;
  for (SanitizedRun& run : candidate(AllTools(), kSanitizedLimit)) {
    const std::string tool = run.tool->name;
    if (run.late && original({run.tool}, kLongSanitizedLimit).front().failed.empty()) {
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
    if (original({run.tool}, kLongSanitizedLimit).front().error.empty()) {
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
