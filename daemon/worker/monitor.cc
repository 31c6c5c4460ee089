#include "worker/monitor.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
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

// The fourth word of /proc/<pid>/stat, behind a name in parentheses that may hold anything.
long ParentOf(const std::string& proc, long pid) {
  const std::string stat = FirstLine(proc + "/" + std::to_string(pid) + "/stat");
  const std::size_t end = stat.rfind(')');
  if (end == std::string::npos || end + 4 >= stat.size()) return 0;
  return std::strtol(stat.c_str() + end + 4, nullptr, 10);
}

bool IsOwn(const MonitoredMachine& machine, long pid) {
  constexpr int kDeepest = 16;
  for (int depth = 0; pid > 1 && depth < kDeepest; ++depth) {
    if (pid == machine.daemon) return true;
    pid = ParentOf(machine.proc, pid);
  }
  return false;
}

template <class T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json ToJson(const NvmlGpu& gpu, const MonitoredMachine& machine) {
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
                                 {"own", IsOwn(machine, process.pid)},
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
  for (const NvmlGpu& gpu : (*nvml)->Sample(awake)) {
    reply["gpus"].push_back(ToJson(gpu, machine));
  }
  return reply;
}

base::Result<Json> ListArchitectures(const MonitoredMachine& machine) {
  TRY_ASSIGN(Nvml* const nvml, OpenNvml(machine.library));
  return Json{{"architectures", nvml->Architectures()}};
}

base::Result<Json> Architectures(const Json& /*params*/) {
  return ListArchitectures(MonitoredMachine());
}

base::Result<Json> Sample(const Json& /*params*/) {
  MonitoredMachine machine;
  machine.daemon = ::getppid();
  return SampleGpus(machine);
}

}  // namespace cupilot::worker
