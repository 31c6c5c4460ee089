/* Groups of threads that wait for each other and exchange values: blocks, tiles of a warp of up to 32
 * lanes, the lanes that take a branch together, and the grid of a cooperative launch. */
#ifndef CUPILOT_HOST_COOPERATIVE_GROUPS_H_
#define CUPILOT_HOST_COOPERATIVE_GROUPS_H_

#include "cuda_runtime.h"

namespace cooperative_groups {

/* Any group that is no grid: what all of them have. A block, or some lanes of a warp. */
class thread_group {
 public:
  __device__ unsigned int thread_rank() const { return rank_; }
  __device__ unsigned int num_threads() const { return size_; }
  __device__ unsigned int size() const { return size_; }
  __device__ bool is_valid() const { return true; }
  __device__ void sync() const {
    if (lanes_ == 0) {
      cupilot_host_barrier(1, 1);
    } else {
      (void)cupilot_host_ballot(lanes_, 1);
    }
  }

 protected:
  __device__ thread_group(unsigned int rank, unsigned int size, unsigned int lanes)
      : rank_(rank), size_(size), lanes_(lanes) {}
  unsigned int rank_;
  unsigned int size_;
  unsigned int lanes_; /* of the warp; 0 for a block */

  friend __device__ inline thread_group tiled_partition(const thread_group& parent, unsigned int size);
};

class thread_block : public thread_group {
 public:
  __device__ static void sync() { cupilot_host_barrier(1, 1); }
  __device__ static dim3 group_index() {
    const uint3 at = cupilot_host_current()->blockIdx;
    return dim3(at.x, at.y, at.z);
  }
  __device__ static dim3 thread_index() {
    const uint3 at = cupilot_host_current()->threadIdx;
    return dim3(at.x, at.y, at.z);
  }
  __device__ static dim3 dim_threads() { return cupilot_host_current()->blockDim; }
  __device__ static dim3 group_dim() { return dim_threads(); }

 private:
  friend __device__ inline thread_block this_thread_block();
  __device__ thread_block(unsigned int rank, unsigned int size) : thread_group(rank, size, 0) {}
};

__device__ inline thread_block this_thread_block() {
  const cupilot_host::thread& t = *cupilot_host_current();
  const unsigned int rank =
      (t.threadIdx.z * t.blockDim.y + t.threadIdx.y) * t.blockDim.x + t.threadIdx.x;
  return thread_block(rank, t.blockDim.x * t.blockDim.y * t.blockDim.z);
}

class grid_group {
 public:
  __device__ static void sync() { cupilot_host_grid_barrier(); }
  __device__ static bool is_valid() { return cupilot_host_grid_is_valid() != 0; }
  __device__ unsigned long long thread_rank() const {
    return block_rank() * this_thread_block().num_threads() + this_thread_block().thread_rank();
  }
  __device__ unsigned long long num_threads() const {
    return num_blocks() * this_thread_block().num_threads();
  }
  __device__ unsigned long long size() const { return num_threads(); }
  __device__ unsigned long long block_rank() const {
    const cupilot_host::thread& t = *cupilot_host_current();
    return ((unsigned long long)t.blockIdx.z * t.gridDim.y + t.blockIdx.y) * t.gridDim.x +
           t.blockIdx.x;
  }
  __device__ unsigned long long num_blocks() const {
    const dim3 grid = group_dim();
    return (unsigned long long)grid.x * grid.y * grid.z;
  }
  __device__ static dim3 block_index() { return thread_block::group_index(); }
  __device__ static dim3 group_dim() { return cupilot_host_current()->gridDim; }
  __device__ static dim3 dim_blocks() { return group_dim(); }
};
__device__ inline grid_group this_grid() { return grid_group(); }

namespace details {

__device__ inline unsigned int lane() { return this_thread_block().thread_rank() % 32u; }
/* The lane that has rank `rank` among `lanes`; 32 if there is none. */
__device__ inline unsigned int lane_of(unsigned int lanes, unsigned int rank) {
  unsigned int at = 0;
  for (; at < 32; ++at) {
    if ((lanes >> at & 1u) == 0) continue;
    if (rank == 0) break;
    --rank;
  }
  return at;
}
/* Bits of lanes as bits of ranks. */
__device__ inline unsigned int packed(unsigned int bits, unsigned int lanes) {
  unsigned int result = 0, rank = 0;
  for (unsigned int at = 0; at < 32; ++at) {
    if ((lanes >> at & 1u) == 0) continue;
    result |= (bits >> at & 1u) << rank;
    ++rank;
  }
  return result;
}

}  // namespace details

/* Some lanes of a warp, in their order. */
class coalesced_group : public thread_group {
 public:
  __device__ unsigned int meta_group_rank() const { return meta_rank_; }
  __device__ unsigned int meta_group_size() const { return meta_size_; }
  template <class T>
  __device__ T shfl(T value, unsigned int rank) const {
    return from_rank(value, (int)(rank % size_));
  }
  template <class T>
  __device__ T shfl_up(T value, unsigned int delta) const {
    return from_rank(value, (int)rank_ - (int)delta);
  }
  template <class T>
  __device__ T shfl_down(T value, unsigned int delta) const {
    return from_rank(value, (int)(rank_ + delta));
  }
  __device__ unsigned int ballot(int predicate) const {
    return details::packed(cupilot_host_ballot(lanes_, predicate), lanes_);
  }
  __device__ int any(int predicate) const { return ballot(predicate) != 0; }
  __device__ int all(int predicate) const { return ballot(!predicate) == 0; }
  template <class T>
  __device__ unsigned int match_any(T value) const {
    return details::packed(__match_any_sync(lanes_, value), lanes_);
  }
  template <class T>
  __device__ unsigned int match_all(T value, int& predicate) const {
    return details::packed(__match_all_sync(lanes_, value, &predicate), lanes_);
  }
  __device__ unsigned int cupilot_lanes() const { return lanes_; }
  __device__ explicit coalesced_group(unsigned int lanes, unsigned int meta_rank = 0,
                                      unsigned int meta_size = 1)
      : thread_group((unsigned int)__popc(lanes & ((1u << details::lane()) - 1u)),
                     (unsigned int)__popc(lanes), lanes),
        meta_rank_(meta_rank),
        meta_size_(meta_size) {}

