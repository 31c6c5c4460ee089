#include "pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace cupilot_host {
namespace {

constexpr int kSpins = 4000;          // some ten microseconds
constexpr unsigned long kParts = 16;  // a thread, so that uneven blocks even out

struct Job {
  void (*run)(void*, unsigned long, unsigned long) = nullptr;
  void* context = nullptr;
  unsigned long count = 0;
  unsigned long part = 1;
  std::atomic<unsigned long> next{0};
};

class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 1; i < threads; ++i) threads_.emplace_back([this] { Serve(); });
    for (std::thread& thread : threads_) thread.detach();  // they end with the process
  }

  void Run(Job& job) {
    const std::lock_guard one(callers_);
    {
      const std::lock_guard lock(mutex_);
      job_ = &job;
      running_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    Work(job);
    while (running_.load(std::memory_order_acquire) > 0) sched_yield();
  }

 private:
  static void Work(Job& job) {
    for (;;) {
      const unsigned long begin = job.next.fetch_add(job.part, std::memory_order_relaxed);
      if (begin >= job.count) return;
      job.run(job.context, begin, std::min(begin + job.part, job.count));
    }
  }

  void Serve() {
    unsigned long seen = 0;
    for (;;) {
      for (int i = 0; i < kSpins && generation_.load(std::memory_order_acquire) == seen; ++i) {
        __builtin_ia32_pause();
      }
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return generation_.load(std::memory_order_acquire) != seen; });
      }
      seen = generation_.load(std::memory_order_acquire);
      Work(*job_);
      running_.fetch_sub(1, std::memory_order_release);
    }
  }

  std::mutex callers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  Job* job_ = nullptr;
  std::atomic<unsigned long> generation_{0};
  std::atomic<int> running_{0};
  std::vector<std::thread> threads_;
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

void ParallelFor(unsigned long count, void (*run)(void*, unsigned long, unsigned long),
                 void* context) {
  const auto threads = static_cast<unsigned long>(ThreadCount());
  if (threads == 1 || count == 1) return run(context, 0, count);
  // Never destroyed: its threads may still spin when the process ends.
  static Pool& pool = *new Pool(static_cast<int>(threads));
  Job job;
  job.run = run;
  job.context = context;
  job.count = count;
  job.part = std::max(1ul, count / (threads * kParts));
  pool.Run(job);
}

}  // namespace cupilot_host
