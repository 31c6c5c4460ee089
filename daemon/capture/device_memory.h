// Allocations of the CUDA driver, as the recorder asks for them: on the thread that launches, in
// the context of its launch.
#pragma once

#include "capture/driver.h"
#include "capture/image_symbols.h"
#include "recording/memory.h"

namespace cupilot::capture {

class DeviceMemory : public Memory {
 public:
  DeviceMemory(const Driver& driver, const ImageSymbols& symbols)
      : driver_(driver), symbols_(symbols) {}

  bool Find(std::uint64_t address, Region& region) override;
  bool FindGlobal(const void* kernel, const PlannedGlobal& global, Region& region) override;
  bool Read(std::uint64_t address, void* to, std::size_t bytes) override;

 private:
  // False where the driver does not know.
  template <typename Value>
  bool Ask(int attribute, std::uint64_t address, Value& value) const {
    value = {};
    return driver_.cuPointerGetAttribute(&value, attribute, address) == kDriverSuccess;
  }
  // By the program itself (cuMemMap).
  bool IsMapped(std::uint64_t address) const;
  void JoinMappings(Region& region) const;

  const Driver& driver_;
  const ImageSymbols& symbols_;
};

}  // namespace cupilot::capture
