// The process in which candidates run, and the judge's end of it.
//
// A runner (cupilot-worker --kind run) maps the arena that it gets as descriptor 3 and answers
// requests, one JSON line each:
//   {"op": "load", "device", "arena_bytes", "memory_bytes", "modules": [paths]}
//       -> {"architecture": "sm_90", "resources": [{kernel: {"registers", ...}}, ...]}
//   {"op": "run", "module": 0, "program": {...}, "bytes", "schedule", "beyond"}
//       -> {"microseconds": t}
//       "beyond": of a GPU, the byte that its memory behind the first "bytes" is filled with before
//       "schedule": of the host device, for this run (cupilot_host_schedule.h says which there are
//       and what they show); it runs one block after another
//   {"op": "series", ...}                                  -> {"microseconds": t}: series_op.h
//   {"op": "watch", ...}                                   -> {"findings": [...], ...}
//       the host device: watch_op.h
//   {"op": "pairs", ...}                                   -> {"pairs": [[a, b], ...]}
//   {"op": "peaks"}, {"op": "counters", ...}: GPUs; cuda_peaks.h and cuda_counters.h
// or {"error": "...", "code": "..."}; after a failure of the device it ends. On a GPU "load" may
// come again and replaces the modules; its memory then has "memory_bytes", where the request says
// so, of which "run" uses no more. Its word counts for times and resources only: the judge
// reads results from the arena.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/child.h"
#include "base/result.h"
#include "records/json.h"
#include "worker/arena.h"
#include "worker/device_turn.h"

namespace cupilot::worker {

class Runner {
 public:
  // Starts a runner for the device on the arena and loads the modules. kUnavailable: there is no
  // such device, or it has not enough memory.
  static base::Result<Runner> Start(const std::string& device, const Arena& arena,
                                    const std::vector<std::string>& modules);
  // The first half of that: a process that has opened the driver, or soon will have, and may load
  // what lies in these modules' folders. It has nothing of the device yet, and disturbs nobody who
  // measures.
  static base::Result<Runner> Begin(const std::string& device, const Arena& arena,
                                    const std::vector<std::string>& modules);
  // Has it make the device's context, and waits for nothing. `turn` is kept until AwaitContext(),
  // which what is asked next does by itself.
  void BeginContext(DeviceTurn turn);
  base::Result<> AwaitContext();
  // The second half, on the same arena.
  base::Result<> Open(std::size_t arena_bytes, const std::vector<std::string>& modules);
  Runner(Runner&& other) noexcept;
  Runner& operator=(Runner&& other) noexcept;
  ~Runner();

  // GPUs only: other modules in place of those that are loaded.
  base::Result<> Load(const std::vector<std::string>& modules);

  // kTimeout: killed at the limit. kToolFailed: it crashed or exited (`how` in the message).
  // kInvalidArgument: it refused (its own message). kUnavailable: the device lacks something
  // (memory). It lives on after kInvalidArgument alone. On a GPU what runs has the machine's lock
  // on it (device_turn.h); kUnavailable where another process does not give that away.
  base::Result<records::Json> Ask(const records::Json& request, std::chrono::milliseconds limit);
  // How long this process has waited for answers of its runners so far, loads not counted: the time
  // in which a device had something of ours to run. One thread.
  static std::chrono::nanoseconds AtWork();
  bool alive() const { return static_cast<bool>(child_); }
  // Its destructor kills it and returns: to take down a GPU's context takes as long as to make one.
  void NobodyWaitsForItsEnd() { end_waits_ = false; }
  const std::string& architecture() const { return architecture_; }
  // By module and kernel, what the device says of a kernel's needs; empty on the host.
  const records::Json& resources() const { return resources_; }

 private:
  Runner(std::string device, pid_t pid, int input, int output)
      : device_(std::move(device)), child_(pid), input_(input), output_(output) {}
  base::Result<records::Json> Exchange(const records::Json& request,
                                       std::chrono::milliseconds limit);
  base::Result<> Send(const records::Json& request);
  base::Result<records::Json> Reply(std::chrono::milliseconds limit);
  void Take(const records::Json& loaded);  // the reply
  void End();
  std::string HowItEnded();

  std::string device_;
  base::ReapedChild child_;
  bool end_waits_ = true;
  int input_;
  int output_;
  std::string partial_;
  std::optional<DeviceTurn> making_context_;  // its reply is still to come
  std::string architecture_;
  records::Json resources_;
};

// What starts a runner that may reach these modules and what lies in the folders `also`: the words,
// and the first request.
std::vector<std::string> RunnerWords(const std::string& device,
                                     const std::vector<std::string>& modules,
                                     const std::vector<std::string>& also = {});
records::Json LoadRequest(const std::string& device, std::size_t arena_bytes,
                          const std::vector<std::string>& modules);

// The runner's own main loop; returns the exit code. `access` (JSON, sandbox/access.h): what it may
// reach; empty, for runs by hand: all that the user may.
int ServeRuns(const std::string& access);

}  // namespace cupilot::worker
