#include "pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "sanitizers.h"

namespace cupilot_host {
namespace {

constexpr int kSpins = 4000;          // some ten microseconds
constexpr unsigned long kParts = 16;  // a thread, so that uneven blocks even out
constexpr std::chrono::milliseconds kPatience(200);

using Run = void (*)(void* context, unsigned long begin, unsigned long end);

// A job is open while parts of it are left. Threads of the pool join an open one; who comes too
// late misses nothing, so a launch never waits for a thread to wake up.
//
// For the thread sanitizer the threads take turns, part by part: whatever two neighbouring blocks
// do is then done by two of its threads, never at the very same time, which it may not see.
class Pool {
 public:
  explicit Pool(int threads)
      : threads_(static_cast<unsigned long>(threads)), in_turns_(HasThreadSanitizer()) {
    for (unsigned long i = 1; i < threads_; ++i) std::thread([this, i] { Serve(i); }).detach();
  }

  void Do(unsigned long count, unsigned long part, Run run, void* context) {
    const std::lock_guard one(callers_);
    run_ = run;
    context_ = context;
    count_ = count;
    part_ = part;
    next_.store(0, std::memory_order_relaxed);
    done_.store(0, std::memory_order_relaxed);
    Release(&ticket_);
    ticket_.fetch_add(1);  // odd: open
    if (sleeping_.load() > 0) {
      {
        const std::lock_guard lock(mutex_);
      }
      wake_.notify_all();
    }
    Work(0);
    ticket_.fetch_add(1);
    for (int i = 0; inside_.load() > 0; ++i) {
      if (i < kSpins) {
        __builtin_ia32_pause();
      } else {
        sched_yield();
      }
    }
    Acquire(&inside_);
  }

 private:
  static bool IsOpen(unsigned long ticket) { return (ticket & 1) != 0; }

  void Work(unsigned long self) {
    if (in_turns_) return WorkInTurns(self);
    for (;;) {
      const unsigned long begin = next_.fetch_add(part_, std::memory_order_relaxed);
      if (begin >= count_) return;
      run_(context_, begin, std::min(begin + part_, count_));
    }
  }

  // The caller stays until the others have done theirs. Who has waited for long goes on: blocks may
  // wait for each other.
  void WorkInTurns(unsigned long self) {
    for (unsigned long i = self; i * part_ < count_; i += threads_) {
      AwaitDone(i, std::chrono::steady_clock::now() + kPatience);
      run_(context_, i * part_, std::min((i + 1) * part_, count_));
      done_.fetch_add(1);
    }
    if (self == 0) {
      AwaitDone((count_ + part_ - 1) / part_, std::chrono::steady_clock::time_point::max());
    }
  }
  void AwaitDone(unsigned long parts, std::chrono::steady_clock::time_point until) const {
    while (done_.load() < parts && std::chrono::steady_clock::now() < until) sched_yield();
  }

  void Serve(unsigned long self) {
    unsigned long seen = 0;
    for (;;) {
      const unsigned long ticket = Await(seen);
      // Either the caller sees us inside and waits, or we see that the job is closed.
      inside_.fetch_add(1);
      if (ticket_.load() == ticket) {
        Acquire(&ticket_);
        Work(self);
        Release(&inside_);
      }
      inside_.fetch_sub(1);
      seen = ticket;
    }
  }

  // An open job that is not `seen`.
  unsigned long Await(unsigned long seen) {
    const auto found = [&](unsigned long ticket) { return IsOpen(ticket) && ticket != seen; };
    for (int i = 0; i < kSpins; ++i) {
      const unsigned long ticket = ticket_.load(std::memory_order_acquire);
      if (found(ticket)) return ticket;
      __builtin_ia32_pause();
    }
    std::unique_lock lock(mutex_);
    sleeping_.fetch_add(1);
    unsigned long ticket = 0;
    wake_.wait(lock, [&] { return found(ticket = ticket_.load()); });
    sleeping_.fetch_sub(1);
    return ticket;
  }

  const unsigned long threads_;
  const bool in_turns_;
  std::mutex callers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<unsigned long> ticket_{0};
  std::atomic<int> sleeping_{0};
  std::atomic<int> inside_{0};
  std::atomic<unsigned long> next_{0};
  std::atomic<unsigned long> done_{0};  // parts, where threads take turns
  // Of the open job; written only while no thread is inside.
  Run run_ = nullptr;
  void* context_ = nullptr;
  unsigned long count_ = 0;
  unsigned long part_ = 1;
};

}  // namespace

int ThreadCount() {
  static const int count = [] {
    if (const char* text = std::getenv("CUPILOT_HOST_THREADS")) {
      const int wanted = std::atoi(text);
      if (wanted > 0) return std::min(wanted, 1024);
    }
    cpu_set_t set;
    int processors = static_cast<int>(std::thread::hardware_concurrency());
    if (sched_getaffinity(0, sizeof set, &set) == 0) processors = CPU_COUNT(&set);
    // The thread sanitizer has room for some 8000 threads, and each fiber is one to it.
    if (HasThreadSanitizer()) processors = std::clamp(processors, 2, 4);
    return std::max(1, processors);
  }();
  return count;
}

void ParallelFor(unsigned long count, Run run, void* context) {
  const auto threads = static_cast<unsigned long>(ThreadCount());
  if (threads == 1 || count == 1) return run(context, 0, count);
  // Never destroyed: its threads may still spin when the process ends.
  static Pool& pool = *new Pool(static_cast<int>(threads));
  const unsigned long part = HasThreadSanitizer() ? 1 : count / (threads * kParts);
  pool.Do(count, std::max(1ul, part), run, context);
}

}  // namespace cupilot_host
