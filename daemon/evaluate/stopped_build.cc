#include "evaluate/stopped_build.h"

#include <cmath>
#include <cstring>

#include "protocol/worker_messages.h"

namespace cupilot::evaluate {

std::string NoteStopped(const base::Error& error, double limit, records::Evaluation& evaluation) {
  const bool stopped = error.message.find(::strsignal(protocol::kStopSignal)) != std::string::npos;
  if (limit <= 0 || !stopped) return {};
  evaluation.metrics["build_stopped"] = true;
  evaluation.metrics["build_cpu_seconds"] = limit;
  return " (" + std::to_string(std::lround(limit)) +
         " s of processor time are the limit, several times what this kernel's others take)";
}

}  // namespace cupilot::evaluate
