#include "watch.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cupilot_host_watch.h"
#include "failure.h"
#include "registry.h"
#include "stack.h"
#include "watch_findings.h"
#include "watch_order.h"
#include "watch_range.h"
#include "watch_shadow.h"

namespace cupilot_host {
namespace {

using Kind = cupilot_host_watch_kind;

constexpr std::size_t kGuard = 4096;  // before and behind a dynamic shared array
constexpr int kWatchedLaunchFailure = 719;
constexpr std::uint32_t kMostBlocks = (1u << (32 - kThreadBits)) - 1;  // of a launch
constexpr Epoch kMostEpochs = (1u << 28) - 1;  // that a stamp can tell apart

// Places are kept as numbers, which may lie in no object.
void* PointerTo(std::uintptr_t place) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void*>(place);
}

class Watch {
 public:
  explicit Watch(const cupilot_host_watch_settings& settings) : settings_(settings) {
    for (unsigned int i = 0; i < settings.range_count; ++i) {
      const cupilot_host_watch_range& from = settings.ranges[i];
      Add(from.name, from.address, from.bytes, from.element_bytes,
          from.read_only != 0 ? Space::kReadOnly : Space::kGlobal);
      if (from.empty != 0) global_.back().written.assign(from.bytes, false);
    }
    around_begin_ = reinterpret_cast<std::uintptr_t>(settings.around);
    around_end_ = around_begin_ + settings.around_bytes;
    ForEachVariable([&](const cupilot_host_variable& variable) {
      const std::string name = variable.name;  // qualified
      Add(name.substr(name.rfind(':') + 1).c_str(), variable.address, variable.bytes, 1,
          variable.constant != 0 ? Space::kConstant : Space::kGlobal);
    });
    std::sort(global_.begin(), global_.end(),
              [](const Range& a, const Range& b) { return a.begin < b.begin; });
  }

  void BeginLaunch() {
    order_.BeginLaunch();
    blocks_ = 0;
    for (Range& range : global_) {
      if (range.shadow) range.shadow->Forget();
    }
    shared_.clear();
    places_.clear();
    dynamic_ = last_shared_ = nullptr;
  }

  void* DynamicShared(std::size_t bytes) {
    bytes_.assign(bytes + 2 * kGuard + 256, settings_.shared_poison);
    auto begin = reinterpret_cast<std::uintptr_t>(bytes_.data()) + kGuard;
    begin = (begin + 255) / 256 * 256;
    auto* memory = PointerTo(begin);
    dynamic_ = &AddShared("dynamic shared memory", memory, bytes, 0);
    return memory;
  }

  void BeginBlock(const thread& first, unsigned int threads) {
    first_ = first;
    order_.BeginBlock(blocks_++, threads);
    places_.push_back(first.blockIdx);
    for (Range& range : shared_) {
      range.live = &range == dynamic_;
      if (range.live) Poison(range);
    }
  }

  void Enter(unsigned int index, const char* stack) {
    Settle();
    self_ = index;
    inside_ = true;
    stack_begin_ = reinterpret_cast<std::uintptr_t>(stack);
  }
  void Leave() {
    Settle();
    inside_ = false;
  }
  void PassBarrier() {
    Settle();
    order_.Barrier();
  }
  void PassWarp(unsigned int first, unsigned int lanes) {
    Settle();
    order_.Warp(first, lanes);
  }
  void Fence() {
    if (!inside_) return;
    Settle();
    order_.Fence(self_);
  }

  void Shared(const char* name, void* address, std::size_t bytes, std::size_t element) {
    if (!inside_) return;
    Settle();
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    for (Range& range : shared_) {
      if (range.begin != at) continue;
      if (!range.live) Poison(range);
      range.live = true;
      return;
    }
    Poison(AddShared(name, address, bytes, element));
  }

  // False: that was one too many.
  bool See(const void* address, std::size_t bytes, unsigned int kind) {
    if (!inside_) return true;
    const bool write = (kind & cupilot_host_watch_write) != 0;
    const bool atomic = (kind & cupilot_host_watch_atomic) != 0;
    if (write || atomic || !MayComeLater()) Settle();
    Access access{reinterpret_cast<std::uintptr_t>(address), bytes, write,
                  atomic                                      ? Way::kAtomic
                  : (kind & cupilot_host_watch_volatile) != 0 ? Way::kVolatile
                                                              : Way::kPlain};
    if (access.at - stack_begin_ < kStackBytes) return true;
    const bool enough = ++accesses_ > settings_.most_accesses && settings_.most_accesses != 0;
    if (enough || blocks_ > kMostBlocks) {
      stopped_ = true;
      SetFailureText("the watched run was ended at its limit of accesses");
      return false;
    }
    Judge(access, (kind & cupilot_host_watch_release) != 0);
    return true;
  }

