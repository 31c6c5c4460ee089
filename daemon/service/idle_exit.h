// When a daemon that nobody needs ends by itself. Pure: the caller says what is the case, and when.
#pragma once

#include <chrono>
#include <string>

namespace cupilot::service {

enum class IdleExitRule {
  kNoProject,  // only where no project is there: else the next build would go unnoticed
  kDone,       // also when all kernels of all projects are done
  kNever,
};

class IdleExit {
 public:
  IdleExit(IdleExitRule rule, std::chrono::nanoseconds after) : rule_(rule), after_(after) {}

  // Somebody asked something: that counts as work.
  void OnRequest(std::chrono::nanoseconds now) { since_ = now; }
  // What the service says of itself (Service::IdleReason()), and whether somebody listens to its
  // events. True once it was without work for so long.
  bool IsTime(const std::string& idle_reason, bool listened_to, std::chrono::nanoseconds now);
  // How soon it is to be looked at again; zero: never.
  std::chrono::milliseconds period() const;

 private:
  IdleExitRule rule_;
  std::chrono::nanoseconds after_;
  std::chrono::nanoseconds since_{0};  // the last that was seen of work
  bool looked_ = false;
};

}  // namespace cupilot::service
