#include "device/cuda/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>

#include "device/cuda/cuda_properties.h"

namespace cupilot::device::cuda {
namespace {

// What the library's interface is made of, by its documentation.
using Handle = void*;
using Status = int;
constexpr Status kNvmlSuccess = 0;
constexpr Status kNvmlNotFound = 6;
constexpr Status kTooSmall = 7;
constexpr unsigned long long kNotAvailable = ~0ULL;
constexpr int kTextBytes = 96;
constexpr int kSlowdown = 1;  // a temperature threshold
// Of the clocks event reasons, those that SlowedDown is about.
constexpr unsigned long long kSlowdowns = 0x8 | 0x20 | 0x40 | 0x80;

struct PciInfo {
  char legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
struct ProcessLoad {
  unsigned pid;
  unsigned long long time;
  unsigned processors, memory, encoder, decoder;
};
struct Rates {
  unsigned gpu, memory;
};
struct Memory {
  unsigned long long total, free, used;
};

// "00000000:41:00.0" and "0000:41:00.0" are one address.
std::string PciAddress(const PciInfo& info) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", info.domain, info.bus, info.device);
  return text;
}

}  // namespace

struct Nvml::Library {
  ~Library() {
    if (started && shutdown != nullptr) shutdown();
    if (file != nullptr) ::dlclose(file);
  }

  template <class Function>
  void Find(Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(::dlsym(file, symbol));
  }

  // Null: the driver is too old for it. A call of what is not there is "not supported".
  template <class... Parameters, class... Arguments>
  static Status Call(Status (*function)(Parameters...), Arguments... arguments) {
    constexpr Status kUnsupported = 3;
    return function == nullptr ? kUnsupported : function(arguments...);
  }

  void* file = nullptr;
  bool started = false;
  std::map<std::string, unsigned long long> seen;  // newest sample of loads, by uuid

  Status (*init)() = nullptr;
  Status (*shutdown)() = nullptr;
  const char* (*error_text)(Status) = nullptr;
  Status (*count)(unsigned*) = nullptr;
  Status (*by_index)(unsigned, Handle*) = nullptr;
  Status (*by_address)(const char*, Handle*) = nullptr;
  Status (*by_uuid)(const char*, Handle*) = nullptr;
  Status (*pci_info)(Handle, PciInfo*) = nullptr;
  Status (*capability)(Handle, int*, int*) = nullptr;
  Status (*name)(Handle, char*, unsigned) = nullptr;
  Status (*uuid)(Handle, char*, unsigned) = nullptr;
  Status (*compute_processes)(Handle, unsigned*, ProcessInfo*) = nullptr;
  Status (*graphics_processes)(Handle, unsigned*, ProcessInfo*) = nullptr;
  Status (*process_loads)(Handle, ProcessLoad*, unsigned*, unsigned long long) = nullptr;
  Status (*rates)(Handle, Rates*) = nullptr;
  Status (*memory)(Handle, Memory*) = nullptr;
  Status (*throttle_reasons)(Handle, unsigned long long*) = nullptr;
  Status (*temperature)(Handle, int, unsigned*) = nullptr;
  Status (*temperature_threshold)(Handle, int, unsigned*) = nullptr;
  Status (*display_active)(Handle, int*) = nullptr;
  Status (*mig_mode)(Handle, unsigned*, unsigned*) = nullptr;
  Status (*mig_count)(Handle, unsigned*) = nullptr;
  Status (*mig_by_index)(Handle, unsigned, Handle*) = nullptr;

