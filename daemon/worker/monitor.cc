#include "worker/monitor.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "device/cuda/nvml.h"

namespace cupilot::worker {
namespace {

namespace fs = std::filesystem;
using device::cuda::Nvml;
using device::cuda::NvmlGpu;
using records::Json;

std::string FirstLine(const std::string& path) {
  const auto text = base::ReadFile(path);
  return text ? text->substr(0, text->find('\n')) : std::string();
}

// NVIDIA's GPUs on the bus, with the state of their power. Reading it wakes nothing.
std::map<std::string, std::string> PowerStates(const std::string& sys) {
  std::map<std::string, std::string> states;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(sys + "/bus/pci/devices", error)) {
    const std::string folder = entry.path().string();
    const bool display = FirstLine(folder + "/class").rfind("0x03", 0) == 0;
    if (FirstLine(folder + "/vendor") != "0x10de" || !display) continue;
    states[entry.path().filename().string()] = FirstLine(folder + "/power/runtime_status");
  }
  return states;
}

// What /proc/<pid>/stat says, also of one that is ending.
struct ProcessFacts {
  std::string name;  // of its program, 15 characters at most
  long parent = 0;
  std::int64_t started = 0;  // since the machine's start; with the id it names a process for good
};

std::optional<ProcessFacts> FactsOf(const std::string& proc, long pid) {
  const std::string stat = FirstLine(proc + "/" + std::to_string(pid) + "/stat");
  // The name, in parentheses, may hold anything, these too.
  const std::size_t begin = stat.find('('), end = stat.rfind(')');
  if (begin == std::string::npos || end == std::string::npos) return std::nullopt;
  ProcessFacts facts;
  facts.name = stat.substr(begin + 1, end - begin - 1);
  std::istringstream words(stat.substr(end + 1));
  std::string word;
  constexpr int kParent = 4, kStarted = 22;  // places, counted from 1
  for (int place = 3; words >> word && place <= kStarted; ++place) {
    if (place == kParent) facts.parent = std::strtol(word.c_str(), nullptr, 10);
    if (place == kStarted) facts.started = std::strtoll(word.c_str(), nullptr, 10);
  }
  return facts;
}

constexpr std::string_view kPrograms = "cupilot", kWorker = "cupilot-worker";

// Those of our processes that had work on a GPU: id and start. Of no consequence where it cannot be
// read or written: the next ones are told by their parents.
class OwnProcesses {
 public:
  explicit OwnProcesses(const MonitoredMachine& machine) : machine_(machine) {
    if (machine.own_file.empty()) return;
    const auto text = base::ReadFile(machine.own_file);
    std::istringstream lines(text.value_or(""));
    for (std::int64_t pid = 0, started = 0; lines >> pid >> started;) before_[pid] = started;
  }

  bool IsOwn(long pid) {
    const auto facts = FactsOf(machine_.proc, pid);
    const auto before = before_.find(pid);
    const bool was_own = before != before_.end() && (!facts || facts->started == before->second);
    if (!was_own && !(facts && IsBelow(pid))) return false;
    now_[pid] = facts ? facts->started : before->second;
    return true;
  }

  void Save() const {
    if (machine_.own_file.empty() || now_ == before_) return;
    std::string text;
    for (const auto& [pid, started] : now_) {
      text += std::to_string(pid) + " " + std::to_string(started) + "\n";
    }
    // Not synced: after a power cut these processes do not exist any more.
    (void)base::WriteFileUnsynced(machine_.own_file, text);
  }

 private:
  // A process of the daemon, or a worker of none: its daemon, or what stood between them, has
  // ended, and it is about to.
  bool IsBelow(long pid) const {
    constexpr int kDeepest = 16;
    bool worker = false;
    for (int depth = 0; pid > 1 && depth < kDeepest; ++depth) {
      if (pid == machine_.daemon) return true;
      const auto facts = FactsOf(machine_.proc, pid);
      if (!facts) break;
      if (depth == 0) worker = facts->name == kWorker;
      // Of another daemon, or of who evaluates without one.
      if (facts->name != kWorker && facts->name.starts_with(kPrograms)) return false;
      pid = facts->parent;
    }
    return worker;
  }

