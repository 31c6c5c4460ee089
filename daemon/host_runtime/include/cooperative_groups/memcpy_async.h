/* Copies that the threads of a group make together. They are made at once; what others copied is there
 * after the group has waited. */
#ifndef CUPILOT_HOST_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H_
#define CUPILOT_HOST_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H_

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class Group>
__device__ void memcpy_async(const Group& group, void* to, const void* from, size_t bytes) {
  const size_t threads = group.num_threads(), each = (bytes + threads - 1) / threads;
  const size_t begin = group.thread_rank() * each;
  if (begin >= bytes) return;
  memcpy((char*)to + begin, (const char*)from + begin, bytes - begin < each ? bytes - begin : each);
}
/* As many elements as both have. */
template <class Group, class T>
__device__ void memcpy_async(const Group& group, T* to, size_t to_count, const T* from,
                             size_t from_count) {
  const size_t count = to_count < from_count ? to_count : from_count;
  memcpy_async(group, (void*)to, (const void*)from, count * sizeof(T));
}
template <class Group>
__device__ void wait(const Group& group) {
  group.sync();
}
template <unsigned int Stages, class Group>
__device__ void wait_prior(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups

#endif
