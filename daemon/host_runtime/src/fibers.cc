// The threads of one block that wait for each other: each has a stack of its own and runs until it
// waits; the scheduler resumes those whose wait is over. One block runs on one operating-system
// thread from start to end, so nothing here is shared between threads.
#include <sys/mman.h>
#include <boost/context/detail/fcontext.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "cupilot_host_lowered.h"
#include "failure.h"

namespace {

namespace ctx = boost::context::detail;
using Thread = cupilot_host::thread;

constexpr std::size_t kStackBytes = 128 * 1024;
constexpr std::size_t kGuardBytes = 4096;
constexpr int kLaunchFailure = 719;
constexpr int kMemoryAllocation = 2;
constexpr unsigned int kLanes = 32;

enum class State : unsigned char { kReady, kBlock, kWarp, kEnded };

struct Fiber {
  ctx::fcontext_t context = nullptr;
  Thread thread;
  State state = State::kReady;
  unsigned int mask = 0;        // of a warp wait
  const void* value = nullptr;  // what it brings to the exchange
  unsigned int bytes = 0;
  int predicate = 0;  // of a block wait
};

// Exchanged values of one warp: lane by lane, so disjoint masks do not meet.
struct Warp {
  alignas(16) char slots[kLanes][16];
};

class Scheduler {
 public:
  int Run(const cupilot_host_block* block, void (*run)(void*, const Thread*), void* context);
  int Barrier(int predicate, int operation);
  unsigned int Exchange(unsigned int mask, const void* value, unsigned int bytes, void* all);
  const Thread* current_thread() const { return current_ != nullptr ? &current_->thread : nullptr; }
  bool active() const { return current_ != nullptr; }

 private:
  static void Main(ctx::transfer_t transfer);
  bool Prepare(const cupilot_host_block* block);
  char* Stack(std::size_t index);
  void Wait();
  bool ReleaseWarps();
  bool ReleaseBlock();

  std::vector<char*> stacks_;
  std::vector<Fiber> fibers_;
  std::vector<Warp> warps_;
  Fiber* current_ = nullptr;
  ctx::fcontext_t scheduler_ = nullptr;
  void (*run_)(void*, const Thread*) = nullptr;
  void* context_ = nullptr;
  std::size_t ended_ = 0;
  int combined_[3] = {0, 0, 0};
};

// Stacks are kept between blocks; untouched pages of them cost nothing.
char* Scheduler::Stack(std::size_t index) {
  while (stacks_.size() <= index) {
    void* memory = ::mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    ::mprotect(memory, kGuardBytes, PROT_NONE);
    stacks_.push_back(static_cast<char*>(memory) + kGuardBytes);
  }
  return stacks_[index];
}

bool Scheduler::Prepare(const cupilot_host_block* block) {
  const std::size_t count =
      static_cast<std::size_t>(block->block.x) * block->block.y * block->block.z;
  fibers_.resize(count);
  warps_.resize((count + kLanes - 1) / kLanes);
  Thread thread = cupilot_host::first_thread(block);
  std::size_t i = 0;
  for (unsigned int z = 0; z < block->block.z; ++z) {
    for (unsigned int y = 0; y < block->block.y; ++y) {
      for (unsigned int x = 0; x < block->block.x; ++x, ++i) {
        thread.threadIdx.x = x;
        thread.threadIdx.y = y;
        thread.threadIdx.z = z;
        char* stack = Stack(i);
        if (stack == nullptr) return false;
        fibers_[i].thread = thread;
        fibers_[i].state = State::kReady;
        fibers_[i].context = ctx::make_fcontext(stack + kStackBytes, kStackBytes, &Scheduler::Main);
      }
    }
  }
  ended_ = 0;
  return true;
}

void Scheduler::Main(ctx::transfer_t transfer) {
  auto* self = static_cast<Scheduler*>(transfer.data);
  self->scheduler_ = transfer.fctx;
  self->run_(self->context_, &self->current_->thread);
  self->current_->state = State::kEnded;
  ++self->ended_;
  ctx::jump_fcontext(self->scheduler_, nullptr);
}

void Scheduler::Wait() { scheduler_ = ctx::jump_fcontext(scheduler_, nullptr).fctx; }

int Scheduler::Run(const cupilot_host_block* block, void (*run)(void*, const Thread*),
                   void* context) {
  if (!Prepare(block)) return kMemoryAllocation;
  run_ = run;
  context_ = context;
  for (;;) {
    for (Fiber& fiber : fibers_) {
      if (fiber.state != State::kReady) continue;
      current_ = &fiber;
      fiber.context = ctx::jump_fcontext(fiber.context, this).fctx;
    }
    current_ = nullptr;
    if (ended_ == fibers_.size()) return 0;
    if (ReleaseWarps() || ReleaseBlock()) continue;
    cupilot_host::SetFailureText(
        "a barrier was not reached by all threads of its block (or of its warp)");
    return kLaunchFailure;  // the stacks of those that wait are simply used again
  }
}

bool Scheduler::ReleaseWarps() {
  bool released = false;
  for (std::size_t first = 0; first < fibers_.size(); first += kLanes) {
    const std::size_t lanes = std::min<std::size_t>(kLanes, fibers_.size() - first);
    unsigned int waiting = 0, exists = lanes == kLanes ? ~0u : (1u << lanes) - 1u;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      if (fibers_[first + lane].state == State::kWarp) waiting |= 1u << lane;
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      Fiber& fiber = fibers_[first + lane];
      if ((waiting >> lane & 1u) == 0 || fiber.state != State::kWarp) continue;
      const unsigned int wanted = fiber.mask & exists;
      if ((wanted & ~waiting) != 0) continue;
      for (std::size_t other = 0; other < lanes; ++other) {
        Fiber& partner = fibers_[first + other];
        if ((wanted >> other & 1u) == 0 || partner.state != State::kWarp) continue;
        std::memcpy(warps_[first / kLanes].slots[other], partner.value, partner.bytes);
        partner.state = State::kReady;
        released = true;
      }
    }
  }
  return released;
}