 private:
  template <class T>
  __device__ T from_rank(T value, int rank) const {
    const bool there = rank >= 0 && rank < (int)size_;
    const unsigned int lane = there ? details::lane_of(lanes_, (unsigned int)rank) : details::lane();
    return cupilot_host::shuffle(lanes_, value, 0, (int)lane, 32);
  }
  unsigned int meta_rank_;
  unsigned int meta_size_;
};

/* The lanes of the warp that are here together. */
__device__ __forceinline__ coalesced_group coalesced_threads() {
  return coalesced_group(cupilot_host_active_lanes());
}

/* `Size` neighbouring lanes of a warp. */
template <unsigned int Size, class Parent = void>
class thread_block_tile : public thread_group {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "a tile on the host device has 1, 2, 4, 8, 16 or 32 threads");

 public:
  template <class Group>
  __device__ explicit thread_block_tile(const Group& parent)
      : thread_group(parent.thread_rank() % Size, Size, lanes_of(first_lane())),
        first_lane_(first_lane()),
        meta_rank_(parent.thread_rank() / Size),
        meta_size_((parent.num_threads() + Size - 1) / Size) {}
  /* A tile of any parent can be given where the parent does not matter. */
  template <class Other>
  __device__ thread_block_tile(const thread_block_tile<Size, Other>& other)
      : thread_group(other.thread_rank(), Size, lanes_of(first_lane())),
        first_lane_(first_lane()),
        meta_rank_(other.meta_group_rank()),
        meta_size_(other.meta_group_size()) {}

  __device__ static constexpr unsigned int num_threads() { return Size; }
  __device__ static constexpr unsigned int size() { return Size; }
  __device__ unsigned int meta_group_rank() const { return meta_rank_; }
  __device__ unsigned int meta_group_size() const { return meta_size_; }
  template <class T>
  __device__ T shfl(T value, int rank) const {
    return cupilot_host::shuffle(lanes_, value, 0, rank, (int)Size);
  }
  template <class T>
  __device__ T shfl_up(T value, unsigned int delta) const {
    return cupilot_host::shuffle(lanes_, value, 1, (int)delta, (int)Size);
  }
  template <class T>
  __device__ T shfl_down(T value, unsigned int delta) const {
    return cupilot_host::shuffle(lanes_, value, 2, (int)delta, (int)Size);
  }
  template <class T>
  __device__ T shfl_xor(T value, unsigned int lanes) const {
    return cupilot_host::shuffle(lanes_, value, 3, (int)lanes, (int)Size);
  }
  __device__ unsigned int ballot(int predicate) const {
    return cupilot_host_ballot(lanes_, predicate) >> first_lane_;
  }
  __device__ int any(int predicate) const { return ballot(predicate) != 0; }
  __device__ int all(int predicate) const { return ballot(!predicate) == 0; }
  template <class T>
  __device__ unsigned int match_any(T value) const {
    return __match_any_sync(lanes_, value) >> first_lane_;
  }
  template <class T>
  __device__ unsigned int match_all(T value, int& predicate) const {
    return __match_all_sync(lanes_, value, &predicate) >> first_lane_;
  }
  __device__ unsigned int cupilot_lanes() const { return lanes_; }