  std::string Text(Status status) const {
    const char* text = error_text == nullptr ? nullptr : error_text(status);
    return text == nullptr ? "NVML error " + std::to_string(status) : text;
  }
  bool AddProcesses(Handle gpu, bool graphics, std::vector<NvmlProcess>& out) const;
  void AddLoads(Handle gpu, NvmlGpu& out);
  void Fill(Handle gpu, NvmlGpu& out);
};

bool Nvml::Library::AddProcesses(Handle gpu, bool graphics, std::vector<NvmlProcess>& out) const {
  const auto function = graphics ? graphics_processes : compute_processes;
  std::vector<ProcessInfo> infos(32);
  auto found = static_cast<unsigned>(infos.size());
  Status status = Call(function, gpu, &found, infos.data());
  for (int again = 0; status == kTooSmall && again < 4; ++again) {
    infos.resize(std::max<std::size_t>(found, infos.size()) * 2);
    found = static_cast<unsigned>(infos.size());
    status = Call(function, gpu, &found, infos.data());
  }
  if (status != kNvmlSuccess) return false;
  for (unsigned i = 0; i < found; ++i) {
    NvmlProcess process;
    process.pid = infos[i].pid;
    process.graphics = graphics;
    if (infos[i].memory != kNotAvailable) {
      process.memory_bytes = static_cast<std::int64_t>(infos[i].memory);
    }
    // One that computes and draws is in both lists.
    const auto known = std::find_if(
        out.begin(), out.end(), [&](const NvmlProcess& other) { return other.pid == process.pid; });
    if (known == out.end()) out.push_back(process);
  }
  return true;
}

// The library keeps samples of the last seconds: of those that are new, the greatest counts.
void Nvml::Library::AddLoads(Handle gpu, NvmlGpu& out) {
  std::vector<ProcessLoad> loads(256);
  auto found = static_cast<unsigned>(loads.size());
  unsigned long long& newest = seen[out.uuid];
  const Status status = Call(process_loads, gpu, loads.data(), &found, newest);
  if (status != kNvmlSuccess && status != kNvmlNotFound) return;
  for (NvmlProcess& process : *out.processes) process.load = 0;
  if (status != kNvmlSuccess) return;
  for (unsigned i = 0; i < std::min<unsigned>(found, 256); ++i) {
    newest = std::max(newest, loads[i].time);
    for (NvmlProcess& process : *out.processes) {
      if (process.pid != loads[i].pid) continue;
      process.load = std::max(*process.load, static_cast<int>(loads[i].processors));
    }
  }
}

void Nvml::Library::Fill(Handle gpu, NvmlGpu& out) {
  char text[kTextBytes] = {};
  if (const Status status = Call(uuid, gpu, text, unsigned{kTextBytes}); status != kNvmlSuccess) {
    out.problem = Text(status);
    return;
  }
  out.uuid = text;
  if (Call(name, gpu, text, unsigned{kTextBytes}) == kNvmlSuccess) out.name = text;
  std::vector<NvmlProcess> processes;
  if (AddProcesses(gpu, false, processes)) {
    AddProcesses(gpu, true, processes);
    out.processes = std::move(processes);
    AddLoads(gpu, out);
  }
  Rates rates_now{};
  if (Call(rates, gpu, &rates_now) == kNvmlSuccess) out.load = static_cast<int>(rates_now.gpu);
  Memory memory_now{};
  if (Call(memory, gpu, &memory_now) == kNvmlSuccess) {
    out.memory_total = static_cast<std::int64_t>(memory_now.total);
    out.memory_used = static_cast<std::int64_t>(memory_now.used);
  }
  unsigned long long reasons = 0;
  if (Call(throttle_reasons, gpu, &reasons) == kNvmlSuccess) out.throttle_reasons = reasons;
  unsigned degrees = 0;
  if (Call(temperature, gpu, 0, &degrees) == kNvmlSuccess)
    out.temperature = static_cast<int>(degrees);
  if (Call(temperature_threshold, gpu, kSlowdown, &degrees) == kNvmlSuccess) {
    out.temperature_limit = static_cast<int>(degrees);
  }
  // Something is shown: what is merely attached (display mode) may be a data-centre card's virtual
  // connector, to which nobody looks.
  int active = 0;
  if (Call(display_active, gpu, &active) == kNvmlSuccess) out.display = active != 0;
}

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}
Nvml::~Nvml() = default;

