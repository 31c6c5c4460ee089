// The event loop. One thread runs it and owns all mutable state of the daemon.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/unique_function.h"

struct uv_loop_s;

namespace cupilot::loop {

class SimulatedTimers;

class Loop {
 public:
  Loop();
  // For simulations: timers go by this clock, which outlives the loop, and go off in RunTimers()
  // only.
  explicit Loop(const base::Clock& clock);
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  // Closes what is open and runs until libuv has let go of it. Everything that was made with this
  // loop must be gone already. Waits for children that were killed, a second at most.
  ~Loop();

  // Runs until Stop().
  void Run();
  // Handles what is ready (waiting for something if `wait`), then returns. For tests.
  void RunOnce(bool wait);
  // Any thread; idempotent: Run() returns after the current callback.
  void Stop();
  // Any thread: `task` runs on the loop thread, in order, never inside Post itself.
  void Post(base::UniqueFunction<void()> task);

  // Calls `handler` on the loop thread when the process gets the signal. Replaces an earlier one.
  void OnSignal(int signal_number, base::UniqueFunction<void()> handler);

  // Makes this process the parent of its descendants whose own parents end before them, and waits
  // for their ends on the loop. Every other child of this process must be a ChildProcess of this
  // loop, or be waited for on its thread before anything else happens there.
  void AdoptOrphans();

  // Of a loop with a clock of its own: those that are due go off.
  void RunTimers();
  // When the next one is due, by that clock; nothing: none is set.
  std::optional<std::chrono::nanoseconds> NextTimer() const;
  // By what timers go.
  std::chrono::milliseconds Now() const;

  // For this folder.
  uv_loop_s* uv() const;
  SimulatedTimers* simulated() const;  // null: the system's time counts

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cupilot::loop
