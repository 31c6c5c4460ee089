// The service's devices: which there are, where the kernels of an object run, and who else uses
// them.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "log/log.h"
#include "service/service.h"

namespace cupilot::service {
namespace {

constexpr double kLongestBesideDisplayUs = 50000;

}  // namespace

void Service::AskForHost() {
  host_asked_ = Asked::kWaiting;
  evaluate::DescribeDevice(
      with_.workers, "host",
      [this, alive = alive_](base::Result<evaluate::DeviceDescription> device) {
        if (!*alive) return;
        if (device) {
          host_ = std::move(*device);
        } else {
          log::Error("the device cannot be described", {{"reason", device.error()}});
        }
        host_asked_ = Asked::kAnswered;
        OnDevices("host");
      });
}

// Only when there is something to tune on one: asking may wake a GPU that sleeps.
void Service::AskForGpus() {
  if (gpus_asked_ == Asked::kWaiting) return;
  gpus_asked_ = Asked::kWaiting;
  gpu_watch_.Sample([this, alive = alive_](base::Result<MachineSample> machine) {
    if (!*alive) return;
    const bool sleeps = machine && !machine->gpus.empty() &&
                        std::all_of(machine->gpus.begin(), machine->gpus.end(),
                                    [](const GpuSample& gpu) { return gpu.power == "suspended"; });
    if (!sleeps || settings_.gpu.wake) return ListGpus();
    // What was known of it before holds.
    if (!gpus_.gpus.empty()) {
      gpus_asked_ = Asked::kAnswered;
      return OnDevices("cuda");
    }
    gpus_ = {{},
             "the GPU sleeps to save power and is not woken; build while something uses it, or set "
             "wake_gpu"};
    gpus_asked_ = Asked::kAnswered;
    OnDevices("cuda");
  });
}

void Service::ListGpus() {
  evaluate::ListGpus(with_.workers, [this, alive = alive_](base::Result<evaluate::GpuList> list) {
    if (!*alive) return;
    if (list) {
      NoteGpus(std::move(*list));
    } else if (gpus_.gpus.empty()) {
      gpus_.reason = list.error().message;
    }
    gpus_asked_ = Asked::kAnswered;
    if (gpus_.gpus.empty()) log::Info("no GPU", {{"reason", gpus_.reason}});
    OnDevices("cuda");
  });
}

// A GPU that came or went may have changed the others' names.
void Service::NoteGpus(evaluate::GpuList list) {
  const auto named = [](const evaluate::GpuList& gpus) {
    std::map<std::string, std::string> uuids;
    for (const evaluate::DeviceDescription& gpu : gpus.gpus) uuids[gpu.name] = gpu.uuid;
    return uuids;
  };
  if (!gpus_.gpus.empty() && named(gpus_) != named(list)) with_.evaluator.ForgetDevices();
  gpus_ = std::move(list);
  if (!gpus_seen_.empty()) return;
  for (const auto& [name, uuid] : named(gpus_)) gpus_seen_.insert(uuid);
}

// Those for which something is left to do, or still under way.
void Service::WatchGpus() {
  // What a capture does there is not the others' work: who was there before is not forgotten.
  if (obstacle_ == kCapturing) return;
  std::set<std::string> names;
  for (const KernelJob* job : AllJobs()) {
    if (!job->done()) names.insert(job->input().place.device);
  }
  for (const CaptureDemand& demand : capture_tests_.due()) {
    names.insert(demand.places.begin(), demand.places.end());
  }
  std::map<std::string, evaluate::DeviceDescription> needed;
  for (const evaluate::DeviceDescription& gpu : gpus_.gpus) {
    if (names.contains(gpu.name)) needed[gpu.name] = gpu;
  }
  // While nothing may be done anyway, nobody is asked.
  if (!obstacle_.empty()) needed.clear();
  gpu_watch_.Watch(needed);
}

bool Service::MayRunAll(const std::set<std::string>& devices) const {
  return std::all_of(devices.begin(), devices.end(),
                     [this](const std::string& device) { return gpu_watch_.MayRun(device); });
}

// Those that came or went since are asked for.
void Service::OnGpusChanged() {
  HoldJobs();
  if (gpus_seen_ != gpu_watch_.uuids()) {
    gpus_seen_ = gpu_watch_.uuids();
    AskForGpus();
  }
  Later(&Service::Work);
}

void Service::HoldJobs() {
  for (KernelJob* job : AllJobs()) {
    job->Hold(!obstacle_.empty() || !gpu_watch_.MayRun(job->input().place.device));
  }
}

void Service::OnDevices(const std::string& kind) {
  for (auto& [folder, state] : objects_) {
    if (state.scan == nullptr || state.scan->device_kind != kind) continue;
    FindPlaces(state);
    EnsureJobs(state);
    LookAtObject(state);
    state.publish_due = true;
  }
  DropUnusedJobs();
  Work();
}

void Service::FindPlaces(ObjectState& state) {
  state.places = {};
  if (state.scan->device_kind == "host") {
    if (host_asked_ == Asked::kAnswered) state.places = HostPlaces(host_, state.scan->toolchain);
    return;
  }
  if (gpus_asked_ == Asked::kNo) AskForGpus();
  // While they are asked for once more, what was known holds.
  if (gpus_asked_ != Asked::kAnswered && gpus_.gpus.empty()) return;
  state.places = GpuPlaces(gpus_, state.object.command, state.scan->toolchain);
  for (Place& place : state.places.places) {
    for (const records::Kernel& kernel : state.scan->kernels) {
      std::set<std::string> names = catalog_.LongCases(kernel, place);
      if (!names.empty()) place.too_long[kernel.key] = std::move(names);
    }
  }
}

// The display stands still as long as a kernel runs: what takes that long is not run there, and
// its kernel is tuned on the smaller cases of its workload, if it has any.
void Service::SpareDisplay(const KernelJob& job, const records::Evaluation& verdict) {
  const JobInput& input = job.input();
  const GpuJudgement* gpu = gpu_watch_.Find(input.place.device);
  if (gpu == nullptr || !gpu->display) return;
  std::set<std::string> names;
  std::string first;
  for (const records::CaseResult& result : verdict.cases) {
    if (result.original_us <= kLongestBesideDisplayUs) continue;
    if (names.empty()) {
      first = "case '" + result.name + "' runs " +
              std::to_string(static_cast<int>(result.original_us / 1000)) +
              " ms and a display is attached to the GPU, which would stand still";
    }
    names.insert(result.name);
  }
  const auto it = jobs_.find(JobKey(input.kernel, input.numerics, input.place));
  if (names.empty() || it == jobs_.end()) return;
  const bool others =
      std::any_of(input.workload.cases.begin(), input.workload.cases.end(),
                  [&](const records::Case& one) { return !names.contains(one.name); });
  it->second->GiveUp(first + (others ? "" : ": give the kernel a smaller case"));
  // What is under way between its steps is waited for.
  Later(&Service::Work);
  if (!others) return;
  const auto known = input.place.too_long.find(input.kernel.key);
  if (known != input.place.too_long.end()) names.insert(known->second.begin(), known->second.end());
  if (auto saved = catalog_.SaveLongCases(input.kernel, input.place, names); !saved) {
    log::Error("the cases that are left out cannot be written down", {{"reason", saved.error()}});
    return;
  }
  Later(&Service::FindPlacesAgain);
}

// The kernels whose cases are others now get other jobs.
void Service::FindPlacesAgain() {
  for (auto& [folder, state] : objects_) {
    if (state.scan == nullptr || state.scan->device_kind == "host") continue;
    FindPlaces(state);
    EnsureJobs(state);
    LookAtObject(state);
    state.publish_due = true;
  }
  DropUnusedJobs();
  Work();
}

// Of devices that do for each other, the one with the fewest jobs.
std::string Service::LeastUsed(const Place& place) const {
  std::string least = place.device;
  std::ptrdiff_t fewest = -1;
  for (const std::string& device : place.alike) {
    const std::ptrdiff_t jobs = std::count_if(jobs_.begin(), jobs_.end(), [&](const auto& entry) {
      return entry.second != nullptr && entry.second->input().place.device == device;
    });
    if (fewest < 0 || jobs < fewest) {
      fewest = jobs;
      least = device;
    }
  }
  return least;
}

// Whether it is known where the object's kernels run: nothing is published before.
bool Service::IsPlaced(const ObjectState& state) {
  return !state.places.places.empty() || !state.places.why_none.empty();
}

}  // namespace cupilot::service