  void SeeMisplaced(const void* address, std::size_t alignment) {
    if (!inside_) return;
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const Range* range = Find(at);
    if (range == nullptr) return;
    Note(cupilot_host_watch_misaligned, *range,
         "an access" + By(GlobalThread(blocks_ - 1, self_)) + " at byte " +
             std::to_string(at - range->begin) + " of '" + range->name +
             "', whose address is no multiple of " + std::to_string(alignment));
  }

  // Only a thread that runs does anything.
  bool IsNew(Kind kind, const char* file, unsigned int line) {
    return inside_ && !found_.Again(kind, file, line);
  }
  void SeeUndefined(Kind kind, const char* file, unsigned int line, const char* what) {
    if (IsNew(kind, file, line)) {
      found_.Add({kind, file, line, what + By(GlobalThread(blocks_ - 1, self_)), 1});
    }
  }

  void Report(cupilot_host_watch_report& report) {
    Settle();
    const std::vector<cupilot_host_watch_finding>& findings = found_.ForReport();
    report = {findings.data(), static_cast<unsigned int>(findings.size()), accesses_,
              stopped_ ? 1u : 0u};
  }

 private:
  void Judge(Access access, bool release) {
    Range* range = Find(access.at);
    if (range == nullptr) return CheckOutside(access, access.at);
    if (access.at + access.bytes > range->end) {
      CheckOutside(access, range->end);
      access.bytes = range->end - access.at;
    }
    switch (range->space) {
      case Space::kReadOnly:
        if (access.write)
          Note(cupilot_host_watch_read_only_write, *range, Describe(access, *range));
        return;
      case Space::kConstant:
        if (access.write) Note(cupilot_host_watch_constant_write, *range, Describe(access, *range));
        return;
      case Space::kShared:
        // A volatile access orders nothing here: lanes that seem to go in step do not.
        if (access.way == Way::kVolatile) access.way = Way::kPlain;
        CheckWritten(access, *range, cupilot_host_watch_unwritten_shared,
                     ", which no thread of the block has written");
        break;
      case Space::kGlobal:
        if (!range->written.empty()) {
          CheckWritten(access, *range, cupilot_host_watch_unwritten_memory,
                       ", which nothing has written before");
        }
        break;
    }
    if (access.way != Way::kPlain) access.epoch = Synchronise(access, release);
    if (access.write && access.way != Way::kAtomic) {
      SeeWrite(access, *range);
    } else {
      SeeOther(access, *range);
    }
  }

  void Add(const char* name, const void* address, std::size_t bytes, std::size_t element,
           Space space) {
    if (bytes == 0) return;
    Range range;
    range.name = name;
    range.begin = reinterpret_cast<std::uintptr_t>(address);
    range.end = range.begin + bytes;
    range.element = element;
    range.space = space;
    if (space == Space::kGlobal) range.shadow = std::make_unique<Shadow>(bytes);
    global_.push_back(std::move(range));
  }

  Range& AddShared(const char* name, void* address, std::size_t bytes, std::size_t element) {
    Range range;
    range.name = name;
    range.begin = reinterpret_cast<std::uintptr_t>(address);
    range.end = range.begin + bytes;
    range.element = element;
    range.space = Space::kShared;
    range.shadow = std::make_unique<Shadow>(bytes);
    shared_.push_back(std::move(range));
    return shared_.back();
  }

  void Poison(Range& range) const {
    std::memset(PointerTo(range.begin), settings_.shared_poison, range.end - range.begin);
    range.written.assign(range.end - range.begin, false);
    range.shadow->Forget();
  }

  Range* Find(std::uintptr_t at) {
    if (last_shared_ != nullptr && last_shared_->Holds(at)) return last_shared_;
    if (last_global_ != nullptr && last_global_->Holds(at)) return last_global_;
    for (Range& range : shared_) {
      if (range.Holds(at)) return last_shared_ = &range;
    }
    const auto behind = std::upper_bound(
        global_.begin(), global_.end(), at,
        [](std::uintptr_t place, const Range& range) { return place < range.begin; });
    if (behind == global_.begin() || !std::prev(behind)->Holds(at)) return nullptr;
    return last_global_ = &*std::prev(behind);
  }

