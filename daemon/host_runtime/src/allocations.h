// What memory the program has of the runtime. Thread-safe.
#pragma once

#include <cstddef>

#include "cuda_runtime_api.h"

namespace cupilot_host {

struct FoundAllocation {
  const void* address = nullptr;
  std::size_t bytes = 0;
  cudaMemoryType type = cudaMemoryTypeUnregistered;
};

// The allocation, or the registered memory of the user's own, that holds the address.
bool FindAllocation(const void* pointer, FoundAllocation& found);

}  // namespace cupilot_host
