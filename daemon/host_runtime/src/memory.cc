// Memory: allocations of the host, aligned like a device's; copies and fills.
#include <sys/sysinfo.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "allocations.h"
#include "capture.h"
#include "errors.h"
#include "registry.h"

namespace cupilot_host {
namespace {

constexpr std::size_t kAlignment = 256;

struct Allocation {
  std::size_t bytes;
  cudaMemoryType type;
};
struct Allocations {
  std::mutex mutex;
  std::map<const void*, Allocation> by_address;
  std::map<const void*, Allocation> registered;  // the user's own memory
};
Allocations& All() {
  static Allocations& all = *new Allocations;
  return all;
}

cudaError_t Allocate(void** pointer, std::size_t bytes, cudaMemoryType type) {
  if (Sticky() != cudaSuccess) return Note(Sticky());
  if (pointer == nullptr) return Note(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  // Of exactly this size, so that sanitizers see what lies outside.
  void* memory = nullptr;
  if (::posix_memalign(&memory, kAlignment, bytes) != 0) return Note(cudaErrorMemoryAllocation);
  Allocations& all = All();
  const std::lock_guard lock(all.mutex);
  all.by_address[memory] = {bytes, type};
  *pointer = memory;
  return cudaSuccess;
}

// Pinned memory has a function of its own that frees it.
cudaError_t FreeMemory(void* pointer, bool pinned) {
  if (pointer == nullptr) return cudaSuccess;
  const capture::Access access;
  {
    Allocations& all = All();
    const std::lock_guard lock(all.mutex);
    const auto it = all.by_address.find(pointer);
    if (it == all.by_address.end() || (it->second.type == cudaMemoryTypeHost) != pinned) {
      return Note(cudaErrorInvalidValue);
    }
    all.by_address.erase(it);
  }
  std::free(pointer);
  return cudaSuccess;
}

using Place = std::map<const void*, Allocation>::value_type;

// What holds the address, null if it is nobody's. The caller has the lock.
const Place* Find(const std::map<const void*, Allocation>& allocations, const void* pointer) {
  auto it = allocations.upper_bound(pointer);
  if (it == allocations.begin()) return nullptr;
  --it;
  const char* begin = static_cast<const char*>(it->first);
  return static_cast<const char*>(pointer) < begin + it->second.bytes ? &*it : nullptr;
}
const Place* Find(const Allocations& all, const void* pointer) {
  const Place* own = Find(all.by_address, pointer);
  return own != nullptr ? own : Find(all.registered, pointer);
}

cudaError_t Copy(void* to, const void* from, std::size_t bytes) {
  if (Sticky() != cudaSuccess) return Note(Sticky());
  const capture::Access access;
  if (bytes == 0) return cudaSuccess;
  if (to == nullptr || from == nullptr) return Note(cudaErrorInvalidValue);
  std::memmove(to, from, bytes);
  return cudaSuccess;
}

cudaError_t Copy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                   std::size_t width, std::size_t height) {
  if (Sticky() != cudaSuccess) return Note(Sticky());
  const capture::Access access;
  if (width > to_pitch || width > from_pitch) return Note(cudaErrorInvalidPitchValue);
  for (std::size_t y = 0; y < height; ++y) {
    std::memmove(static_cast<char*>(to) + y * to_pitch,
                 static_cast<const char*>(from) + y * from_pitch, width);
  }
  return cudaSuccess;
}

char* At(const cudaPitchedPtr& pointer, const cudaPos& at, std::size_t y, std::size_t z) {
  const std::size_t row = (at.z + z) * pointer.ysize + at.y + y;
  return static_cast<char*>(pointer.ptr) + row * pointer.pitch + at.x;
}

cudaError_t Copy3D(const cudaMemcpy3DParms& copy) {
  if (Sticky() != cudaSuccess) return Note(Sticky());
  const capture::Access access;
  const cudaExtent& extent = copy.extent;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
  if (copy.srcPtr.ptr == nullptr || copy.dstPtr.ptr == nullptr) return Note(cudaErrorInvalidValue);
  if (copy.srcPos.x + extent.width > copy.srcPtr.pitch ||
      copy.dstPos.x + extent.width > copy.dstPtr.pitch) {
    return Note(cudaErrorInvalidPitchValue);
  }
  for (std::size_t z = 0; z < extent.depth; ++z) {
    for (std::size_t y = 0; y < extent.height; ++y) {
      std::memmove(At(copy.dstPtr, copy.dstPos, y, z), At(copy.srcPtr, copy.srcPos, y, z),
                   extent.width);
    }
  }
  return cudaSuccess;
}

cudaError_t CopySymbol(void* to, const void* from, std::size_t bytes, const void* symbol,
                       std::size_t offset) {
  const auto* variable = FindVariable(symbol);
  if (variable == nullptr) return Note(cudaErrorInvalidSymbol);
  if (offset > variable->bytes || bytes > variable->bytes - offset) {
    return Note(cudaErrorInvalidValue);
  }
  return Copy(to, from, bytes);
}

}  // namespace

bool FindAllocation(const void* pointer, FoundAllocation& found) {
  Allocations& all = All();
  const std::lock_guard lock(all.mutex);
  const Place* place = Find(all, pointer);
  if (place != nullptr) found = {place->first, place->second.bytes, place->second.type};
  return place != nullptr;
}

}  // namespace cupilot_host

