#include "worker/sanitized_runs.h"

#include <map>
#include <utility>

namespace cupilot::worker {
namespace {

using ByDeviceAndTool =
    std::map<std::pair<std::string, std::string>, std::unique_ptr<SanitizedProcess>>;

// They end with this process, also when it is killed: each has a group with a guard.
ByDeviceAndTool& KeptProcesses() {
  static ByDeviceAndTool kept;
  return kept;
}

std::unique_ptr<SanitizedProcess> Begun(std::unique_ptr<SanitizedProcess> process,
                                        const SanitizedSubject& subject,
                                        std::chrono::milliseconds limit) {
  process->Begin(subject, limit);
  return process;
}

// One that is kept and fits, or a new one. One that does not fit ends.
std::unique_ptr<SanitizedProcess> TakeProcess(const SanitizedSubject& subject,
                                              const SanitizerTool& tool) {
  std::unique_ptr<SanitizedProcess> process =
      std::exchange(KeptProcesses()[{subject.device, tool.name}], nullptr);
  if (!subject.keep || !process || !process->Fits(subject)) {
    process.reset();  // before another one needs the memory
    process = std::make_unique<SanitizedProcess>(subject, tool);
  }
  return process;
}

}  // namespace

SanitizedRuns::SanitizedRuns(const Subject& subject, const std::vector<const SanitizerTool*>& tools,
                             std::chrono::milliseconds limit)
    : subject_(subject), tools_(tools), limit_(limit) {
  for (const SanitizerTool* tool : tools_) {
    processes_.push_back(Begun(TakeProcess(subject_, *tool), subject_, limit_));
  }
}

SanitizedRuns::~SanitizedRuns() = default;

void SanitizedRuns::EndKept() { KeptProcesses().clear(); }

SanitizedRun SanitizedRuns::WaitFor(std::unique_ptr<SanitizedProcess>& process,
                                    const SanitizerTool& tool) const {
  SanitizedRun run = process->Wait();
  if (process->reused() && !run.late && !(run.error.empty() && run.failed.empty())) {
    process.reset();
    process = Begun(std::make_unique<SanitizedProcess>(subject_, tool), subject_, limit_);
    run = process->Wait();
  }
  // What has found something may run on, beside the other tools.
  if (!run.error.empty()) {
    process.reset();
  } else if (process->lives()) {
    KeptProcesses()[{subject_.device, tool.name}] = std::move(process);
  }
  return run;
}

std::vector<SanitizedRun> SanitizedRuns::Wait() {
  std::vector<SanitizedRun> runs;
  runs.reserve(processes_.size());
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    runs.push_back(WaitFor(processes_[i], *tools_[i]));
  }
  return runs;
}

}  // namespace cupilot::worker
