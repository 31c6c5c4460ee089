#include "service/gpu_policy.h"

#include <algorithm>
#include <utility>

namespace cupilot::service {
namespace {

using records::Json;
using std::chrono::nanoseconds;

constexpr int kComputeLoad = 5;       // percent; below it a context is idle
constexpr int kGraphicsLoad = 30;     // a desktop stays below it, a game does not
constexpr int kTotalLoad = 10;        // of all, where nobody says whose it is
constexpr double kFreeMemory = 0.25;  // of all, to begin
constexpr int kDegreesBelowLimit = 2;
// Hardware slowdown, thermal slowdown by software and hardware, power brake.
constexpr std::int64_t kSlowdowns = 0x8 | 0x20 | 0x40 | 0x80;

template <class T>
std::optional<T> ValueOf(const Json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end() || it->is_null()) return std::nullopt;
  if constexpr (std::is_same_v<T, bool>) {
    if (!it->is_boolean()) return std::nullopt;
  } else {
    if (!it->is_number()) return std::nullopt;
  }
  return it->get<T>();
}

std::string TextOf(const Json& json, const char* key, const std::string& otherwise = "") {
  const auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : otherwise;
}

std::string Seconds(nanoseconds time) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(time).count()) + " s";
}

// Whether the list of processes says who else is there.
bool SeesOthers(const GpuSample& sample) {
  return sample.processes &&
         std::all_of(sample.processes->begin(), sample.processes->end(),
                     [](const GpuProcess& process) { return process.seen || process.own; });
}

bool KnowsLoads(const GpuSample& sample) {
  return sample.processes &&
         std::all_of(sample.processes->begin(), sample.processes->end(),
                     [](const GpuProcess& process) { return process.load.has_value(); });
}

bool IsHot(const GpuSample& sample) {
  if (sample.throttle_reasons && (*sample.throttle_reasons & kSlowdowns) != 0) return true;
  return sample.temperature && sample.temperature_limit &&
         *sample.temperature >= *sample.temperature_limit - kDegreesBelowLimit;
}

// What others hold leaves too little.
bool IsFull(const GpuSample& sample) {
  if (!sample.memory_total || !sample.memory_used || *sample.memory_total <= 0) return false;
  std::int64_t others = *sample.memory_used;
  if (sample.processes) {
    for (const GpuProcess& process : *sample.processes) {
      if (process.own) others -= process.memory_bytes.value_or(0);
    }
  }
  return static_cast<double>(*sample.memory_total - others) <
         kFreeMemory * static_cast<double>(*sample.memory_total);
}

std::string Limits(const GpuSample& sample, const MachineSample& machine) {
  if (machine.wsl) {
    return "under WSL2 other processes are not visible: others are noticed by the GPU's load, and "
           "only while nothing of ours runs";
  }
  if (!SeesOthers(sample)) {
    return std::string(machine.container ? "in this container" : "here") +
           " other processes are not visible: others are noticed by the GPU's load, and only while "
           "nothing of ours runs";
  }
  return {};
}

}  // namespace

const char* Name(GpuState state) {
  static constexpr const char* kNames[] = {"free", "quiet",  "others",  "hot",
                                           "full", "asleep", "unusable"};
  return kNames[static_cast<int>(state)];
}

