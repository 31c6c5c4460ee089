// Runs a piece of code in a child process that confines itself first.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/unique_function.h"

namespace cupilot::test {

// What `act` returns there; 100: it could not be confined, 200 and a signal's number: it was ended
// by it.
template <class Confine, class Act>
int InChild(Confine confine, Act act) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!confine()) ::_exit(100);
    ::_exit(act());
  }
  const int status = base::WaitForEnd(child);
  return WIFSIGNALED(status) ? 200 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace cupilot::test
