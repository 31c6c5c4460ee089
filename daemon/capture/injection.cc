// What the driver loads where CUDA_INJECTION64_PATH names us, before the program's first call of it
// returns.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

#include "capture/session.h"

namespace {

using namespace cupilot::capture;

Session* g_process = nullptr;

void OnExit() { g_process->Finish(); }
void OnForked() { g_process->Abandon(); }

void Say(const std::string& text) {
  std::fprintf(stderr, "cupilot: nothing is captured: %s\n", text.c_str());
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  const char* path = std::getenv(kPlanVariable);
  if (path == nullptr || g_process != nullptr) return 1;
  Plan plan;
  std::string error;
  if (!ReadPlan(path, plan, error)) {
    Say(error);
    return 1;
  }
  // Never freed: other threads may be in it when the process ends.
  g_process = new Session(plan);
  if (!g_process->good()) {
    Say("no file can be written in " + plan.folder);
    return 1;
  }
  ::pthread_atfork(nullptr, nullptr, &OnForked);
  if (!g_process->Start(error)) {
    Say(error);
    return 1;
  }
  std::atexit(&OnExit);
  return 1;
}