  // From `at` on it is in no range. What is far from all of them is no kernel's data, or faults.
  void CheckOutside(const Access& access, std::uintptr_t at) {
    const Range* near = nullptr;
    if (at >= around_begin_ && at < around_end_) {
      for (const Range& range : global_) {
        if (!InAround(range)) continue;
        if (near == nullptr || range.begin <= at) near = &range;
      }
    } else if (dynamic_ != nullptr && at >= dynamic_->begin - kGuard &&
               at < dynamic_->end + kGuard) {
      near = dynamic_;
    }
    if (near == nullptr) return;
    const auto from = static_cast<long>(at - near->begin);
    Note(access.write ? cupilot_host_watch_outside_write : cupilot_host_watch_outside_read, *near,
         What(access) + " at byte " + std::to_string(from) + " of '" + near->name +
             "', which has " + std::to_string(near->end - near->begin));
  }
  bool InAround(const Range& range) const {
    return range.begin >= around_begin_ && range.begin < around_end_;
  }

  void CheckWritten(const Access& access, Range& range, Kind kind, const char* what) {
    const std::size_t first = access.at - range.begin;
    if (!access.write || access.way == Way::kAtomic) {
      for (std::size_t i = first; i < first + access.bytes; ++i) {
        if (range.written[i]) continue;
        Note(kind, range, Describe(access, range) + what);
        break;
      }
    }
    if (!access.write) return;
    for (std::size_t i = first; i < first + access.bytes; ++i) range.written[i] = true;
  }

  Epoch Synchronise(const Access& access, bool release) {
    const Epoch epoch = access.write ? order_.Release(self_, access.at, release) : 0;
    order_.Acquire(self_, access.at);
    return epoch;
  }

  Stamp StampOf(const Access& access) const {
    Stamp stamp;
    stamp.thread = GlobalThread(blocks_ - 1, self_);
    stamp.epoch = (access.epoch != 0 ? access.epoch : order_.EpochOf(self_)) & kMostEpochs;
    stamp.way = static_cast<std::uint32_t>(access.way);
    stamp.write = access.write ? 1 : 0;
    return stamp;
  }
  bool Knows(const Stamp& stamp) const {
    return stamp.empty() || order_.Knows(self_, stamp.thread, stamp.epoch);
  }

  // Whether the two, which nothing orders, may not be.
  static bool Collide(const Stamp& a, const Stamp& b, Space space) {
    if (a.write == 0 && b.write == 0) return false;
    const bool plain = a.how() == Way::kPlain && b.how() == Way::kPlain;
    if (plain) return true;
    if (a.how() != Way::kPlain && b.how() != Way::kPlain) {
      // Of two volatile writes one may be lost.
      return a.write != 0 && b.write != 0 && a.how() == Way::kVolatile && b.how() == Way::kVolatile;
    }
    const Stamp& plain_one = a.how() == Way::kPlain ? a : b;
    return plain_one.write != 0 || space == Space::kShared;
  }

  // A read, or an atomic operation.
  void SeeOther(const Access& access, Range& range) {
    const Stamp now = StampOf(access);
    range.shadow->ForEach(access.at - range.begin, access.bytes, [&](Cell& cell) {
      if (!Knows(cell.write) && Collide(cell.write, now, range.space)) {
        Race(cell.write, access, range);
      } else if (access.write && !Knows(cell.silent) && Collide(cell.silent, now, range.space)) {
        Race(cell.silent, access, range);
      } else {
        for (const Stamp& other : cell.others) {
          if (other.empty() || Knows(other) || !Collide(other, now, range.space)) continue;
          Race(other, access, range);
          break;
        }
      }
      // Atomic changes of one place come one after another: who knows of this one knows of all
      // before it.
      if (access.write) DropChanges(cell);
      Keep(cell, now);
      return true;
    });
  }

  static void DropChanges(Cell& cell) {
    for (Stamp& other : cell.others) {
      if (other.write != 0) other = Stamp{};
    }
  }

