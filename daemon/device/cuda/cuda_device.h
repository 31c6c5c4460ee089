// An NVIDIA GPU by the driver API. Artifacts are cubins. The memory that kernels reach is device
// memory; the mapping is its staging copy. One primary context a process, made by Open.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/cuda/api.h"
#include "device/device.h"

namespace cupilot::device::cuda {

class CudaDevice final : public Device {
 public:
  // Makes the context on the GPU of this index. kUnavailable: no driver, no such GPU, no context
  // (the message says which, and what to do).
  static base::Result<std::unique_ptr<CudaDevice>> Open(int index);

  base::Result<Properties> Describe() override;
  base::Result<ModuleId> Load(const std::string& artifact, ModuleInfo* info) override;
  void UnloadAll() override;
  base::Result<std::span<std::byte>> Allocate(int descriptor, std::size_t bytes) override;
  std::uint64_t Address() const override { return memory_; }
  base::Result<> Upload(std::int64_t offset, std::int64_t bytes) override;
  base::Result<> Download(std::int64_t offset, std::int64_t bytes) override;
  base::Result<> CopyVariable(ModuleId module, int variable, Direction direction,
                              std::int64_t offset, std::int64_t bytes) override;
  base::Result<> Fill(std::int64_t offset, std::int64_t bytes, int byte) override;
  base::Result<> Launch(const device::Launch& launch) override;
  base::Result<double> Time(const std::function<base::Result<>()>& work) override;

  // For measurements.

  // Kernels in the driver's own text (PTX); counts as a module.
  base::Result<ModuleId> LoadText(const char* text, ModuleInfo* info);

  // Device memory of at least so many bytes; what was there is lost. kUnavailable: out of memory.
  base::Result<> Reserve(std::size_t bytes);
  // The same, and no more of it.
  base::Result<> ReserveExactly(std::size_t bytes);
  // Back to what the mapping needs, after writing over everything: nothing of what ran here is left
  // to whoever runs next.
  base::Result<> ScrubAndShrink();
  std::size_t FreeBytes() const;
  // From place to place of the device's memory, in order with launches.
  base::Result<> Move(std::int64_t from, std::int64_t to, std::int64_t bytes);
  base::Result<> Wait();

  // Launches and fills of `work`, recorded to be replayed as one graph; nothing runs here.
  base::Result<int> Record(const std::function<base::Result<>()>& work);
  base::Result<> Replay(int graph);
  void DropGraphs();

  // Registers and bytes of local memory of a loaded kernel.
  struct Resources {
    int registers = 0;
    int local_bytes = 0;
    int shared_bytes = 0;
  };
  Resources ResourcesOf(ModuleId module, int kernel) const;
  // Blocks of that launch that one multiprocessor holds at once; 0 if the driver does not tell.
  int BlocksPerMultiprocessor(const device::Launch& launch) const;

  DeviceHandle handle() const { return device_; }
  Context context() const { return context_; }

 private:
  struct LoadedKernel {
    Function function = nullptr;
    int shared_limit = 0;  // dynamic bytes that were asked for
  };
  struct LoadedVariable {
    DevicePointer address = 0;
    std::size_t bytes = 0;
  };
  struct LoadedModule {
    Module module = nullptr;
    std::vector<LoadedKernel> kernels;
    std::vector<LoadedVariable> variables;
  };

  CudaDevice(const DriverApi& api, DeviceHandle device) : api_(api), device_(device) {}
  base::Result<> Check(Status status, const char* what) const;
  base::Result<KernelInfo> Inspect(Function function) const;
  base::Result<> LoadKernels(LoadedModule& loaded, ModuleInfo* info) const;

  const DriverApi& api_;
  DeviceHandle device_;
  Context context_ = nullptr;
  Stream stream_ = nullptr;
  Event begin_ = nullptr, end_ = nullptr;
  DevicePointer memory_ = 0;
  std::size_t reserved_ = 0;
  std::span<std::byte> mapping_;
  bool locked_ = false;  // its pages
  std::vector<LoadedModule> modules_;
  std::vector<GraphExec> graphs_;
};

}  // namespace cupilot::device::cuda
