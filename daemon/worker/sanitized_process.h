// One of compute-sanitizer's tools around a runner. Starting one takes half a second and most of
// that the driver alone, one process after another, so one that found nothing is kept for the next
// program, as long as it shows at once what it finds.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/child.h"
#include "base/result.h"
#include "records/json.h"
#include "worker/arena.h"
#include "worker/case_inputs.h"
#include "worker/case_plan.h"
#include "worker/sanitizer_report.h"
#include "worker/tool_group.h"

namespace cupilot::worker {

// Largest buffers of a small case (sanitizer_looks.h). A process that is kept has room for them.
inline constexpr std::int64_t kSmallForSanitizers = std::int64_t{8} << 20;

struct SanitizedRun {
  const SanitizerTool* tool = nullptr;
  std::string error;   // the first that it reports; empty: none
  std::string failed;  // why it says nothing
  bool late = false;   // that is because it was ended at the limit
};

struct SanitizedSubject {
  std::string sanitizer;  // the program compute-sanitizer
  std::string device;
  std::string artifact;
  records::Json program;  // ToJson(Program)
  const Layout& layout;
  const CaseInputs& inputs;
  std::string scratch;  // a folder for logs; made
  // Whether processes may live on: each has half a gigabyte of the device's memory.
  bool keep = false;
};

// On one thread, which lives as long as the process.
class SanitizedProcess {
 public:
  // Starts it; what cannot be started has failed, which Wait() says.
  SanitizedProcess(const SanitizedSubject& subject, const SanitizerTool& tool);
  SanitizedProcess(const SanitizedProcess&) = delete;
  SanitizedProcess& operator=(const SanitizedProcess&) = delete;
  ~SanitizedProcess();  // ends it, and all that it has started

  // Returns whether it can run this program, too: it still waits, may read the artifact's folder,
  // and has room. Device memory is allocated anew where sizes differ, so that memcheck sees reads
  // behind this program's buffers.
  bool Fits(const SanitizedSubject& subject) const;
  // Once before each Wait().
  void Begin(const SanitizedSubject& subject, std::chrono::milliseconds limit);
  // At the limit it is ended.
  SanitizedRun Wait();
  // Its first program was not the last one.
  bool reused() const { return runs_ > 1; }
  // It found nothing, waits for the next program, and has not had many.
  bool lives() const { return lives_; }

 private:
  using Clock = std::chrono::steady_clock;
  base::Result<> Start(const SanitizedSubject& subject);
  std::vector<std::string> Environment() const;
  void Send(const std::string& requests) const;
  bool ReadReplies();  // false: it has ended, or is ended, before all are there
  int ReadToTheEnd();  // its status as of waitpid()
  bool ReadMore();
  std::string WhyNotRun() const;
  void CloseInput();

  const SanitizerTool& tool_;
  const std::string sanitizer_, device_, modules_;  // modules_: the folder of artifacts
  const std::string folder_;                        // of its own, for all that it writes
  const std::string log_ = folder_ + "/log";
  ToolGroup group_;
  std::optional<Arena> arena_;
  base::ReapedChild child_;
  int input_ = -1, output_ = -1;
  int runs_ = 0;
  bool lives_ = false, keep_ = false;
  std::chrono::milliseconds limit_{0};
  Clock::time_point deadline_;
  std::string said_, failed_;  // of this run
  bool reported_ = false;      // its log has an error, and it goes on
  bool late_ = false;
};

}  // namespace cupilot::worker
