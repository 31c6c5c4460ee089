#include "client/bench/kernel_time.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "workloads/recording.h"

namespace cupilot::client {

base::Result<KernelClock> KernelClock::Make() {
  TRY_ASSIGN(RecordingFolder folder, RecordingFolder::Make());
  // Of a plan that names no kernel launches are counted and timed, and nothing is recorded.
  TRY_ASSIGN(auto environment, folder.Follow({}));
  return KernelClock(std::move(folder), std::move(environment));
}

std::optional<double> KernelClock::TakeSeconds() const {
  std::optional<double> microseconds;
  std::vector<std::filesystem::path> read;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path(), error)) {
    if (entry.path().extension() != ".capture") continue;
    read.push_back(entry.path());
    const auto recording = workloads::Recording::Read(entry.path());
    if (!recording) continue;
    for (const auto& [id, counter] : recording->counters()) {
      microseconds = microseconds.value_or(0) + counter.TotalMicroseconds();
    }
  }
  for (const auto& path : read) std::filesystem::remove(path, error);
  if (!microseconds || *microseconds <= 0) return std::nullopt;
  return *microseconds / 1e6;
}

}  // namespace cupilot::client
