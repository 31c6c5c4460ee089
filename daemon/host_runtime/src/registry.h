// The kernels and variables of all modules that registered themselves. Thread-safe.
#pragma once

#include <functional>

#include "cupilot_host_abi.h"

namespace cupilot_host {

struct KernelEntry {
  const cupilot_host_kernel* kernel = nullptr;
  const cupilot_host_module* module = nullptr;
  int max_dynamic_shared = 48 * 1024;  // cudaFuncSetAttribute raises it
  int preferred_carveout = -1;
};

// Null if there is no such kernel. Valid for ever.
KernelEntry* FindKernel(const void* handle);
const cupilot_host_variable* FindVariable(const void* address);
// The variable that holds the address.
const cupilot_host_variable* FindVariableAround(const void* address);
void ForEachVariable(const std::function<void(const cupilot_host_variable&)>& visit);

}  // namespace cupilot_host
