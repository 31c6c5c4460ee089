#include "client/ending_signals.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace cupilot::client {
namespace {

// For the handler.
std::atomic<pid_t> program_of_signals{0};
std::atomic<int> signal_to_us{0};
static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

extern "C" void OnEndingSignal(int number) {
  const int error = errno;
  const pid_t program = program_of_signals;
  if (program <= 0) {
    signal_to_us = number;
  } else if (number == SIGTERM || number == SIGHUP) {
    ::kill(program, number);
  }
  errno = error;
}

}  // namespace

EndingSignals::EndingSignals() {
  signal_to_us = 0;
  for (std::size_t i = 0; i < kNumbers.size(); ++i) {
    struct sigaction action{};
    action.sa_handler = OnEndingSignal;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(kNumbers[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) ::sigaction(kNumbers[i], &action, nullptr);
  }
}

EndingSignals::~EndingSignals() {
  program_of_signals = 0;
  for (std::size_t i = 0; i < kNumbers.size(); ++i) {
    ::sigaction(kNumbers[i], &before_[i], nullptr);
  }
}

void EndingSignals::SetProgram(pid_t program) {
  program_of_signals = program;
  // One that came before the program was known was for it.
  const int early = program > 0 ? signal_to_us.exchange(0) : 0;
  if (early != 0) ::kill(program, early);
}

bool EndingSignals::Asked() const { return signal_to_us != 0; }

}  // namespace cupilot::client
