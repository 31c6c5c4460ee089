#include "capture/device_memory.h"

#include <cstring>

#include "capture/names.h"

namespace cupilot::capture {

bool DeviceMemory::IsMapped(std::uint64_t address) const {
  if (driver_.cuMemRetainAllocationHandle == nullptr || driver_.cuMemRelease == nullptr)
    return false;
  std::uint64_t handle = 0;
  void* pointer = AtAddress(address);
  if (driver_.cuMemRetainAllocationHandle(&handle, pointer) != kDriverSuccess) return false;
  driver_.cuMemRelease(handle);
  return true;
}

// A program that maps memory into a range of addresses sees one allocation in what the driver calls
// several: those that touch each other.
void DeviceMemory::JoinMappings(Region& region) const {
  if (!IsMapped(region.address)) return;
  std::uint64_t base = 0;
  std::size_t bytes = 0;
  const auto next = [&](std::uint64_t address) {
    return IsMapped(address) &&
           driver_.cuMemGetAddressRange_v2(&base, &bytes, address) == kDriverSuccess && bytes > 0;
  };
  while (next(region.address + region.bytes) && base == region.address + region.bytes) {
    region.bytes += bytes;
  }
  while (next(region.address - 1) && base + bytes == region.address) {
    region.address = base;
    region.bytes += bytes;
  }
}

bool DeviceMemory::Find(std::uint64_t address, Region& region) {
  unsigned type = 0;
  if (!Ask(kPointerMemoryType, address, type)) return false;
  if (type != kMemoryHost && type != kMemoryDevice) return false;
  unsigned managed = 0;
  Ask(kPointerIsManaged, address, managed);
  region.kind = managed != 0          ? RegionKind::kManaged
                : type == kMemoryHost ? RegionKind::kHost
                                      : RegionKind::kDevice;
  std::size_t bytes = 0;
  std::uint64_t base = 0;
  if (driver_.cuMemGetAddressRange_v2(&base, &bytes, address) != kDriverSuccess || bytes == 0) {
    std::uint64_t size = 0;
    if (!Ask(kPointerRangeStart, address, base) || !Ask(kPointerRangeSize, address, size)) {
      return false;
    }
    bytes = size;
  }
  if (bytes == 0 || address < base || address - base >= bytes) return false;
  region.address = base;
  region.bytes = bytes;
  if (region.kind == RegionKind::kDevice) JoinMappings(region);
  return true;
}

bool DeviceMemory::FindGlobal(const void* kernel, const PlannedGlobal& global, Region& region) {
  void* function = const_cast<void*>(kernel);
  void* module = nullptr;
  if (driver_.cuFuncGetModule == nullptr) return false;
  if (driver_.cuFuncGetModule(&module, function) != kDriverSuccess) {
    void* resolved = nullptr;
    if (driver_.cuKernelGetFunction == nullptr ||
        driver_.cuKernelGetFunction(&resolved, function) != kDriverSuccess ||
        driver_.cuFuncGetModule(&module, resolved) != kDriverSuccess) {
      return false;
    }
  }
  std::vector<std::string> names = symbols_.Find(global.symbol);
  names.insert(names.begin(), MangledVariable(global.symbol));
  for (const std::string& name : names) {
    std::size_t bytes = 0;
    if (driver_.cuModuleGetGlobal_v2(&region.address, &bytes, module, name.c_str()) !=
        kDriverSuccess) {
      continue;
    }
    region.bytes = bytes;
    region.kind = RegionKind::kDevice;
    return true;
  }
  return false;
}

bool DeviceMemory::Read(std::uint64_t address, void* to, std::size_t bytes) {
  unsigned type = 0;
  std::uint64_t host = 0;
  if (Ask(kPointerMemoryType, address, type) && type == kMemoryHost &&
      Ask(kPointerHostPointer, address, host) && host != 0) {
    std::memcpy(to, AtAddress(host), bytes);
    return true;
  }
  return driver_.cuMemcpyDtoH_v2(to, address, bytes) == kDriverSuccess;
}

}  // namespace cupilot::capture
