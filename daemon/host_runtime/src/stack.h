// Stacks for the threads of a block. They are kept between launches; untouched pages of them cost
// nothing, and what runs over the end of one ends the process.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace cupilot_host {

inline constexpr std::size_t kStackBytes = 128 * 1024;
inline constexpr std::size_t kStackGuardBytes = 4096;

// Its lowest address; null: there is no memory.
inline char* MakeStack() {
  void* memory = ::mmap(nullptr, kStackGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  ::mprotect(memory, kStackGuardBytes, PROT_NONE);
  return static_cast<char*>(memory) + kStackGuardBytes;
}

inline void DropStack(char* stack) {
  ::munmap(stack - kStackGuardBytes, kStackGuardBytes + kStackBytes);
}

}  // namespace cupilot_host
