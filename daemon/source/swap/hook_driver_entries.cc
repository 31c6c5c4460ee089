// Functions of the driver, which the runtime hands out.
#include "source/swap/hook_runtime.h"

namespace cupilot::source {

std::string HookDriverEntries() {
  return R"hook(// A function of the driver, which answers in a third of the runtime's time; null where there is none.
#if !defined(CUPILOT_HOST_ABI_VERSION) && CUDART_VERSION >= 12050
#define CUPILOT_DRIVER_ENTRIES
#endif
void* driver_entry(const char* name) {
  void* entry = 0;
#if defined(CUPILOT_DRIVER_ENTRIES)
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &found) != cudaSuccess) {
    cleared();
    return 0;
  }
  if (found != cudaDriverEntryPointSuccess) return 0;
#elif !defined(CUPILOT_HOST_ABI_VERSION) && CUDART_VERSION >= 11030
  if (cudaGetDriverEntryPoint(name, &entry, cudaEnableDefault) != cudaSuccess) {
    cleared();
    entry = 0;
  }
#if CUDART_VERSION < 12000
  // The runtime shows what was there when it was written; the driver, which may be newer, shows more.
  void* find = 0;
  if (entry == 0 && cudaGetDriverEntryPoint("cuGetProcAddress", &find, cudaEnableDefault) != cudaSuccess) {
    cleared();
  } else if (entry == 0 && find != 0 &&
             ((int (*)(const char*, void**, int, unsigned long long))find)(name, &entry, 12000, 0) != 0) {
    entry = 0;
  }
#endif
#endif
  return entry;
}

)hook";
}

}  // namespace cupilot::source
