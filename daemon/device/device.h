// A device as the process that runs candidates sees it. Two kinds: host/ (kernels as CPU code in
// this very process) and cuda/ (NVIDIA GPUs by the driver). What is built from text comes as an
// artifact (a file); building is the build worker's, which needs no device.
//
// Everything that kernels reach lies in one stretch of memory with places counted from its
// beginning. The caller sees it as a file's mapping, so that another process sees it too; a device
// with memory of its own keeps a copy there, and Upload and Download bring one up to date from the
// other.
//
// One thread at a time uses a Device. A kernel that crashes or hangs takes the process with it; who
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
  std::string driver;        // "580.65.06, CUDA 13.0"; host: the kernel's release
  std::string uuid;          // "GPU-..."; host: empty
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

class Device {
 public:
  virtual ~Device() = default;

  virtual base::Result<Properties> Describe() = 0;

  // Loads an artifact until Unload or the end of this process. kInvalidArgument if it is none.
  virtual base::Result<ModuleId> Load(const std::string& artifact, ModuleInfo* info) = 0;
  // All modules; their ids begin at 0 again. A device that cannot forget code does nothing.
  virtual void UnloadAll() = 0;

  // The memory: `bytes` of the descriptor's file. Once a process.
  virtual base::Result<std::span<std::byte>> Allocate(int descriptor, std::size_t bytes) = 0;
  // What a kernel gets as the address of place 0.
  virtual std::uint64_t Address() const = 0;
  // The device's copy from the mapping, and back.
  virtual base::Result<> Upload(std::int64_t offset, std::int64_t bytes) = 0;
  virtual base::Result<> Download(std::int64_t offset, std::int64_t bytes) = 0;

  // Variable `variable` of a module from or to the device's copy of the memory.
  virtual base::Result<> CopyVariable(ModuleId module, int variable, Direction direction,
                                      std::int64_t offset, std::int64_t bytes) = 0;

  // In the device's copy of the memory, in order with the launches.
  virtual base::Result<> Fill(std::int64_t offset, std::int64_t bytes, int byte) = 0;
  // In order with those before it. kInvalidArgument: the device refuses the launch (its geometry or
  // what it needs is not to be had there); kToolFailed: it ran and failed, and this process is of
  // no further use. A device may report a failure only when it waits.
  virtual base::Result<> Launch(const device::Launch& launch) = 0;

  // Microseconds of `work` (launches and fills) on the device's own clock (host: the steady clock
  // around it); waits for its end.
  virtual base::Result<double> Time(const std::function<base::Result<>()>& work) = 0;
};

}  // namespace cupilot::device
