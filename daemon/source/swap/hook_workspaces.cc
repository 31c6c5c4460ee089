#include "source/swap/hook_runtime.h"

namespace cupilot::source {

std::string HookWorkspaces() {
  return R"hook(
bool add_bytes(long long bytes, long long* total, long long* offset) {
  *offset = *total;
  long long end;
  if (bytes < 0 || __builtin_add_overflow(*total, bytes, &end)) return false;
  if (__builtin_add_overflow(end, 255LL, &end)) return false;
  *total = end / 256 * 256;
  return true;
}

#if defined(CUPILOT_HOST_ABI_VERSION)
// One block is kept for the next launch; whoever finds none allocates.
struct arena_header {
  long long bytes;
};
enum { arena_offset = 256 };
char* kept_arena;

char* open_arena(long long bytes, const launch&) {
  char* block = __atomic_exchange_n(&kept_arena, (char*)0, __ATOMIC_ACQ_REL);
  if (block != 0 && ((arena_header*)block)->bytes < bytes) {
    cudaFree(block);
    block = 0;
  }
  if (block == 0) {
    void* fresh = 0;
    if (cudaMalloc(&fresh, (size_t)bytes + arena_offset) != cudaSuccess) {
      cleared();
      return 0;
    }
    block = (char*)fresh;
    ((arena_header*)block)->bytes = bytes;
  }
  return block + arena_offset;
}

void close_arena(char* arena, const launch&) {
  char* old = __atomic_exchange_n(&kept_arena, arena - arena_offset, __ATOMIC_ACQ_REL);
  if (old != 0) cudaFree(old);
}
#else
// An own pool for each device: the default one gives memory back at every synchronisation, and its
// settings are the program's. What it keeps the program cannot have, so it is bounded. A pool ends with the context that it was made in (cudaDeviceReset).
typedef int (*context_id)(void*, unsigned long long*);
context_id ask_context;
struct device_pool {
  cudaMemPool_t pool;
  unsigned long long context;
} pools[device_limit];

bool current_context(unsigned long long* context) {
  context_id ask = __atomic_load_n(&ask_context, __ATOMIC_ACQUIRE);
  if (ask == 0) {
    ask = (context_id)driver_entry("cuCtxGetId");
    if (ask == 0) return false;
    __atomic_store_n(&ask_context, ask, __ATOMIC_RELEASE);
  }
  return ask(0, context) == 0;
}

cudaMemPool_t pool_of(int device) {
  unsigned long long context = 0;
  if (!current_context(&context)) return 0;
  pthread_mutex_lock(&lock);
  cudaMemPool_t pool = pools[device].context == context ? pools[device].pool : 0;
  if (pool == 0) {
    cudaMemPoolProps properties;
    memset(&properties, 0, sizeof properties);
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    unsigned long long keep = 256ULL << 20;
    if (cudaMemPoolCreate(&pool, &properties) != cudaSuccess ||
        cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep) != cudaSuccess) {
      cleared();
      pool = 0;
    }
    pools[device].pool = pool;
    pools[device].context = context;
  }
  pthread_mutex_unlock(&lock);
  return pool;
}

char* open_arena(long long bytes, const launch& l) {
  const relaxed capture;
  const cudaMemPool_t pool = pool_of(l.device);
  void* fresh = 0;
  if (pool == 0) return 0;
  if (cudaMallocFromPoolAsync(&fresh, (size_t)bytes, pool, l.stream) != cudaSuccess) {
    cleared();
    return 0;
  }
  return (char*)fresh;
}

void close_arena(char* arena, const launch& l) {
  const relaxed capture;
  if (cudaFreeAsync(arena, l.stream) != cudaSuccess) cleared();
}
#endif
)hook";
}

}  // namespace cupilot::source
