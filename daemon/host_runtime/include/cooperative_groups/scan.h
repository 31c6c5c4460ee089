/* What the threads of a group have up to each of them, in the order of their ranks: with its own, or
 * without. */
#ifndef CUPILOT_HOST_COOPERATIVE_GROUPS_SCAN_H_
#define CUPILOT_HOST_COOPERATIVE_GROUPS_SCAN_H_

#include "reduce.h"

namespace cooperative_groups {

template <class Group, class T, class Combine>
__device__ T inclusive_scan(const Group& group, const T& value, Combine&& combine) {
  const cupilot_host::gathered<T> all(group.cupilot_lanes(), value);
  bool first = true;
  T result = value;
  for (unsigned int i = 0; i <= details::lane(); ++i) {
    if (!all.has(i)) continue;
    result = first ? all.of(i) : combine(result, all.of(i));
    first = false;
  }
  return result;
}
template <class Group, class T>
__device__ T inclusive_scan(const Group& group, const T& value) {
  return inclusive_scan(group, value, plus<T>());
}
/* The first thread gets T(). */
template <class Group, class T, class Combine>
__device__ T exclusive_scan(const Group& group, const T& value, Combine&& combine) {
  const cupilot_host::gathered<T> all(group.cupilot_lanes(), value);
  bool first = true;
  T result = T();
  for (unsigned int i = 0; i < details::lane(); ++i) {
    if (!all.has(i)) continue;
    result = first ? all.of(i) : combine(result, all.of(i));
    first = false;
  }
  return result;
}
template <class Group, class T>
__device__ T exclusive_scan(const Group& group, const T& value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups

#endif
