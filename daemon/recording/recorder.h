// Counts the launches of a program and records some of them, for a runtime that tells it of each:
//
//   const Recorder::Kernel* kernel = recorder.Find(signature, name, sizes);   // once a kernel
//   std::uint32_t counter = recorder.Count(*kernel, launch);                  // each launch
//   auto recording = recorder.Before(*kernel, counter, launch);               // null: only counted
//   ... the launch, and where there is a recording the wait for its end ...
//   if (recording) recorder.After(std::move(recording));
//   recorder.AddTime(counter, microseconds);                                  // now or later
//
// Thread-safe; recorded launches must not overlap others that write what they read, for which
// Memory::Hold cares. Nothing of it fails the program: what cannot be recorded is noted in the
// file.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
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
  void* const* arguments = nullptr;  // one a parameter; null where they are not known
};

class Recorder {
 public:
  struct Kernel {
    std::uint32_t id = 0;
    const PlannedKernel* planned = nullptr;  // null: only counted
    std::vector<PlannedParameter> parameters;
  };
  class Recording;
  struct Forget {
    void operator()(Recording* recording) const;
  };
  // One that is given up without After or Drop keeps its share of the room.
  using Begun = std::unique_ptr<Recording, Forget>;

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
  // kNone where there are too many counters already (of a planned kernel, a note says so), and
  // after the end. Launches whose arguments are not known, or of which there are too many, are
  // counted by their geometry alone.
  std::uint32_t Count(const Kernel& kernel, const Launch& launch, std::uint64_t calls = 1);
  // Once a counted launch that may be recorded, with its counter.
  Begun Before(const Kernel& kernel, std::uint32_t counter, const Launch& launch);
  void After(Begun recording);
  // It was begun and is none: the launch failed, say.
  void Drop(Begun recording);
  // Of `calls` launches together.
  void AddTime(std::uint32_t counter, double microseconds, std::uint64_t calls = 1);
  // Why a kernel's launches are not recorded; once a kernel and text.
  void Note(const Kernel* kernel, const std::string& text);
  // Counters and the end. What is counted or recorded afterwards is lost.
  void Finish();
  // In a forked child: the file is the parent's. Nothing else may be called then, nor is it
  // destroyed: a thread that the child does not have may have locked it.
  void Abandon() { writer_.Abandon(); }

 private:
  struct Counter {
    std::uint32_t kernel = 0;
    std::uint64_t calls = 0;
    std::uint64_t offered = 0;  // of those, to Before
    std::uint64_t timed = 0;
    double microseconds = 0;
    std::vector<std::uint32_t> kept{};  // recorded ones besides the first, and not replaced
    std::string head{};                 // of the chunk: kernel to scalars
    bool changed = false;
    bool folded = false;  // launches with any arguments: none of them is recorded
  };
  // The bytes of all parameters, those of pointers zeroed, appended to `head`.
  void PutScalars(const Kernel& kernel, void* const* arguments, std::string& head);
  bool IsAddress(std::uint64_t word);
  const PlannedKernel* PlannedOf(const std::string& signature, const std::string& name) const;
  std::uint32_t CounterOf(const Kernel& kernel, const std::string& head, bool folded);
  // Whether the counter's launch number `index` is recorded, and which one it replaces.
  bool Draws(std::uint64_t index, std::uint32_t& replaced);
  bool IsHidden(const Kernel& kernel);
  bool FindPointers(Recording& recording);
  bool AddPointer(Recording& recording, std::uint32_t parameter, std::uint32_t at, bool must);
  bool FollowTable(Recording& recording, std::size_t pointer);
  bool FindGlobals(Recording& recording);
  bool Reserve(Recording& recording);
  bool MakeBuffer(std::size_t bytes);
  std::uint32_t ReadBlob(const Region& region, bool& failed);
  bool ReadRegions(Recording& recording, bool after);
  void Flush();
  void WriteCounters();

  const Plan plan_;
  Memory& memory_;
  Writer writer_;
  const std::uint64_t number_;  // of this recorder in the process
  std::mutex mutex_;            // of what follows
  std::mutex recording_mutex_;  // one is recorded at a time: order of locks: this one first
  // By signature and sizes: two files may have kernels of one name that nobody else sees.
  std::map<std::pair<std::string, std::vector<std::uint32_t>>, Kernel> kernels_;
  std::deque<Counter> counters_;
  std::unordered_map<std::string_view, std::uint32_t> index_;  // counters by their heads
  std::uint64_t head_bytes_ = 0;
  std::set<std::pair<std::uint32_t, std::string>> notes_;
  std::uint64_t seen_ = 0;
  std::uint64_t left_out_ = 0;
  std::uint64_t reserved_ = 0;  // bytes that launches under way may still write
  std::uint32_t launches_ = 0;
  std::uint64_t random_;
  const std::uint64_t started_;  // milliseconds of a clock
  std::uint64_t next_flush_ = 0;
  bool finished_ = false;
  // With recording_mutex_.
  struct Free {
    void operator()(char* memory) const;
  };
  std::unique_ptr<char, Free> buffer_;
  std::size_t buffer_bytes_ = 0;
};

}  // namespace cupilot::capture
