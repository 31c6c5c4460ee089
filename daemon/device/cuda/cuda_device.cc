#include "device/cuda/cuda_device.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "device/cuda/cubin.h"
#include "device/cuda/cuda_properties.h"
#include "device/cuda/driver.h"

namespace cupilot::device::cuda {
namespace {

constexpr std::int64_t kPlainSharedBytes = 48 * 1024;  // more must be asked for
constexpr int kScrub = 0xa5;

// What a launch is refused with before anything runs.
bool IsRefusal(Status status) {
  return status == kInvalidValue || status == kLaunchOutOfResources || status == kInvalidImage ||
         status == kNoBinaryForGpu || status == kNotFound;
}

// What no kernel causes: the memory is others', or the GPU has gone.
bool IsOfDevice(Status status) {
  return status == kOutOfMemory || status == kDeviceUnavailable || status == kNoDevice ||
         status == kInvalidDevice || status == kSystemNotReady;
}

}  // namespace

base::Result<> CudaDevice::Check(Status status, const char* what) const {
  if (status == kSuccess) return {};
  const std::string text = std::string(what) + ": " + ErrorText(api_, status);
  if (IsOfDevice(status)) return base::Fail(base::Unavailable(text));
  return base::Fail(IsRefusal(status) ? base::InvalidArgument(text) : base::ToolFailed(text));
}

base::Result<std::unique_ptr<CudaDevice>> CudaDevice::Open(int index) {
  TRY_ASSIGN(const DriverApi* api, OpenDriver());
  TRY_ASSIGN(const DeviceHandle handle, HandleOf(*api, index));
  std::unique_ptr<CudaDevice> device(new CudaDevice(*api, handle));
  Context context = nullptr;
  const Status status = api->cuDevicePrimaryCtxRetain(&context, handle);
  if (status != kSuccess) {
    return base::Fail(base::Unavailable("no context on cuda:" + std::to_string(index) + ": " +
                                        ErrorText(*api, status)));
  }
  device->context_ = context;
  TRY(device->Check(api->cuCtxSetCurrent(context), "cuCtxSetCurrent"));
  TRY(device->Check(api->cuStreamCreate(&device->stream_, kStreamNonBlocking), "cuStreamCreate"));
  TRY(device->Check(api->cuEventCreate(&device->begin_, 0), "cuEventCreate"));
  TRY(device->Check(api->cuEventCreate(&device->end_, 0), "cuEventCreate"));
  return device;
}

base::Result<Properties> CudaDevice::Describe() { return DescribeGpu(api_, device_); }

base::Result<KernelInfo> CudaDevice::Inspect(Function function) const {
  KernelInfo info;
  const char* name = nullptr;
  TRY(Check(api_.cuFuncGetName(&name, function), "cuFuncGetName"));
  info.signature = name;
  info.name = QualifiedName(info.signature);
  int value = 0;
  TRY(Check(api_.cuFuncGetAttribute(&value, kFunctionMaxThreadsPerBlock, function),
            "cuFuncGetAttribute"));
  info.max_threads_per_block = value;
  TRY(Check(api_.cuFuncGetAttribute(&value, kFunctionSharedBytes, function), "cuFuncGetAttribute"));
  info.static_shared_bytes = value;
  std::size_t offset = 0, bytes = 0;
  for (std::size_t i = 0; api_.cuFuncGetParamInfo(function, i, &offset, &bytes) == kSuccess; ++i) {
    info.parameter_bytes.push_back(static_cast<std::int64_t>(bytes));
  }
  return info;
}

base::Result<> CudaDevice::LoadKernels(LoadedModule& loaded, ModuleInfo* info) const {
  TRY_ASSIGN(const Properties properties, DescribeGpu(api_, device_));
  info->architecture = properties.architecture;
  unsigned count = 0;
  TRY(Check(api_.cuModuleGetFunctionCount(&count, loaded.module), "cuModuleGetFunctionCount"));
  std::vector<Function> functions(count);
  TRY(Check(api_.cuModuleEnumerateFunctions(functions.data(), count, loaded.module),
            "cuModuleEnumerateFunctions"));
  for (const Function function : functions) {
    TRY_ASSIGN(KernelInfo kernel, Inspect(function));
    info->kernels.push_back(std::move(kernel));
    loaded.kernels.push_back({function, 0});
  }
  return {};
}

base::Result<ModuleId> CudaDevice::LoadText(const char* text, ModuleInfo* info) {
  LoadedModule loaded;
  TRY(Check(api_.cuModuleLoadData(&loaded.module, text), "cuModuleLoadData"));
  TRY(LoadKernels(loaded, info));
  modules_.push_back(std::move(loaded));
  return static_cast<ModuleId>(modules_.size()) - 1;
}

base::Result<ModuleId> CudaDevice::Load(const std::string& artifact, ModuleInfo* info) {
  TRY_ASSIGN(const std::string cubin, base::ReadFile(artifact));
  TRY_ASSIGN(const std::vector<CubinVariable> variables, VariablesOf(cubin));
  LoadedModule loaded;
  TRY(Check(api_.cuModuleLoadData(&loaded.module, cubin.data()), "cuModuleLoadData"));
  TRY(LoadKernels(loaded, info));
  for (const CubinVariable& variable : variables) {
    LoadedVariable place;
    const Status status = api_.cuModuleGetGlobal_v2(&place.address, &place.bytes, loaded.module,
                                                    variable.symbol.c_str());
    // A user's whole file has tables of the compiler's own, which no program here names.
    if (status == kNotFound) continue;
    TRY(Check(status, "cuModuleGetGlobal"));
    info->variables.push_back({variable.name, variable.bytes, variable.constant});
    loaded.variables.push_back(place);
  }
  modules_.push_back(std::move(loaded));
  return static_cast<ModuleId>(modules_.size()) - 1;
}

void CudaDevice::UnloadAll() {
  DropGraphs();
  for (const LoadedModule& loaded : modules_) api_.cuModuleUnload(loaded.module);
  modules_.clear();
}

base::Result<std::span<std::byte>> CudaDevice::Allocate(int descriptor, std::size_t bytes) {
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) {
    return base::Fail(
        base::IoError(std::string("mapping the memory of buffers: ") + std::strerror(errno)));
  }
  mapping_ = {static_cast<std::byte*>(mapped), bytes};
  TRY(Reserve(bytes));
  // Copies of locked pages are several times faster; where they may not be locked, it is slower.
  locked_ = api_.cuMemHostRegister_v2(mapped, bytes, 0) == kSuccess;
  return mapping_;
}

