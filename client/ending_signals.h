// What is sent to end us while a program runs for us ends the program: what it has done until then
// is not lost, and what it left is cleaned up.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>

namespace cupilot::client {

// SIGINT, SIGQUIT, SIGTERM and SIGHUP do not end this process while one of these lives, of which
// there is one at a time. Who was started to ignore one of them (nohup) still does.
class EndingSignals {
 public:
  EndingSignals();
  EndingSignals(const EndingSignals&) = delete;
  EndingSignals& operator=(const EndingSignals&) = delete;
  ~EndingSignals();

  // From now on they are the program's: SIGTERM and SIGHUP are passed on to it (a terminal sends
  // the others to both of us). 0: there is none any more.
  void SetProgram(pid_t program);
  // Whether one came while no program ran: we were to end.
  bool Asked() const;

 private:
  static constexpr std::array<int, 4> kNumbers = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kNumbers.size()> before_{};
};

}  // namespace cupilot::client