  const MonitoredMachine& machine_;
  std::map<std::int64_t, std::int64_t> before_, now_;
};

template <class T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json ToJson(const NvmlGpu& gpu, const MonitoredMachine& machine, OwnProcesses& own) {
  Json json = {{"pci", gpu.pci},
               {"power", "active"},
               {"uuid", gpu.uuid},
               {"name", gpu.name},
               {"mig", gpu.mig},
               {"problem", gpu.problem},
               {"processes", nullptr},
               {"load", OrNull(gpu.load)},
               {"memory_total", OrNull(gpu.memory_total)},
               {"memory_used", OrNull(gpu.memory_used)},
               {"throttle_reasons", OrNull(gpu.throttle_reasons)},
               {"temperature", OrNull(gpu.temperature)},
               {"temperature_limit", OrNull(gpu.temperature_limit)},
               {"display", OrNull(gpu.display)}};
  if (!gpu.processes) return json;
  json["processes"] = Json::array();
  for (const auto& process : *gpu.processes) {
    const bool seen = base::FileExists(machine.proc + "/" + std::to_string(process.pid) + "/stat");
    json["processes"].push_back({{"pid", process.pid},
                                 {"graphics", process.graphics},
                                 {"memory_bytes", OrNull(process.memory_bytes)},
                                 {"load", OrNull(process.load)},
                                 {"own", own.IsOwn(process.pid)},
                                 {"seen", seen}});
  }
  return json;
}

// Kept open between samples: it remembers which loads it has told. One machine a process.
base::Result<Nvml*> OpenNvml(const std::string& library) {
  static std::map<std::string, std::unique_ptr<Nvml>> open;
  std::unique_ptr<Nvml>& nvml = open[library];
  if (nvml == nullptr) {
    TRY_ASSIGN(nvml, Nvml::Open(library));
  }
  return nvml.get();
}

}  // namespace

base::Result<Json> SampleGpus(const MonitoredMachine& machine) {
  Json reply;
  reply["gpus"] = Json::array();
  reply["reason"] = "";
  reply["container"] = base::FileExists(machine.root + "/.dockerenv") ||
                       base::FileExists(machine.root + "/run/.containerenv");
  reply["wsl"] = base::FileExists(machine.root + "/dev/dxg");
  std::vector<std::string> asleep, awake;
  const std::map<std::string, std::string> states = PowerStates(machine.sys);
  for (const auto& [pci, state] : states) {
    if (state != "suspended" && state != "suspending") {
      awake.push_back(pci);
      continue;
    }
    asleep.push_back(pci);
    reply["gpus"].push_back({{"pci", pci}, {"power", "suspended"}});
  }
  // The library itself looks at every GPU when it is opened.
  if (!asleep.empty() && awake.empty()) return reply;
  if (asleep.empty()) awake.clear();
  const auto nvml = OpenNvml(machine.library);
  if (!nvml) {
    reply["reason"] = nvml.error().message;
    return reply;
  }
  OwnProcesses own(machine);
  for (const NvmlGpu& gpu : (*nvml)->Sample(awake)) {
    reply["gpus"].push_back(ToJson(gpu, machine, own));
  }
  own.Save();
  return reply;
}

base::Result<Json> ListArchitectures(const MonitoredMachine& machine) {
  TRY_ASSIGN(Nvml* const nvml, OpenNvml(machine.library));
  return Json{{"architectures", nvml->Architectures()}};
}

base::Result<Json> Architectures(const Json& /*params*/) {
  return ListArchitectures(MonitoredMachine());
}

base::Result<Json> Sample(const Json& params) {
  MonitoredMachine machine;
  machine.daemon = ::getppid();
  machine.own_file = params.value("own_file", "");
  return SampleGpus(machine);
}

}  // namespace cupilot::worker
