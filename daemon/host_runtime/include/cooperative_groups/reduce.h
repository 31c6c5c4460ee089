/* One value of what all threads of a group have: of tiles, and of lanes that are here together. Combined in
 * the order of their ranks. */
#ifndef CUPILOT_HOST_COOPERATIVE_GROUPS_REDUCE_H_
#define CUPILOT_HOST_COOPERATIVE_GROUPS_REDUCE_H_

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class T>
struct plus {
  __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  __device__ T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  __device__ T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  __device__ T operator()(T a, T b) const { return a ^ b; }
};

template <class Group, class T, class Combine>
__device__ T reduce(const Group& group, const T& value, Combine&& combine) {
  return cupilot_host::reduce<T, Combine&>(group.cupilot_lanes(), value, combine);
}

}  // namespace cooperative_groups

#endif
