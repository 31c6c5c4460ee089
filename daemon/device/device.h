// A device as the process that runs candidates sees it. Two kinds: host/ (kernels as CPU code in
// this very process) and, beside it, one for GPUs. What is built from text comes as an artifact (a
// file); building is the build worker's, which needs no device.
//
// One thread at a time uses a Device. Every launch is synchronous to the caller: when Launch
// returns, the kernel has ended. A kernel that crashes or hangs takes the process with it; who
// calls isolates that by processes, never by this interface.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupilot::device {

struct Properties {
  std::string name;          // "AMD EPYC", "NVIDIA H200"
  std::string architecture;  // "host-x86-64-v3", "sm_90"
  std::string driver;        // host: the kernel's release
  std::int64_t memory_bytes = 0;
  // What launch expressions name.
  std::int64_t sm_count = 1;  // host: threads that run blocks
  std::int64_t max_shared_bytes = 48 * 1024;
  std::int64_t max_threads_per_sm = 1024;
  std::int64_t max_threads_per_block = 1024;
  std::int64_t l2_bytes = 0;
  std::int64_t warp_size = 32;
};

struct KernelInfo {
  std::string name;       // qualified
  std::string signature;  // mangled
  std::int64_t max_threads_per_block = 1024;
  std::int64_t static_shared_bytes = 0;
  std::vector<std::int64_t> parameter_bytes;
};

struct VariableInfo {
  std::string name;  // qualified
  std::int64_t bytes = 0;
  bool constant = false;
};

// What a loaded artifact holds. Kernels and variables are named by their index from here on.
struct ModuleInfo {
  std::string architecture;
  std::vector<KernelInfo> kernels;
  std::vector<VariableInfo> variables;
};

using ModuleId = int;

struct Launch {
  ModuleId module = 0;
  int kernel = 0;
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::int64_t shared_bytes = 0;
  void* const* arguments = nullptr;  // addresses of the parameters' values, in order
};

enum class Direction { kToDevice, kFromDevice };

struct Counters {
  std::int64_t launches = 0;
  std::int64_t blocks = 0;
};

// What others do on the device.
struct Activity {
  bool others_active = false;
  std::string detail;  // who or how much, for `explain`
};

class Device {
 public:
  virtual ~Device() = default;

  virtual base::Result<Properties> Describe() = 0;

  // Loads an artifact for the rest of this process's life. kInvalidArgument if it is none.
  virtual base::Result<ModuleId> Load(const std::string& artifact, ModuleInfo* info) = 0;

  // Memory that kernels reach, backed by the `descriptor`'s file so that another process sees it as
  // well where the device can do that (host); else device memory of the same size, kept equal to
  // the file by Copy. Released with the process.
  virtual base::Result<std::span<std::byte>> Allocate(int descriptor, std::size_t bytes) = 0;

  // Variable `variable` of a module from or to `memory`.
  virtual base::Result<> Copy(ModuleId module, int variable, Direction direction,
                              std::span<std::byte> memory) = 0;

  // kInvalidArgument: the geometry is not legal for the kernel; kToolFailed: the runtime's error.
  virtual base::Result<> Launch(const device::Launch& launch) = 0;

  // Microseconds of `work` on the device's own clock (host: the steady clock around it).
  virtual base::Result<double> Time(const std::function<base::Result<>()>& work) = 0;

  virtual device::Counters Counters() const = 0;

  virtual base::Result<Activity> OthersActivity() = 0;
};

}  // namespace cupilot::device
