// Waits until the devices have nothing to do, but not for ever: a kernel may be running that waits
// for something that the program does next.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>

#include "capture/driver.h"

namespace cupilot::capture {

// Thread-safe. The waiting is done by a thread of its own, which lives as long as the process: so
// must this object.
class Rest {
 public:
  explicit Rest(const Driver& driver) : driver_(driver) {}

  // Contexts of the program, from their creation until they are about to be destroyed.
  void Add(void* context);
  void Remove(void* context);

  // False where it took longer, an earlier wait has not ended yet, or a device reports an error.
  bool Wait(std::chrono::milliseconds patience);

 private:
  static void* Run(void* self);
  void Serve();

  const Driver& driver_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<void*> contexts_;
  bool started_ = false;
  std::uint64_t asked_ = 0;
  std::uint64_t served_ = 0;
  bool well_ = false;  // what the last one ended with
};

// Of this thread: whether what it calls is ours, and no callback's business.
bool& InsideOurs();

}  // namespace cupilot::capture
