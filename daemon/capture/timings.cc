#include "capture/timings.h"

namespace cupilot::capture {

void Timings::Expect(std::uint32_t correlation, std::uint32_t counter) {
  Shard& shard = shards_[correlation % shards_.size()];
  const std::lock_guard lock(shard.mutex);
  shard.counters[correlation] = counter;
}

void Timings::Forget(std::uint32_t correlation) {
  std::uint32_t counter;
  Expected(correlation, counter);
}

bool Timings::Expected(std::uint32_t correlation, std::uint32_t& counter) {
  Shard& shard = shards_[correlation % shards_.size()];
  const std::lock_guard lock(shard.mutex);
  const auto at = shard.counters.find(correlation);
  if (at == shard.counters.end()) return false;
  counter = at->second;
  shard.counters.erase(at);
  return true;
}

void Timings::Take(std::uint8_t* buffer, std::size_t bytes) {
  std::unordered_map<std::uint32_t, Tally> announced;
  void* next = nullptr;
  while (cupti_.cuptiActivityGetNextRecord(buffer, bytes, &next) == kCuptiSuccess) {
    const auto& record = *static_cast<const KernelRecord*>(next);
    if (record.kind != static_cast<std::uint32_t>(kConcurrentKernels)) continue;
    const bool timed = record.end > record.begin;
    const double microseconds = timed ? static_cast<double>(record.end - record.begin) / 1e3 : 0;
    const auto add = [&](Tally& tally) {
      ++tally.calls;
      tally.timed += timed ? 1 : 0;
      tally.microseconds += microseconds;
    };
    std::uint32_t counter = kNone;
    if (record.graph_node == 0 && Expected(record.correlation, counter)) {
      add(announced[counter]);
      continue;
    }
    Unannounced launch;
    auto& [name, grid, block, shared] = launch;
    name = record.name == nullptr ? "" : record.name;
    for (std::size_t i = 0; i < 3; ++i) {
      grid[i] = static_cast<std::uint32_t>(record.grid[i]);
      block[i] = static_cast<std::uint32_t>(record.block[i]);
    }
    shared = static_cast<std::uint32_t>(record.dynamic_shared);
    const std::lock_guard lock(mutex_);
    add(unannounced_[launch]);
  }
  for (const auto& [counter, tally] : announced) {
    if (tally.timed > 0) recorder_.AddTime(counter, tally.microseconds, tally.timed);
  }
}

void Timings::Finish(Kernels& kernels) {
  const std::lock_guard lock(mutex_);
  for (const auto& [what, tally] : unannounced_) {
    Launch launch;
    const auto& [name, grid, block, shared] = what;
    launch.grid = grid;
    launch.block = block;
    launch.shared_bytes = shared;
    const Recorder::Kernel* kernel = kernels.Named(name);
    const std::uint32_t counter = recorder_.Count(*kernel, launch, tally.calls);
    if (tally.timed > 0) recorder_.AddTime(counter, tally.microseconds, tally.timed);
    if (kernel->planned != nullptr) {
      recorder_.Note(kernel, "launches that graphs make are counted, but not recorded");
    }
  }
  unannounced_.clear();
}

}  // namespace cupilot::capture
