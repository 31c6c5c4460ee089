// When a GPU may be used: not while others use it, nor shortly after, nor where it would be woken,
// is hot or full. A pure function of samples of the monitor and of the time, one state a GPU.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/json.h"

namespace cupilot::service {

// As the monitor tells it (worker/monitor.h); what is not known is absent.
struct GpuProcess {
  std::int64_t pid = 0;
  bool graphics = false;
  bool own = false;
  bool seen = true;  // it is among the processes that we can see
  std::optional<std::int64_t> memory_bytes;
  std::optional<int> load;
};
struct GpuSample {
  std::string pci, uuid, name, problem;
  std::string power = "active";
  bool mig = false;
  std::optional<std::vector<GpuProcess>> processes;
  std::optional<int> load;
  std::optional<std::int64_t> memory_total, memory_used;
  std::optional<std::int64_t> throttle_reasons;
  std::optional<int> temperature, temperature_limit;
  std::optional<bool> display;
};
struct MachineSample {
  std::vector<GpuSample> gpus;
  std::string reason;  // why nothing is known
  bool container = false;
  bool wsl = false;
};
base::Result<MachineSample> ParseMachineSample(const records::Json& json);

struct PolicySettings {
  std::chrono::nanoseconds quiet{std::chrono::seconds(60)};  // before the first use
  std::chrono::nanoseconds pause{std::chrono::seconds(60)};  // after others were at work
  bool wake = false;                                         // a sleeping GPU may be woken
};

enum class GpuState {
  kFree,      // may be used
  kQuiet,     // waits until it was quiet for long enough
  kOthers,    // others are at work
  kHot,       // it is slowed down by heat or power
  kFull,      // others hold its memory
  kAsleep,    // it would be woken
  kUnusable,  // the driver reports a problem
};
// "free", "quiet", "others", "hot", "full", "asleep", "unusable".
const char* Name(GpuState state);

struct GpuJudgement {
  GpuState state = GpuState::kQuiet;
  std::string reason;  // a sentence; also of a free one, if something limits what can be seen
  bool display = false;
  bool may_run() const { return state == GpuState::kFree; }
};

// Of one GPU. What is kept from one sample to the next: who was there, and when others last worked.
class GpuPolicy {
 public:
  explicit GpuPolicy(PolicySettings settings) : settings_(settings) {}

  // `now` of a clock that does not jump; `ours` is true while a worker of ours has work there.
  GpuJudgement Judge(const GpuSample& sample, const MachineSample& machine,
                     std::chrono::nanoseconds now, bool ours);

 private:
  // What others do now; empty: nothing that counts.
  std::string Activity(const GpuSample& sample, bool ours);

  const PolicySettings settings_;
  std::optional<std::chrono::nanoseconds> first_;   // sample
  std::optional<std::chrono::nanoseconds> active_;  // when others last worked
  std::map<std::int64_t, bool> known_;              // processes of others
};

}  // namespace cupilot::service