bool Scheduler::ReleaseBlock() {
  combined_[0] = 0;
  combined_[1] = 1;
  combined_[2] = 0;
  for (const Fiber& fiber : fibers_) {
    if (fiber.state != State::kBlock) return false;
    const int set = fiber.predicate != 0 ? 1 : 0;
    combined_[0] += set;
    combined_[1] &= set;
    combined_[2] |= set;
  }
  for (Fiber& fiber : fibers_) fiber.state = State::kReady;
  return true;
}

int Scheduler::Barrier(int predicate, int operation) {
  current_->predicate = predicate;
  current_->state = State::kBlock;
  Wait();
  return combined_[operation];
}

unsigned int Scheduler::Exchange(unsigned int mask, const void* value, unsigned int bytes,
                                 void* all) {
  const auto index = static_cast<std::size_t>(current_ - fibers_.data());
  const auto lane = static_cast<unsigned int>(index % kLanes);
  current_->mask = mask | 1u << lane;
  current_->value = value;
  current_->bytes = bytes;
  current_->state = State::kWarp;
  Wait();
  const Warp& warp = warps_[index / kLanes];
  for (unsigned int i = 0; i < kLanes; ++i) {
    std::memcpy(static_cast<char*>(all) + i * bytes, warp.slots[i], bytes);
  }
  return lane;
}

// A pointer, so that threads that never run such a kernel have none.
thread_local std::unique_ptr<Scheduler> scheduler;
thread_local const Thread* plain_current = nullptr;

}  // namespace

extern "C" {

const cupilot_host::thread* cupilot_host_current(void) {
  return scheduler != nullptr && scheduler->active() ? scheduler->current_thread() : plain_current;
}

void cupilot_host_set_current(const cupilot_host::thread* thread) { plain_current = thread; }

int cupilot_host_run_threads(const struct cupilot_host_block* block,
                             void (*run)(void*, const cupilot_host::thread*), void* context) {
  if (scheduler == nullptr) scheduler = std::make_unique<Scheduler>();
  return scheduler->Run(block, run, context);
}

int cupilot_host_barrier(int predicate, int operation) {
  if (scheduler == nullptr || !scheduler->active()) {
    cupilot_host::Die("a barrier was called outside of a kernel that was known to synchronise");
  }
  return scheduler->Barrier(predicate, operation);
}

unsigned int cupilot_host_exchange(unsigned int mask, const void* value, unsigned int bytes,
                                   void* all) {
  if (scheduler == nullptr || !scheduler->active()) {
    cupilot_host::Die(
        "a warp operation was called outside of a kernel that was known to synchronise");
  }
  return scheduler->Exchange(mask, value, bytes, all);
}
}
