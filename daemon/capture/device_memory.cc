#include "capture/device_memory.h"

#include <cstring>

#include "capture/names.h"

namespace cupilot::capture {

// Of an address range with mappings here and there: the mappings around the address that touch each
// other. What else is allocated is mapped as a whole.
void DeviceMemory::KeepMapped(std::uint64_t address, Region& region) const {
  std::uint64_t base = 0, size = 0;
  const auto mapping = [&](std::uint64_t at) {
    int mapped = 0;
    return Ask(kPointerMapped, at, mapped) && mapped != 0 && Ask(kPointerMappingBase, at, base) &&
           Ask(kPointerMappingSize, at, size) && size > 0;
  };
  const std::uint64_t end = region.address + region.bytes;
  if (!mapping(address) || (base <= region.address && base + size >= end)) return;
  std::uint64_t first = base, last = base + size;
  while (first > region.address && mapping(first - 1) && base < first) first = base;
  while (last < end && mapping(last) && base + size > last) last = base + size;
  if (first < region.address) first = region.address;
  if (last > end) last = end;
  region.address = first;
  region.bytes = last - first;
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
  if (region.kind == RegionKind::kDevice) KeepMapped(address, region);
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
    std::memcpy(to, reinterpret_cast<const void*>(static_cast<std::uintptr_t>(host)), bytes);
    return true;
  }
  return driver_.cuMemcpyDtoH_v2(to, address, bytes) == kDriverSuccess;
}

}  // namespace cupilot::capture
