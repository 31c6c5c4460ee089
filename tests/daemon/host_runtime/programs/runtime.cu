// Calls of the runtime, as programs make them.
#include "checks.h"

using checks::Buffer;
using checks::Make;

__global__ void Increment(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ++data[i];
}
__global__ void __launch_bounds__(96) Bounded(int* data) { *data = 1; }
__global__ void Dynamic(int* data) {
  extern __shared__ int box[];
  box[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) *data = box[blockDim.x - 1];
}
__global__ void Static(float* data) {
  __shared__ float box[256];
  box[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) *data = box[blockDim.x - 1];
}

CASE(copies_of_every_kind) {
  const std::vector<int> host = Make<int>(100, [](int i) { return i * i; });
  Buffer<int> device(100), other(100);
  std::vector<int> back(100), again(100);
  WORKS(cudaMemcpy(device, host.data(), 400, cudaMemcpyHostToDevice));
  WORKS(cudaMemcpy(other, device, 400, cudaMemcpyDeviceToDevice));
  WORKS(cudaMemcpy(back.data(), other, 400, cudaMemcpyDeviceToHost));
  SAME_ALL(back, host);
  WORKS(cudaMemcpy(again.data(), back.data(), 400, cudaMemcpyHostToHost));
  SAME_ALL(again, host);
  WORKS(cudaMemset(device, 0, 400));
  WORKS(cudaMemcpy(device, again.data(), 400, cudaMemcpyDefault));
  SAME_ALL(device.Read(), host);
  FAILS_WITH(cudaErrorInvalidMemcpyDirection, cudaMemcpy(device, host.data(), 4, static_cast<cudaMemcpyKind>(9)));
  FAILS_WITH(cudaErrorInvalidValue, cudaMemcpy(nullptr, host.data(), 4, cudaMemcpyHostToDevice));
  cudaGetLastError();
}
CASE(asynchronous_copies_and_streams) {
  int* pinned = nullptr;
  WORKS(cudaMallocHost(&pinned, 64 * sizeof(int)));
  for (int i = 0; i < 64; ++i) pinned[i] = i;
  cudaStream_t stream, second;
  WORKS(cudaStreamCreate(&stream));
  WORKS(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  Buffer<int> data(64);
  cudaEvent_t copied;
  WORKS(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming));
  WORKS(cudaMemcpyAsync(data, pinned, 64 * sizeof(int), cudaMemcpyHostToDevice, stream));
  WORKS(cudaEventRecord(copied, stream));
  WORKS(cudaStreamWaitEvent(second, copied, 0));
  Increment<<<2, 32, 0, second>>>(data, 64);
  WORKS(cudaMemcpyAsync(pinned, data, 64 * sizeof(int), cudaMemcpyDeviceToHost, second));
  WORKS(cudaStreamSynchronize(second));
  WORKS(cudaStreamQuery(stream));
  for (int i = 0; i < 64; ++i) SAME(pinned[i], i + 1);
  bool called = false;
  WORKS(cudaLaunchHostFunc(stream, [](void* flag) { *static_cast<bool*>(flag) = true; }, &called));
  WORKS(cudaDeviceSynchronize());
  SAME(called, true);
  WORKS(cudaStreamDestroy(stream));
  WORKS(cudaStreamDestroy(second));
  WORKS(cudaEventDestroy(copied));
  WORKS(cudaFreeHost(pinned));
}
CASE(fills) {
  Buffer<unsigned char> bytes(100);
  WORKS(cudaMemset(bytes, 0xab, 50));
  WORKS(cudaMemsetAsync(bytes + 50, 0x11, 25));
  SAME_ALL(bytes.Read(), Make<unsigned char>(100, [](int i) { return i < 50 ? 0xab : i < 75 ? 0x11 : 0; }));
}
CASE(pitched_copies) {
  const int width = 10, height = 6;
  const std::vector<float> host = Make<float>(width * height, [](int i) { return i; });
  float* device = nullptr;
  std::size_t pitch = 0;
  WORKS(cudaMallocPitch(&device, &pitch, width * sizeof(float), height));
  SAME(pitch >= width * sizeof(float) && pitch % 32 == 0, true);
  WORKS(cudaMemcpy2D(device, pitch, host.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
  std::vector<float> corner(3 * 2);
  WORKS(cudaMemcpy2D(corner.data(), 3 * 4, reinterpret_cast<char*>(device) + 4 * pitch + 7 * 4, pitch, 3 * 4, 2,
                     cudaMemcpyDeviceToHost));
  SAME_ALL(corner, (std::vector<float>{47, 48, 49, 57, 58, 59}));
  WORKS(cudaMemset2D(device, pitch, 0, 2 * 4, height));
  float first[3];
  WORKS(cudaMemcpy(first, device, sizeof first, cudaMemcpyDeviceToHost));
  SAME(first[1], 0.0f);
  SAME(first[2], 2.0f);
  FAILS_WITH(cudaErrorInvalidPitchValue,
             cudaMemcpy2D(device, 8, host.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
  cudaGetLastError();
  WORKS(cudaFree(device));
}
CASE(managed_and_host_memory) {
  int* managed = nullptr;
  WORKS(cudaMallocManaged(&managed, 32 * sizeof(int)));
  for (int i = 0; i < 32; ++i) managed[i] = i;
  Increment<<<1, 32>>>(managed, 32);
  WORKS(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) SAME(managed[i], i + 1);
  cudaPointerAttributes attributes;
  WORKS(cudaPointerGetAttributes(&attributes, managed));
  SAME(attributes.type == cudaMemoryTypeManaged, true);
  WORKS(cudaFree(managed));
  int *mapped = nullptr, *device = nullptr;
  WORKS(cudaHostAlloc(&mapped, 8 * sizeof(int), cudaHostAllocMapped));
  WORKS(cudaHostGetDevicePointer(&device, mapped, 0));
  mapped[0] = 4;
  Increment<<<1, 1>>>(device, 1);
  WORKS(cudaDeviceSynchronize());
  SAME(mapped[0], 5);
  WORKS(cudaPointerGetAttributes(&attributes, mapped));
  SAME(attributes.type == cudaMemoryTypeHost, true);
  WORKS(cudaFreeHost(mapped));
}
CASE(registered_memory) {
  int local[4] = {1, 2, 3, 4};
  int* device = nullptr;
  cudaPointerAttributes attributes;
  WORKS(cudaPointerGetAttributes(&attributes, local));
  SAME(attributes.type == cudaMemoryTypeUnregistered, true);
  FAILS_WITH(cudaErrorInvalidValue, cudaHostGetDevicePointer(&device, local, 0));
  FAILS_WITH(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(local));
  WORKS(cudaHostRegister(local, sizeof local, cudaHostRegisterMapped));
  FAILS_WITH(cudaErrorHostMemoryAlreadyRegistered,
             cudaHostRegister(local, sizeof local, cudaHostRegisterDefault));
  WORKS(cudaPointerGetAttributes(&attributes, local + 3));
  SAME(attributes.type == cudaMemoryTypeHost, true);
  unsigned int flags = 0;
  WORKS(cudaHostGetFlags(&flags, local));
  SAME(flags, static_cast<unsigned int>(cudaHostAllocMapped));
  WORKS(cudaHostGetDevicePointer(&device, local, 0));
  Increment<<<1, 4>>>(device, 4);
  WORKS(cudaDeviceSynchronize());
  SAME(local[3], 5);
  WORKS(cudaHostUnregister(local));
  cudaGetLastError();
}
CASE(pinned_and_device_memory_are_freed_by_their_own) {
  int *pinned = nullptr, *device = nullptr;
  WORKS(cudaMallocHost(&pinned, 64));
  WORKS(cudaMalloc(&device, 64));
  FAILS_WITH(cudaErrorInvalidValue, cudaFree(pinned));
  FAILS_WITH(cudaErrorInvalidValue, cudaFreeHost(device));
  WORKS(cudaFreeHost(pinned));
  WORKS(cudaFree(device));
  cudaGetLastError();
}
CASE(advice_is_taken) {
  int* managed = nullptr;
  WORKS(cudaMallocManaged(&managed, 64));
  WORKS(cudaMemAdvise(managed, 64, cudaMemAdviseSetReadMostly, 0));
  cudaMemLocation location = {};
  location.type = cudaMemLocationTypeDevice;
  WORKS(cudaMemAdvise(managed, 64, cudaMemAdviseSetPreferredLocation, location));
  WORKS(cudaMemPrefetchAsync(managed, 64, cudaCpuDeviceId));
  WORKS(cudaMemPrefetchAsync(managed, 64, location, 0, nullptr));
  WORKS(cudaStreamAttachMemAsync(nullptr, managed, 0, cudaMemAttachGlobal));
  WORKS(cudaFree(managed));
}
CASE(boxes) {
  constexpr int kWidth = 7, kHeight = 5, kDepth = 4;
  const std::vector<int> host = Make<int>(kWidth * kHeight * kDepth, [](int i) { return i; });
  const cudaExtent extent = make_cudaExtent(kWidth * sizeof(int), kHeight, kDepth);
  cudaPitchedPtr device;
  WORKS(cudaMalloc3D(&device, extent));
  SAME(device.pitch >= extent.width, true);
  WORKS(cudaMemset3D(device, 0xff, extent));
  // All but the first plane, row and column.
  cudaMemcpy3DParms in = {};
  in.srcPtr = make_cudaPitchedPtr(const_cast<int*>(host.data()), kWidth * sizeof(int),
                                  kWidth * sizeof(int), kHeight);
  in.srcPos = make_cudaPos(sizeof(int), 1, 1);
  in.dstPtr = device;
  in.dstPos = make_cudaPos(sizeof(int), 1, 1);
  in.extent = make_cudaExtent((kWidth - 1) * sizeof(int), kHeight - 1, kDepth - 1);
  in.kind = cudaMemcpyHostToDevice;
  WORKS(cudaMemcpy3D(&in));
  std::vector<int> back(host.size(), -7);
  cudaMemcpy3DParms out = {};
  out.srcPtr = device;
  out.dstPtr = make_cudaPitchedPtr(back.data(), kWidth * sizeof(int), kWidth * sizeof(int), kHeight);
  out.extent = extent;
  out.kind = cudaMemcpyDeviceToHost;
  WORKS(cudaMemcpy3DAsync(&out, nullptr));
  SAME_ALL(back, Make<int>(host.size(), [](int i) {
             const bool inside = i % kWidth > 0 && i / kWidth % kHeight > 0 && i >= kWidth * kHeight;
             return inside ? i : -1;
           }));
  out.extent.width = device.pitch + 1;
  FAILS_WITH(cudaErrorInvalidPitchValue, cudaMemcpy3D(&out));
  cudaGetLastError();
  WORKS(cudaFree(device.ptr));
}
__device__ int symbol_values[8];
__constant__ float symbol_factor = 2.5f;
__global__ void ReadSymbols(float* out) { out[threadIdx.x] = symbol_values[threadIdx.x] * symbol_factor; }
CASE(symbols) {
  const std::vector<int> values = Make<int>(8, [](int i) { return i + 1; });
  WORKS(cudaMemcpyToSymbol(symbol_values, values.data(), 4 * sizeof(int)));
  WORKS(cudaMemcpyToSymbolAsync(symbol_values, values.data() + 4, 4 * sizeof(int), 4 * sizeof(int)));
  Buffer<float> out(8);
  ReadSymbols<<<1, 8>>>(out);
  SAME_ALL(out.Read(), Make<float>(8, [](int i) { return 2.5f * (i + 1); }));
  float factor = 0;
  WORKS(cudaMemcpyFromSymbol(&factor, symbol_factor, sizeof factor));
  SAME(factor, 2.5f);
  void* address = nullptr;
  std::size_t bytes = 0;
  WORKS(cudaGetSymbolAddress(&address, symbol_values));
  WORKS(cudaGetSymbolSize(&bytes, symbol_values));
  SAME(bytes, 8 * sizeof(int));
  WORKS(cudaMemset(address, 0, bytes));
  ReadSymbols<<<1, 8>>>(out);
  SAME_ALL(out.Read(), std::vector<float>(8));
  FAILS_WITH(cudaErrorInvalidValue, cudaMemcpyToSymbol(symbol_factor, values.data(), 8));
  cudaGetLastError();
}
CASE(pools_and_allocations_in_stream_order) {
  cudaMemPool_t pool = nullptr, own = nullptr;
  WORKS(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long threshold = 1 << 20, found = 0;
  WORKS(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  WORKS(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &found));
  SAME(found, threshold);
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  WORKS(cudaMemPoolCreate(&own, &properties));
  cudaStream_t stream;
  WORKS(cudaStreamCreate(&stream));
  int *first = nullptr, *second = nullptr;
  WORKS(cudaMallocAsync(&first, 16, stream));
  WORKS(cudaMallocFromPoolAsync(&second, 16, own, stream));
  WORKS(cudaMemsetAsync(second, 0, 16, stream));
  Increment<<<1, 4, 0, stream>>>(second, 4);
  WORKS(cudaMemcpyAsync(first, second, 16, cudaMemcpyDeviceToDevice, stream));
  int value = 0;
  WORKS(cudaMemcpyAsync(&value, first + 3, 4, cudaMemcpyDeviceToHost, stream));
  WORKS(cudaFreeAsync(first, stream));
  WORKS(cudaFreeAsync(second, stream));
  WORKS(cudaStreamSynchronize(stream));
  SAME(value, 1);
  WORKS(cudaMemPoolTrimTo(own, 0));
  WORKS(cudaMemPoolDestroy(own));
  FAILS_WITH(cudaErrorInvalidValue, cudaMemPoolDestroy(own));
  cudaGetLastError();
  WORKS(cudaStreamDestroy(stream));
}
CASE(callbacks_of_a_stream) {
  Buffer<int> data(4);
  std::vector<int> order;
  const auto note = [](cudaStream_t, cudaError_t status, void* list) {
    static_cast<std::vector<int>*>(list)->push_back(static_cast<int>(status));
  };
  Increment<<<1, 4>>>(data, 4);
  WORKS(cudaStreamAddCallback(nullptr, note, &order, 0));
  WORKS(cudaLaunchHostFunc(
      nullptr, [](void* list) { static_cast<std::vector<int>*>(list)->push_back(7); }, &order));
  WORKS(cudaStreamSynchronize(nullptr));
  SAME_ALL(order, (std::vector<int>{0, 7}));
}
CASE(allocation) {
  void* pointer = nullptr;
  WORKS(cudaMalloc(&pointer, 1));
  SAME(reinterpret_cast<std::size_t>(pointer) % 256, std::size_t{0});
  WORKS(cudaFree(pointer));
  FAILS_WITH(cudaErrorInvalidValue, cudaFree(pointer));
  WORKS(cudaFree(nullptr));
  FAILS_WITH(cudaErrorMemoryAllocation, cudaMalloc(&pointer, std::size_t{1} << 62));
  SAME(pointer == nullptr, true);
  // The error stays until it is asked for, and is then forgotten.
  FAILS_WITH(cudaErrorMemoryAllocation, cudaPeekAtLastError());
  FAILS_WITH(cudaErrorMemoryAllocation, cudaGetLastError());
  WORKS(cudaGetLastError());
  std::size_t available = 0, total = 0;
  WORKS(cudaMemGetInfo(&available, &total));
  SAME(available > 0 && available <= total, true);
  WORKS(cudaMallocAsync(&pointer, 100, nullptr));
  WORKS(cudaFreeAsync(pointer, nullptr));
}
CASE(events) {
  cudaEvent_t begin, end;
  WORKS(cudaEventCreate(&begin));
  WORKS(cudaEventCreate(&end));
  float milliseconds = -1;
  FAILS_WITH(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, begin, end));
  cudaGetLastError();
  Buffer<int> data(1 << 16);
  WORKS(cudaEventRecord(begin));
  for (int i = 0; i < 10; ++i) Increment<<<(1 << 16) / 256, 256>>>(data, 1 << 16);
  WORKS(cudaEventRecord(end, nullptr));
  WORKS(cudaEventSynchronize(end));
  WORKS(cudaEventQuery(end));
  WORKS(cudaEventElapsedTime(&milliseconds, begin, end));
  SAME(milliseconds > 0, true);
  WORKS(cudaEventDestroy(begin));
  WORKS(cudaEventDestroy(end));
}
CASE(device_properties) {
  int count = 0, device = -1;
  WORKS(cudaGetDeviceCount(&count));
  SAME(count, 1);
  WORKS(cudaSetDevice(0));
  WORKS(cudaGetDevice(&device));
  SAME(device, 0);
  FAILS_WITH(cudaErrorInvalidDevice, cudaSetDevice(1));
  cudaGetLastError();
  cudaDeviceProp properties;
  WORKS(cudaGetDeviceProperties(&properties, 0));
  SAME(properties.warpSize, 32);
  SAME(properties.maxThreadsPerBlock, 1024);
  SAME(std::strlen(properties.name) > 0, true);
  SAME(properties.multiProcessorCount > 0, true);
  SAME(properties.totalGlobalMem > 0, true);
  SAME(properties.maxGridSize[0], 2147483647);
  SAME(properties.maxThreadsDim[2], 64);
  SAME(properties.sharedMemPerBlock, std::size_t{48 * 1024});
  int value = 0;
  WORKS(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
  SAME(value, 32);
  WORKS(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  SAME(value, properties.multiProcessorCount);
  WORKS(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  SAME(value > 48 * 1024, true);
  WORKS(cudaRuntimeGetVersion(&value));
  SAME(value, CUDART_VERSION);
  WORKS(cudaDriverGetVersion(&value));
  SAME(value >= CUDART_VERSION, true);
}
CASE(occupancy) {
  int blocks = 0, grid = 0, block = 0;
  WORKS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, Increment, 128, 0));
  SAME(blocks > 0, true);
  WORKS(cudaOccupancyMaxPotentialBlockSize(&grid, &block, Increment, 0, 0));
  SAME(block >= 32 && block <= 1024 && grid > 0, true);
  WORKS(cudaOccupancyMaxPotentialBlockSize(&grid, &block, Bounded));
  SAME(block > 0 && block <= 96, true);
}
CASE(attributes_of_kernels) {
  cudaFuncAttributes attributes;
  WORKS(cudaFuncGetAttributes(&attributes, Bounded));
  SAME(attributes.maxThreadsPerBlock, 96);
  WORKS(cudaFuncGetAttributes(&attributes, Static));
  SAME(attributes.sharedSizeBytes, std::size_t{1024});
  SAME(attributes.maxThreadsPerBlock, 1024);
}
CASE(opted_in_shared_memory) {
  const int bytes = 100 * 1024;
  Buffer<int> data(1);
  Dynamic<<<1, 64, bytes>>>(data);
  FAILS_WITH(cudaErrorInvalidValue, cudaGetLastError());
  WORKS(cudaFuncSetAttribute(Dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  Dynamic<<<1, 64, bytes>>>(data);
  WORKS(cudaGetLastError());
  SAME(data.Read()[0], 63);
  FAILS_WITH(cudaErrorInvalidValue,
             cudaFuncSetAttribute(Dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
  cudaGetLastError();
}
CASE(launches_that_are_not_possible) {
  Buffer<int> data(1);
  Increment<<<0, 32>>>(data, 1);
  FAILS_WITH(cudaErrorInvalidConfiguration, cudaPeekAtLastError());
  FAILS_WITH(cudaErrorInvalidConfiguration, cudaGetLastError());
  WORKS(cudaGetLastError());
  Increment<<<1, 0>>>(data, 1);
  FAILS_WITH(cudaErrorInvalidConfiguration, cudaGetLastError());
  Increment<<<1, 1025>>>(data, 1);
  FAILS_WITH(cudaErrorInvalidConfiguration, cudaGetLastError());
  Increment<<<1, dim3(33, 32)>>>(data, 1);
  FAILS_WITH(cudaErrorInvalidConfiguration, cudaGetLastError());
  Increment<<<1, dim3(1, 1, 65)>>>(data, 1);
  FAILS_WITH(cudaErrorInvalidConfiguration, cudaGetLastError());
  Increment<<<dim3(1, 65536), 1>>>(data, 1);
  FAILS_WITH(cudaErrorInvalidConfiguration, cudaGetLastError());
  // Not an error of the arguments: the kernel was compiled for fewer.
  Bounded<<<1, 97>>>(data);
  SAME(cudaGetLastError() != cudaSuccess, true);
  int* pointer = data;
  void* arguments[] = {&pointer};
  FAILS_WITH(cudaErrorInvalidDeviceFunction, cudaLaunchKernel("no kernel", dim3(1), dim3(1), arguments, 0, nullptr));
  cudaGetLastError();
  SAME(data.Read()[0], 0);
  // None of them keeps the device from going on.
  Increment<<<1, 1>>>(data, 1);
  WORKS(cudaDeviceSynchronize());
  SAME(data.Read()[0], 1);
}
CASE(texts_of_errors) {
  SAME(std::string(cudaGetErrorString(cudaErrorInvalidConfiguration)), "invalid configuration argument");
  SAME(std::string(cudaGetErrorString(cudaSuccess)), "no error");
  SAME(std::string(cudaGetErrorName(cudaErrorMemoryAllocation)), "cudaErrorMemoryAllocation");
}
CASE(reset) {
  WORKS(cudaDeviceReset());
  Buffer<int> data(1);
  Increment<<<1, 1>>>(data, 1);
  SAME(data.Read()[0], 1);
}

int main(int argc, char** argv) { return checks::Main(argc, argv); }
