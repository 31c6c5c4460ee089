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
  int local = 0;
  WORKS(cudaPointerGetAttributes(&attributes, &local));
  SAME(attributes.type == cudaMemoryTypeUnregistered, true);
  WORKS(cudaHostRegister(&local, sizeof local, cudaHostRegisterDefault));
  WORKS(cudaHostUnregister(&local));
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
