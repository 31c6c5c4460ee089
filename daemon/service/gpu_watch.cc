#include "service/gpu_watch.h"

#include <utility>

#include "log/log.h"

namespace cupilot::service {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kWhileUsed{300};  // others have it again within a second
constexpr milliseconds kWhileWaiting{2000};
constexpr milliseconds kSampleLimit{5000};  // opening the library may take its time

// By its UUID, as the driver and the library both tell it; the only one there needs none.
const GpuSample* FindSample(const MachineSample& machine, const std::string& uuid) {
  for (const GpuSample& sample : machine.gpus) {
    if (!uuid.empty() && sample.uuid == uuid) return &sample;
  }
  return machine.gpus.size() == 1 ? machine.gpus.data() : nullptr;
}

}  // namespace

GpuWatch::GpuWatch(loop::Loop& loop, const base::Clock& clock, evaluate::Workers& workers,
                   PolicySettings settings, std::string own_file,
                   base::UniqueFunction<void()> changed)
    : clock_(clock),
      workers_(workers),
      settings_(settings),
      own_file_(std::move(own_file)),
      changed_(std::move(changed)),
      timer_(loop) {}

GpuWatch::~GpuWatch() { *alive_ = false; }

void GpuWatch::Watch(const std::map<std::string, evaluate::DeviceDescription>& gpus) {
  std::erase_if(watched_, [&](const auto& entry) {
    const auto known = gpus.find(entry.first);
    if (known != gpus.end() && known->second.uuid == entry.second.uuid) return false;
    workers_.Release(entry.first);
    return true;
  });
  for (const auto& [device, description] : gpus) {
    if (watched_.contains(device)) continue;
    GpuJudgement unknown;
    unknown.reason = "it is looked at";
    watched_.emplace(device, Watched{description.uuid, GpuPolicy(settings_), unknown, {}, false});
    workers_.Hold(device);
  }
  if (watched_.empty()) {
    timer_.Cancel();
  } else if (!timer_.active() && !looking_) {
    Look();
  }
}

bool GpuWatch::MayRun(const std::string& device) const {
  const GpuJudgement* judgement = Find(device);
  return judgement == nullptr || judgement->may_run();
}

const GpuJudgement* GpuWatch::Find(const std::string& device) const {
  const auto it = watched_.find(device);
  return it == watched_.end() ? nullptr : &it->second.judgement;
}

const GpuLoad* GpuWatch::LoadOf(const std::string& device) const {
  const auto it = loads_.find(device);
  return it == loads_.end() ? nullptr : &it->second;
}

// The load that is told is of the time since the sample before.
void GpuWatch::CountTime(GpuLoad& load, Watched& watched, const GpuSample* gpu) {
  const auto now = clock_.Now();
  const auto passed = now - std::exchange(watched.counted, now).value_or(now);
  const bool can_run = watched.judgement.may_run();
  const bool could_run = std::exchange(watched.could_run, can_run);
  if (!can_run) {
    load.left[watched.judgement.state] += passed;
    return;
  }
  if (!could_run || gpu == nullptr || !gpu->load || passed.count() <= 0) return;
  const auto all = load.sampled + passed;
  const double part = static_cast<double>(passed.count()) / static_cast<double>(all.count());
  load.share += part * (*gpu->load / 100.0 - load.share);
  load.sampled = all;
}

void GpuWatch::Sample(base::Callback<MachineSample> done) {
  evaluate::WorkerCall call;
  call.kind = evaluate::WorkerKind::kMonitor;
  call.op = "sample";
  call.params = {{"own_file", own_file_}};
  call.limit = kSampleLimit;
  workers_.Call(std::move(call),
                [done = std::move(done)](base::Result<records::Json> reply) mutable {
                  if (!reply) return done(base::Fail(std::move(reply.error())));
                  done(ParseMachineSample(*reply));
                });
}

void GpuWatch::Look() {
  looking_ = true;
  Sample([this, alive = alive_](base::Result<MachineSample> sample) {
    if (*alive) OnSample(std::move(sample));
  });
}

// True if others were there before.
bool GpuWatch::NoteWhoIsThere(const MachineSample& sample) {
  std::set<std::string> uuids;
  for (const GpuSample& gpu : sample.gpus) uuids.insert(gpu.uuid);
  std::swap(uuids, uuids_);
  return !uuids.empty() && uuids != uuids_;
}

void GpuWatch::OnSample(base::Result<MachineSample> sample) {
  looking_ = false;
  bool changed = sample && NoteWhoIsThere(*sample), used = false;
  for (auto& [device, watched] : watched_) {
    const bool before = watched.judgement.may_run();
    const GpuSample* gpu = sample ? FindSample(*sample, watched.uuid) : nullptr;
    if (gpu != nullptr) {
      watched.judgement = watched.policy.Judge(*gpu, *sample, clock_.Now(), before);
    } else {
      // Who cannot look does not wait for ever.
      watched.judgement.state = GpuState::kFree;
      watched.judgement.reason =
          "what others do on it is not visible: " +
          (!sample                  ? sample.error().message
           : sample->reason.empty() ? "NVIDIA's management library does not know it"
                                    : sample->reason);
    }
    const bool now = watched.judgement.may_run();
    CountTime(loads_[device], watched, gpu);
    used = used || now;
    if (now == before) continue;
    changed = true;
    log::Info(now ? "a GPU may be used" : "a GPU is left to others",
              {{"device", device}, {"reason", watched.judgement.reason}});
    if (now) {
      workers_.Release(device);
    } else {
      workers_.Hold(device);
    }
  }
  if (!watched_.empty()) timer_.Start(used ? kWhileUsed : kWhileWaiting, [this] { Look(); });
  if (changed) changed_();
}

}  // namespace cupilot::service
