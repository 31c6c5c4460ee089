// How long launches took, from CUPTI's records of kernels, and the launches that only they tell of:
// those of graphs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>

#include "capture/cupti.h"
#include "capture/kernels.h"
#include "recording/recorder.h"

namespace cupilot::capture {

// Thread-safe.
class Timings {
 public:
  Timings(const Cupti& cupti, Recorder& recorder) : cupti_(cupti), recorder_(recorder) {}

  // Of a launch that is about to be made.
  void Expect(std::uint32_t correlation, std::uint32_t counter);
  // It failed.
  void Forget(std::uint32_t correlation);
  // Counts what a buffer of CUPTI tells.
  void Take(std::uint8_t* buffer, std::size_t bytes);
  // Counts the launches that no call of the program announced.
  void Finish(Kernels& kernels);

 private:
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::uint32_t, std::uint32_t> counters;  // by correlation
  };
  struct Tally {
    std::uint64_t calls = 0;
    std::uint64_t timed = 0;
    double microseconds = 0;
  };
  using Unannounced = std::tuple<std::string, std::array<std::uint32_t, 3>,
                                 std::array<std::uint32_t, 3>, std::uint64_t>;

  bool Expected(std::uint32_t correlation, std::uint32_t& counter);

  const Cupti& cupti_;
  Recorder& recorder_;
  std::array<Shard, 64> shards_;
  std::mutex mutex_;  // of what follows
  std::map<Unannounced, Tally> unannounced_;
};

}  // namespace cupilot::capture
