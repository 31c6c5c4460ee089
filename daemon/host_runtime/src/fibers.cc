// The threads of one block that wait for each other: each has a stack of its own and runs until it
// waits; then the next one that can run goes on, without a scheduler in between. One block runs on
// one operating-system thread from start to end, so nothing here is shared between threads. Which
// one is next may be told by a schedule.
#include <boost/context/detail/fcontext.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

#include "cupilot_host_lowered.h"
#include "failure.h"
#include "grid.h"
#include "sanitizers.h"
#include "schedule.h"
#include "stack.h"
#include "warp_lanes.h"
#include "watch.h"

namespace {

namespace ctx = boost::context::detail;
using Thread = cupilot_host::thread;
using cupilot_host::Lane;
using cupilot_host::WarpKind;

constexpr int kLaunchFailure = 719;
constexpr int kMemoryAllocation = 2;
constexpr unsigned int kLanes = cupilot_host::kWarpLanes;
constexpr unsigned int kMaxThreads = 1024;

// kAsksActive: wants to know which lanes take its branch too.
enum State : unsigned char { kReady, kAtBarrier, kAtWarp, kAsksActive, kEnded };

struct alignas(16) Warp {
  unsigned int exists = 0;
  unsigned int ended = 0;
  unsigned int arrived = 0;
};

struct Fiber {
  ctx::fcontext_t context = nullptr;
  char* stack = nullptr;  // its lowest address
  Thread thread;
  cupilot_host::SanitizerFiber sanitizer;
};

class Block {
 public:
  ~Block();
  int Run(const cupilot_host_part* part, void (*run)(void*, const Thread*), void* context);
  int Barrier(int predicate, int operation);
  void GridBarrier(cupilot_host::Grid& grid);
  // Ends the kernel: the thread that calls this does not go on, nor do the others of its block.
  [[noreturn]] void Fail(int error);
  unsigned int Ballot(unsigned int mask, int predicate);
  unsigned int ActiveLanes(const void* place);
  unsigned long long Shuffle(unsigned int mask, unsigned long long value, int kind, int operand,
                             int width);
  unsigned int Exchange(unsigned int mask, const void* value, unsigned int bytes, void* all);
  const Thread* current_thread() const { return &fibers_[current_].thread; }

 private:
  static void Main(ctx::transfer_t transfer);
  bool Prepare(const cupilot_host_part* part);
  void Place(const Thread& first);
  bool RunOne();
  void GoOn(unsigned int index);
  void Leave();
  void Next();
  void NextInOrder();
  // The ready thread that the schedule puts first, count_ for none.
  unsigned int FirstReady() const;
  void GiveWay();
  void Arrived(ctx::transfer_t transfer);
  void Returned(ctx::transfer_t transfer);
  void WaitInWarp();
  void Pass();
  bool ReleaseWarp(unsigned int warp);
  void Finish(unsigned int first, unsigned int lanes, WarpKind kind);
  bool AnswerActive();
  void Report() const;

