#include "capture/driver.h"

#include <dlfcn.h>

namespace cupilot::capture {
namespace {

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

bool FindDriver(Driver& driver) {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  bool found = true;
#define CUPILOT_FIND(name) Find(library, #name, driver.name)
  found &= CUPILOT_FIND(cuCtxGetDevice);
  found &= CUPILOT_FIND(cuCtxSetCurrent);
  found &= CUPILOT_FIND(cuCtxSynchronize);
  found &= CUPILOT_FIND(cuFuncGetAttribute);
  found &= CUPILOT_FIND(cuMemGetAddressRange_v2);
  found &= CUPILOT_FIND(cuMemcpyDtoH_v2);
  found &= CUPILOT_FIND(cuModuleGetGlobal_v2);
  found &= CUPILOT_FIND(cuPointerGetAttribute);
  found &= CUPILOT_FIND(cuStreamIsCapturing);
  CUPILOT_FIND(cuFuncGetModule);
  CUPILOT_FIND(cuFuncGetName);
  CUPILOT_FIND(cuFuncGetParamInfo);
  CUPILOT_FIND(cuKernelGetFunction);
  CUPILOT_FIND(cuKernelGetParamInfo);
  CUPILOT_FIND(cuMemRelease);
  CUPILOT_FIND(cuMemRetainAllocationHandle);
#undef CUPILOT_FIND
  return found;
}

}  // namespace cupilot::capture
