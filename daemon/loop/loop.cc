#include "loop/loop.h"

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

Loop::~Loop() {
  state_->signals.clear();
  state_->wake.reset();
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