  std::vector<Fiber> fibers_;
  std::vector<Lane> lanes_;
  Warp warps_[kMaxThreads / kLanes];
  State states_[kMaxThreads];
  unsigned int count_ = 0;    // threads of a block
  unsigned int current_ = 0;  // the fiber that runs
  unsigned int ended_ = 0;
  unsigned int at_barrier_ = 0;
  int failure_ = 0;
  unsigned int barriers_ = 0;  // that were passed; the thread sanitizer's objects alternate
  long order_[2] = {};
  bool in_main_ = true;
  cupilot_host::ThreadOrder thread_order_ = cupilot_host::ThreadOrder::kAny;
  unsigned int previous_ = kMaxThreads;  // who jumped; kMaxThreads: Run itself
  ctx::fcontext_t main_ = nullptr;
  cupilot_host::SanitizerFiber main_sanitizer_;
  void (*run_)(void*, const Thread*) = nullptr;
  void* context_ = nullptr;
  int gathered_[3] = {0, 1, 0};  // of the barrier that is being reached
  int combined_[3] = {0, 1, 0};  // of the last one
};

Block::~Block() {
  for (Fiber& fiber : fibers_) {
    fiber.sanitizer.Destroy();
    cupilot_host::DropStack(fiber.stack);
  }
}

bool Block::Prepare(const cupilot_host_part* part) {
  count_ = part->block.x * part->block.y * part->block.z;
  if (lanes_.size() < count_) lanes_.resize(count_);
  while (fibers_.size() < count_) {
    Fiber fiber;
    fiber.stack = cupilot_host::MakeStack();
    if (fiber.stack == nullptr) return false;
    fiber.sanitizer.Create();
    fibers_.push_back(fiber);
  }
  main_sanitizer_.Adopt();
  return true;
}

// Gives every fiber its thread of the block, and forgets what the last block left.
void Block::Place(const Thread& first) {
  Thread thread = first;
  unsigned int i = 0;
  for (unsigned int z = 0; z < first.blockDim.z; ++z) {
    for (unsigned int y = 0; y < first.blockDim.y; ++y) {
      for (unsigned int x = 0; x < first.blockDim.x; ++x, ++i) {
        thread.threadIdx.x = x;
        thread.threadIdx.y = y;
        thread.threadIdx.z = z;
        fibers_[i].thread = thread;
      }
    }
  }
  std::memset(states_, kReady, count_);
  for (unsigned int begin = 0; begin < count_; begin += kLanes) {
    const unsigned int lanes = count_ - begin < kLanes ? count_ - begin : kLanes;
    warps_[begin / kLanes] = {lanes == kLanes ? ~0u : (1u << lanes) - 1u, 0, 0};
  }
  ended_ = at_barrier_ = 0;
  gathered_[0] = gathered_[2] = 0;
  gathered_[1] = 1;
}

// A fiber stays in this loop, so that the next block needs no new one.
void Block::Main(ctx::transfer_t transfer) {
  auto* self = static_cast<Block*>(transfer.data);
  cupilot_host::SanitizerFiber::Entered(nullptr);
  self->Arrived(transfer);
  for (;;) {
    cupilot_host::Acquire(self);
    self->run_(self->context_, &self->fibers_[self->current_].thread);
    cupilot_host::Release(&self->ended_);
    self->states_[self->current_] = kEnded;
    ++self->ended_;
    Warp& warp = self->warps_[self->current_ / kLanes];
    warp.ended |= 1u << self->current_ % kLanes;
    if (warp.arrived != 0) self->ReleaseWarp(self->current_ / kLanes);
    self->Next();
  }
}

// Who jumped here left its place in `transfer`.
void Block::Arrived(ctx::transfer_t transfer) {
  (previous_ == kMaxThreads ? main_ : fibers_[previous_].context) = transfer.fctx;
}

// Lets a fiber go on; returns when this one (or Run) does.
void Block::GoOn(unsigned int index) {
  const unsigned int self = in_main_ ? kMaxThreads : current_;
  auto& leaving = in_main_ ? main_sanitizer_ : fibers_[current_].sanitizer;
  previous_ = self;
  current_ = index;
  in_main_ = false;
  if (cupilot_host::watch::IsOn()) cupilot_host::watch::Enter(index, fibers_[index].stack);
  fibers_[index].sanitizer.Enter(leaving, fibers_[index].stack, cupilot_host::kStackBytes);
  Returned(ctx::jump_fcontext(fibers_[index].context, this));
}

// This fiber (or Run) goes on; what it knew of addresses may be old.
void Block::Returned(ctx::transfer_t transfer) {
  cupilot_host::SanitizerFiber::Entered(in_main_ ? &main_sanitizer_ : &fibers_[current_].sanitizer);
  Arrived(transfer);
}

// Back to Run: all have ended, or none can go on.
void Block::Leave() {
  auto& leaving = fibers_[current_].sanitizer;
  previous_ = current_;
  in_main_ = true;
  if (cupilot_host::watch::IsOn()) cupilot_host::watch::Leave();
  main_sanitizer_.Enter(leaving, nullptr, 0);
  Returned(ctx::jump_fcontext(main_, this));
}

// The next thread that can run, in the order of their numbers.
void Block::Next() {
  if (thread_order_ != cupilot_host::ThreadOrder::kAny) return NextInOrder();
  const unsigned int from = current_;
  do {
    for (unsigned int i = from + 1; i < count_; ++i) {
      if (states_[i] == kReady) return GoOn(i);
    }
    for (unsigned int i = 0; i < from; ++i) {
      if (states_[i] == kReady) return GoOn(i);
    }
    if (states_[from] == kReady) return;
  } while (AnswerActive());
  Leave();
}

unsigned int Block::FirstReady() const {
  using cupilot_host::ThreadOrder;
  const void* found = nullptr;
  if (thread_order_ == ThreadOrder::kReversed) {
    found = ::memrchr(states_, kReady, count_);
  } else if (thread_order_ == ThreadOrder::kForward) {
    found = std::memchr(states_, kReady, count_);
  } else {
    for (unsigned int end = count_; end > 0 && found == nullptr;) {
      const unsigned int begin = (end - 1) / kLanes * kLanes;
      found = std::memchr(states_ + begin, kReady, end - begin);
      end = begin;
    }
  }
  return found == nullptr ? count_
                          : static_cast<unsigned int>(static_cast<const State*>(found) - states_);
}

void Block::NextInOrder() {
  do {
    const unsigned int next = FirstReady();
    if (next == current_) return;
    if (next < count_) return GoOn(next);
  } while (AnswerActive());
  Leave();
}

// Whoever came last could go on; under a schedule it is not its turn.
void Block::GiveWay() {
  if (thread_order_ != cupilot_host::ThreadOrder::kAny) NextInOrder();
}

// When nobody can go on, all lanes that will ask at a place have come there: they are the active
// ones.
bool Block::AnswerActive() {
  bool any = false;
  for (unsigned int i = 0; i < count_; ++i) {
    if (states_[i] != kAsksActive) continue;
    const unsigned int first = i / kLanes * kLanes;
    unsigned int lanes = 0;
    for (unsigned int other = first; other < first + kLanes && other < count_; ++other) {
      if (states_[other] == kAsksActive && lanes_[other].bytes == lanes_[i].bytes) {
        lanes |= 1u << other % kLanes;
      }
    }
    for (unsigned int rest = lanes; rest != 0; rest &= rest - 1) {
      const unsigned int lane = first + static_cast<unsigned int>(__builtin_ctz(rest));
      lanes_[lane].value = lanes;
      states_[lane] = kReady;
    }
    any = true;
  }
  return any;
}

unsigned int Block::ActiveLanes(const void* place) {
  const void* order = &warps_[current_ / kLanes];
  lanes_[current_].bytes = place;
  states_[current_] = kAsksActive;
  cupilot_host::Release(order);
  Next();
  cupilot_host::Acquire(order);
  return static_cast<unsigned int>(lanes_[current_].value);
}

bool Block::RunOne() {
  cupilot_host::Release(this);
  GoOn(thread_order_ == cupilot_host::ThreadOrder::kAny ? 0 : FirstReady());
  cupilot_host::Acquire(&ended_);
  if (failure_ == 0 && ended_ == count_) return true;
  if (failure_ == 0) {
    Report();
    failure_ = kLaunchFailure;
  }
  // Those that still wait never go on: every fiber begins anew.
  for (Fiber& fiber : fibers_) {
    fiber.context = nullptr;
    fiber.sanitizer.Destroy();
    fiber.sanitizer.Create();
  }
  return false;
}

void Block::Fail(int error) {
  failure_ = error;
  cupilot_host::Release(&ended_);
  Leave();
  cupilot_host::Die("a thread went on after it had failed");
}

void Block::Report() const {
  unsigned int in_warp = 0;
  for (unsigned int i = 0; i < count_; ++i) in_warp += states_[i] == kAtWarp;
  const Thread& thread = fibers_[0].thread;
  char text[256];
  std::snprintf(
      text, sizeof text,
      "%s was reached by %u of %u threads of block (%u,%u,%u); %u had ended, %u waited in "
      "%s",
      at_barrier_ > 0 ? "a barrier of the block" : "an operation of a warp",
      at_barrier_ > 0 ? at_barrier_ : in_warp, count_, thread.blockIdx.x, thread.blockIdx.y,
      thread.blockIdx.z, ended_, at_barrier_ > 0 ? in_warp : at_barrier_,
      at_barrier_ > 0 ? "operations of a warp" : "a barrier");
  cupilot_host::SetFailureText(text);
}

int Block::Run(const cupilot_host_part* part, void (*run)(void*, const Thread*), void* context) {
  if (!Prepare(part)) return kMemoryAllocation;
  run_ = run;
  context_ = context;
  failure_ = 0;
  thread_order_ = cupilot_host::CurrentSchedule().threads;
  Thread thread = cupilot_host::first_thread(part);
  for (unsigned long i = 0; i < part->count; ++i, cupilot_host::next_block(thread)) {
    Place(thread);
    if (cupilot_host::watch::IsOn()) cupilot_host::watch::BeginBlock(thread, count_);
    for (unsigned int t = 0; t < count_; ++t) {
      Fiber& fiber = fibers_[t];
      if (fiber.context == nullptr) {
        fiber.context = ctx::make_fcontext(fiber.stack + cupilot_host::kStackBytes,
                                           cupilot_host::kStackBytes, &Block::Main);
      }
    }
    if (!RunOne()) return failure_;
  }
  return 0;
}

int Block::Barrier(int predicate, int operation) {
  const void* order = &order_[barriers_ % 2];
  cupilot_host::Release(order);
  const int set = predicate != 0 ? 1 : 0;
  gathered_[0] += set;
  gathered_[1] &= set;
  gathered_[2] |= set;
  if (++at_barrier_ < count_) {
    states_[current_] = kAtBarrier;
    Next();
  } else {
    cupilot_host::Acquire(order);
    Pass();
    cupilot_host::Release(order);
    GiveWay();
  }
  cupilot_host::Acquire(order);
  return combined_[operation];
}

// All have reached the barrier.
void Block::Pass() {
  if (cupilot_host::watch::IsOn()) cupilot_host::watch::PassBarrier();
  std::memcpy(combined_, gathered_, sizeof combined_);
  gathered_[0] = gathered_[2] = 0;
  gathered_[1] = 1;
  at_barrier_ = 0;
  ++barriers_;
  std::memset(states_, kReady, count_);
}

// The last thread of the block waits for the other blocks, which run on threads of their own.
void Block::GridBarrier(cupilot_host::Grid& grid) {
  const void* order = &order_[barriers_ % 2];
  cupilot_host::Release(order);
  if (++at_barrier_ < count_) {
    states_[current_] = kAtBarrier;
    Next();
  } else {
    cupilot_host::Acquire(order);
    if (!grid.ArriveAndWait()) {
      cupilot_host::SetFailureText("a barrier of the grid was not reached by all blocks");
      Fail(kLaunchFailure);
    }
    Pass();
    cupilot_host::Release(order);
    GiveWay();
  }
  cupilot_host::Acquire(order);
}

// The last lane to arrive does the work for all and goes on at once.
void Block::WaitInWarp() {
  const unsigned int warp = current_ / kLanes;
  lanes_[current_].mask |= 1u << current_ % kLanes;
  warps_[warp].arrived |= 1u << current_ % kLanes;
  states_[current_] = kAtWarp;
  cupilot_host::Release(&warps_[warp]);
  ReleaseWarp(warp);
  if (states_[current_] != kReady) {
    Next();
  } else {
    GiveWay();
  }
  cupilot_host::Acquire(&warps_[warp]);
}

// Finishes every operation of the warp whose lanes have all arrived.
bool Block::ReleaseWarp(unsigned int index) {
  Warp& warp = warps_[index];
  const unsigned int first = index * kLanes;
  bool released = false;
  cupilot_host::Acquire(&warp);
  for (unsigned int rest = warp.arrived; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned int>(__builtin_ctz(rest));
    if ((warp.arrived >> lane & 1u) == 0) continue;  // finished with an earlier lane
    const Lane& of = lanes_[first + lane];
    const unsigned int wanted = of.mask & warp.exists & ~warp.ended;
    if ((wanted & ~warp.arrived) != 0) continue;
    warp.arrived &= ~wanted;
    Finish(first, wanted, of.kind);
    released = true;
  }
  cupilot_host::Release(&warp);
  return released;
}

void Block::Finish(unsigned int first, unsigned int lanes, WarpKind kind) {
  if (cupilot_host::watch::IsOn()) cupilot_host::watch::PassWarp(first, lanes);
  cupilot_host::FinishOperation(&lanes_[first], lanes, kind);
  for (unsigned int rest = lanes; rest != 0; rest &= rest - 1) {
    states_[first + static_cast<unsigned int>(__builtin_ctz(rest))] = kReady;
  }
}

unsigned int Block::Ballot(unsigned int mask, int predicate) {
  Lane& lane = lanes_[current_];
  lane.mask = mask;
  lane.kind = WarpKind::kBallot;
  lane.value = predicate != 0 ? 1 : 0;
  WaitInWarp();
  return static_cast<unsigned int>(lane.value);
}

unsigned long long Block::Shuffle(unsigned int mask, unsigned long long value, int kind,
                                  int operand, int width) {
  Lane& lane = lanes_[current_];
  lane.mask = mask;
  lane.kind = WarpKind::kShuffle;
  lane.value = value;
  lane.source = cupilot_host::SourceLane(static_cast<int>(current_ % kLanes), kind, operand, width);
  WaitInWarp();
  return lane.value;
}

unsigned int Block::Exchange(unsigned int mask, const void* value, unsigned int bytes, void* all) {
  Lane& lane = lanes_[current_];
  lane.mask = mask;
  lane.kind = WarpKind::kExchange;
  lane.value = 0;
  lane.bytes = value;
  lane.all = all;
  lane.size = bytes;
  WaitInWarp();
  return static_cast<unsigned int>(lane.value);
}

// What this operating-system thread runs now, and the fibers it keeps. Those of a thread of the
// pool live as long as the process.
thread_local Block* running = nullptr;
thread_local Block* kept = nullptr;
thread_local const Thread* plain_current = nullptr;
thread_local cupilot_host::Grid* grid_of_thread = nullptr;

Block& Running(const char* what) {
  if (running == nullptr) cupilot_host::Die(what);
  return *running;
}
constexpr const char* kOutside =
    "a barrier or an operation of a warp was called by a kernel that was not known to wait";

}  // namespace

