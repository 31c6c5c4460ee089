// Workers as processes: cupilot-worker, one or more of each kind, started when first needed. On the
// loop thread.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "evaluate/workers.h"
#include "loop/child_process.h"
#include "loop/loop.h"
#include "loop/timer.h"

namespace cupilot::evaluate {

class ProcessWorkers final : public Workers {
 public:
  struct Settings {
    std::string program;                               // path of cupilot-worker
    std::array<int, kWorkerKinds> processes{1, 2, 1};  // at most, by kind; kDevice: by device
    int nice = 10;
    std::string log_file;            // standard error of the workers; empty: ours
    int requests_per_process = 500;  // then it is replaced: bounds what parsing leaves behind
  };

  ProcessWorkers(loop::Loop& loop, const base::Clock& clock, Settings settings);
  ~ProcessWorkers() override;

  void Call(WorkerCall call, base::Callback<records::Json> done) override;
  void Pause() override;
  void Resume() override;
  void Stop() override;
  WorkerCounters counters() const override;

 private:
  struct Request {
    WorkerCall call;
    base::Callback<records::Json> done;
  };
  struct Process;

  void Pump();
  bool MayStart(const WorkerCall& call) const;
  bool Start(Request& request);
  Process* FreeProcess(const WorkerCall& call, base::Error& why_not);
  void OnLine(Process& process, std::string_view line);
  void OnExit(Process& process, loop::ChildExit exit);
  void OnLimit(Process& process);
  void Finish(Process& process, base::Result<records::Json> result);
  void Discard(Process& process);
  void Answer(base::Callback<records::Json> done, base::Result<records::Json> result);
  int Running() const;
  WorkerCounters::PerKind& Of(WorkerKind kind) { return counters_.kinds[static_cast<int>(kind)]; }

  loop::Loop& loop_;
  const base::Clock& clock_;
  const Settings settings_;
  std::deque<Request> queue_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::unique_ptr<Process>> discarded_;  // until their callbacks have returned
  WorkerCounters counters_;
  std::chrono::nanoseconds started_;
  std::int64_t next_id_ = 1;
  bool paused_ = false;
  bool stopped_ = false;
  bool pumping_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace cupilot::evaluate