base::Result<MachineSample> ParseMachineSample(const Json& json) {
  if (!json.is_object() || !json.contains("gpus") || !json["gpus"].is_array()) {
    return base::Fail(base::ProtocolError("no sample of GPUs"));
  }
  MachineSample machine;
  machine.reason = TextOf(json, "reason");
  machine.container = ValueOf<bool>(json, "container").value_or(false);
  machine.wsl = ValueOf<bool>(json, "wsl").value_or(false);
  for (const Json& entry : json["gpus"]) {
    GpuSample gpu;
    gpu.pci = TextOf(entry, "pci");
    gpu.power = TextOf(entry, "power", "active");
    gpu.uuid = TextOf(entry, "uuid");
    gpu.name = TextOf(entry, "name");
    gpu.problem = TextOf(entry, "problem");
    gpu.mig = ValueOf<bool>(entry, "mig").value_or(false);
    gpu.load = ValueOf<int>(entry, "load");
    gpu.memory_total = ValueOf<std::int64_t>(entry, "memory_total");
    gpu.memory_used = ValueOf<std::int64_t>(entry, "memory_used");
    gpu.throttle_reasons = ValueOf<std::int64_t>(entry, "throttle_reasons");
    gpu.temperature = ValueOf<int>(entry, "temperature");
    gpu.temperature_limit = ValueOf<int>(entry, "temperature_limit");
    gpu.display = ValueOf<bool>(entry, "display");
    const auto processes = entry.find("processes");
    if (processes != entry.end() && processes->is_array()) {
      gpu.processes.emplace();
      for (const Json& one : *processes) {
        GpuProcess process;
        process.pid = ValueOf<std::int64_t>(one, "pid").value_or(0);
        process.graphics = ValueOf<bool>(one, "graphics").value_or(false);
        process.own = ValueOf<bool>(one, "own").value_or(false);
        process.seen = ValueOf<bool>(one, "seen").value_or(true);
        process.memory_bytes = ValueOf<std::int64_t>(one, "memory_bytes");
        process.load = ValueOf<int>(one, "load");
        gpu.processes->push_back(process);
      }
    }
    machine.gpus.push_back(std::move(gpu));
  }
  return machine;
}

std::string GpuPolicy::Activity(const GpuSample& sample, bool ours) {
  std::string activity;
  std::map<std::int64_t, bool> present;
  const bool sees = SeesOthers(sample);
  const bool loads = KnowsLoads(sample);
  if (sees) {
    for (const GpuProcess& process : *sample.processes) {
      if (process.own) continue;
      const std::string who = "process " + std::to_string(process.pid);
      const int limit = process.graphics ? kGraphicsLoad : kComputeLoad;
      // Who was there before the first sample may be idle; who comes has something to do.
      const bool came = first_ && !process.graphics && !known_.contains(process.pid);
      if (came) activity = who + " has begun to use it";
      if (process.load.value_or(0) > limit) {
        activity = who + " uses " + std::to_string(*process.load) + " % of it";
      }
      // Of an instance nobody tells the load: who holds it counts as at work.
      if (sample.mig && !loads && !process.graphics) activity = who + " is on this MIG instance";
      present[process.pid] = true;
    }
  }
  known_ = std::move(present);
  const bool total_is_theirs = !ours && (!sees || !loads);
  if (activity.empty() && total_is_theirs && sample.load.value_or(0) > kTotalLoad) {
    activity = "others use " + std::to_string(*sample.load) + " % of it";
  }
  return activity;
}

GpuJudgement GpuPolicy::Judge(const GpuSample& sample, const MachineSample& machine,
                              nanoseconds now, bool ours) {
  GpuJudgement judgement;
  judgement.display = sample.display.value_or(false);
  const auto say = [&judgement](GpuState state, std::string reason) {
    judgement.state = state;
    judgement.reason = std::move(reason);
    return judgement;
  };
  if (sample.power != "active" && !sample.power.empty()) {
    if (settings_.wake) return say(GpuState::kFree, "it slept and is woken (wake_gpu)");
    return say(GpuState::kAsleep,
               "it sleeps to save power and is not woken; set wake_gpu to tune on it all the same");
  }
  if (!sample.problem.empty()) return say(GpuState::kUnusable, sample.problem);
  const std::string activity = Activity(sample, ours);
  if (!first_) first_ = now;
  if (!activity.empty()) {
    active_ = now;
    return say(GpuState::kOthers, activity);
  }
  if (IsHot(sample)) {
    return say(GpuState::kHot, "it is slowed down by heat or power: times would mean nothing");
  }
  if (IsFull(sample)) return say(GpuState::kFull, "others hold most of its memory");
  const nanoseconds until = active_ ? *active_ + settings_.pause : *first_ + settings_.quiet;
  if (now < until) {
    return say(GpuState::kQuiet, std::string(active_ ? "others were at work" : "it is watched") +
                                     "; used in " + Seconds(until - now) + " if it stays quiet");
  }
  return say(GpuState::kFree, Limits(sample, machine));
}

}  // namespace cupilot::service
