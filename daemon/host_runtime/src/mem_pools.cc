// Pools of memory. All take from the same place and give back at once; what is set is remembered.
#include <cstdint>
#include <map>
#include <mutex>
#include <set>

#include "errors.h"

using cupilot_host::Note;

struct CUmemPoolHandle_st {
  std::map<cudaMemPoolAttr, std::uint64_t> attributes;
};

namespace {

struct Pools {
  std::mutex mutex;
  CUmemPoolHandle_st standard;
  std::set<cudaMemPool_t> made;
  cudaMemPool_t current = &standard;
};
Pools& ThePools() {
  static Pools& pools = *new Pools;
  return pools;
}
// The caller has the lock.
bool IsPool(const Pools& pools, cudaMemPool_t pool) {
  return pool == &pools.standard || pools.made.count(pool) == 1;
}
bool IsFlag(cudaMemPoolAttr attribute) {
  return attribute <= cudaMemPoolReuseAllowInternalDependencies;
}

}  // namespace

extern "C" {

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  Pools& pools = ThePools();
  {
    const std::lock_guard lock(pools.mutex);
    if (!IsPool(pools, pool)) return Note(cudaErrorInvalidValue);
  }
  return cudaMallocAsync(pointer, bytes, stream);
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (device != 0) return Note(cudaErrorInvalidDevice);
  *pool = &ThePools().standard;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  if (device != 0) return Note(cudaErrorInvalidDevice);
  Pools& pools = ThePools();
  const std::lock_guard lock(pools.mutex);
  *pool = pools.current;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  if (device != 0) return Note(cudaErrorInvalidDevice);
  Pools& pools = ThePools();
  const std::lock_guard lock(pools.mutex);
  if (!IsPool(pools, pool)) return Note(cudaErrorInvalidValue);
  pools.current = pool;
  return cudaSuccess;
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const struct cudaMemPoolProps* properties) {
  if (pool == nullptr || properties == nullptr ||
      properties->allocType != cudaMemAllocationTypePinned) {
    return Note(cudaErrorInvalidValue);
  }
  Pools& pools = ThePools();
  const std::lock_guard lock(pools.mutex);
  *pool = new CUmemPoolHandle_st;
  pools.made.insert(*pool);
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  Pools& pools = ThePools();
  const std::lock_guard lock(pools.mutex);
  if (pools.made.erase(pool) == 0) return Note(cudaErrorInvalidValue);
  if (pools.current == pool) pools.current = &pools.standard;
  delete pool;
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                    void* value) {
  Pools& pools = ThePools();
  const std::lock_guard lock(pools.mutex);
  if (!IsPool(pools, pool) || value == nullptr) return Note(cudaErrorInvalidValue);
  pool->attributes[attribute] = IsFlag(attribute)
                                    ? static_cast<std::uint64_t>(*static_cast<int*>(value))
                                    : *static_cast<std::uint64_t*>(value);
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                    void* value) {
  Pools& pools = ThePools();
  const std::lock_guard lock(pools.mutex);
  if (!IsPool(pools, pool) || value == nullptr) return Note(cudaErrorInvalidValue);
  const auto it = pool->attributes.find(attribute);
  const bool known = it != pool->attributes.end();
  if (IsFlag(attribute)) {
    *static_cast<int*>(value) = known ? static_cast<int>(it->second) : 1;
  } else {
    *static_cast<std::uint64_t*>(value) = known ? it->second : 0;
  }
  return cudaSuccess;
}
}
