// What follows from what compute-sanitizer's tools say of a candidate and, where it matters, of the
// original. Pure but for the two functions that run them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "worker/checks/check.h"
#include "worker/sanitized_runs.h"

namespace cupilot::worker {

// Runs the tools at the same time; one that has not ended within the limit is `late`.
using RunSanitizers = std::function<std::vector<SanitizedRun>(
    const std::vector<const SanitizerTool*>& tools, std::chrono::milliseconds limit)>;

struct SanitizerLook {
  Finding finding;                 // reason and detail; no reason: nothing was found
  std::vector<std::string> notes;  // what was looked at, and what was not, and why
  bool whole = true;               // every tool said something
};

// An error counts that the original does not have, too. A tool that was ended at its limit found
// nothing out: it is asked again, alone and for longer, and a candidate that does not end then
// either is `timed_out` where the original ends. A tool that fails otherwise is a note: it may be
// the tool's own limit.
//
// `small`: what runs ends soon but for the tools; who is late is given more time then, and who
// hangs where the original does not has timed out. Else a late tool is a note. `lacks`: what the
// candidate's code surely does not use; the tools for it are left out, which a note says.
SanitizerLook LookWithSanitizers(const std::string& case_name, bool small,
                                 const std::vector<std::string>& lacks,
                                 const RunSanitizers& candidate, const RunSanitizers& original);

// Which size the tools look at, by the bytes of their buffers: 0 the case's own, i the i-th of its
// other sizes (of which some may not be; nothing there). The tools make a kernel a hundred to a
// thousand times slower: the largest one that is small, so that its blocks are many and it ends
// soon; where none is small the smallest that is not too large. Nothing: all are.
bool IsSmallForSanitizers(std::int64_t bytes);
std::optional<std::size_t> SizeForSanitizers(
    std::int64_t own, const std::vector<std::optional<std::int64_t>>& others);

}  // namespace cupilot::worker
