#include "agents/alarms.h"

#include <utility>

#include "loop/timer.h"

namespace cupilot::agents {
namespace {

class TimerAlarm final : public Alarm {
 public:
  TimerAlarm(loop::Loop& loop, std::chrono::milliseconds delay,
             base::UniqueFunction<void()> expired)
      : timer_(loop) {
    timer_.Start(delay, std::move(expired));
  }

 private:
  loop::Timer timer_;
};

}  // namespace

std::unique_ptr<Alarm> LoopAlarms::After(std::chrono::milliseconds delay,
                                         base::UniqueFunction<void()> expired) {
  return std::make_unique<TimerAlarm>(loop_, delay, std::move(expired));
}

}  // namespace cupilot::agents
