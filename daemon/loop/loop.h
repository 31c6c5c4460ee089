// The event loop. One thread runs it and owns all mutable state of the daemon.
#pragma once

#include <memory>

#include "base/unique_function.h"

struct uv_loop_s;

namespace cupilot::loop {

class Loop {
 public:
  Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  // Closes what is open and runs until libuv has let go of it. Everything that was made with this
  // loop must be gone already.
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

  uv_loop_s* uv() const;  // for this folder

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cupilot::loop
