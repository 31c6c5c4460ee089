#include "client/bench/kernel_time.h"

#include <utility>

#include "workloads/recording.h"

namespace cupilot::client {

base::Result<KernelClock> KernelClock::Make() {
  TRY_ASSIGN(RecordingFolder folder, RecordingFolder::Make());
  // Of a plan that names no kernel launches are counted and timed, and nothing is recorded.
  TRY_ASSIGN(auto environment, folder.Follow({}));
  return KernelClock(std::move(folder), std::move(environment));
}

std::optional<double> KernelClock::Seconds() const {
  std::optional<double> microseconds;
  for (const std::string& path : folder_.Recordings()) {
    const auto recording = workloads::Recording::Read(path);
    if (!recording) continue;
    for (const auto& [id, counter] : recording->counters()) {
      microseconds = microseconds.value_or(0) + counter.TotalMicroseconds();
    }
  }
  if (!microseconds || *microseconds <= 0) return std::nullopt;
  return *microseconds / 1e6;
}

}  // namespace cupilot::client