namespace cupilot_host {

bool IsWaitingKernel() { return running != nullptr; }
void FailBlock(int error) { Running(kOutside).Fail(error); }

void SetGrid(Grid* grid) { grid_of_thread = grid; }

void DropFibers() {
  delete kept;
  kept = nullptr;
}

}  // namespace cupilot_host

extern "C" {

const cupilot_host::thread* cupilot_host_known(void) {
  return running != nullptr ? running->current_thread() : plain_current;
}

const cupilot_host::thread* cupilot_host_current(void) {
  const Thread* thread = cupilot_host_known();
  if (thread == nullptr) {
    cupilot_host::Die("threadIdx was asked for outside of kernels, or where none was known to");
  }
  return thread;
}

void cupilot_host_set_current(const cupilot_host::thread* thread) { plain_current = thread; }

int cupilot_host_run_threads(const struct cupilot_host_part* part,
                             void (*run)(void*, const cupilot_host::thread*), void* context) {
  if (kept == nullptr) kept = new Block;
  running = kept;
  const int error = kept->Run(part, run, context);
  running = nullptr;
  return error;
}

int cupilot_host_barrier(int predicate, int operation) {
  return Running(kOutside).Barrier(predicate, operation);
}

void cupilot_host_grid_barrier(void) {
  if (grid_of_thread != nullptr) return Running(kOutside).GridBarrier(*grid_of_thread);
  cupilot_host::SetFailureText(
      "the grid was to wait for itself, but the launch was no cooperative one");
  Running(kOutside).Fail(kLaunchFailure);
}

int cupilot_host_grid_is_valid(void) { return grid_of_thread != nullptr ? 1 : 0; }

unsigned int cupilot_host_active_lanes(void) {
  return Running(kOutside).ActiveLanes(__builtin_return_address(0));
}

unsigned int cupilot_host_ballot(unsigned int mask, int predicate) {
  return Running(kOutside).Ballot(mask, predicate);
}

unsigned long long cupilot_host_shuffle(unsigned int mask, unsigned long long value, int kind,
                                        int operand, int width) {
  return Running(kOutside).Shuffle(mask, value, kind, operand, width);
}

unsigned int cupilot_host_exchange(unsigned int mask, const void* value, unsigned int bytes,
                                   void* all) {
  return Running(kOutside).Exchange(mask, value, bytes, all);
}
}
