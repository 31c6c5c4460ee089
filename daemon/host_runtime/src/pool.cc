#include "pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace cupilot_host {
namespace {

constexpr int kSpins = 4000;          // some ten microseconds
constexpr unsigned long kParts = 16;  // a thread, so that uneven blocks even out

using Run = void (*)(void* context, unsigned long begin, unsigned long end);

// A job is open while parts of it are left. Threads of the pool join an open one; who comes too
// late misses nothing, so a launch never waits for a thread to wake up.
class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 1; i < threads; ++i) std::thread([this] { Serve(); }).detach();
  }

  void Do(unsigned long count, unsigned long part, Run run, void* context) {
    const std::lock_guard one(callers_);
    run_ = run;
    context_ = context;
    count_ = count;
    part_ = part;
    next_.store(0, std::memory_order_relaxed);
    ticket_.fetch_add(1);  // odd: open
    if (sleeping_.load() > 0) {
      {
        const std::lock_guard lock(mutex_);
      }
      wake_.notify_all();
    }
    Work();
    ticket_.fetch_add(1);
    for (int i = 0; inside_.load() > 0; ++i) {
      if (i < kSpins) {
        __builtin_ia32_pause();
      } else {
        sched_yield();
      }
    }
  }

 private:
  static bool IsOpen(unsigned long ticket) { return (ticket & 1) != 0; }

  void Work() {
    for (;;) {
      const unsigned long begin = next_.fetch_add(part_, std::memory_order_relaxed);
      if (begin >= count_) return;
      run_(context_, begin, std::min(begin + part_, count_));
    }
  }

  void Serve() {
    unsigned long seen = 0;
    for (;;) {
      const unsigned long ticket = Await(seen);
      // Either the caller sees us inside and waits, or we see that the job is closed.
      inside_.fetch_add(1);
      if (ticket_.load() == ticket) Work();
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

  std::mutex callers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<unsigned long> ticket_{0};
  std::atomic<int> sleeping_{0};
  std::atomic<int> inside_{0};
  std::atomic<unsigned long> next_{0};
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
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }();
  return count;
}

void ParallelFor(unsigned long count, Run run, void* context) {
  const auto threads = static_cast<unsigned long>(ThreadCount());
  if (threads == 1 || count == 1) return run(context, 0, count);
  // Never destroyed: its threads may still spin when the process ends.
  static Pool& pool = *new Pool(static_cast<int>(threads));
  pool.Do(count, std::max(1ul, count / (threads * kParts)), run, context);
}

}  // namespace cupilot_host
