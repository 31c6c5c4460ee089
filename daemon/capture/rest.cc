#include "capture/rest.h"

#include <pthread.h>
#include <signal.h>

#include <vector>

namespace cupilot::capture {

bool& InsideOurs() {
  thread_local bool inside = false;
  return inside;
}

void Rest::Add(void* context) {
  const std::lock_guard lock(mutex_);
  contexts_.insert(context);
}

void Rest::Remove(void* context) {
  const std::lock_guard lock(mutex_);
  contexts_.erase(context);
}

bool Rest::Wait(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (!started_) {
    // The program's signals are handled by its own threads.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    started_ = ::pthread_create(&thread, nullptr, &Rest::Run, this) == 0;
    if (started_) ::pthread_detach(thread);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (!started_) return false;
  }
  if (served_ != asked_) return false;
  ++asked_;
  changed_.notify_all();
  return changed_.wait_for(lock, patience, [this] { return served_ == asked_; }) && well_;
}

void* Rest::Run(void* self) {
  InsideOurs() = true;
  static_cast<Rest*>(self)->Serve();
  return nullptr;
}

void Rest::Serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return served_ != asked_; });
    const std::vector<void*> contexts(contexts_.begin(), contexts_.end());
    lock.unlock();
    bool well = true;
    for (void* context : contexts) {
      well = well && driver_.cuCtxSetCurrent(context) == kDriverSuccess &&
             driver_.cuCtxSynchronize() == kDriverSuccess;
    }
    driver_.cuCtxSetCurrent(nullptr);
    lock.lock();
    well_ = well;
    served_ = asked_;
    changed_.notify_all();
  }
}

}  // namespace cupilot::capture