base::Result<> CudaDevice::Reserve(std::size_t bytes) {
  return bytes <= reserved_ ? base::Result<>() : ReserveExactly(bytes);
}

base::Result<> CudaDevice::ReserveExactly(std::size_t bytes) {
  if (bytes == reserved_) return {};
  if (memory_ != 0) TRY(Check(api_.cuMemFree_v2(memory_), "cuMemFree"));
  memory_ = 0;
  reserved_ = 0;
  TRY(Check(api_.cuMemAlloc_v2(&memory_, bytes), "cuMemAlloc"));
  reserved_ = bytes;
  return {};
}

base::Result<> CudaDevice::ScrubAndShrink() {
  if (memory_ == 0) return {};  // a Reserve() has failed: nothing is left to write over
  TRY(Check(api_.cuMemsetD8Async(memory_, kScrub, reserved_, stream_), "cuMemsetD8Async"));
  TRY(Wait());
  if (reserved_ <= mapping_.size()) return {};
  return ReserveExactly(mapping_.size());
}

std::size_t CudaDevice::FreeBytes() const {
  std::size_t free = 0, total = 0;
  return api_.cuMemGetInfo_v2(&free, &total) == kSuccess ? free : 0;
}

base::Result<> CudaDevice::Upload(std::int64_t offset, std::int64_t bytes) {
  TRY(Check(api_.cuMemcpyHtoD_v2(memory_ + static_cast<DevicePointer>(offset),
                                 mapping_.data() + offset, static_cast<std::size_t>(bytes)),
            "cuMemcpyHtoD"));
  // Of pages that are not locked the call returns once they are copied aside, and our stream does
  // not wait for the one on which the rest is done.
  if (locked_) return {};
  return Check(api_.cuStreamSynchronize(nullptr), "cuMemcpyHtoD");
}

base::Result<> CudaDevice::Download(std::int64_t offset, std::int64_t bytes) {
  return Check(
      api_.cuMemcpyDtoH_v2(mapping_.data() + offset, memory_ + static_cast<DevicePointer>(offset),
                           static_cast<std::size_t>(bytes)),
      "cuMemcpyDtoH");
}

base::Result<> CudaDevice::CopyVariable(ModuleId module, int variable, Direction direction,
                                        std::int64_t offset, std::int64_t bytes) {
  const auto& variables = modules_[static_cast<std::size_t>(module)].variables;
  const auto size = static_cast<std::size_t>(bytes);
  if (variable < 0 || static_cast<std::size_t>(variable) >= variables.size() ||
      size > variables[static_cast<std::size_t>(variable)].bytes) {
    return base::Fail(base::InvalidArgument("no such variable, or it is smaller"));
  }
  const DevicePointer at = variables[static_cast<std::size_t>(variable)].address;
  const DevicePointer place = memory_ + static_cast<DevicePointer>(offset);
  const bool in = direction == Direction::kToDevice;
  TRY(Check(api_.cuMemcpyDtoDAsync_v2(in ? at : place, in ? place : at, size, stream_),
            "cuMemcpyDtoD"));
  return Wait();
}

