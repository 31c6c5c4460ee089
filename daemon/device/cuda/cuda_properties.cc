#include "device/cuda/cuda_properties.h"

#include <cstdio>

#include "device/cuda/driver.h"

namespace cupilot::device::cuda {
namespace {

// "GPU-8a5c1d3e-...": as nvidia-smi writes it.
std::string UuidText(const Uuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(uuid.bytes[i]));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  return text;
}

}  // namespace

base::Result<DeviceHandle> HandleOf(const DriverApi& api, int index) {
  int count = 0;
  const Status status = api.cuDeviceGetCount(&count);
  DeviceHandle device = 0;
  if (status != kSuccess || index < 0 || index >= count ||
      api.cuDeviceGet(&device, index) != kSuccess) {
    return base::Fail(base::Unavailable(
        "there is no cuda:" + std::to_string(index) + ", " +
        (count == 0 ? "no GPU is visible"
                    : "the GPUs here are cuda:0 to cuda:" + std::to_string(count - 1))));
  }
  return device;
}

std::string ArchitectureName(std::int64_t major, std::int64_t minor) {
  return "sm_" + std::to_string(10 * major + minor);
}

base::Result<Properties> DescribeGpu(const DriverApi& api, DeviceHandle device) {
  Properties properties;
  char name[256] = "";
  if (api.cuDeviceGetName(name, sizeof name - 1, device) != kSuccess) {
    return base::Fail(base::Unavailable("the GPU does not answer"));
  }
  const auto attribute = [&](int which) {
    int value = 0;
    api.cuDeviceGetAttribute(&value, which, device);
    return std::int64_t{value};
  };
  properties.name = name;
  properties.architecture =
      ArchitectureName(attribute(kComputeCapabilityMajor), attribute(kComputeCapabilityMinor));
  properties.driver = DriverVersion(api);
  Uuid uuid{};
  if (api.cuDeviceGetUuid_v2(&uuid, device) == kSuccess) properties.uuid = UuidText(uuid);
  std::size_t bytes = 0;
  api.cuDeviceTotalMem_v2(&bytes, device);
  properties.memory_bytes = static_cast<std::int64_t>(bytes);
  properties.sm_count = attribute(kMultiprocessorCount);
  properties.max_shared_bytes = attribute(kMaxSharedMemoryPerBlockOptin);
  properties.max_threads_per_sm = attribute(kMaxThreadsPerMultiprocessor);
  properties.max_threads_per_block = attribute(kMaxThreadsPerBlock);
  properties.l2_bytes = attribute(kL2CacheSize);
  properties.warp_size = attribute(kWarpSize);
  return properties;
}

}  // namespace cupilot::device::cuda
