// Runs of a program on a GPU under compute-sanitizer, one process for each of its tools, all at the
// same time: each takes about half a second to start.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/json.h"
#include "worker/case_inputs.h"
#include "worker/case_plan.h"
#include "worker/sanitizer_report.h"
#include "worker/tool_group.h"

namespace cupilot::worker {

struct SanitizedRun {
  const SanitizerTool* tool = nullptr;
  std::string error;   // the first that it reports; empty: none
  std::string failed;  // why it says nothing
  bool late = false;   // that is because it was ended at the limit
};

class SanitizedRuns {
 public:
  struct Subject {
    std::string sanitizer;  // the program compute-sanitizer
    std::string device;
    std::string artifact;
    records::Json program;  // ToJson(Program)
    const Layout& layout;
    const CaseInputs& inputs;
    std::string scratch;  // a folder for logs; made, and left empty
  };

  // Starts them; what cannot be started has failed, and what has not ended within the limit, too.
  SanitizedRuns(const Subject& subject, const std::vector<const SanitizerTool*>& tools,
                std::chrono::milliseconds limit);
  SanitizedRuns(const SanitizedRuns&) = delete;
  SanitizedRuns& operator=(const SanitizedRuns&) = delete;
  ~SanitizedRuns();  // ends those that still run

  // Waits until all have ended, or to the end of a time after their start; then they are ended.
  std::vector<SanitizedRun> Wait();

 private:
  class Process;
  ToolGroup group_;
  std::vector<std::unique_ptr<Process>> processes_;
};

}  // namespace cupilot::worker
