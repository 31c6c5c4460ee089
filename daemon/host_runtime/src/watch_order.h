// What happens before what, for the accesses of a watched launch (cupilot_host_watch.h): which
// epochs of which threads the running one knows.
//
// A thread's epoch ends where what it has done may become known to others. What a barrier orders is
// one number a block (the floor: all earlier epochs of its threads are known to all of them); lanes
// of a warp have a row each; what came by atomic operations are sets of their own, which few
// kernels have. One operating-system thread.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "warp_lanes.h"

namespace cupilot_host {

using Epoch = std::uint32_t;

inline constexpr unsigned int kThreadBits = 10;  // a block has at most 1024 threads
inline constexpr std::uint32_t kNobody = ~0u;

// A thread of a launch: the block's number and its own.
inline std::uint32_t GlobalThread(std::uint32_t block, unsigned int thread) {
  return block << kThreadBits | thread;
}

class Order {
 public:
  void BeginLaunch();
  void BeginBlock(std::uint32_t block, unsigned int threads);

  // The epoch of what thread `self` of this block does now.
  Epoch EpochOf(unsigned int self) const { return epochs_[self]; }
  // Whether what `thread` (GlobalThread) did in that epoch happened before what `self` does now.
  bool Knows(unsigned int self, std::uint32_t thread, Epoch epoch) const {
    if (thread >> kThreadBits != block_) return KnowsByAtomics(self, thread, epoch);
    const unsigned int other = thread & ((1u << kThreadBits) - 1);
    if (other == self || epoch < floor_) return true;
    if (other / kWarpLanes == self / kWarpLanes &&
        rows_[self * kWarpLanes + other % kWarpLanes] >= epoch) {
      return true;
    }
    return KnowsByAtomics(self, thread, epoch);
  }

  // All threads of the block wait for each other; the lanes `lanes` of the warp that begins with
  // thread `first` do.
  void Barrier();
  void Warp(unsigned int first, unsigned int lanes);

  void Fence(unsigned int self);
  // An atomic write at `place` hands on what came before the thread's last fence; with `release`,
  // all. Returns the last epoch of the thread that is handed on, 0 for none: the write itself
  // counts as of that epoch, since who reads it knows that it was made.
  Epoch Release(unsigned int self, std::uintptr_t place, bool release);
  // An atomic read gets what was handed on at `place`.
  void Acquire(unsigned int self, std::uintptr_t place);

 private:
  // Sorted by the first of each pair.
  using Epochs = std::vector<std::pair<std::uint32_t, Epoch>>;
  struct Known {
    Epochs blocks;   // epochs of all threads of a block that are smaller
    Epochs threads;  // a thread's epochs up to this one
  };
  using KnownRef = std::shared_ptr<const Known>;

  bool KnowsByAtomics(unsigned int self, std::uint32_t thread, Epoch epoch) const;
  static void Join(Epochs& into, const Epochs& from);
  static KnownRef Joined(const KnownRef& a, const KnownRef& b);
  KnownRef HandedOn(unsigned int self) const;

  std::uint32_t block_ = 0;
  unsigned int count_ = 0;
  Epoch floor_ = 1;
  Epoch fenced_floor_ = 0;     // of the barrier after the last phase in which a thread fenced
  bool fenced_ = false;        // in this phase
  std::vector<Epoch> epochs_;  // by thread
  std::vector<Epoch> rows_;    // by thread: of the lanes of its warp, what it knows of each
  std::vector<Epoch>
      fences_;  // by thread: the epoch that its last fence of this phase ended; 0: none
  std::vector<KnownRef> known_;  // by thread, by way of atomic operations
  bool any_known_ = false;
  std::unordered_map<std::uintptr_t, KnownRef> places_;
};

}  // namespace cupilot_host