 private:
  __device__ static unsigned int first_lane() { return details::lane() / Size * Size; }
  __device__ static unsigned int lanes_of(unsigned int first) {
    return (Size == 32 ? 0xffffffffu : (1u << (Size & 31u)) - 1u) << first;
  }
  unsigned int first_lane_;
  unsigned int meta_rank_;
  unsigned int meta_size_;
};

template <unsigned int Size, class Parent>
__device__ thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
  return thread_block_tile<Size, Parent>(parent);
}
/* Of lanes that need not be neighbours: `Size` after `Size` of them. */
template <unsigned int Size>
__device__ coalesced_group tiled_partition(const coalesced_group& parent) {
  const unsigned int first = parent.thread_rank() / Size * Size;
  unsigned int lanes = 0;
  for (unsigned int rank = first; rank < first + Size && rank < parent.num_threads(); ++rank) {
    lanes |= 1u << details::lane_of(parent.cupilot_lanes(), rank);
  }
  return coalesced_group(lanes, first / Size, (parent.num_threads() + Size - 1) / Size);
}
__device__ inline thread_group tiled_partition(const thread_group& parent, unsigned int size) {
  const unsigned int first = parent.thread_rank() / size * size;
  unsigned int lanes = 0, count = 0;
  for (unsigned int rank = first; rank < first + size && rank < parent.num_threads(); ++rank) {
    lanes |= 1u << (parent.lanes_ == 0 ? rank % 32u : details::lane_of(parent.lanes_, rank));
    ++count;
  }
  return thread_group(parent.thread_rank() - first, count, lanes);
}
/* The lanes of a group with the same label, or the same answer. */
template <class Group, class T>
__device__ coalesced_group labeled_partition(const Group& group, T label) {
  const unsigned int lanes = __match_any_sync(group.cupilot_lanes(), label);
  unsigned int smaller = 0, all = 0;
  const cupilot_host::gathered<T> labels(group.cupilot_lanes(), label);
  for (unsigned int i = 0; i < 32; ++i) {
    if (!labels.has(i)) continue;
    bool first = true;
    for (unsigned int j = 0; j < i; ++j) first &= !labels.has(j) || !(labels.of(j) == labels.of(i));
    all += first ? 1u : 0u;
    smaller += first && labels.of(i) < label ? 1u : 0u;
  }
  return coalesced_group(lanes, smaller, all);
}
template <class Group>
__device__ coalesced_group binary_partition(const Group& group, bool predicate) {
  return labeled_partition(group, (int)predicate);
}

/* One thread of the group does it. */
template <class Group, class Function, class... A>
__device__ void invoke_one(const Group& group, Function&& function, A&&... arguments) {
  if (group.thread_rank() == 0) function(static_cast<A&&>(arguments)...);
}
template <class Group, class Function, class... A>
__device__ auto invoke_one_broadcast(const Group& group, Function&& function, A&&... arguments)
    -> decltype(function(static_cast<A&&>(arguments)...)) {
  decltype(function(static_cast<A&&>(arguments)...)) result{};
  if (group.thread_rank() == 0) result = function(static_cast<A&&>(arguments)...);
  return group.shfl(result, 0);
}

/* The same as members, for any group. */
template <class Group>
__device__ void sync(const Group& group) {
  group.sync();
}
template <class Group>
__device__ auto thread_rank(const Group& group) -> decltype(group.thread_rank()) {
  return group.thread_rank();
}
template <class Group>
__device__ auto group_size(const Group& group) -> decltype(group.num_threads()) {
  return group.num_threads();
}
template <class Group>
__device__ auto num_threads(const Group& group) -> decltype(group.num_threads()) {
  return group.num_threads();
}

}  // namespace cooperative_groups

#endif
