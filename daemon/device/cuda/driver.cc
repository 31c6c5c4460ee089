#include "device/cuda/driver.h"

#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "device/cuda/find_function.h"

namespace cupilot::device::cuda {
namespace {

base::Result<const DriverApi*> Open() {
  // Devices are counted as nvidia-smi counts them; code is loaded when a module is, so that no
  // first launch pays for it.
  ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return base::Fail(base::Unavailable(
        "no NVIDIA driver (libcuda.so.1 cannot be opened): install the driver of the GPU; kernels "
        "for the host device need none"));
  }
  static DriverApi& api = *new DriverApi();
#define CUPILOT_FIND(name)                                                               \
  if (!FindFunction(library, #name, api.name)) {                                         \
    return base::Fail(base::Unavailable("the NVIDIA driver is too old: it has no " #name \
                                        "; a driver for CUDA 12.4 or newer is needed")); \
  }
  CUPILOT_FIND(cuInit)
  CUPILOT_FIND(cuDriverGetVersion)
  CUPILOT_FIND(cuGetErrorName)
  CUPILOT_FIND(cuGetErrorString)
  CUPILOT_FIND(cuDeviceGetCount)
  CUPILOT_FIND(cuDeviceGet)
  CUPILOT_FIND(cuDeviceGetName)
  CUPILOT_FIND(cuDeviceGetUuid_v2)
  CUPILOT_FIND(cuDeviceTotalMem_v2)
  CUPILOT_FIND(cuDeviceGetAttribute)
  CUPILOT_FIND(cuDevicePrimaryCtxRetain)
  CUPILOT_FIND(cuCtxSetCurrent)
  CUPILOT_FIND(cuMemGetInfo_v2)
  CUPILOT_FIND(cuMemAlloc_v2)
  CUPILOT_FIND(cuMemFree_v2)
  CUPILOT_FIND(cuMemHostRegister_v2)
  CUPILOT_FIND(cuMemcpyHtoD_v2)
  CUPILOT_FIND(cuMemcpyDtoH_v2)
  CUPILOT_FIND(cuMemcpyDtoDAsync_v2)
  CUPILOT_FIND(cuMemsetD8Async)
  CUPILOT_FIND(cuModuleLoadData)
  CUPILOT_FIND(cuModuleUnload)
  CUPILOT_FIND(cuModuleGetGlobal_v2)
  CUPILOT_FIND(cuModuleGetFunctionCount)
  CUPILOT_FIND(cuModuleEnumerateFunctions)
  CUPILOT_FIND(cuFuncGetName)
  CUPILOT_FIND(cuFuncGetParamInfo)
  CUPILOT_FIND(cuFuncGetAttribute)
  CUPILOT_FIND(cuFuncSetAttribute)
  CUPILOT_FIND(cuOccupancyMaxActiveBlocksPerMultiprocessor)
  CUPILOT_FIND(cuLaunchKernel)
  CUPILOT_FIND(cuStreamCreate)
  CUPILOT_FIND(cuStreamSynchronize)
  CUPILOT_FIND(cuStreamBeginCapture_v2)
  CUPILOT_FIND(cuStreamEndCapture)
  CUPILOT_FIND(cuGraphInstantiateWithFlags)
  CUPILOT_FIND(cuGraphLaunch)
  CUPILOT_FIND(cuGraphUpload)
  CUPILOT_FIND(cuGraphExecDestroy)
  CUPILOT_FIND(cuGraphDestroy)
  CUPILOT_FIND(cuEventCreate)
  CUPILOT_FIND(cuEventRecord)
  CUPILOT_FIND(cuEventSynchronize)
  CUPILOT_FIND(cuEventElapsedTime)
#undef CUPILOT_FIND
  const Status status = api.cuInit(0);
  if (status != kSuccess) {
    return base::Fail(base::Unavailable(
        "the NVIDIA driver is installed but does not start: " + ErrorText(api, status) +
        (status == kNoDevice ? "; no GPU is visible to this process (CUDA_VISIBLE_DEVICES, or the "
                               "container's devices)"
                             : "")));
  }
  return &api;
}

// The number behind "Kernel Module" in what the kernel module says of itself.
std::string KernelModuleVersion() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  if (!std::getline(file, line)) return "";
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const bool number = word.find_first_not_of("0123456789.") == std::string::npos;
    if (number && word.find('.') != std::string::npos) return word;
  }
  return "";
}

}  // namespace

base::Result<const DriverApi*> OpenDriver() {
  static const base::Result<const DriverApi*>& opened = *new base::Result<const DriverApi*>(Open());
  return opened;
}

std::string ErrorText(const DriverApi& driver, Status status) {
  const char *name = nullptr, *text = nullptr;
  if (driver.cuGetErrorName(status, &name) != kSuccess || name == nullptr) {
    return "CUDA error " + std::to_string(status);
  }
  driver.cuGetErrorString(status, &text);
  return std::string(name) + (text != nullptr ? std::string(": ") + text : "");
}

std::string DriverVersion(const DriverApi& driver) {
  int version = 0;
  driver.cuDriverGetVersion(&version);
  const std::string cuda =
      "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  const std::string module = KernelModuleVersion();
  return module.empty() ? cuda : module + ", " + cuda;
}

}  // namespace cupilot::device::cuda