base::Result<std::unique_ptr<Nvml>> Nvml::Open(const std::string& library) {
  auto opened = std::make_unique<Library>();
  opened->file = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened->file == nullptr) {
    const char* why = ::dlerror();
    return base::Fail(base::Unavailable("NVIDIA's management library cannot be opened: " +
                                        std::string(why == nullptr ? library : why)));
  }
  Library& l = *opened;
  l.Find(l.init, "nvmlInit_v2");
  l.Find(l.shutdown, "nvmlShutdown");
  l.Find(l.error_text, "nvmlErrorString");
  l.Find(l.count, "nvmlDeviceGetCount_v2");
  l.Find(l.by_index, "nvmlDeviceGetHandleByIndex_v2");
  l.Find(l.by_address, "nvmlDeviceGetHandleByPciBusId_v2");
  l.Find(l.by_uuid, "nvmlDeviceGetHandleByUUID");
  l.Find(l.pci_info, "nvmlDeviceGetPciInfo_v3");
  l.Find(l.capability, "nvmlDeviceGetCudaComputeCapability");
  l.Find(l.name, "nvmlDeviceGetName");
  l.Find(l.uuid, "nvmlDeviceGetUUID");
  l.Find(l.compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  l.Find(l.graphics_processes, "nvmlDeviceGetGraphicsRunningProcesses_v3");
  l.Find(l.process_loads, "nvmlDeviceGetProcessUtilization");
  l.Find(l.rates, "nvmlDeviceGetUtilizationRates");
  l.Find(l.memory, "nvmlDeviceGetMemoryInfo");
  l.Find(l.throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  l.Find(l.temperature, "nvmlDeviceGetTemperature");
  l.Find(l.temperature_threshold, "nvmlDeviceGetTemperatureThreshold");
  l.Find(l.display_active, "nvmlDeviceGetDisplayActive");
  l.Find(l.mig_mode, "nvmlDeviceGetMigMode");
  l.Find(l.mig_count, "nvmlDeviceGetMaxMigDeviceCount");
  l.Find(l.mig_by_index, "nvmlDeviceGetMigDeviceHandleByIndex");
  if (const Status status = Library::Call(l.init); status != kNvmlSuccess) {
    return base::Fail(base::Unavailable("NVIDIA's management library: " + l.Text(status)));
  }
  l.started = true;
  return std::unique_ptr<Nvml>(new Nvml(std::move(opened)));
}

void Nvml::Add(void* handle, int status, NvmlGpu gpu, std::vector<NvmlGpu>& out) {
  Library& l = *library_;
  if (status != kNvmlSuccess) {
    gpu.problem = l.Text(status);
    out.push_back(std::move(gpu));
    return;
  }
  unsigned mig = 0, pending = 0;
  if (Library::Call(l.mig_mode, handle, &mig, &pending) != kNvmlSuccess || mig == 0) {
    l.Fill(handle, gpu);
    out.push_back(std::move(gpu));
    return;
  }
  unsigned instances = 0;
  Library::Call(l.mig_count, handle, &instances);
  for (unsigned k = 0; k < instances; ++k) {
    Handle instance = nullptr;
    if (Library::Call(l.mig_by_index, handle, k, &instance) != kNvmlSuccess) continue;
    NvmlGpu part = gpu;
    part.mig = true;
    l.Fill(instance, part);
    out.push_back(std::move(part));
  }
}

std::vector<NvmlGpu> Nvml::Sample(const std::vector<std::string>& addresses) {
  std::vector<NvmlGpu> gpus;
  Library& l = *library_;
  for (const std::string& address : addresses) {
    Handle handle = nullptr;
    const Status status = Library::Call(l.by_address, address.c_str(), &handle);
    // Not given to this container.
    if (status == kNvmlNotFound) continue;
    NvmlGpu gpu;
    gpu.pci = address;
    Add(handle, status, std::move(gpu), gpus);
  }
  unsigned count = 0;
  if (!addresses.empty() || Library::Call(l.count, &count) != kNvmlSuccess) return gpus;
  for (unsigned i = 0; i < count; ++i) {
    NvmlGpu gpu;
    Handle handle = nullptr;
    PciInfo pci{};
    const Status status = Library::Call(l.by_index, i, &handle);
    if (status == kNvmlSuccess && Library::Call(l.pci_info, handle, &pci) == kNvmlSuccess) {
      gpu.pci = PciAddress(pci);
    }
    Add(handle, status, std::move(gpu), gpus);
  }
  return gpus;
}

std::set<std::string> Nvml::Architectures() {
  std::set<std::string> found;
  Library& l = *library_;
  unsigned count = 0;
  if (Library::Call(l.count, &count) != kNvmlSuccess) return found;
  for (unsigned i = 0; i < count; ++i) {
    Handle handle = nullptr;
    int major = 0, minor = 0;
    if (Library::Call(l.by_index, i, &handle) != kNvmlSuccess ||
        Library::Call(l.capability, handle, &major, &minor) != kNvmlSuccess) {
      continue;
    }
    found.insert(ArchitectureName(major, minor));
  }
  return found;
}

std::optional<bool> Nvml::SlowedDown(const std::string& uuid) {
  Library& l = *library_;
  Handle handle = nullptr;
  unsigned long long reasons = 0;
  if (Library::Call(l.by_uuid, uuid.c_str(), &handle) != kNvmlSuccess ||
      Library::Call(l.throttle_reasons, handle, &reasons) != kNvmlSuccess) {
    return std::nullopt;
  }
  return (reasons & kSlowdowns) != 0;
}

}  // namespace cupilot::device::cuda
