// Counts the launches of a program and records some of them, for a runtime that tells it of each:
//
//   const Recorder::Kernel* kernel = recorder.Find(signature, name, sizes);   // once a kernel
//   std::uint32_t counter = recorder.Count(*kernel, launch);                  // each launch
//   auto recording = recorder.Before(*kernel, counter, launch);               // null: only counted
//   ... the launch, and where there is a recording the wait for its end ...
//   if (recording) recorder.After(std::move(recording));
//   recorder.AddTime(counter, microseconds);                                  // now or later
//
// Thread-safe; recorded launches must not overlap others that write what they read, for which the
// caller cares. Nothing of it fails the program: what cannot be recorded is noted in the file.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "recording/memory.h"
#include "recording/plan.h"
#include "recording/writer.h"

namespace cupilot::capture {

struct Launch {
  const void* kernel = nullptr;  // the runtime's own
  std::array<std::uint32_t, 3> grid{};
  std::array<std::uint32_t, 3> block{};
  std::uint64_t shared_bytes = 0;
  std::uint64_t max_dynamic_shared_bytes = 0;
  std::uint32_t device = 0;
  bool cooperative = false;
  std::array<std::uint32_t, 3> cluster{};
  void* const* arguments = nullptr;  // one a parameter
};

class Recorder {
 public:
  struct Kernel {
    std::uint32_t id = 0;
    const PlannedKernel* planned = nullptr;  // null: only counted
    std::vector<PlannedParameter> parameters;
  };
  class Recording;

  // `device`: 0 host, 1 cuda. `memory` must outlive it.
  Recorder(Plan plan, Memory& memory, std::uint32_t device);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  // Finishes.
  ~Recorder();

  bool good() const { return writer_.good(); }
  // `sizes` and `offsets`: of the parameters, bytes. The result stays valid.
  const Kernel* Find(const std::string& signature, const std::string& name,
                     const std::vector<std::uint32_t>& sizes,
                     const std::vector<std::uint32_t>& offsets = {});
  // kNone where there are too many counters already.
  std::uint32_t Count(const Kernel& kernel, const Launch& launch);
  std::unique_ptr<Recording> Before(const Kernel& kernel, std::uint32_t counter,
                                    const Launch& launch);
  void After(std::unique_ptr<Recording> recording);
  // It was begun and is none: the launch failed, say.
  void Drop(std::unique_ptr<Recording> recording);
  void AddTime(std::uint32_t counter, double microseconds);
  // Why a kernel's launches are not recorded; once a kernel and text.
  void Note(const Kernel* kernel, const std::string& text);
  // Counters and the end. What is counted afterwards is lost.
  void Finish();
  // In a forked child: the file is the parent's. Nothing else may be called then.
  void Abandon() { writer_.Abandon(); }

 private:
  struct Counter {
    std::uint32_t kernel = 0;
    std::uint64_t calls = 0;
    std::uint64_t timed = 0;
    double microseconds = 0;
    std::vector<std::uint32_t> kept{};  // of those, what is not replaced
    std::string head{};                 // of the chunk: kernel to scalars
    bool changed = false;
  };
  // Whether the counter's launch number `index` is recorded, and which one it replaces.
  bool Draws(Counter& counter, std::uint64_t index, std::uint32_t& replaced);
  bool FindPointers(Recording& recording);
  bool AddPointer(Recording& recording, std::uint32_t parameter, std::uint32_t at, bool must);
  bool FollowTable(Recording& recording, std::size_t pointer);
  bool FindGlobals(Recording& recording);
  std::uint32_t ReadBlob(const Region& region, bool& failed);
  bool ReadRegions(Recording& recording, bool after);
  void WriteCounters();

  const Plan plan_;
  Memory& memory_;
  Writer writer_;
  std::mutex mutex_;            // of what follows
  std::mutex recording_mutex_;  // one is recorded at a time: order of locks: this one first
  std::map<std::string, Kernel> kernels_;
  std::map<std::string, std::uint32_t> index_;  // counters by kernel, geometry and scalars
  std::deque<Counter> counters_;
  std::set<std::pair<std::uint32_t, std::string>> notes_;
  std::uint64_t seen_ = 0;
  std::uint64_t left_out_ = 0;
  std::uint64_t reserved_ = 0;  // bytes that launches under way may still write
  std::uint32_t launches_ = 0;
  std::uint64_t random_;
  std::uint64_t last_flush_ = 0;
  bool finished_ = false;
};

}  // namespace cupilot::capture
