#include "fake_driver.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "capture/cupti.h"
#include "capture/driver.h"

namespace {

using namespace cupilot::capture;

constexpr int kInvalid = 1, kNotFound = 500, kMaxLimitReached = 12;
constexpr const char* kNames[] = {nullptr, "cuLaunchKernel", "cuMemsetD8_v2",
                                  "cuStreamBeginCapture_v2", "cuStreamEndCapture"};

struct Global {
  void* data;
  std::size_t bytes;
};

std::mutex g_mutex;
std::map<std::uint64_t, std::size_t> g_allocations;
std::map<std::uint64_t, std::size_t> g_mappings;  // of those
std::map<std::string, Global> g_globals;
int g_handles = 0;
std::vector<KernelRecord> g_records;
Cupti::Callback g_callback = nullptr;
void* g_user = nullptr;
Cupti::Requested g_requested = nullptr;
Cupti::Completed g_completed = nullptr;
std::map<std::pair<int, std::uint32_t>, bool> g_enabled;
std::atomic<std::uint32_t> g_correlation{100};
int g_subscribe_result = 0;
void* g_capturing = nullptr;

struct Context {
  int device = 0;
  std::vector<std::function<void()>> begun;
};
std::map<int, Context> g_contexts;
thread_local Context* g_current = nullptr;

std::uint64_t Address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// The allocation that holds the address; null if none does.
const std::pair<const std::uint64_t, std::size_t>* Find(std::uint64_t address) {
  auto at = g_allocations.upper_bound(address);
  if (at == g_allocations.begin()) return nullptr;
  --at;
  return address - at->first < at->second ? &*at : nullptr;
}

std::uint32_t IdOf(const std::string& name) {
  for (std::uint32_t id = 1; id < std::size(kNames); ++id) {
    if (name == kNames[id]) return id;
  }
  std::abort();
}

int Around(const char* name, const void* parameters, const char* symbol, std::uint32_t correlation,
           int result, const std::function<void()>& body) {
  const std::uint32_t id = IdOf(name);
  CallbackData data{};
  data.function = name;
  data.parameters = parameters;
  data.symbol = symbol;
  data.correlation = correlation;
  data.result = &result;
  const bool told = g_callback != nullptr && g_enabled[{kDriverDomain, id}];
  data.site = kEnter;
  if (told) g_callback(g_user, kDriverDomain, id, &data);
  if (result == 0) body();
  data.site = 1;
  if (told) g_callback(g_user, kDriverDomain, id, &data);
  return result;
}

void Record(const fake::Kernel& kernel, unsigned blocks, std::uint32_t correlation,
            std::uint64_t graph_node) {
  KernelRecord record{};
  record.kind = kConcurrentKernels;
  record.begin = 1000;
  record.end = 3000;
  record.grid[0] = static_cast<int>(blocks);
  record.grid[1] = record.grid[2] = 1;
  for (int& n : record.block) n = 1;
  record.correlation = correlation;
  record.name = kernel.name;
  record.graph_node = graph_node;
  const std::lock_guard lock(g_mutex);
  g_records.push_back(record);
}

}  // namespace

namespace fake {

void* Allocate(std::size_t bytes) {
  void* data = std::calloc(1, bytes);
  const std::lock_guard lock(g_mutex);
  g_allocations[Address(data)] = bytes;
  return data;
}

char* Map(std::size_t bytes, int parts, int missing) {
  char* data = static_cast<char*>(std::calloc(static_cast<std::size_t>(parts), bytes));
  const std::lock_guard lock(g_mutex);
  for (int i = 0; i < parts; ++i) {
    if (i == missing) continue;
    const std::uint64_t address = Address(data) + static_cast<std::size_t>(i) * bytes;
    g_allocations[address] = g_mappings[address] = bytes;
  }
  return data;
}

int Handles() { return g_handles; }

void SetGlobal(const char* symbol, void* data, std::size_t bytes) {
  g_globals[symbol] = {data, bytes};
}

int Launch(Kernel& kernel, unsigned blocks, void** arguments, void** extra, void* stream,
           int result) {
  const LaunchKernelCall call = {&kernel, {blocks, 1, 1}, {1, 1, 1}, 0, stream, arguments, extra};
  const std::uint32_t correlation = ++g_correlation;
  return Around("cuLaunchKernel", &call, kernel.name, correlation, result, [&] {
    if (stream != nullptr && stream == g_capturing) return;
    std::vector<void*> unpacked;
    if (arguments == nullptr && extra != nullptr) {
      for (const std::size_t offset : kernel.offsets) {
        unpacked.push_back(static_cast<char*>(extra[1]) + offset);
      }
    }
    kernel.body(arguments != nullptr ? arguments : unpacked.data());
    Record(kernel, blocks, correlation, 0);
  });
}

int Call(const char* name, const std::function<void()>& body) {
  return Around(name, nullptr, nullptr, ++g_correlation, 0, body);
}

void BeginCapture(void* stream) {
  Call("cuStreamBeginCapture_v2", [&] { g_capturing = stream; });
}
void EndCapture() {
  Call("cuStreamEndCapture", [] { g_capturing = nullptr; });
}

void MakeContext(int device) {
  UseDevice(device);
  const ResourceData data{g_current, nullptr, nullptr};
  if (g_callback != nullptr && g_enabled[{kResourceDomain, kContextCreated}]) {
    g_callback(g_user, kResourceDomain, kContextCreated, &data);
  }
}
void UseDevice(int device) {
  const std::lock_guard lock(g_mutex);
  g_current = &g_contexts[device];
  g_current->device = device;
}
void Begin(std::function<void()> work) {
  const std::lock_guard lock(g_mutex);
  g_current->begun.push_back(std::move(work));
}

void GraphRan(const Kernel& kernel, unsigned blocks) { Record(kernel, blocks, ++g_correlation, 9); }

void SetSubscribeResult(int result) { g_subscribe_result = result; }
bool Subscribed() { return g_callback != nullptr; }

}  // namespace fake

