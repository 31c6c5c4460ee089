// The daemon's view of its worker processes: requests go in, replies come out, and a worker that
// crashes or hangs costs only the request that it had. All calls on the loop thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "base/callback.h"
#include "records/json.h"

namespace cupilot::evaluate {

enum class WorkerKind { kSource, kBuild, kDevice, kMonitor };
inline constexpr int kWorkerKinds = 4;

// "source", "build", "device", "monitor": the value of the worker's --kind.
const char* Name(WorkerKind kind);

struct WorkerCall {
  WorkerKind kind = WorkerKind::kSource;
  // For which device it is done: "host", "cuda:0". A device worker serves one device.
  std::string device = "host";
  std::string op;        // protocol/worker_messages.h
  records::Json params;  // ToJson of the op's request
  // From the moment the request is handed to a process, starting it included. On expiry the process
  // is killed.
  std::chrono::milliseconds limit{60000};
  // Runs alone: waits for every running request to end, and none starts before it is done. What
  // measures on the host is exclusive, so nothing is compiled while something is measured there.
  bool exclusive = false;
  // Of a GPU's device workers, each lane has a process of its own. Proofs, which take many times as
  // long as a probe, are not in lane 0, so that the search goes on meanwhile; on the GPU all take
  // turns (worker/device_turn.h).
  int lane = 0;
  // Ends its process after the reply if no other call waits for it: nothing would use it soon, and
  // it holds memory of the device.
  bool passing = false;
  // Of the calls of one line that wait for workers of one kind, the one with the lowest place is
  // the first. Empty: it waits behind all that came before.
  std::string line;
  std::int64_t place = 0;
  // Key of the kernel whose time this is (SpentOn). Empty: no kernel's.
  std::string kernel;
  // Is of use only to who comes after it: where no process is free for it when it is asked for, it
  // ends with kCancelled instead of keeping others waiting.
  bool only_if_free = false;
  // Begins while paused, too: little work, without which the daemon cannot answer what is there.
  bool answers_questions = false;
};

// Where the time went. Summed over workers: looking at candidates, proving and timing them, making
// and building them, requests that were taken back and begin again, and waiting inside a request
// for a turn on the device. Of a kernel also: time in which all its requests for
// a device waited for a worker, or for others to leave the device.
inline constexpr const char *kLooking = "looking", *kProving = "proving", *kBuilding = "building",
                            *kInterrupted = "interrupted", *kForTurn = "taking_turns",
                            *kForDevice = "waiting", *kForOthers = "left_to_others";

struct WorkerCounters {
  struct PerKind {
    std::int64_t started = 0;          // processes
    std::int64_t requests = 0;         // handed to a process
    std::int64_t replies = 0;          // results and errors that a worker sent
    std::int64_t crashed = 0;          // ended by a signal or by exit while it had a request
    std::int64_t timed_out = 0;        // killed at its limit, of time or of the processor's
    std::int64_t garbled = 0;          // killed because it sent what is no reply
    std::int64_t waiting = 0;          // requests in the queue now
    std::int64_t running = 0;          // requests in a process now
    std::chrono::nanoseconds busy{0};  // summed over processes
  };
  PerKind kinds[kWorkerKinds];
  struct PerDevice {
    std::int64_t requests = 0;        // of its device workers
    std::int64_t waiting = 0;         // for its device worker, now
    std::int64_t builds_waiting = 0;  // for a build worker, now
    // Its device worker had something to run on it; of a request that is under way, all so far.
    std::chrono::nanoseconds busy{0};
    std::chrono::nanoseconds open{0};  // something was to be done for it, and might be
    // What workers did for it, summed over processes, by purpose: the first five.
    std::map<std::string, std::chrono::nanoseconds> spent;
    // How much of the time it did not wait for a build, a rewrite, a comparison or us; 0: nothing
    // was done.
    double BusyShare() const {
      // Its two workers may both be at work.
      return open.count() > 0 ? std::min(1.0, static_cast<double>(busy.count()) /
                                                  static_cast<double>(open.count()))
                              : 0;
    }
  };
  std::map<std::string, PerDevice> devices;  // GPUs, by name
  std::int64_t exclusive_runs = 0;
  std::chrono::nanoseconds exclusive_busy{0};  // while something was measured
  std::chrono::nanoseconds since_start{0};     // the whole that busy times are shares of

  const PerKind& Of(WorkerKind kind) const { return kinds[static_cast<int>(kind)]; }
};

class Workers {
 public:
  virtual ~Workers() = default;

  // The reply's "result". Errors: what the worker reported, with its code; kToolFailed if the
  // process crashed, exited or sent what is no reply; kTimeout at the limit; kUnavailable if it
  // cannot be started; kCancelled after Stop().
  virtual void Call(WorkerCall call, base::Callback<records::Json> done) = 0;

  // Nothing but what `answers_questions` (and monitors) starts until Resume(): for a running build
  // of the user, foreign activity, snooze. A
  // request in a device process is taken back, the process killed, and runs again after Resume().
  virtual void Pause() = 0;
  virtual void Resume() = 0;

  // The same for one device, which is left free of our memory: its idle worker ends too. Of other
  // workers nothing is taken back.
  virtual void Hold(const std::string& /*device*/) {}
  virtual void Release(const std::string& /*device*/) {}

  // Kills all processes; every open and every later request ends with kCancelled.
  virtual void Stop() = 0;

  virtual WorkerCounters counters() const = 0;

  // Returns where a kernel's time went (its key), by purpose.
  using Spent = std::map<std::string, std::chrono::nanoseconds>;
  virtual Spent SpentOn(const std::string& /*kernel*/) const { return {}; }
};

}  // namespace cupilot::evaluate
