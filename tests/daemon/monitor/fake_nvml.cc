// The functions of NVIDIA's management library that the monitor calls.
#include "tests/daemon/monitor/fake_nvml.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using cupilot::test::FakeNvml;
using cupilot::test::FakeNvmlGpu;
using cupilot::test::FakeNvmlProcess;

namespace {
// In a process that is not the test's: one GPU of this compute capability ("9.0"), if it is set.
FakeNvml FromEnvironment() {
  FakeNvml made;
  const char* capability = std::getenv("FAKE_NVML_CAPABILITY");
  if (capability == nullptr) return made;
  FakeNvmlGpu gpu;
  gpu.uuid = "GPU-1";
  std::sscanf(capability, "%d.%d", &gpu.major, &gpu.minor);
  made.gpus.push_back(gpu);
  return made;
}
}  // namespace

extern "C" {

FakeNvml fake_nvml = FromEnvironment();

namespace {
constexpr int kUnsupported = 3, kNotFound = 6, kTooSmall = 7;
struct Pci {
  char legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
struct Process {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
struct Load {
  unsigned pid;
  unsigned long long time;
  unsigned processors, memory, encoder, decoder;
};
FakeNvmlGpu& Of(void* handle) { return *static_cast<FakeNvmlGpu*>(handle); }

int List(void* handle, bool graphics, unsigned* count, Process* out) {
  const FakeNvmlGpu& gpu = Of(handle);
  if (!gpu.lists_processes) return kUnsupported;
  unsigned found = 0;
  for (const FakeNvmlProcess& process : gpu.processes) {
    if (process.graphics != graphics) continue;
    if (found < *count) out[found] = {process.pid, process.memory, 0, 0};
    ++found;
  }
  const bool fits = found <= *count;
  *count = found;
  return fits ? 0 : kTooSmall;
}

int Text(const std::string& text, char* out, unsigned size) {
  std::snprintf(out, size, "%s", text.c_str());
  return 0;
}
}  // namespace

int nvmlInit_v2() { return fake_nvml.start; }
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int status) {
  return status == 15 ? "GPU is lost" : status == 9 ? "Driver Not Loaded" : "some error";
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(fake_nvml.gpus.size());
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  ++fake_nvml.touched;
  *handle = &fake_nvml.gpus[index];
  return fake_nvml.gpus[index].lost;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** handle) {
  for (FakeNvmlGpu& gpu : fake_nvml.gpus) {
    char text[32];
    std::snprintf(text, sizeof text, "%04x:%02x:00.0", gpu.domain, gpu.bus);
    if (std::strcmp(text, address) != 0) continue;
    ++fake_nvml.touched;
    *handle = &gpu;
    return gpu.lost;
  }
  return kNotFound;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** handle) {
  for (FakeNvmlGpu& gpu : fake_nvml.gpus) {
    if (gpu.uuid != uuid) continue;
    *handle = &gpu;
    return gpu.lost;
  }
  return kNotFound;
}
int nvmlDeviceGetPciInfo_v3(void* handle, Pci* out) {
  *out = {};
  out->domain = Of(handle).domain;
  out->bus = Of(handle).bus;
  return 0;
}
int nvmlDeviceGetCudaComputeCapability(void* handle, int* major, int* minor) {
  *major = Of(handle).major;
  *minor = Of(handle).minor;
  return Of(handle).lost;
}
int nvmlDeviceGetName(void* handle, char* out, unsigned size) {
  return Text(Of(handle).name, out, size);
}
int nvmlDeviceGetUUID(void* handle, char* out, unsigned size) {
  return Text(Of(handle).uuid, out, size);
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned* count, Process* out) {
  return List(handle, false, count, out);
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(void* handle, unsigned* count, Process* out) {
  return List(handle, true, count, out);
}
int nvmlDeviceGetProcessUtilization(void* handle, Load* out, unsigned* count,
                                    unsigned long long since) {
  unsigned found = 0;
  if (since == 0) {
    for (const FakeNvmlProcess& process : Of(handle).processes) {
      if (process.load < 0) continue;
      // Two samples of one process: the greater one counts.
      out[found++] = {process.pid, 100, static_cast<unsigned>(process.load), 0, 0, 0};
      out[found++] = {process.pid, 200, 0, 0, 0, 0};
    }
  }
  *count = found;
  return found == 0 ? kNotFound : 0;
}
int nvmlDeviceGetUtilizationRates(void* handle, unsigned* rates) {
  rates[0] = Of(handle).load;
  rates[1] = 0;
  return Of(handle).mig ? kUnsupported : 0;
}
int nvmlDeviceGetMemoryInfo(void* handle, unsigned long long* memory) {
  memory[0] = Of(handle).total;
  memory[1] = Of(handle).total - Of(handle).used;
  memory[2] = Of(handle).used;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* handle, unsigned long long* reasons) {
  *reasons = Of(handle).throttle;
  return 0;
}
int nvmlDeviceGetTemperature(void* handle, int, unsigned* degrees) {
  *degrees = Of(handle).temperature;
  return 0;
}
int nvmlDeviceGetTemperatureThreshold(void* handle, int which, unsigned* degrees) {
  *degrees = Of(handle).limit;
  return which == 1 ? 0 : kUnsupported;
}
int nvmlDeviceGetDisplayActive(void* handle, int* display) {
  *display = Of(handle).display;
  return 0;
}
int nvmlDeviceGetDisplayMode(void* handle, int* display) {
  *display = Of(handle).attached;
  return 0;
}
int nvmlDeviceGetMigMode(void* handle, unsigned* current, unsigned* pending) {
  *current = *pending = Of(handle).instances.empty() ? 0 : 1;
  return 0;
}
int nvmlDeviceGetMaxMigDeviceCount(void*, unsigned* count) {
  *count = 7;
  return 0;
}
int nvmlDeviceGetMigDeviceHandleByIndex(void* handle, unsigned index, void** instance) {
  if (index >= Of(handle).instances.size()) return kNotFound;
  *instance = &Of(handle).instances[index];
  return 0;
}

}  // extern "C"
