#include "loop/loop.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "loop/simulated_timers.h"
#include "loop/uv_handle.h"

namespace cupilot::loop {

struct Loop::State {
  uv_loop_t uv{};
  std::optional<SimulatedTimers> simulated;
  std::unique_ptr<UvHandle<uv_async_t>> wake;
  std::mutex mutex;
  std::vector<base::UniqueFunction<void()>> posted;  // guarded by mutex
  bool stopping = false;                             // guarded by mutex
  std::map<int, std::unique_ptr<UvHandle<uv_signal_t>>> signals;
  std::map<int, base::UniqueFunction<void()>> handlers;

  void OnWake();
};

// Sends coalesce, so one wake-up takes all that was posted.
void Loop::State::OnWake() {
  std::vector<base::UniqueFunction<void()>> tasks;
  bool stop = false;
  {
    const std::lock_guard lock(mutex);
    tasks.swap(posted);
    stop = stopping;
  }
  for (auto& task : tasks) task();
  if (stop) uv_stop(&uv);
}

Loop::Loop() : state_(std::make_unique<State>()) {
  if (uv_loop_init(&state_->uv) != 0) std::abort();
  state_->wake = std::make_unique<UvHandle<uv_async_t>>(state_.get());
  const auto wake = [](uv_async_t* handle) {
    if (handle->data != nullptr) static_cast<State*>(handle->data)->OnWake();
  };
  if (uv_async_init(&state_->uv, state_->wake->get(), wake) != 0) std::abort();
}

Loop::Loop(const base::Clock& clock) : Loop() { state_->simulated.emplace(clock); }

namespace {

// A killed process ends within milliseconds, unless a driver holds it: nobody is to wait for that.
constexpr std::uint64_t kMostForKilledMs = 1000;

// Handles of children whose owners are gone are all that still makes the loop run.
void AwaitKilled(uv_loop_t* uv) {
  uv_update_time(uv);
  UvHandle<uv_timer_t> limit(nullptr);
  uv_timer_init(uv, limit.get());
  uv_timer_start(limit.get(), [](uv_timer_t* timer) { uv_stop(timer->loop); }, kMostForKilledMs, 0);
  uv_unref(limit.base());
  uv_run(uv, UV_RUN_DEFAULT);
  const auto close = [](uv_handle_t* handle, void*) {
    if (uv_handle_get_type(handle) != UV_PROCESS || uv_is_closing(handle) != 0) return;
    UvHandle<uv_process_t>::CloseAbandoned(reinterpret_cast<uv_process_t*>(handle));
  };
  uv_walk(uv, close, nullptr);
}

bool WaitsFor(uv_loop_t* uv, pid_t pid) {
  struct Search {
    pid_t pid;
    bool found;
  } search{pid, false};
  const auto look = [](uv_handle_t* handle, void* data) {
    auto* wanted = static_cast<Search*>(data);
    if (uv_handle_get_type(handle) != UV_PROCESS || uv_is_closing(handle) != 0) return;
    wanted->found |= reinterpret_cast<uv_process_t*>(handle)->pid == wanted->pid;
  };
  uv_walk(uv, look, &search);
  return search.found;
}

// A child that libuv waits for ends the search: its signal, which is still to be handled, calls
// this again.
void ReapOrphans(uv_loop_t* uv) {
  for (;;) {
    siginfo_t ended{};
    const int error = ::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT);
    if (error != 0 && errno == EINTR) continue;
    if (error != 0 || ended.si_pid == 0 || WaitsFor(uv, ended.si_pid)) return;
    ::waitpid(ended.si_pid, nullptr, WNOHANG);
  }
}

}  // namespace

Loop::~Loop() {
  state_->signals.clear();
  state_->wake.reset();
  AwaitKilled(&state_->uv);
  while (uv_run(&state_->uv, UV_RUN_DEFAULT) != 0) {
  }
  // A handle that is still open here has an owner that outlived the loop: a programming error.
  if (uv_loop_close(&state_->uv) != 0) std::abort();
}

void Loop::Run() {
  uv_run(&state_->uv, UV_RUN_DEFAULT);
  const std::lock_guard lock(state_->mutex);
  state_->stopping = false;
}

void Loop::RunOnce(bool wait) { uv_run(&state_->uv, wait ? UV_RUN_ONCE : UV_RUN_NOWAIT); }

void Loop::Stop() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  uv_async_send(state_->wake->get());
}

void Loop::Post(base::UniqueFunction<void()> task) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->posted.push_back(std::move(task));
  }
  uv_async_send(state_->wake->get());
}

void Loop::OnSignal(int signal_number, base::UniqueFunction<void()> handler) {
  state_->handlers[signal_number] = std::move(handler);
  auto& handle = state_->signals[signal_number];
  if (handle != nullptr) return;
  handle = std::make_unique<UvHandle<uv_signal_t>>(state_.get());
  uv_signal_init(&state_->uv, handle->get());
  const auto on_signal = [](uv_signal_t* fired, int number) {
    if (fired->data != nullptr) static_cast<State*>(fired->data)->handlers[number]();
  };
  uv_signal_start(handle->get(), on_signal, signal_number);
  uv_unref(handle->base());
}

void Loop::AdoptOrphans() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // With the next turn: libuv, which handles the same signal, has waited for its own children then.
  OnSignal(SIGCHLD, [this] { Post([this] { ReapOrphans(&state_->uv); }); });
}

void Loop::RunTimers() {
  if (state_->simulated) state_->simulated->RunDue();
}

std::optional<std::chrono::nanoseconds> Loop::NextTimer() const {
  return state_->simulated ? state_->simulated->Next() : std::nullopt;
}

std::chrono::milliseconds Loop::Now() const {
  if (!state_->simulated) return std::chrono::milliseconds(uv_now(&state_->uv));
  return std::chrono::duration_cast<std::chrono::milliseconds>(state_->simulated->Now());
}

uv_loop_s* Loop::uv() const { return &state_->uv; }

SimulatedTimers* Loop::simulated() const {
  return state_->simulated ? &*state_->simulated : nullptr;
}

}  // namespace cupilot::loop