  void Keep(Cell& cell, const Stamp& now) const {
    Stamp& first = cell.others[0];
    if (Replaces(now, first)) {
      first = now;
      return;
    }
    const std::size_t far = first.thread >> kThreadBits != now.thread >> kThreadBits ? 3
                            : first.thread / kWarpLanes != now.thread / kWarpLanes   ? 2
                                                                                     : 1;
    if (Replaces(now, cell.others[far])) cell.others[far] = now;
  }
  // A thread's own last read says nothing of the atomic change that it made before.
  bool Replaces(const Stamp& now, const Stamp& old) const {
    if (old.thread == now.thread) return old.write <= now.write;
    return Knows(old);
  }

  // What a write collides with is known at once, but what it stores only when it was made: at the
  // next thing that is seen.
  void SeeWrite(const Access& access, Range& range) {
    pending_.access = access;
    pending_.range = &range;
    pending_.stamp = StampOf(access);
    pending_.old.resize(access.bytes);
    std::memcpy(pending_.old.data(), PointerTo(access.at), access.bytes);
    is_pending_ = true;
    came_later_ = false;
  }

  // Compilers tell of both accesses of a copy before they make it, the write first.
  bool MayComeLater() {
    if (!is_pending_ || came_later_ || !IsSilent()) return false;
    came_later_ = true;
    return true;
  }
  bool IsSilent() const {
    return std::memcmp(pending_.old.data(), PointerTo(pending_.access.at), pending_.access.bytes) ==
           0;
  }

  void Settle() {
    if (!is_pending_) return;
    is_pending_ = false;
    Range& range = *pending_.range;
    const Access& access = pending_.access;
    const bool silent = IsSilent();
    range.shadow->ForEach(access.at - range.begin, access.bytes, [&](Cell& cell) {
      if (silent) {
        cell.silent = pending_.stamp;
        return true;
      }
      const Stamp* found = nullptr;
      const auto look = [&](const Stamp& stamp) {
        if (found == nullptr && !Knows(stamp) && Collide(stamp, pending_.stamp, range.space)) {
          found = &stamp;
        }
      };
      look(cell.write);
      look(cell.silent);
      for (const Stamp& other : cell.others) look(other);
      if (found != nullptr) Race(*found, access, range);
      cell = Cell{};
      cell.write = pending_.stamp;
      return true;
    });
  }

  void Race(const Stamp& before, const Access& access, const Range& range) {
    const bool shared = range.space == Space::kShared;
    const Kind kind = shared ? cupilot_host_watch_shared_race : cupilot_host_watch_global_race;
    if (found_.Again(kind, range.name)) return;
    Access first = access;
    first.write = before.write != 0;
    first.way = before.how();
    Note(kind, range,
         What(first, before.thread) + " and " + What(access) + " at " + Where(access, range) +
             (shared ? " of shared memory" : "") + ": nothing orders them");
  }

  void Note(Kind kind, const Range& range, const std::string& detail) {
    if (!found_.Again(kind, range.name)) found_.Add({kind, range.name, 0, detail, 1});
  }

  std::string Describe(const Access& access, const Range& range) const {
    return What(access) + " at " + Where(access, range);
  }
  static std::string Where(const Access& access, const Range& range) {
    const std::size_t element = range.element > 0 ? range.element : access.bytes;
    return "'" + range.name + "'[" + std::to_string((access.at - range.begin) / element) + "]";
  }
  std::string What(const Access& access) const {
    return What(access, GlobalThread(blocks_ - 1, self_));
  }
  std::string What(const Access& access, std::uint32_t thread) const {
    std::string text = access.way == Way::kAtomic     ? "an atomic "
                       : access.way == Way::kVolatile ? "a volatile "
                                                      : "a ";
    return text + (access.write ? (access.way == Way::kAtomic ? "change" : "write") : "read") +
           By(thread);
  }
  std::string By(std::uint32_t thread) const {
    const std::uint32_t index = thread & ((1u << kThreadBits) - 1);
    const dim3& size = first_.blockDim;
    const uint3& block = places_[thread >> kThreadBits];
    char by[128];
    std::snprintf(by, sizeof by, " by thread (%u,%u,%u) of block (%u,%u,%u)", index % size.x,
                  index / size.x % size.y, index / size.x / size.y, block.x, block.y, block.z);
    return by;
  }

