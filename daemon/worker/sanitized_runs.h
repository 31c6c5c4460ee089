// Runs of a program on a GPU under compute-sanitizer, one process for each of its tools, all at the
// same time.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "worker/sanitized_process.h"

namespace cupilot::worker {

// Whose processes found nothing are kept for the next program (one a device and tool), where the
// subject allows it. What one that had other programs before finds, or fails at, is asked a new
// one, whose word counts. On one thread, which lives as long as the process.
class SanitizedRuns {
 public:
  using Subject = SanitizedSubject;

  // Starts them; what cannot be started has failed, and what has not ended within the limit, too.
  // What the subject refers to must outlive this.
  SanitizedRuns(const Subject& subject, const std::vector<const SanitizerTool*>& tools,
                std::chrono::milliseconds limit);
  SanitizedRuns(const SanitizedRuns&) = delete;
  SanitizedRuns& operator=(const SanitizedRuns&) = delete;
  ~SanitizedRuns();  // ends those that still run

  // Waits until all have ended, or to the end of a time after their start; then they are ended.
  std::vector<SanitizedRun> Wait();

  // Ends those that are kept.
  static void EndKept();

 private:
  SanitizedRun WaitFor(std::unique_ptr<SanitizedProcess>& process, const SanitizerTool& tool) const;

  const Subject subject_;
  const std::vector<const SanitizerTool*> tools_;
  const std::chrono::milliseconds limit_;
  std::vector<std::unique_ptr<SanitizedProcess>> processes_;  // by tool
};

}  // namespace cupilot::worker