extern "C" {

int cuCtxGetDevice(int* device) {
  *device = g_current == nullptr ? 0 : g_current->device;
  return 0;
}
int cuCtxSetCurrent(void* context) {
  g_current = static_cast<Context*>(context);
  return 0;
}
int cuCtxSynchronize() {
  std::vector<std::function<void()>> begun;
  {
    const std::lock_guard lock(g_mutex);
    begun.swap(g_current->begun);
  }
  for (const auto& work : begun) work();
  return 0;
}
int cuFuncGetAttribute(int* value, int, void*) {
  *value = 0;
  return 0;
}
int cuMemGetAddressRange_v2(std::uint64_t* base, std::size_t* bytes, std::uint64_t address) {
  const std::lock_guard lock(g_mutex);
  const auto* found = Find(address);
  if (found == nullptr) return kNotFound;
  *base = found->first;
  *bytes = found->second;
  return 0;
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(static_cast<std::uintptr_t>(from)), bytes);
  return 0;
}
int cuModuleGetGlobal_v2(std::uint64_t* address, std::size_t* bytes, void*, const char* name) {
  const auto at = g_globals.find(name);
  if (at == g_globals.end()) return kNotFound;
  *address = Address(at->second.data);
  *bytes = at->second.bytes;
  return 0;
}
int cuPointerGetAttribute(void* value, int attribute, std::uint64_t address) {
  const std::lock_guard lock(g_mutex);
  if (Find(address) == nullptr) return kInvalid;
  if (attribute != kPointerMemoryType && attribute != kPointerIsManaged) return kInvalid;
  const unsigned answer = attribute == kPointerMemoryType ? kMemoryDevice : 0;
  std::memcpy(value, &answer, sizeof answer);
  return 0;
}
int cuStreamIsCapturing(void* stream, int* status) {
  *status = stream == g_capturing ? 1 : 0;
  return 0;
}
int cuMemRetainAllocationHandle(std::uint64_t* handle, void* pointer) {
  const std::lock_guard lock(g_mutex);
  const auto* found = Find(Address(pointer));
  if (found == nullptr || g_mappings.count(found->first) == 0) return kInvalid;
  *handle = 5;
  ++g_handles;
  return 0;
}
int cuMemRelease(std::uint64_t) {
  --g_handles;
  return 0;
}
int cuFuncGetModule(void** module, void* function) {
  *module = function;
  return 0;
}
int cuFuncGetParamInfo(void* function, std::size_t index, std::size_t* offset, std::size_t* size) {
  const auto& kernel = *static_cast<fake::Kernel*>(function);
  if (index >= kernel.sizes.size()) return kInvalid;
  *offset = kernel.offsets[index];
  *size = kernel.sizes[index];
  return 0;
}

int cuptiSubscribe(void** subscriber, Cupti::Callback callback, void* user) {
  if (g_subscribe_result != 0) return g_subscribe_result;
  *subscriber = &g_user;
  g_callback = callback;
  g_user = user;
  return 0;
}
int cuptiEnableCallback(std::uint32_t enable, void*, int domain, std::uint32_t id) {
  g_enabled[{domain, id}] = enable != 0;
  return 0;
}
int cuptiGetCallbackName(int, std::uint32_t id, const char** name) {
  if (id >= std::size(kNames)) return kInvalid;
  *name = kNames[id];
  return 0;
}
int cuptiGetResultString(int, const char** text) {
  *text = "said by the fake CUPTI";
  return 0;
}
int cuptiActivityRegisterCallbacks(Cupti::Requested requested, Cupti::Completed completed) {
  g_requested = requested;
  g_completed = completed;
  return 0;
}
int cuptiActivityEnable(int) { return 0; }
int cuptiActivitySetAttribute(int, std::size_t*, void*) { return 0; }
int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t bytes, void** record) {
  std::uint8_t* next =
      *record == nullptr ? buffer : static_cast<std::uint8_t*>(*record) + sizeof(KernelRecord);
  if (next >= buffer + bytes) return kMaxLimitReached;
  *record = next;
  return 0;
}
int cuptiActivityFlushAll(std::uint32_t) {
  std::vector<KernelRecord> records;
  {
    const std::lock_guard lock(g_mutex);
    records.swap(g_records);
  }
  std::uint8_t* buffer = nullptr;
  std::size_t bytes = 0, most = 0;
  g_requested(&buffer, &bytes, &most);
  const std::size_t used = records.size() * sizeof(KernelRecord);
  if (used > bytes) std::abort();
  std::copy_n(reinterpret_cast<const std::uint8_t*>(records.data()), used, buffer);
  g_completed(nullptr, 0, buffer, bytes, used);
  return 0;
}
}
