// A libcuda.so.1 for machines without a GPU: device memory is this process's own, and a kernel
// whose name ends in "saxpy" computes y = a x + y of the parameters that its mangled name tells
// (int or long n, float or double the rest), whatever its code says. So the whole path through
// workers can be run, but for the code itself. A launch of a kernel with fault_<CUresult> in its
// name makes all that follows end with that error, as a lost or broken GPU's does.
// A launch of one with once_ in its name ends so where y is still what its last launch made of it.
// A launch of one with instant_ in its name takes no time, as events tell it.
// FAKE_CUDA_LAUNCH_US=<n>: a launch of any other kernel than these, as those are that measure the
// peaks, takes so long, as events tell it.
// FAKE_CUDA_MEMORY=<bytes>: so much a process may have; 1 GiB otherwise.
// FAKE_CUDA_ORIGINAL_PASSES=<n>: the kernel "saxpy" itself does its work so often besides, on
// memory of its own, so that variants are faster.
#include <cxxabi.h>
#include <elf.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr int kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNotFound = 500,
              kIllegalAddress = 700;

struct FakeFunction {
  std::string name;
  std::vector<std::string> parameters;
};
struct FakeModule {
  std::vector<std::unique_ptr<FakeFunction>> functions;
};
struct FakeGraph {
  std::vector<std::function<void()>> work;
};
struct FakeEvent {
  std::chrono::steady_clock::time_point time;
};

FakeGraph* g_capture = nullptr;
std::chrono::steady_clock::duration g_ahead{0};  // of the clock, as events tell the time
int g_error = kSuccess;
std::map<unsigned long long, std::size_t> g_allocated;

std::size_t MemoryBytes() {
  const char* bytes = std::getenv("FAKE_CUDA_MEMORY");
  return bytes != nullptr ? std::strtoull(bytes, nullptr, 10) : std::size_t{1} << 30;
}

std::size_t FreeBytes() {
  std::size_t used = 0;
  for (const auto& [pointer, bytes] : g_allocated) used += bytes;
  return MemoryBytes() - used;
}

void Do(std::function<void()> work) {
  if (g_capture != nullptr) {
    g_capture->work.push_back(std::move(work));
  } else {
    work();
  }
}

std::vector<std::string> ParametersOf(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  std::vector<std::string> parameters;
  if (status != 0) return parameters;
  std::string list = text.get();
  list = list.substr(list.rfind('(') + 1);
  list.pop_back();
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(", ", begin), list.size());
    parameters.push_back(list.substr(begin, end - begin));
    begin = end + 2;
  }
  return parameters;
}

std::size_t SizeOf(const std::string& type) {
  if (type.find('*') != std::string::npos || type.find("long") != std::string::npos) return 8;
  return type.find("double") != std::string::npos ? 8 : 4;
}

