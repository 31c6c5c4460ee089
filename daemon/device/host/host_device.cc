#include "device/host/host_device.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "device/host/host_properties.h"

namespace cupilot::device {
namespace {

constexpr const char* kModuleSymbol = "cupilot_host_module";

ModuleInfo InfoOf(const cupilot_host_module& module) {
  ModuleInfo info;
  info.architecture = module.architecture;
  for (unsigned i = 0; i < module.kernel_count; ++i) {
    const cupilot_host_kernel& kernel = module.kernels[i];
    KernelInfo row;
    row.name = kernel.name;
    row.signature = kernel.signature;
    row.max_threads_per_block = kernel.max_threads_per_block;
    row.static_shared_bytes = kernel.static_shared_bytes;
    row.parameter_bytes.assign(kernel.parameter_bytes,
                               kernel.parameter_bytes + kernel.parameter_count);
    info.kernels.push_back(std::move(row));
  }
  for (unsigned i = 0; i < module.variable_count; ++i) {
    const cupilot_host_variable& variable = module.variables[i];
    info.variables.push_back(
        {variable.name, static_cast<std::int64_t>(variable.bytes), variable.constant != 0});
  }
  return info;
}

// The runtime's errors (as CUDA's) that say that nothing ran: invalid value, invalid configuration,
// no such function, more resources than there are.
bool IsRefusal(int error) { return error == 1 || error == 9 || error == 98 || error == 701; }

base::Error SystemError(const std::string& what) {
  return base::IoError(what + ": " + std::strerror(errno));
}

}  // namespace

base::Result<Properties> HostDevice::Describe() {
  Properties properties = DescribeHost();
  if (runtime_.describe != nullptr) runtime_.describe(&properties);
  return properties;
}

base::Result<ModuleId> HostDevice::Load(const std::string& artifact, ModuleInfo* info) {
  // Local: two artifacts define the same names.
  void* library = ::dlopen(artifact.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    return base::Fail(base::InvalidArgument("loading an artifact: " +
                                            std::string(reason != nullptr ? reason : artifact)));
  }
  const auto* module = static_cast<const cupilot_host_module*>(::dlsym(library, kModuleSymbol));
  if (module == nullptr || module->abi_version != CUPILOT_HOST_ABI_VERSION) {
    return base::Fail(base::InvalidArgument(artifact + " is no artifact of this version"));
  }
  runtime_.add_module(module);
  modules_.push_back(module);
  *info = InfoOf(*module);
  return static_cast<ModuleId>(modules_.size()) - 1;
}

base::Result<std::span<std::byte>> HostDevice::Allocate(int descriptor, std::size_t bytes) {
  void* reserved = ::mmap(nullptr, bytes + 2 * kForbiddenBytes, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return base::Fail(SystemError("reserving address space"));
  auto* base = static_cast<std::byte*>(reserved) + kForbiddenBytes;
  void* mapped = ::mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0);
  if (mapped == MAP_FAILED) return base::Fail(SystemError("mapping the memory of buffers"));
  memory_ = std::span<std::byte>(base, bytes);
  return memory_;
}

std::uint64_t HostDevice::Address() const {
  return reinterpret_cast<std::uintptr_t>(memory_.data());
}

base::Result<> HostDevice::CopyVariable(ModuleId module, int variable, Direction direction,
                                        std::int64_t offset, std::int64_t bytes) {
  const cupilot_host_module& loaded = *modules_[static_cast<std::size_t>(module)];
  const auto size = static_cast<std::size_t>(bytes);
  if (variable < 0 || static_cast<unsigned>(variable) >= loaded.variable_count ||
      size > loaded.variables[variable].bytes) {
    return base::Fail(base::InvalidArgument("no such variable, or it is smaller"));
  }
  void* address = loaded.variables[variable].address;
  std::byte* place = memory_.data() + offset;
  if (direction == Direction::kToDevice) {
    std::memcpy(address, place, size);
  } else {
    std::memcpy(place, address, size);
  }
  return {};
}

base::Result<> HostDevice::Fill(std::int64_t offset, std::int64_t bytes, int byte) {
  std::memset(memory_.data() + offset, byte, static_cast<std::size_t>(bytes));
  return {};
}

base::Result<> HostDevice::Launch(const device::Launch& launch) {
  const cupilot_host_module& loaded = *modules_[static_cast<std::size_t>(launch.module)];
  if (launch.kernel < 0 || static_cast<unsigned>(launch.kernel) >= loaded.kernel_count) {
    return base::Fail(base::InvalidArgument("no such kernel"));
  }
  const void* handle = loaded.kernels[launch.kernel].handle;
  const int error =
      runtime_.launch(handle, launch.grid, launch.block, launch.arguments, launch.shared_bytes);
  if (error != 0) {
    const std::string text = "the launch failed: " + std::string(runtime_.error_text(error)) +
                             " (error " + std::to_string(error) + ")";
    return base::Fail(IsRefusal(error) ? base::InvalidArgument(text) : base::ToolFailed(text));
  }
  return {};
}

base::Result<double> HostDevice::Time(const std::function<base::Result<>()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  TRY(work());
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::micro>(end - begin).count();
}

}  // namespace cupilot::device
