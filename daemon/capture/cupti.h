// The part of CUPTI that capture calls: callbacks and records of kernels. Declared by ourselves for
// the reason that driver.h gives; names and layouts are those of cupti_callbacks.h and
// cupti_activity.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cupilot::capture {

using CuptiResult = int;  // CUptiResult
inline constexpr CuptiResult kCuptiSuccess = 0;
inline constexpr CuptiResult kCuptiTaken = 39;  // CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED

inline constexpr int kDriverDomain = 1, kResourceDomain = 3;  // CUpti_CallbackDomain
inline constexpr int kEnter = 0;                              // CUpti_ApiCallbackSite
// CUpti_CallbackIdResource
inline constexpr std::uint32_t kContextCreated = 1, kContextDestroyed = 2, kModuleLoaded = 6,
                               kModuleUnloaded = 7;
// CUpti_ActivityKind, CUpti_ActivityFlag, CUpti_ActivityAttribute
inline constexpr int kConcurrentKernels = 10;
inline constexpr std::uint32_t kFlushAll = 1;
inline constexpr int kZeroedBuffers = 5;

// CUpti_CallbackData
struct CallbackData {
  int site;
  const char* function;
  const void* parameters;
  void* result;
  const char* symbol;  // the kernel's, mangled
  void* context;
  std::uint32_t context_id;
  std::uint64_t* correlation_data;
  std::uint32_t correlation;
};

// CUpti_ResourceData, CUpti_ModuleResourceData
struct ResourceData {
  void* context;
  void* handle;
  void* descriptor;
};
struct ModuleData {
  std::uint32_t module;
  std::size_t bytes;
  const char* image;
};

// CUpti_ActivityKernel5 and what came after it, as far as they are the same. Times in nanoseconds.
struct KernelRecord {
  std::uint32_t kind;
  std::uint8_t cache, shared_configuration;
  std::uint16_t registers;
  std::uint32_t global_cache[2];
  std::uint64_t begin, end, completed;
  std::uint32_t device, context, stream;
  std::int32_t grid[3], block[3];
  std::int32_t static_shared, dynamic_shared;
  std::uint32_t local_each, local_all;
  std::uint32_t correlation;
  std::int64_t grid_id;
  const char* name;
  void* reserved;
  std::uint64_t queued, submitted;
  std::uint8_t launch_type, carveout[3];
  std::uint32_t shared_executed;
  std::uint64_t graph_node;  // 0: not launched by a graph
};

struct Cupti {
  using Callback = void (*)(void*, int, std::uint32_t, const void*);
  using Requested = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
  using Completed = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);
  CuptiResult (*cuptiSubscribe)(void**, Callback, void*);
  CuptiResult (*cuptiEnableCallback)(std::uint32_t, void*, int, std::uint32_t);
  CuptiResult (*cuptiGetCallbackName)(int, std::uint32_t, const char**);
  CuptiResult (*cuptiGetResultString)(CuptiResult, const char**);
  CuptiResult (*cuptiActivityRegisterCallbacks)(Requested, Completed);
  CuptiResult (*cuptiActivityEnable)(int);
  CuptiResult (*cuptiActivityGetNextRecord)(std::uint8_t*, std::size_t, void**);
  CuptiResult (*cuptiActivityFlushAll)(std::uint32_t);
  CuptiResult (*cuptiActivityFlushPeriod)(std::uint32_t);  // may be null
  CuptiResult (*cuptiActivitySetAttribute)(int, std::size_t*, void*);
};

enum class CuptiChoice { kThis, kAnother, kNone };

// The file of a libcupti that somebody has loaded into this process; empty: nobody has.
std::string LoadedCupti();

// Tries libraries until `choose` takes one or wants none: the one that the process has already, and
// then no other, else `path`, if it is not empty, first. False if none is taken: `reason` says what
// the last one failed of. Up to 13.2 CUPTI has one subscriber and one receiver of records; who has
// not subscribed (for records alone, or later) cannot be asked about, and many programs that never
// use it have loaded it (PyTorch).
bool FindCupti(const std::string& path, Cupti& cupti,
               const std::function<CuptiChoice(const Cupti&, std::string& reason)>& choose,
               std::string& reason);

}  // namespace cupilot::capture
