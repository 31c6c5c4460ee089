// A runner with its arena, for one request of the judge. On the host each request has a process of
// its own. A GPU's context takes a third of a second to make, so its runners are kept between
// requests, one for each role, and replaced when they are no longer alive.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "worker/arena.h"
#include "worker/runner.h"

namespace cupilot::worker {

// Whose code runs. Results of the original are computed where no candidate ever runs.
// kFinalist: a process of its own every time, so that a second measurement has nothing of the
// first. kProfile: hardware counters, which slow a process's launches down.
enum class Role { kOriginal, kTwin, kCandidate, kFinalist, kProfile };

class Lease {
 public:
  // One at a time for a device and role. kUnavailable: no such device, or too little memory on it.
  static base::Result<Lease> Take(const std::string& device, Role role, std::size_t bytes,
                                  const std::vector<std::string>& modules);
  // Begins the process of a role that is kept, for TakeUnloaded() to open: a driver takes as long
  // to open as what a caller has to find out about its buffers meanwhile. GPUs.
  static void BeginKept(const std::string& device, Role role,
                        const std::vector<std::string>& modules);
  // It makes its context, too, where nobody measures on the GPU just now. Until AwaitContexts()
  // nobody can.
  static void BeginContext(const std::string& device, Role role);
  static void AwaitContexts();
  // As Take() of a role that is kept, before the modules are there: what may be read is what lies
  // in their folders. `write` puts `contents` into memory that does not hold them, before the
  // process locks its pages: all processors together make them sooner than that does. GPUs.
  static base::Result<Lease> TakeUnloaded(
      const std::string& device, Role role, std::size_t bytes,
      const std::vector<std::string>& modules, const std::string& contents,
      const std::function<base::Result<>(std::span<std::byte> memory)>& write);
  Lease(Lease&&) = default;
  Lease& operator=(Lease&&) = default;
  ~Lease() = default;

  // What judge and runner share, as long as was asked for.
  std::span<std::byte> memory() const { return slot_->arena.bytes().subspan(0, bytes_); }
  Runner& runner() const { return slot_->runner; }
  // What the last user of this memory said that it holds; empty: nobody did.
  const std::string& held() const { return held_; }
  // The next user may rely on it that the memory holds this, and nobody changes it any more.
  void Hold(std::string contents) const { slot_->held = std::move(contents); }
  // Runs a program of module `module` on the memory.
  base::Result<records::Json> Run(int module, const records::Json& program,
                                  std::chrono::milliseconds limit) const;

 private:
  struct Slot {
    Arena arena;
    Runner runner;
    std::string held;
    bool Fits(std::size_t bytes) const { return runner.alive() && arena.bytes().size() >= bytes; }
  };
  Lease(std::shared_ptr<Slot> slot, std::size_t bytes)
      : slot_(std::move(slot)), bytes_(bytes), held_(std::exchange(slot_->held, {})) {}
  using KeptSlots = std::map<std::pair<std::string, Role>, std::shared_ptr<Slot>>;
  static KeptSlots& Kept();
  static KeptSlots& Begun();  // not open
  static base::Result<std::shared_ptr<Slot>> NewSlot(const std::string& device, std::size_t bytes,
                                                     const std::vector<std::string>& modules);

  std::shared_ptr<Slot> slot_;
  std::size_t bytes_;
  std::string held_;
};

}  // namespace cupilot::worker
