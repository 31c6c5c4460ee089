#include "loop/timer.h"

#include <optional>
#include <utility>

#include "loop/simulated_timers.h"
#include "loop/uv_handle.h"

namespace cupilot::loop {

struct Timer::State {
  explicit State(Loop& loop) : simulated(loop.simulated()), handle(this) {
    uv_timer_init(loop.uv(), handle.get());
  }

  void Begin(std::chrono::milliseconds delay, std::chrono::milliseconds period) {
    if (simulated != nullptr) {
      End();
      due = simulated->Add(delay, [this, period] {
        due.reset();
        if (repeating) Begin(period, period);
        OnTimer();
      });
      return;
    }
    const auto on_timer = [](uv_timer_t* timer) {
      if (timer->data != nullptr) static_cast<State*>(timer->data)->OnTimer();
    };
    uv_update_time(handle.get()->loop);
    uv_timer_start(handle.get(), on_timer, static_cast<std::uint64_t>(delay.count()),
                   static_cast<std::uint64_t>(period.count()));
  }

  void End() {
    if (due) simulated->Remove(*due);
    due.reset();
    uv_timer_stop(handle.get());
  }

  bool active() const {
    return simulated != nullptr ? due.has_value() : uv_is_active(handle.base()) != 0;
  }

  // The callback may start the timer again, or destroy it: it is moved out first and put back only
  // if the timer still exists, repeats and was not given another callback.
  void OnTimer() {
    auto current = std::move(expired);
    if (!repeating) {
      current();
      return;
    }
    bool destroyed = false;
    destroyed_flag = &destroyed;
    current();
    if (destroyed) return;
    destroyed_flag = nullptr;
    if (repeating && !expired) expired = std::move(current);
  }

  ~State() {
    if (due) simulated->Remove(*due);
    if (destroyed_flag != nullptr) *destroyed_flag = true;
  }

  SimulatedTimers* const simulated;  // null: libuv's count
  std::optional<SimulatedTimers::Key> due;
  UvHandle<uv_timer_t> handle;
  base::UniqueFunction<void()> expired;
  bool repeating = false;
  bool* destroyed_flag = nullptr;
};

Timer::Timer(Loop& loop) : state_(std::make_unique<State>(loop)) {}
Timer::~Timer() = default;

void Timer::Start(std::chrono::milliseconds delay, base::UniqueFunction<void()> expired) {
  state_->expired = std::move(expired);
  state_->repeating = false;
  state_->Begin(delay, std::chrono::milliseconds(0));
}

void Timer::StartRepeating(std::chrono::milliseconds period, base::UniqueFunction<void()> expired) {
  state_->expired = std::move(expired);
  state_->repeating = true;
  state_->Begin(period, period);
}

void Timer::Cancel() {
  state_->End();
  state_->repeating = false;
}

bool Timer::active() const { return state_->active(); }

}  // namespace cupilot::loop
