// Threads for work that blocks (the store, hashing of files). Results come back on the loop thread.
#pragma once

#include <memory>
#include <utility>

#include "base/unique_function.h"
#include "loop/loop.h"

namespace cupilot::loop {

class ThreadPool {
 public:
  // With 0 threads, work runs inside Run() and `done` is posted: deterministic, for tests.
  ThreadPool(Loop& loop, int threads);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  // Waits for running work; what has not begun is dropped, its `done` is not called.
  ~ThreadPool();

  // `work` runs on some thread and owns its inputs; `done` gets its value on the loop thread.
  template <class T>
  void Run(base::UniqueFunction<T()> work, base::UniqueFunction<void(T)> done) {
    Submit([this, work = std::move(work), done = std::move(done)]() mutable {
      T value = work();
      PostBack(
          [value = std::move(value), done = std::move(done)]() mutable { done(std::move(value)); });
    });
  }

 private:
  void Submit(base::UniqueFunction<void()> job);
  void PostBack(base::UniqueFunction<void()> task);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cupilot::loop