  const cupilot_host_watch_settings settings_;
  std::vector<Range> global_;  // by address
  std::deque<Range> shared_;
  Range* dynamic_ = nullptr;
  Range* last_global_ = nullptr;
  Range* last_shared_ = nullptr;
  std::uintptr_t around_begin_ = 0, around_end_ = 0;
  std::vector<unsigned char> bytes_;  // of the dynamic shared memory, with its guards
  Order order_;
  thread first_{};
  std::vector<uint3> places_;  // of the launch's blocks so far
  std::uint32_t blocks_ = 0;
  unsigned int self_ = 0;
  bool inside_ = false;
  std::uintptr_t stack_begin_ = 0;
  struct {
    Access access;
    Range* range = nullptr;
    Stamp stamp;
    std::vector<unsigned char> old;
  } pending_;
  bool is_pending_ = false;
  bool came_later_ = false;
  unsigned long accesses_ = 0;
  bool stopped_ = false;
  Findings found_;
};

// Of the watch's own doings nothing is seen: in a watched program the functions of the C library
// that it calls are watched too.
bool busy = false;

std::unique_ptr<Watch>& TheWatch() {
  static auto& watch = *new std::unique_ptr<Watch>;
  return watch;
}

template <class Do>
void Tell(const Do& tell) {
  if (busy) return;
  busy = true;
  tell(*TheWatch());
  busy = false;
}

}  // namespace

namespace watch {

void BeginLaunch() {
  Tell([](Watch& watch) { watch.BeginLaunch(); });
}
void* DynamicShared(std::size_t bytes) {
  void* memory = nullptr;
  Tell([&](Watch& watch) { memory = watch.DynamicShared(bytes); });
  return memory;
}
void BeginBlock(const thread& first, unsigned int threads) {
  Tell([&](Watch& watch) { watch.BeginBlock(first, threads); });
}
void Enter(unsigned int index, const char* stack) {
  Tell([&](Watch& watch) { watch.Enter(index, stack); });
}
void Leave() {
  Tell([](Watch& watch) { watch.Leave(); });
}
void PassBarrier() {
  Tell([](Watch& watch) { watch.PassBarrier(); });
}
void PassWarp(unsigned int first, unsigned int lanes) {
  Tell([&](Watch& watch) { watch.PassWarp(first, lanes); });
}

}  // namespace watch
}  // namespace cupilot_host

extern "C" {

void cupilot_host_watch_begin(const struct cupilot_host_watch_settings* settings) {
  cupilot_host::TheWatch() = std::make_unique<cupilot_host::Watch>(*settings);
  cupilot_host::watch::is_on = true;
}

void cupilot_host_watch_end(struct cupilot_host_watch_report* report) {
  cupilot_host::watch::is_on = false;
  cupilot_host::TheWatch()->Report(*report);
}

void cupilot_host_watch_misplaced(const void* address, unsigned long alignment) {
  if (!cupilot_host::watch::IsOn()) return;
  cupilot_host::Tell([&](cupilot_host::Watch& watch) { watch.SeeMisplaced(address, alignment); });
}

int cupilot_host_watch_is_new(enum cupilot_host_watch_kind kind, const char* file,
                              unsigned int line) {
  if (!cupilot_host::watch::IsOn()) return 0;
  bool is_new = false;
  cupilot_host::Tell([&](cupilot_host::Watch& watch) { is_new = watch.IsNew(kind, file, line); });
  return is_new ? 1 : 0;
}

void cupilot_host_watch_undefined(enum cupilot_host_watch_kind kind, const char* file,
                                  unsigned int line, const char* what) {
  if (!cupilot_host::watch::IsOn()) return;
  cupilot_host::Tell(
      [&](cupilot_host::Watch& watch) { watch.SeeUndefined(kind, file, line, what); });
}

void cupilot_host_watch_access(const void* address, unsigned long bytes, unsigned int kind) {
  if (!cupilot_host::watch::IsOn()) return;
  bool enough = false;
  cupilot_host::Tell(
      [&](cupilot_host::Watch& watch) { enough = !watch.See(address, bytes, kind); });
  // The block ends here, and with it the launch.
  if (enough) cupilot_host::FailBlock(cupilot_host::kWatchedLaunchFailure);
}

void cupilot_host_watch_fence(void) {
  if (!cupilot_host::watch::IsOn()) return;
  cupilot_host::Tell([](cupilot_host::Watch& watch) { watch.Fence(); });
}

void cupilot_host_watch_shared(const char* name, void* address, unsigned long bytes,
                               unsigned int element_bytes) {
  if (!cupilot_host::watch::IsOn()) return;
  cupilot_host::Tell(
      [&](cupilot_host::Watch& watch) { watch.Shared(name, address, bytes, element_bytes); });
}
}
