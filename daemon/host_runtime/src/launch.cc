// Launches: checks as on a device, then blocks over the threads of the pool. A launch is done when
// the call returns.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "cupilot_host_abi.h"
#include "errors.h"
#include "failure.h"
#include "pool.h"
#include "registry.h"

namespace cupilot_host {
namespace {

constexpr unsigned int kMaxThreads = 1024;
constexpr std::size_t kMaxShared = 227 * 1024;  // what may be opted in to

struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t shared;
  cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

// The dynamic shared memory of the block that this thread runs.
struct SharedMemory {
  ~SharedMemory() { std::free(memory); }
  void* Get(std::size_t bytes) {
    if (bytes > size) {
      std::free(memory);
      size = (bytes + 255) / 256 * 256;
      memory = std::aligned_alloc(256, size);
    }
    return memory;
  }
  void* memory = nullptr;
  std::size_t size = 0;
};
thread_local SharedMemory shared_memory;

struct Work {
  const cupilot_host_kernel* kernel;
  cupilot_host_dim3 grid;
  cupilot_host_dim3 block;
  std::size_t shared;
  void** arguments;
  std::atomic<int> failure{0};
};

void RunBlocks(void* context, unsigned long begin, unsigned long end) {
  Work& work = *static_cast<Work*>(context);
  if (work.failure.load(std::memory_order_relaxed) != 0) return;
  cupilot_host_part part;
  part.grid = work.grid;
  part.block = work.block;
  part.first = begin;
  part.count = end - begin;
  part.dynamic_shared_bytes = work.shared;
  part.dynamic_shared = work.shared > 0 ? shared_memory.Get(work.shared) : nullptr;
  const int error = work.kernel->entry(&part, work.arguments);
  if (error != 0) work.failure.store(error, std::memory_order_relaxed);
}

cudaError_t CheckGeometry(const KernelEntry& entry, const dim3& grid, const dim3& block,
                          std::size_t shared) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0) {
    return cudaErrorInvalidConfiguration;
  }
  if (grid.x > 2147483647u || grid.y > 65535u || grid.z > 65535u) {
    return cudaErrorInvalidConfiguration;
  }
  if (block.x > kMaxThreads || block.y > kMaxThreads || block.z > 64 ||
      static_cast<unsigned long>(block.x) * block.y * block.z > kMaxThreads) {
    return cudaErrorInvalidConfiguration;
  }
  if (block.x * block.y * block.z > entry.kernel->max_threads_per_block) {
    return cudaErrorLaunchOutOfResources;
  }
  if (shared > static_cast<std::size_t>(entry.max_dynamic_shared) ||
      shared + entry.kernel->static_shared_bytes > kMaxShared) {
    return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

cudaError_t Launch(const void* function, const dim3& grid, const dim3& block, void** arguments,
                   std::size_t shared) {
  if (Sticky() != cudaSuccess) return Sticky();
  const KernelEntry* entry = FindKernel(function);
  if (entry == nullptr) return cudaErrorInvalidDeviceFunction;
  const cudaError_t checked = CheckGeometry(*entry, grid, block, shared);
  if (checked != cudaSuccess) return checked;
  Work work{
      entry->kernel, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, arguments};
  ParallelFor(static_cast<unsigned long>(grid.x) * grid.y * grid.z, RunBlocks, &work);
  // As on a device, the launch succeeds and what comes after it fails.
  if (work.failure != 0) {
    SetSticky(static_cast<cudaError_t>(work.failure.load()));
    std::fprintf(stderr, "cupilot host device: kernel %s: %s\n", entry->kernel->name,
                 cupilot_host_failure_text());
  }
  return cudaSuccess;
}

}  // namespace
}  // namespace cupilot_host

using cupilot_host::Note;

extern "C" {

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                         struct CUstream_st* stream) {
  cupilot_host::configurations.push_back({grid, block, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (cupilot_host::configurations.empty()) return Note(cudaErrorMissingConfiguration);
  const auto configuration = cupilot_host::configurations.back();
  cupilot_host::configurations.pop_back();
  *grid = configuration.grid;
  *block = configuration.block;
  *shared = configuration.shared;
  *static_cast<cudaStream_t*>(stream) = configuration.stream;
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t) {
  return Note(cupilot_host::Launch(function, grid, block, arguments, shared));
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t shared, cudaStream_t) {
  return Note(cupilot_host::Launch(function, grid, block, arguments, shared));
}

cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t) {
  return Note(cudaErrorNotSupported);
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attributes, const void* function) {
  const auto* entry = cupilot_host::FindKernel(function);
  if (entry == nullptr) return Note(cudaErrorInvalidDeviceFunction);
  *attributes = cudaFuncAttributes{};
  attributes->sharedSizeBytes = entry->kernel->static_shared_bytes;
  attributes->maxThreadsPerBlock = static_cast<int>(entry->kernel->max_threads_per_block);
  attributes->maxDynamicSharedSizeBytes = entry->max_dynamic_shared;
  attributes->preferredShmemCarveout = entry->preferred_carveout;
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* function, enum cudaFuncAttribute attribute,
                                 int value) {
  auto* entry = cupilot_host::FindKernel(function);
  if (entry == nullptr) return Note(cudaErrorInvalidDeviceFunction);
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 || static_cast<size_t>(value) + entry->kernel->static_shared_bytes >
                         cupilot_host::kMaxShared) {
      return Note(cudaErrorInvalidValue);
    }
    entry->max_dynamic_shared = value;
  } else if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
    entry->preferred_carveout = value;
  }
  return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(const void*, enum cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaFuncSetSharedMemConfig(const void*, enum cudaSharedMemConfig) {
  return cudaSuccess;
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  const auto* entry = cupilot_host::FindKernel(function);
  if (entry == nullptr) return Note(cudaErrorInvalidDeviceFunction);
  *name = entry->kernel->signature;
  return cudaSuccess;
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  if (cupilot_host::FindKernel(function) == nullptr) return Note(cudaErrorInvalidDeviceFunction);
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  if (cupilot_host::FindKernel(symbol) == nullptr) return Note(cudaErrorInvalidDeviceFunction);
  *function = static_cast<cudaFunction_t>(const_cast<void*>(symbol));
  return cudaSuccess;
}

// One block runs on one hardware thread at a time.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int threads, size_t) {
  const auto* entry = cupilot_host::FindKernel(function);
  if (entry == nullptr) return Note(cudaErrorInvalidDeviceFunction);
  *blocks =
      threads > 0 && static_cast<unsigned int>(threads) <= entry->kernel->max_threads_per_block;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                   const void* function,
                                                                   int threads, size_t shared,
                                                                   unsigned int) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}

const char* cupilot_host_architecture(const void* handle) {
  const auto* entry = cupilot_host::FindKernel(handle);
  return entry == nullptr ? nullptr : entry->module->architecture;
}
}