template <class T>
void Saxpy(void** values, bool long_count) {
  const long n = long_count ? *static_cast<long*>(values[0]) : *static_cast<int*>(values[0]);
  const T a = *static_cast<T*>(values[1]);
  const T* x = *static_cast<T**>(values[2]);
  T* y = *static_cast<T**>(values[3]);
  for (long i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

// Runs `work`, which changes the bytes, unless they are what it made the last time.
void RunOnce(char* bytes, std::size_t size, const std::function<void()>& work) {
  static std::map<char*, std::string> made;
  const std::string before(bytes, size);
  const auto last = made.find(bytes);
  if (last != made.end() && last->second == before) {
    g_error = kIllegalAddress;
    return;
  }
  work();
  made.erase(bytes);
  const std::string after(bytes, size);
  if (after != before) made[bytes] = after;
}

void Run(const FakeFunction& function, void** values) {
  const bool is_double = function.parameters[1].find("double") != std::string::npos;
  const bool long_count = SizeOf(function.parameters[0]) == 8;
  const auto saxpy = is_double ? Saxpy<double> : Saxpy<float>;
  const char* passes = std::getenv("FAKE_CUDA_ORIGINAL_PASSES");
  if (passes != nullptr && function.name.starts_with("_Z5saxpy")) {
    const long n = long_count ? *static_cast<long*>(values[0]) : *static_cast<int*>(values[0]);
    std::vector<double> own(static_cast<std::size_t>(n));
    void* place = own.data();
    void* others[] = {values[0], values[1], values[2], &place};
    for (int i = std::atoi(passes); i > 0; --i) saxpy(others, long_count);
  }
  if (function.name.find("once_") == std::string::npos) return saxpy(values, long_count);
  const long n = long_count ? *static_cast<long*>(values[0]) : *static_cast<int*>(values[0]);
  RunOnce(*static_cast<char**>(values[3]), static_cast<std::size_t>(n) * (is_double ? 8 : 4),
          [&] { saxpy(values, long_count); });
}

void RunInTime(const FakeFunction& function, void** values) {
  const auto begin = std::chrono::steady_clock::now();
  Run(function, values);
  if (function.name.find("instant_") == std::string::npos) return;
  g_ahead -= std::chrono::steady_clock::now() - begin;
}

void TakeTime() {
  const char* us = std::getenv("FAKE_CUDA_LAUNCH_US");
  if (us != nullptr) g_ahead += std::chrono::microseconds(std::atoi(us));
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return kSuccess; }
// NVRTC asks a driver that it finds for tables of its own.
int cuGetExportTable(const void** table, const void*) {
  *table = nullptr;
  return kNotFound;
}
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return kSuccess;
}
int cuGetErrorName(int error, const char** name) {
  *name = error == kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : error == kOutOfMemory  ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == 999           ? "CUDA_ERROR_UNKNOWN"
                                   : "CUDA_ERROR_OF_THE_FAKE";
  return kSuccess;
}
int cuGetErrorString(int, const char** text) {
  *text = "said by the fake driver";
  return kSuccess;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return kSuccess;
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return index == 0 ? kSuccess : kInvalidValue;
}
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(size));
  return kSuccess;
}
int cuDeviceGetUuid_v2(void* uuid, int) {
  std::memset(uuid, 0x11, 16);
  return kSuccess;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = std::size_t{8} << 30;
  return kSuccess;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  switch (attribute) {
    case 1:
      *value = 1024;
      break;
    case 10:
      *value = 32;
      break;
    case 16:
      *value = 4;
      break;
    case 38:
      *value = 1 << 20;
      break;
    case 39:
      *value = 2048;
      break;
    case 75:
      *value = 9;
      break;
    case 97:
      *value = 227 * 1024;
      break;
    default:
      *value = 0;
  }
  return kSuccess;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  static int here;
  *context = &here;
  return kSuccess;
}
int cuCtxSetCurrent(void*) { return kSuccess; }
int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  *free = FreeBytes();
  *total = MemoryBytes();
  return kSuccess;
}
int cuMemAlloc_v2(unsigned long long* pointer, std::size_t bytes) {
  if (bytes > FreeBytes()) return kOutOfMemory;
  void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (memory == nullptr) return kOutOfMemory;
  *pointer = reinterpret_cast<unsigned long long>(memory);
  g_allocated[*pointer] = bytes;
  return kSuccess;
}
int cuMemFree_v2(unsigned long long pointer) {
  g_allocated.erase(pointer);
  std::free(reinterpret_cast<void*>(pointer));
  return kSuccess;
}
int cuMemHostRegister_v2(void*, std::size_t, unsigned) { return kSuccess; }
int cuMemcpyHtoD_v2(unsigned long long to, const void* from, std::size_t bytes) {
  if (to == 0) return kInvalidValue;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return g_error;
}
int cuMemcpyDtoH_v2(void* to, unsigned long long from, std::size_t bytes) {
  if (from == 0) return kInvalidValue;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return g_error;
}
int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, std::size_t bytes, void*) {
  if (to == 0 || from == 0) return kInvalidValue;
  Do([=] { std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes); });
  return g_error;
}
int cuMemsetD8Async(unsigned long long to, unsigned char byte, std::size_t bytes, void*) {
  if (to == 0) return kInvalidValue;
  Do([=] { std::memset(reinterpret_cast<void*>(to), byte, bytes); });
  return g_error;
}
int cuModuleLoadData(void** module, const void* image) {
  const auto* bytes = static_cast<const char*>(image);
  auto loaded = std::make_unique<FakeModule>();
  if (std::memcmp(bytes, ELFMAG, SELFMAG) == 0) {
    Elf64_Ehdr header;
    std::memcpy(&header, bytes, sizeof header);
    const auto* sections = reinterpret_cast<const Elf64_Shdr*>(bytes + header.e_shoff);
    for (unsigned i = 0; i < header.e_shnum; ++i) {
      if (sections[i].sh_type != SHT_SYMTAB) continue;
      const char* names = bytes + sections[sections[i].sh_link].sh_offset;
      const auto* symbols = reinterpret_cast<const Elf64_Sym*>(bytes + sections[i].sh_offset);
      for (std::size_t j = 0; j < sections[i].sh_size / sizeof(Elf64_Sym); ++j) {
        if (ELF64_ST_TYPE(symbols[j].st_info) != STT_FUNC) continue;
        const std::string name = names + symbols[j].st_name;
        loaded->functions.push_back(
            std::make_unique<FakeFunction>(FakeFunction{name, ParametersOf(name)}));
      }
    }
  } else {
    // Text: the kernels of the peaks' measurement, by what declares them.
    constexpr const char* kEntry = ".visible .entry ";
    for (const char* at = bytes; (at = std::strstr(at, kEntry)) != nullptr;) {
      at += std::strlen(kEntry);
      const std::string name(at, std::strcspn(at, "("));
      loaded->functions.push_back(std::make_unique<FakeFunction>(FakeFunction{name, {}}));
    }
  }
  *module = loaded.release();
  return kSuccess;
}
int cuModuleUnload(void* module) {
  delete static_cast<FakeModule*>(module);
  return kSuccess;
}
int cuModuleGetGlobal_v2(unsigned long long*, std::size_t*, void*, const char*) {
  return kNotFound;
}
int cuModuleGetFunctionCount(unsigned* count, void* module) {
  *count = static_cast<unsigned>(static_cast<FakeModule*>(module)->functions.size());
  return kSuccess;
}
int cuModuleEnumerateFunctions(void** functions, unsigned count, void* module) {
  for (unsigned i = 0; i < count; ++i) {
    functions[i] = static_cast<FakeModule*>(module)->functions[i].get();
  }
  return kSuccess;
}
int cuFuncGetName(const char** name, void* function) {
  *name = static_cast<FakeFunction*>(function)->name.c_str();
  return kSuccess;
}
int cuFuncGetParamInfo(void* function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  const auto& parameters = static_cast<FakeFunction*>(function)->parameters;
  if (index >= parameters.size()) return kInvalidValue;
  *offset = 0;
  *bytes = SizeOf(parameters[index]);
  return kSuccess;
}
int cuFuncGetAttribute(int* value, int attribute, void*) {
  *value = attribute == 0 ? 1024 : attribute == 4 ? 32 : 0;
  return kSuccess;
}
int cuFuncSetAttribute(void*, int, int) { return kSuccess; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int threads, std::size_t) {
  *blocks = 2048 / threads;
  return kSuccess;
}
int cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by,
                   unsigned bz, unsigned, void*, void** values, void**) {
  const auto& launched = *static_cast<FakeFunction*>(function);
  if (x * y * z == 0 || bx * by * bz == 0 || bx * by * bz > 1024) return kInvalidValue;
  const std::size_t fault = launched.name.find("fault_");
  if (fault != std::string::npos) g_error = std::atoi(launched.name.c_str() + fault + 6);
  if (launched.name.find("saxpy") == std::string::npos) {
    Do(TakeTime);
    return kSuccess;
  }
  // Values are read when the launch is made.
  auto kept = std::make_shared<std::vector<std::vector<char>>>();
  for (std::size_t i = 0; i < launched.parameters.size(); ++i) {
    const auto* value = static_cast<const char*>(values[i]);
    kept->emplace_back(value, value + SizeOf(launched.parameters[i]));
  }
  Do([kept, &launched] {
    std::vector<void*> addresses;
    for (auto& value : *kept) addresses.push_back(value.data());
    RunInTime(launched, addresses.data());
  });
  return kSuccess;
}
int cuStreamCreate(void** stream, unsigned) {
  static int here;
  *stream = &here;
  return kSuccess;
}
int cuStreamSynchronize(void*) { return g_error; }
int cuStreamBeginCapture_v2(void*, int) {
  g_capture = new FakeGraph();
  return kSuccess;
}
int cuStreamEndCapture(void*, void** graph) {
  *graph = g_capture;
  g_capture = nullptr;
  return kSuccess;
}
int cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long) {
  *exec = new FakeGraph(*static_cast<FakeGraph*>(graph));
  return kSuccess;
}
int cuGraphLaunch(void* exec, void*) {
  for (const auto& work : static_cast<FakeGraph*>(exec)->work) work();
  return g_error;
}
int cuGraphUpload(void*, void*) { return kSuccess; }
int cuGraphExecDestroy(void* exec) {
  delete static_cast<FakeGraph*>(exec);
  return kSuccess;
}
int cuGraphDestroy(void* graph) {
  delete static_cast<FakeGraph*>(graph);
  return kSuccess;
}
int cuEventCreate(void** event, unsigned) {
  *event = new FakeEvent();
  return kSuccess;
}
int cuEventRecord(void* event, void*) {
  static_cast<FakeEvent*>(event)->time = std::chrono::steady_clock::now() + g_ahead;
  return kSuccess;
}
int cuEventSynchronize(void*) { return g_error; }
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  *milliseconds = std::chrono::duration<float, std::milli>(static_cast<FakeEvent*>(end)->time -
                                                           static_cast<FakeEvent*>(begin)->time)
                      .count();
  return kSuccess;
}

}  // extern "C"
