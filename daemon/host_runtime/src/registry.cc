#include "registry.h"

#include <cstdio>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace cupilot_host {
namespace {

struct Registry {
  std::shared_mutex mutex;
  std::unordered_map<const void*, KernelEntry> kernels;  // nodes never move
  std::map<const void*, const cupilot_host_variable*> variables;
};

// Modules register from static initialisers, in any order, and kernels may run until the very end.
Registry& TheRegistry() {
  static Registry& registry = *new Registry;
  return registry;
}

}  // namespace

KernelEntry* FindKernel(const void* handle) {
  // Most launches are of the kernel that was launched before.
  thread_local const void* last_handle = nullptr;
  thread_local KernelEntry* last_entry = nullptr;
  if (handle == last_handle && last_entry != nullptr) return last_entry;
  Registry& registry = TheRegistry();
  const std::shared_lock lock(registry.mutex);
  const auto it = registry.kernels.find(handle);
  if (it == registry.kernels.end()) return nullptr;
  last_handle = handle;
  last_entry = &it->second;
  return last_entry;
}

const cupilot_host_variable* FindVariable(const void* address) {
  Registry& registry = TheRegistry();
  const std::shared_lock lock(registry.mutex);
  const auto it = registry.variables.find(address);
  return it == registry.variables.end() ? nullptr : it->second;
}

const cupilot_host_variable* FindVariableAround(const void* address) {
  Registry& registry = TheRegistry();
  const std::shared_lock lock(registry.mutex);
  auto it = registry.variables.upper_bound(address);
  if (it == registry.variables.begin()) return nullptr;
  --it;
  const char* begin = static_cast<const char*>(it->first);
  return static_cast<const char*>(address) < begin + it->second->bytes ? it->second : nullptr;
}

void ForEachVariable(const std::function<void(const cupilot_host_variable&)>& visit) {
  Registry& registry = TheRegistry();
  const std::shared_lock lock(registry.mutex);
  for (const auto& [address, variable] : registry.variables) visit(*variable);
}

}  // namespace cupilot_host

extern "C" void cupilot_host_register(const struct cupilot_host_module* module) {
  if (module->abi_version != CUPILOT_HOST_ABI_VERSION) {
    std::fprintf(
        stderr,
        "cupilot host device: an object of this program was compiled for version %u of the "
        "runtime, this is version %u: its kernels cannot be launched. Build it again.\n",
        module->abi_version, static_cast<unsigned int>(CUPILOT_HOST_ABI_VERSION));
    return;
  }
  auto& registry = cupilot_host::TheRegistry();
  const std::unique_lock lock(registry.mutex);
  for (unsigned int i = 0; i < module->kernel_count; ++i) {
    cupilot_host::KernelEntry entry;
    entry.kernel = &module->kernels[i];
    entry.module = module;
    registry.kernels.emplace(module->kernels[i].handle, entry);
  }
  for (unsigned int i = 0; i < module->variable_count; ++i) {
    registry.variables.emplace(module->variables[i].address, &module->variables[i]);
  }
}
