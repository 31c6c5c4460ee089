// What the recorder asks of the device on which the program runs. Called from any thread of the
// program, with nothing of the recorder's locked but what orders its own calls.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recording/plan.h"

namespace cupilot::capture {

// Recordings and the driver say addresses as numbers.
inline void* AtAddress(std::uint64_t address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

// An allocation.
struct Region {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  RegionKind kind = RegionKind::kDevice;
};

class Memory {
 public:
  virtual ~Memory() = default;
  // The allocation that holds the address. One past its end is not in it.
  virtual bool Find(std::uint64_t address, Region& region) = 0;
  // The variable as the launched kernel sees it; `kernel` is Launch::kernel.
  virtual bool FindGlobal(const void* kernel, const PlannedGlobal& global, Region& region) = 0;
  // Waits for what may write there, as far as the launch is concerned.
  virtual bool Read(std::uint64_t address, void* to, std::size_t bytes) = 0;
  // Keeps others from writing what a launch that is to be recorded may read or write, until
  // Release. On the thread that launches, before anything of it is looked up; false: it cannot be
  // recorded.
  virtual bool Hold() { return true; }
  // Once for each Hold that was true.
  virtual void Release() {}
};

}  // namespace cupilot::capture
