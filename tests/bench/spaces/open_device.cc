#include "tests/bench/spaces/open_device.h"

#include "cuda_runtime_api.h"
#include "device/cuda/cuda_device.h"
#include "device/describe.h"
#include "device/host/host_device.h"

namespace cupilot::spaces {
namespace {

dim3 Dimensions(const std::array<std::int64_t, 3>& d) {
  return dim3(static_cast<unsigned>(d[0]), static_cast<unsigned>(d[1]),
              static_cast<unsigned>(d[2]));
}

int LaunchHere(const void* handle, const std::array<std::int64_t, 3>& grid,
               const std::array<std::int64_t, 3>& block, void* const* arguments,
               std::int64_t shared_bytes) {
  const cudaError_t launched =
      cudaLaunchKernel(handle, Dimensions(grid), Dimensions(block), const_cast<void**>(arguments),
                       static_cast<std::size_t>(shared_bytes), nullptr);
  return launched != cudaSuccess ? launched : cudaDeviceSynchronize();
}

const char* TextOf(int error) { return cudaGetErrorString(static_cast<cudaError_t>(error)); }

}  // namespace

base::Result<std::unique_ptr<device::Device>> OpenDevice(const std::string& name) {
  if (name == "host") {
    return std::make_unique<device::HostDevice>(
        device::HostRuntime{&LaunchHere, &cupilot_host_register, &TextOf, nullptr});
  }
  const int index = device::CudaIndexOf(name);
  if (index < 0) return base::Fail(base::InvalidArgument("no device is called " + name));
  TRY_ASSIGN(auto opened, device::cuda::CudaDevice::Open(index));
  return opened;
}

}  // namespace cupilot::spaces
