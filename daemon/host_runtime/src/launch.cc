// Launches: checks as on a device, then blocks over the threads of the pool. A launch is done when
// the call returns.
#undef NDEBUG  // for the declaration of what assert calls
#include <algorithm>
#include <atomic>
#include <cassert>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "capture.h"
#include "cupilot_host_abi.h"
#include "cupilot_host_lowered.h"
#include "errors.h"
#include "failure.h"
#include "grid.h"
#include "pool.h"
#include "registry.h"
#include "schedule.h"
#include "watch.h"

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

// Where a thread of a kernel goes that ends it: out of the loops over threads. Null outside
// kernels.
thread_local std::jmp_buf* way_out = nullptr;

int Enter(const cupilot_host_kernel& kernel, const cupilot_host_part& part, void** arguments) {
  std::jmp_buf here;
  way_out = &here;
  cupilot_host_set_current(nullptr);
  int error = setjmp(here);  // NOLINT: user code in between may have no destructors to skip
  if (error == 0) error = kernel.entry(&part, arguments);
  way_out = nullptr;
  return error;
}

// Blocks [begin, end) on this thread.
cupilot_host_part PartOf(const Work& work, unsigned long begin, unsigned long end) {
  cupilot_host_part part;
  part.grid = work.grid;
  part.block = work.block;
  part.thread_begin = {0, 0, 0};
  part.thread_end = work.block;
  part.first = begin;
  part.count = end - begin;
  part.dynamic_shared_bytes = work.shared;
  part.dynamic_shared = work.shared > 0 ? shared_memory.Get(work.shared) : nullptr;
  return part;
}

// False if it failed.
bool RunPart(Work& work, const cupilot_host_part& part) {
  const int error = Enter(*work.kernel, part, work.arguments);
  if (error != 0) work.failure.store(error, std::memory_order_relaxed);
  return error == 0;
}

void RunBlocks(void* context, unsigned long begin, unsigned long end) {
  Work& work = *static_cast<Work*>(context);
  if (work.failure.load(std::memory_order_relaxed) != 0) return;
  RunPart(work, PartOf(work, begin, end));
}

constexpr int kPoison = 0xcb;

// One block, whose threads are fibers that know the schedule, or come one by one.
bool RunOneBlock(Work& work, const Schedule& schedule, unsigned long block) {
  cupilot_host_part part = PartOf(work, block, block + 1);
  if (part.dynamic_shared != nullptr) std::memset(part.dynamic_shared, kPoison, work.shared);
  if (work.kernel->synchronises != 0 || schedule.threads == ThreadOrder::kAny) {
    return RunPart(work, part);
  }
  const unsigned int count = work.block.x * work.block.y * work.block.z;
  for (unsigned int i = 0; i < count; ++i) {
    const unsigned int thread = schedule.ThreadAt(i, count);
    part.thread_begin = {thread % work.block.x, thread / work.block.x % work.block.y,
                         thread / work.block.x / work.block.y};
    part.thread_end = {part.thread_begin.x + 1, part.thread_begin.y + 1, part.thread_begin.z + 1};
    if (!RunPart(work, part)) return false;
  }
  return true;
}

// On a thread of its own: nothing is left in its shared memory.
void RunScheduled(Work& work, const Schedule& schedule, unsigned long blocks) {
  std::thread([&] {
    for (unsigned long i = 0; i < blocks; ++i) {
      if (!RunOneBlock(work, schedule, schedule.BlockAt(i, blocks))) break;
    }
    DropFibers();
  }).join();
}