using cupilot_host::Allocate;
using cupilot_host::Copy;
using cupilot_host::Copy2D;
using cupilot_host::Copy3D;
using cupilot_host::CopySymbol;
using cupilot_host::FreeMemory;
using cupilot_host::Note;
using cupilot_host::Sticky;

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return Allocate(pointer, bytes, cudaMemoryTypeDevice);
}
cudaError_t cudaFree(void* pointer) { return FreeMemory(pointer, false); }
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t) {
  return Allocate(pointer, bytes, cudaMemoryTypeDevice);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return FreeMemory(pointer, false); }
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned int) {
  return Allocate(pointer, bytes, cudaMemoryTypeManaged);
}
cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return Allocate(pointer, bytes, cudaMemoryTypeHost);
}
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned int) {
  return Allocate(pointer, bytes, cudaMemoryTypeHost);
}
cudaError_t cudaFreeHost(void* pointer) { return FreeMemory(pointer, true); }
cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned int) {
  if (pointer == nullptr || bytes == 0) return Note(cudaErrorInvalidValue);
  auto& all = cupilot_host::All();
  const std::lock_guard lock(all.mutex);
  if (cupilot_host::Find(all, pointer) != nullptr) {
    return Note(cudaErrorHostMemoryAlreadyRegistered);
  }
  all.registered[pointer] = {bytes, cudaMemoryTypeHost};
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* pointer) {
  const cupilot_host::capture::Access access;
  auto& all = cupilot_host::All();
  const std::lock_guard lock(all.mutex);
  return all.registered.erase(pointer) == 1 ? cudaSuccess : Note(cudaErrorHostMemoryNotRegistered);
}
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int) {
  auto& all = cupilot_host::All();
  const std::lock_guard lock(all.mutex);
  if (cupilot_host::Find(all, host) == nullptr) return Note(cudaErrorInvalidValue);
  *device = host;
  return cudaSuccess;
}
cudaError_t cudaHostGetFlags(unsigned int* flags, void* host) {
  auto& all = cupilot_host::All();
  const std::lock_guard lock(all.mutex);
  if (cupilot_host::Find(all, host) == nullptr) return Note(cudaErrorInvalidValue);
  *flags = cudaHostAllocMapped;
  return cudaSuccess;
}
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return Allocate(pointer, *pitch * height, cudaMemoryTypeDevice);
}
cudaError_t cudaMalloc3D(struct cudaPitchedPtr* pointer, struct cudaExtent extent) {
  pointer->pitch = (extent.width + 511) / 512 * 512;
  pointer->xsize = extent.width;
  pointer->ysize = extent.height;
  return Allocate(&pointer->ptr, pointer->pitch * extent.height * extent.depth,
                  cudaMemoryTypeDevice);
}
cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
  struct sysinfo info{};
  sysinfo(&info);
  *available = static_cast<size_t>(info.freeram + info.bufferram) * info.mem_unit;
  *total = static_cast<size_t>(info.totalram) * info.mem_unit;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes* attributes,
                                     const void* pointer) {
  auto& all = cupilot_host::All();
  const std::lock_guard lock(all.mutex);
  *attributes = cudaPointerAttributes{};
  const auto* found = cupilot_host::Find(all, pointer);
  if (found == nullptr) return cudaSuccess;
  attributes->type = found->second.type;
  attributes->devicePointer = attributes->hostPointer = const_cast<void*>(pointer);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return Note(cudaErrorInvalidMemcpyDirection);
  }
  return Copy(to, from, bytes);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  return Copy(to, from, bytes);
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind) {
  return Copy2D(to, to_pitch, from, from_pitch, width, height);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind, cudaStream_t) {
  return Copy2D(to, to_pitch, from, from_pitch, width, height);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t) {
  return Copy(to, from, bytes);
}
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms* copy) { return Copy3D(*copy); }
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms* copy, cudaStream_t) {
  return Copy3D(*copy);
}
cudaError_t cudaMemset3D(struct cudaPitchedPtr pointer, int value, struct cudaExtent extent) {
  if (Sticky() != cudaSuccess) return Note(Sticky());
  const cupilot_host::capture::Access access;
  for (size_t z = 0; z < extent.depth; ++z) {
    for (size_t y = 0; y < extent.height; ++y) {
      std::memset(cupilot_host::At(pointer, {0, 0, 0}, y, z), value, extent.width);
    }
  }
  return cudaSuccess;
}
cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pointer, int value, struct cudaExtent extent,
                              cudaStream_t) {
  return cudaMemset3D(pointer, value, extent);
}
cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
  if (Sticky() != cudaSuccess) return Note(Sticky());
  const cupilot_host::capture::Access access;
  if (pointer == nullptr && bytes > 0) return Note(cudaErrorInvalidValue);
  if (bytes > 0) std::memset(pointer, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t) {
  return cudaMemset(pointer, value, bytes);
}
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  if (Sticky() != cudaSuccess) return Note(Sticky());
  const cupilot_host::capture::Access access;
  if (width > pitch && height > 1) return Note(cudaErrorInvalidValue);
  for (size_t y = 0; y < height; ++y) {
    std::memset(static_cast<char*>(pointer) + y * pitch, value, width);
  }
  return cudaSuccess;
}
cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t) {
  return cudaMemset2D(pointer, pitch, value, width, height);
}
cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, size_t, unsigned int) {
  return cudaSuccess;
}
// Nothing is noted of what was advised: it has no effect here.
cudaError_t cudaMemRangeGetAttribute(void* data, size_t bytes, enum cudaMemRangeAttribute attribute,
                                     const void*, size_t) {
  const int answer =
      attribute == cudaMemRangeAttributeReadMostly ? 0 : static_cast<int>(cudaInvalidDeviceId);
  for (size_t i = 0; i + sizeof answer <= bytes; i += sizeof answer) {
    std::memcpy(static_cast<char*>(data) + i, &answer, sizeof answer);
  }
  return cudaSuccess;
}
cudaError_t cudaMemAdvise(const void*, size_t, enum cudaMemoryAdvise, int) { return cudaSuccess; }

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind) {
  return CopySymbol(static_cast<char*>(const_cast<void*>(symbol)) + offset, from, bytes, symbol,
                    offset);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind) {
  return CopySymbol(to, static_cast<const char*>(symbol) + offset, bytes, symbol, offset);
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}
cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  if (cupilot_host::FindVariable(symbol) == nullptr) return Note(cudaErrorInvalidSymbol);
  *pointer = const_cast<void*>(symbol);
  return cudaSuccess;
}
cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  const auto* variable = cupilot_host::FindVariable(symbol);
  if (variable == nullptr) return Note(cudaErrorInvalidSymbol);
  *bytes = variable->bytes;
  return cudaSuccess;
}
}
