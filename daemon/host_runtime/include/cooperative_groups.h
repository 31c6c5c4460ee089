/* Groups of threads that wait for each other and exchange values: blocks, and tiles of a warp of up to 32
 * lanes. The grid knows its ranks, but does not wait: a cooperative launch is an error on the host device. */
#ifndef CUPILOT_HOST_COOPERATIVE_GROUPS_H_
#define CUPILOT_HOST_COOPERATIVE_GROUPS_H_

#include "cuda_runtime.h"

namespace cooperative_groups {

/* The numbers that every group has. */
class thread_group {
 public:
  __device__ unsigned int thread_rank() const { return rank_; }
  __device__ unsigned int num_threads() const { return size_; }
  __device__ unsigned int size() const { return size_; }

 protected:
  __device__ thread_group(unsigned int rank, unsigned int size) : rank_(rank), size_(size) {}
  unsigned int rank_;
  unsigned int size_;
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
  __device__ thread_block(unsigned int rank, unsigned int size) : thread_group(rank, size) {}
};

__device__ inline thread_block this_thread_block() {
  const cupilot_host::thread& t = *cupilot_host_current();
  const unsigned int rank =
      (t.threadIdx.z * t.blockDim.y + t.threadIdx.y) * t.blockDim.x + t.threadIdx.x;
  return thread_block(rank, t.blockDim.x * t.blockDim.y * t.blockDim.z);
}

class grid_group {
 public:
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
  __device__ static dim3 group_dim() { return cupilot_host_current()->gridDim; }
  __device__ static dim3 dim_blocks() { return group_dim(); }
};
__device__ inline grid_group this_grid() { return grid_group(); }

/* `Size` neighbouring lanes of a warp. */
template <unsigned int Size, class Parent = void>
class thread_block_tile : public thread_group {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "a tile on the host device has 1, 2, 4, 8, 16 or 32 threads");

 public:
  template <class Group>
  __device__ explicit thread_block_tile(const Group& parent)
      : thread_group(parent.thread_rank() % Size, Size),
        first_lane_(this_thread_block().thread_rank() % 32u / Size * Size),
        meta_rank_(parent.thread_rank() / Size),
        meta_size_((parent.num_threads() + Size - 1) / Size) {}
  /* A tile of any parent can be given where the parent does not matter. */
  template <class Other>
  __device__ thread_block_tile(const thread_block_tile<Size, Other>& other)
      : thread_group(other.thread_rank(), Size),
        first_lane_(this_thread_block().thread_rank() % 32u / Size * Size),
        meta_rank_(other.meta_group_rank()),
        meta_size_(other.meta_group_size()) {}

  __device__ unsigned int meta_group_rank() const { return meta_rank_; }
  __device__ unsigned int meta_group_size() const { return meta_size_; }
  __device__ void sync() const { (void)cupilot_host_ballot(mask(), 1); }
  template <class T>
  __device__ T shfl(T value, int rank) const {
    return cupilot_host::shuffle(mask(), value, 0, rank, (int)Size);
  }
  template <class T>
  __device__ T shfl_up(T value, unsigned int delta) const {
    return cupilot_host::shuffle(mask(), value, 1, (int)delta, (int)Size);
  }
  template <class T>
  __device__ T shfl_down(T value, unsigned int delta) const {
    return cupilot_host::shuffle(mask(), value, 2, (int)delta, (int)Size);
  }
  template <class T>
  __device__ T shfl_xor(T value, unsigned int lanes) const {
    return cupilot_host::shuffle(mask(), value, 3, (int)lanes, (int)Size);
  }
  __device__ unsigned int ballot(int predicate) const {
    return cupilot_host_ballot(mask(), predicate) >> first_lane_;
  }
  __device__ int any(int predicate) const { return ballot(predicate) != 0; }
  __device__ int all(int predicate) const { return ballot(!predicate) == 0; }

 private:
  __device__ unsigned int mask() const {
    return (Size == 32 ? 0xffffffffu : (1u << (Size & 31u)) - 1u) << first_lane_;
  }
  unsigned int first_lane_;
  unsigned int meta_rank_;
  unsigned int meta_size_;
};

template <unsigned int Size, class Parent>
__device__ thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
  return thread_block_tile<Size, Parent>(parent);
}

/* The same as members, for any group. */
template <class Group>
__device__ void sync(const Group& group) {
  group.sync();
}
template <class Group>
__device__ unsigned int thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
__device__ unsigned int group_size(const Group& group) {
  return group.num_threads();
}

}  // namespace cooperative_groups

#endif