// Likewise, while a watch looks at each access.
void RunWatched(Work& work, unsigned long blocks) {
  watch::BeginLaunch();
  void* const shared = work.shared > 0 ? watch::DynamicShared(work.shared) : nullptr;
  std::thread([&] {
    for (unsigned long i = 0; i < blocks; ++i) {
      cupilot_host_part part = PartOf(work, i, i + 1);
      part.dynamic_shared = shared;
      if (!RunPart(work, part)) break;
    }
    DropFibers();
  }).join();
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

// As on a device, the launch succeeds and what comes after it fails.
cudaError_t Finish(const Work& work, capture::Launch& captured) {
  const int failure = work.failure.load();
  captured.Ended(failure == cudaSuccess);
  if (failure == 0) return cudaSuccess;
  SetSticky(static_cast<cudaError_t>(failure));
  if (failure != cudaErrorAssert) {
    std::fprintf(stderr, "cupilot host device: kernel %s: %s\n", work.kernel->name,
                 cupilot_host_failure_text());
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
  const unsigned long blocks = static_cast<unsigned long>(grid.x) * grid.y * grid.z;
  capture::Launch captured({entry, work.grid, work.block, shared, arguments, false});
  if (watch::IsOn()) {
    RunWatched(work, blocks);
  } else if (const Schedule& schedule = CurrentSchedule(); schedule.one_block) {
    RunScheduled(work, schedule, blocks);
  } else {
    ParallelFor(blocks, RunBlocks, &work);
  }
  return Finish(work, captured);
}

// Every thread of the launch has a stack, all at once: what a process may have.
constexpr unsigned long kCooperativeThreads = 16384;

// Each block runs on a thread of its own, since all of them are there at once.
cudaError_t LaunchCooperative(const void* function, const dim3& grid, const dim3& block,
                              void** arguments, std::size_t shared) {
  if (Sticky() != cudaSuccess) return Sticky();
  // Its blocks run beside each other, which a watch cannot follow.
  if (watch::IsOn()) return cudaErrorNotSupported;
  const KernelEntry* entry = FindKernel(function);
  if (entry == nullptr) return cudaErrorInvalidDeviceFunction;
  const cudaError_t checked = CheckGeometry(*entry, grid, block, shared);
  if (checked != cudaSuccess) return checked;
  const unsigned long blocks = static_cast<unsigned long>(grid.x) * grid.y * grid.z;
  if (blocks > kCooperativeThreads / (block.x * block.y * block.z)) {
    return cudaErrorCooperativeLaunchTooLarge;
  }
  Work work{
      entry->kernel, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, arguments};
  capture::Launch captured({entry, work.grid, work.block, shared, arguments, true});
  Grid all(blocks);
  std::vector<std::thread> threads;
  threads.reserve(blocks);
  for (unsigned long i = 0; i < blocks; ++i) {
    threads.emplace_back([&work, &all, i] {
      SetGrid(&all);
      RunBlocks(&work, i, i + 1);
      all.Leave();
      DropFibers();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return Finish(work, captured);
}

[[noreturn]] void Fail(int error) {
  if (IsWaitingKernel()) FailBlock(error);
  std::longjmp(*way_out, error);  // NOLINT: see above
}

std::string PlaceOf(const thread* thread) {
  // Functions that are only called through a template's argument are not known to need it.
  if (thread == nullptr) return "block: [unknown], thread: [unknown]";
  cupilot_host::thread at = *thread;
  // Neighbouring blocks run as one row.
  if (at.threadIdx.x >= at.blockDim.x) {
    at.blockIdx.x = at.threadIdx.x / at.blockDim.x;
    at.threadIdx.x %= at.blockDim.x;
  }
  char place[128];
  std::snprintf(place, sizeof place, "block: [%u,%u,%u], thread: [%u,%u,%u]", at.blockIdx.x,
                at.blockIdx.y, at.blockIdx.z, at.threadIdx.x, at.threadIdx.y, at.threadIdx.z);
  return place;
}

// What the lowering made of "void k(int*)" is for people to read as they wrote it.
std::string AsWritten(std::string function) {
  for (const std::string added :
       {"cupilot_body_", "const cupilot_host::thread&, ", "const cupilot_host::thread&"}) {
    const std::size_t at = function.find(added);
    if (at != std::string::npos) function.erase(at, added.size());
  }
  // A kernel that is a friend is a member of a structure.
  const std::size_t structure = function.find("static void cupilot_friend_");
  if (structure != std::string::npos) {
    function.replace(structure, function.find("::", structure) + 2 - structure, "void ");
  }
  return function;
}

// All that has a destructor ends here, before the thread is left.
void ReportAssertion(const thread* thread, const char* expression, const char* file,
                     unsigned int line, const char* function) {
  const std::string text = std::string(file) + ":" + std::to_string(line) + ": " +
                           AsWritten(function) + ": " + PlaceOf(thread) + " Assertion `" +
                           expression + "` failed.";
  SetFailureText(text);
  std::fprintf(stderr, "%s\n", text.c_str());
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

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, size_t shared, cudaStream_t) {
  return Note(cupilot_host::LaunchCooperative(function, grid, block, arguments, shared));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  bool cooperative = false;
  for (unsigned int i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    cooperative |= attribute.id == cudaLaunchAttributeCooperative && attribute.val.cooperative != 0;
  }
  return Note((cooperative ? cupilot_host::LaunchCooperative : cupilot_host::Launch)(
      function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes));
}

void cupilot_host_fail_assertion(const cupilot_host::thread* thread, const char* expression,
                                 const char* file, unsigned int line, const char* function) {
  // A function for host and device that runs on the host.
  if (cupilot_host::way_out == nullptr) __assert_fail(expression, file, line, function);
  cupilot_host::ReportAssertion(thread, expression, file, line, function);
  cupilot_host::Fail(cudaErrorAssert);
}

void cupilot_host_trap(void) {
  if (cupilot_host::way_out == nullptr) __builtin_trap();
  cupilot_host::SetFailureText("a thread called __trap()");
  cupilot_host::Fail(cudaErrorLaunchFailure);
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

// What is left of what a block may have.
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function, int,
                                                      int) {
  const auto* entry = cupilot_host::FindKernel(function);
  if (entry == nullptr) return Note(cudaErrorInvalidDeviceFunction);
  *bytes = cupilot_host::kMaxShared - entry->kernel->static_shared_bytes;
  return cudaSuccess;
}

const char* cupilot_host_architecture(const void* handle) {
  const auto* entry = cupilot_host::FindKernel(handle);
  return entry == nullptr ? nullptr : entry->module->architecture;
}
}
