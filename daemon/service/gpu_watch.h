// Watches the GPUs for which there is work, and holds their workers back while others use them. On
// the loop thread. Without work it asks nothing and has no timer.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/unique_function.h"
#include "evaluate/calls.h"
#include "evaluate/workers.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "service/gpu_policy.h"

namespace cupilot::service {

// How much a GPU had to do while it was ours to use, by the driver's own word, whatever ran there;
// and how long it was not ours while there was work for it.
struct GpuLoad {
  std::chrono::nanoseconds sampled{0};
  double share = 0;                                   // of that time, 0 to 1
  std::map<GpuState, std::chrono::nanoseconds> left;  // by why
};

class GpuWatch {
 public:
  // `changed` is called when a GPU was freed or held back, and when one came or went.
  // `own_file`: where the monitor keeps which processes are ours (worker/monitor.h).
  GpuWatch(loop::Loop& loop, const base::Clock& clock, evaluate::Workers& workers,
           PolicySettings settings, std::string own_file, base::UniqueFunction<void()> changed);
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;
  ~GpuWatch();

  // One sample of the monitor, which changes nothing here.
  void Sample(base::Callback<MachineSample> done);

  // The GPUs that have work now. A GPU is held back until it was looked at.
  void Watch(const std::map<std::string, evaluate::DeviceDescription>& gpus);

  // True for what is not watched (the host).
  bool MayRun(const std::string& device) const;
  // Null: it is not watched now.
  const GpuJudgement* Find(const std::string& device) const;
  // Since the daemon started. Null: it was never watched.
  const GpuLoad* LoadOf(const std::string& device) const;
  // Of the GPUs that the last sample saw.
  const std::set<std::string>& uuids() const { return uuids_; }
  const PolicySettings& settings() const { return settings_; }

 private:
  struct Watched {
    std::string uuid;
    GpuPolicy policy;
    GpuJudgement judgement;
    std::optional<std::chrono::nanoseconds> counted;  // up to when its time was counted
    bool could_run = false;                           // then
  };
  void Look();
  bool NoteWhoIsThere(const MachineSample& sample);
  void OnSample(base::Result<MachineSample> sample);
  void CountTime(GpuLoad& load, Watched& watched, const GpuSample* gpu);

  const base::Clock& clock_;
  evaluate::Workers& workers_;
  const PolicySettings settings_;
  const std::string own_file_;
  base::UniqueFunction<void()> changed_;
  loop::Timer timer_;
  std::map<std::string, Watched> watched_;
  std::map<std::string, GpuLoad> loads_;
  bool looking_ = false;
  std::set<std::string> uuids_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace cupilot::service
