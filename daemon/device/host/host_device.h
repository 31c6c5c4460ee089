// The host device: artifacts are shared objects with kernels as CPU code (host_runtime/), run in
// this process by the host runtime that the executable links and exports. Memory is the
// descriptor's mapping itself, between two stretches of address space that nothing may touch, so
// that a wild access beside the buffers faults.
#pragma once

#include <vector>

#include "device/device.h"
#include "host_runtime/include/cupilot_host_abi.h"

namespace cupilot::device {

// What the host runtime is asked; a table, so that this folder links nothing of it.
struct HostRuntime {
  // As cudaLaunchKernel, then waiting for the end; the runtime's error number.
  int (*launch)(const void* handle, const std::array<std::int64_t, 3>& grid,
                const std::array<std::int64_t, 3>& block, void* const* arguments,
                std::int64_t shared_bytes) = nullptr;
  void (*add_module)(const cupilot_host_module* module) = nullptr;
  const char* (*error_text)(int error) = nullptr;
  // Fills what the runtime itself reports to programs: threads, limits.
  void (*describe)(Properties* properties) = nullptr;
};

class HostDevice final : public Device {
 public:
  // Bytes of forbidden address space on either side of the memory.
  static constexpr std::size_t kForbiddenBytes = std::size_t{1} << 30;

  explicit HostDevice(const HostRuntime& runtime) : runtime_(runtime) {}

  base::Result<Properties> Describe() override;
  base::Result<ModuleId> Load(const std::string& artifact, ModuleInfo* info) override;
  void UnloadAll() override {}
  base::Result<std::span<std::byte>> Allocate(int descriptor, std::size_t bytes) override;
  std::uint64_t Address() const override;
  base::Result<> Upload(std::int64_t, std::int64_t) override { return {}; }
  base::Result<> Download(std::int64_t, std::int64_t) override { return {}; }
  base::Result<> CopyVariable(ModuleId module, int variable, Direction direction,
                              std::int64_t offset, std::int64_t bytes) override;
  base::Result<> Fill(std::int64_t offset, std::int64_t bytes, int byte) override;
  base::Result<> Launch(const device::Launch& launch) override;
  base::Result<double> Time(const std::function<base::Result<>()>& work) override;

 private:
  HostRuntime runtime_;
  std::vector<const cupilot_host_module*> modules_;
  std::span<std::byte> memory_;
};

}  // namespace cupilot::device
