// Workers as processes: cupilot-worker, one or more of each kind, started when first needed. On the
// loop thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "evaluate/work_order.h"
#include "evaluate/workers.h"
#include "loop/child_process.h"
#include "loop/loop.h"
#include "loop/timer.h"

namespace cupilot::evaluate {

class ProcessWorkers final : public Workers {
 public:
  struct Settings {
    std::string program;  // path of cupilot-worker
    WorkerLimits limits;
    int nice = 10;
    std::string log_file;            // standard error of the workers; empty: ours
    int requests_per_process = 500;  // then it is replaced: bounds what parsing leaves behind
    // Processes end after so long without any request: a GPU's holds its memory and keeps it awake.
    std::chrono::milliseconds idle{10000};
  };

  ProcessWorkers(loop::Loop& loop, const base::Clock& clock, Settings settings);
  ~ProcessWorkers() override;

  void Call(WorkerCall call, base::Callback<records::Json> done) override;
  void Pause() override;
  void Resume() override;
  void Hold(const std::string& device) override;
  void Release(const std::string& device) override;
  void Stop() override;
  WorkerCounters counters() const override;
  Spent SpentOn(const std::string& kernel) const override;

 private:
  struct Request {
    WorkerCall call;
    base::Callback<records::Json> done;
  };
  struct Process;

  void Pump();
  void LeaveOut();
  std::optional<std::size_t> NextOfQueue() const;
  void Start(Request request);
  base::Result<Process*> FreeProcess(const WorkerCall& call);
  bool IsWaitedFor(const Process& process) const;
  // Back to the head of the queue; its process ends.
  void TakeBack(Process& process);
  void EndIdle();
  void OnLine(Process& process, std::string_view line);
  void OnExit(Process& process, loop::ChildExit exit);
  void OnLimit(Process& process);
  // Times that a device worker reports for a request: how long its device had something to run
  // (unknown: the whole request), and how long it waited for its turn on the device.
  struct DeviceTimes {
    std::optional<std::chrono::nanoseconds> at_work, waited;
  };
  void Finish(Process& process, base::Result<records::Json> result, DeviceTimes times);
  void Discard(Process& process);
  void Answer(base::Callback<records::Json> done, base::Result<records::Json> result);
  WorkerCounters::PerKind& Of(WorkerKind kind) { return counters_.kinds[static_cast<int>(kind)]; }
  void CountSpent(const WorkerCall& call, const char* purpose, std::chrono::nanoseconds time);
  // Before what is open for a device changes.
  void CountOpen();

  loop::Loop& loop_;
  const base::Clock& clock_;
  const Settings settings_;
  std::deque<Request> queue_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::unique_ptr<Process>> discarded_;  // until their callbacks have returned
  WorkerCounters counters_;
  std::map<std::string, Spent> spent_on_;  // by kernel
  std::chrono::nanoseconds started_;
  std::int64_t next_id_ = 1;
  std::set<std::string> held_;             // devices
  std::map<std::string, Streak> streaks_;  // of looks, by device
  loop::Timer idle_timer_;
  std::chrono::nanoseconds counted_;  // until when the open times were counted
  bool paused_ = false;
  bool stopped_ = false;
  bool pumping_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace cupilot::evaluate
