// The one device: the processors that this process may use.
#include <sys/sysinfo.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "errors.h"
#include "pool.h"

using cupilot_host::Note;
using cupilot_host::Sticky;

namespace {

std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "processor";
}

const cudaDeviceProp& Properties() {
  static const cudaDeviceProp properties = [] {
    cudaDeviceProp p{};
    const std::string name = "host: " + ProcessorName();
    std::snprintf(p.name, sizeof p.name, "%s", name.c_str());
    struct sysinfo info{};
    sysinfo(&info);
    p.totalGlobalMem = static_cast<size_t>(info.totalram) * info.mem_unit;
    p.sharedMemPerBlock = 48 * 1024;
    p.sharedMemPerBlockOptin = 227 * 1024;
    p.sharedMemPerMultiprocessor = 228 * 1024;
    p.regsPerBlock = p.regsPerMultiprocessor = 65536;
    p.warpSize = 32;
    p.memPitch = 2147483647;
    p.maxThreadsPerBlock = p.maxThreadsPerMultiProcessor = 1024;
    p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
    p.maxThreadsDim[2] = 64;
    p.maxGridSize[0] = 2147483647;
    p.maxGridSize[1] = p.maxGridSize[2] = 65535;
    p.totalConstMem = 64 * 1024;
    p.major = 8;  // what device code may rely on, in CUDA's terms
    p.minor = 0;
    p.textureAlignment = 512;
    p.multiProcessorCount = cupilot_host::ThreadCount();
    p.integrated = p.canMapHostMemory = p.unifiedAddressing = 1;
    p.managedMemory = p.concurrentManagedAccess = p.pageableMemoryAccess = 1;
    p.pageableMemoryAccessUsesHostPageTables = p.directManagedMemAccessFromHost = 1;
    p.canUseHostPointerForRegisteredMem = p.hostNativeAtomicSupported = 1;
    p.cooperativeLaunch = p.hostRegisterSupported = p.memoryPoolsSupported = 1;
    p.memoryBusWidth = 64;
    const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    p.l2CacheSize = l2 > 0 ? static_cast<int>(l2) : 1 << 20;
    p.maxBlocksPerMultiProcessor = 1;
    return p;
  }();
  return properties;
}

cudaError_t OnlyZero(int device) {
  return device == 0 ? cudaSuccess : Note(cudaErrorInvalidDevice);
}

int AttributeOf(const cudaDeviceProp& p, cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      return p.maxThreadsPerBlock;
    case cudaDevAttrMaxBlockDimX:
      return p.maxThreadsDim[0];
    case cudaDevAttrMaxBlockDimY:
      return p.maxThreadsDim[1];
    case cudaDevAttrMaxBlockDimZ:
      return p.maxThreadsDim[2];
    case cudaDevAttrMaxGridDimX:
      return p.maxGridSize[0];
    case cudaDevAttrMaxGridDimY:
      return p.maxGridSize[1];
    case cudaDevAttrMaxGridDimZ:
      return p.maxGridSize[2];
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return static_cast<int>(p.sharedMemPerBlock);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return static_cast<int>(p.sharedMemPerBlockOptin);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(p.sharedMemPerMultiprocessor);
    case cudaDevAttrTotalConstantMemory:
      return static_cast<int>(p.totalConstMem);
    case cudaDevAttrWarpSize:
      return p.warpSize;
    case cudaDevAttrMaxRegistersPerBlock:
      return p.regsPerBlock;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return p.regsPerMultiprocessor;
    case cudaDevAttrMultiProcessorCount:
      return p.multiProcessorCount;
    case cudaDevAttrL2CacheSize:
      return p.l2CacheSize;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return p.maxThreadsPerMultiProcessor;
    case cudaDevAttrComputeCapabilityMajor:
      return p.major;
    case cudaDevAttrComputeCapabilityMinor:
      return p.minor;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return p.maxBlocksPerMultiProcessor;
    case cudaDevAttrIntegrated:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
    case cudaDevAttrDirectManagedMemAccessFromHost:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrMemoryPoolsSupported:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return OnlyZero(device); }
cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) { return OnlyZero(device); }
cudaError_t cudaSetDeviceFlags(unsigned int) { return cudaSuccess; }
cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  *flags = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* properties, int device) {
  if (OnlyZero(device) != cudaSuccess) return cudaErrorInvalidDevice;
  *properties = Properties();
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attribute, int device) {
  if (OnlyZero(device) != cudaSuccess) return cudaErrorInvalidDevice;
  *value = AttributeOf(Properties(), attribute);
  return cudaSuccess;
}
cudaError_t cudaChooseDevice(int* device, const struct cudaDeviceProp*) {
  *device = 0;
  return cudaSuccess;
}
// What kernels printed is there afterwards, also for who reads a pipe.
cudaError_t cudaDeviceSynchronize(void) {
  std::fflush(stdout);
  return Note(Sticky());
}
cudaError_t cudaDeviceReset(void) { return cudaSuccess; }
cudaError_t cudaDeviceGetLimit(size_t* value, enum cudaLimit limit) {
  *value = limit == cudaLimitStackSize ? 128 * 1024 : 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(enum cudaLimit, size_t) { return cudaSuccess; }
cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache* config) {
  *config = cudaFuncCachePreferNone;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig) { return cudaSuccess; }
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int) {
  return Note(cudaErrorPeerAccessUnsupported);
}
cudaError_t cudaDeviceDisablePeerAccess(int) { return Note(cudaErrorPeerAccessNotEnabled); }
cudaError_t cudaDeviceGetP2PAttribute(int* value, enum cudaDeviceP2PAttr, int, int) {
  *value = 0;
  return Note(cudaErrorInvalidDevice);  // there is no second device
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  *device = 0;
  return std::strcmp(text, "0000:00:00.0") == 0 ? cudaSuccess : Note(cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig* config) {
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}
cudaError_t cudaSetValidDevices(int*, int) { return cudaSuccess; }
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (OnlyZero(device) != cudaSuccess) return cudaErrorInvalidDevice;
  std::snprintf(text, static_cast<size_t>(length), "0000:00:00.0");
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaProfilerStart(void) { return cudaSuccess; }
cudaError_t cudaProfilerStop(void) { return cudaSuccess; }
}