base::Result<> CudaDevice::Fill(std::int64_t offset, std::int64_t bytes, int byte) {
  if (bytes == 0) return {};
  return Check(api_.cuMemsetD8Async(memory_ + static_cast<DevicePointer>(offset),
                                    static_cast<unsigned char>(byte),
                                    static_cast<std::size_t>(bytes), stream_),
               "cuMemsetD8Async");
}

base::Result<> CudaDevice::Move(std::int64_t from, std::int64_t to, std::int64_t bytes) {
  if (bytes == 0) return {};
  return Check(api_.cuMemcpyDtoDAsync_v2(memory_ + static_cast<DevicePointer>(to),
                                         memory_ + static_cast<DevicePointer>(from),
                                         static_cast<std::size_t>(bytes), stream_),
               "cuMemcpyDtoDAsync");
}

base::Result<> CudaDevice::Wait() {
  return Check(api_.cuStreamSynchronize(stream_), "the launch failed");
}

base::Result<> CudaDevice::Launch(const device::Launch& launch) {
  LoadedModule& loaded = modules_[static_cast<std::size_t>(launch.module)];
  LoadedKernel& kernel = loaded.kernels[static_cast<std::size_t>(launch.kernel)];
  if (launch.shared_bytes > kPlainSharedBytes && launch.shared_bytes > kernel.shared_limit) {
    const auto bytes = static_cast<int>(std::min<std::int64_t>(launch.shared_bytes, 1 << 30));
    TRY(Check(api_.cuFuncSetAttribute(kernel.function, kFunctionMaxDynamicSharedBytes, bytes),
              "more shared memory than a block can have"));
    kernel.shared_limit = bytes;
  }
  const auto u = [](std::int64_t value) { return static_cast<unsigned>(value); };
  return Check(api_.cuLaunchKernel(kernel.function, u(launch.grid[0]), u(launch.grid[1]),
                                   u(launch.grid[2]), u(launch.block[0]), u(launch.block[1]),
                                   u(launch.block[2]), u(launch.shared_bytes), stream_,
                                   const_cast<void**>(launch.arguments), nullptr),
               "cuLaunchKernel");
}

base::Result<double> CudaDevice::Time(const std::function<base::Result<>()>& work) {
  TRY(Check(api_.cuEventRecord(begin_, stream_), "cuEventRecord"));
  TRY(work());
  TRY(Check(api_.cuEventRecord(end_, stream_), "cuEventRecord"));
  TRY(Check(api_.cuEventSynchronize(end_), "the launch failed"));
  float milliseconds = 0;
  TRY(Check(api_.cuEventElapsedTime(&milliseconds, begin_, end_), "cuEventElapsedTime"));
  return 1000.0 * static_cast<double>(milliseconds);
}

base::Result<int> CudaDevice::Record(const std::function<base::Result<>()>& work) {
  TRY(Check(api_.cuStreamBeginCapture_v2(stream_, kCaptureThreadLocal), "cuStreamBeginCapture"));
  const base::Result<> recorded = work();
  Graph graph = nullptr;
  const Status ended = api_.cuStreamEndCapture(stream_, &graph);
  TRY(recorded);
  TRY(Check(ended, "cuStreamEndCapture"));
  GraphExec exec = nullptr;
  const Status made = api_.cuGraphInstantiateWithFlags(&exec, graph, 0);
  api_.cuGraphDestroy(graph);
  TRY(Check(made, "cuGraphInstantiate"));
  graphs_.push_back(exec);
  TRY(Check(api_.cuGraphUpload(exec, stream_), "cuGraphUpload"));
  return static_cast<int>(graphs_.size()) - 1;
}

base::Result<> CudaDevice::Replay(int graph) {
  return Check(api_.cuGraphLaunch(graphs_[static_cast<std::size_t>(graph)], stream_),
               "cuGraphLaunch");
}

void CudaDevice::DropGraphs() {
  for (const GraphExec graph : graphs_) api_.cuGraphExecDestroy(graph);
  graphs_.clear();
}

CudaDevice::Resources CudaDevice::ResourcesOf(ModuleId module, int kernel) const {
  const Function function =
      modules_[static_cast<std::size_t>(module)].kernels[static_cast<std::size_t>(kernel)].function;
  Resources resources;
  api_.cuFuncGetAttribute(&resources.registers, kFunctionRegisters, function);
  api_.cuFuncGetAttribute(&resources.local_bytes, kFunctionLocalBytes, function);
  api_.cuFuncGetAttribute(&resources.shared_bytes, kFunctionSharedBytes, function);
  return resources;
}

int CudaDevice::BlocksPerMultiprocessor(const device::Launch& launch) const {
  const LoadedKernel& kernel = modules_[static_cast<std::size_t>(launch.module)]
                                   .kernels[static_cast<std::size_t>(launch.kernel)];
  const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  int blocks = 0;
  const Status status = api_.cuOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, kernel.function, static_cast<int>(threads),
      static_cast<std::size_t>(launch.shared_bytes));
  return status == kSuccess ? blocks : 0;
}

}  // namespace cupilot::device::cuda
