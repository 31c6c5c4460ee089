#include "loop/thread_pool.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace cupilot::loop {

struct ThreadPool::State {
  explicit State(Loop& the_loop) : loop(the_loop) {}

  void Serve() {
    for (;;) {
      base::UniqueFunction<void()> job;
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [this] { return stopping || !jobs.empty(); });
        if (stopping) return;
        job = std::move(jobs.front());
        jobs.pop_front();
      }
      job();
    }
  }

  Loop& loop;
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<base::UniqueFunction<void()>> jobs;  // guarded by mutex
  bool stopping = false;                          // guarded by mutex
  std::vector<std::thread> threads;
};

ThreadPool::ThreadPool(Loop& loop, int threads) : state_(std::make_unique<State>(loop)) {
  for (int i = 0; i < threads; ++i) {
    state_->threads.emplace_back([state = state_.get()] { state->Serve(); });
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->wake.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

void ThreadPool::Submit(base::UniqueFunction<void()> job) {
  if (state_->threads.empty()) {
    job();
    return;
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->jobs.push_back(std::move(job));
  }
  state_->wake.notify_one();
}

void ThreadPool::PostBack(base::UniqueFunction<void()> task) { state_->loop.Post(std::move(task)); }

}  // namespace cupilot::loop
