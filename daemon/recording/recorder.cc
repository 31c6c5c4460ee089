#include "recording/recorder.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace cupilot::capture {
namespace {

// More geometries than that are no geometries that a tuner could serve.
// Of launches by geometry and scalars; behind these there is as much room again for those that are
// counted by their geometry alone. Kernels that are not planned have half of it.
constexpr std::size_t kMostCounters = 1 << 16;
constexpr std::uint64_t kMostHeadBytes = 64 << 20;
// A longer table is somebody's memory pool, in which any number might look like an address.
constexpr std::uint64_t kMostTableBytes = 8 << 20;
// Of a buffer that is kept from one recording to the next.
constexpr std::size_t kMostKeptBytes = 64 << 20;

// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
std::uint64_t Next(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

std::uint64_t Word(const void* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

bool MayHoldPointers(ParameterKind kind) { return kind != ParameterKind::kScalar; }
bool IsOnePointer(ParameterKind kind) {
  return kind == ParameterKind::kPointer || kind == ParameterKind::kTable ||
         kind == ParameterKind::kHidden;
}

std::uint64_t Milliseconds() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

// From 1.
std::uint64_t NextNumber() {
  static std::atomic<std::uint64_t> count{0};
  return ++count;
}

template <class Value>
void Put(std::string& text, const Value& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

class Recorder::Recording {
 public:
  explicit Recording(Memory& memory) : held_(memory.Hold() ? &memory : nullptr) {}
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() {
    if (lock.owns_lock()) lock.unlock();
    if (held_ != nullptr) held_->Release();
  }
  bool IsHeld() const { return held_ != nullptr; }

  struct Pointer {
    std::uint32_t parameter = 0;  // or the region that holds it
    std::uint64_t at = 0;
    std::uint32_t region = 0;
    std::uint64_t offset = 0;
  };
  struct Stretch {
    Region region;
    std::uint32_t before = kNone;
    std::uint32_t after = kNone;
  };
  struct Global {
    const PlannedGlobal* planned = nullptr;
    Stretch stretch;
  };

  const Kernel* kernel = nullptr;
  std::uint32_t counter = 0;
  std::uint64_t index = 0;
  std::uint32_t replaced = kNone;
  Launch launch;
  std::vector<std::string> arguments;
  std::vector<Stretch> regions;
  std::vector<Pointer> pointers;
  std::vector<Pointer> in_memory;
  std::vector<Global> globals;
  std::uint64_t reserved = 0;
  bool wanted = false;  // there was no room for it, and nothing of its kind is recorded yet

  std::uint32_t RegionOf(const Region& region) {
    const auto [at, added] =
        by_address_.try_emplace(region.address, static_cast<std::uint32_t>(regions.size()));
    if (added) regions.push_back({region});
    return at->second;
  }
  std::uint64_t Bytes() const {
    std::uint64_t bytes = 0;
    for (const Stretch& stretch : regions) bytes += stretch.region.bytes;
    for (const Global& global : globals) bytes += global.stretch.region.bytes;
    return bytes;
  }
  std::unique_lock<std::mutex> lock;

 private:
  Memory* held_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_address_;
};

Recorder::Recorder(Plan plan, Memory& memory, std::uint32_t device)
    : plan_(std::move(plan)),
      memory_(memory),
      writer_(plan_.folder, device),
      number_(NextNumber()),
      random_(plan_.seed),
      started_(Milliseconds()) {
  for (const std::string& problem : plan_.problems) Note(nullptr, problem);
}

Recorder::~Recorder() { Finish(); }

// The plan's kernel of that signature, else the only one of that name.
const PlannedKernel* Recorder::PlannedOf(const std::string& signature,
                                         const std::string& name) const {
  const PlannedKernel* same_name = nullptr;
  int names = 0;
  for (const PlannedKernel& planned : plan_.kernels) {
    if (planned.signature == signature) return &planned;
    if (name.empty() || !MayName(planned.name, name)) continue;
    same_name = &planned;
    ++names;
  }
  return names == 1 ? same_name : nullptr;
}

const Recorder::Kernel* Recorder::Find(const std::string& signature, const std::string& name,
                                       const std::vector<std::uint32_t>& sizes,
                                       const std::vector<std::uint32_t>& offsets) {
  std::unique_lock lock(mutex_);
  const auto [at, added] = kernels_.try_emplace({signature, sizes});
  Kernel& kernel = at->second;
  if (!added) return &kernel;
  kernel.id = static_cast<std::uint32_t>(kernels_.size() - 1);
  kernel.planned = PlannedOf(signature, name);
  for (const std::uint32_t bytes : sizes) kernel.parameters.push_back({{}, bytes});
  bool fits = true;
  if (kernel.planned != nullptr && !kernel.planned->parameters.empty()) {
    const std::vector<PlannedParameter>& known = kernel.planned->parameters;
    fits = std::equal(known.begin(), known.end(), sizes.begin(), sizes.end(),
                      [](const PlannedParameter& parameter, std::uint32_t bytes) {
                        return parameter.bytes == bytes;
                      });
    if (fits) kernel.parameters = known;
    if (!fits) kernel.planned = nullptr;
  }
  Payload payload;
  // Where the name alone told, who reads it looks for the plan's.
  payload.U32(kernel.id);
  payload.Text(kernel.planned != nullptr ? kernel.planned->signature : signature).Text(name);
  payload.U32(static_cast<std::uint32_t>(sizes.size()));
  std::uint32_t offset = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    payload.U32(i < offsets.size() ? offsets[i] : offset).U32(sizes[i]);
    payload.U32(static_cast<std::uint32_t>(kernel.parameters[i].kind));
    offset += (sizes[i] + 7) / 8 * 8;
  }
  writer_.Chunk(ChunkKind::kKernel, payload);
  lock.unlock();
  if (!fits) Note(&kernel, "its parameters are not those that its tag was read with");
  return &kernel;
}

// Whether a word of a structure, or of a parameter that nobody described, is an address: two ints
// side by side may look like one. What was asked last is remembered, since programs use the same
// memory again and again; that it may be freed by now only tells two launches apart that are alike.
bool Recorder::IsAddress(std::uint64_t word) {
  constexpr std::uint64_t kLowest = 1 << 16;
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 57;
  if (word < kLowest || word >= kEnd) return false;
  struct Asked {
    std::uint64_t word;
    std::uint64_t recorder;
    bool is_address;
  };
  thread_local Asked asked[64];  // without a destructor: programs launch until their very end
  Asked& last = asked[(word * 0x9e3779b97f4a7c15ull) >> 58];
  if (last.word != word || last.recorder != number_) {
    Region region;
    last = {word, number_, memory_.Find(word, region)};
  }
  return last.is_address;
}

void Recorder::PutScalars(const Kernel& kernel, void* const* arguments, std::string& head) {
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const PlannedParameter& parameter = kernel.parameters[i];
    const std::size_t begin = head.size();
    head.append(static_cast<const char*>(arguments[i]), parameter.bytes);
    if (!MayHoldPointers(parameter.kind)) continue;
    const bool is_one = IsOnePointer(parameter.kind);
    for (std::size_t at = 0; at + 8 <= parameter.bytes; at += 8) {
      char* word = head.data() + begin + at;
      if (is_one || IsAddress(Word(word))) std::memset(word, 0, 8);
    }
  }
}

std::uint32_t Recorder::Count(const Kernel& kernel, const Launch& launch, std::uint64_t calls) {
  const bool known = launch.arguments != nullptr;
  std::uint32_t scalars = 0;
  for (const PlannedParameter& parameter : kernel.parameters) {
    scalars += known ? parameter.bytes : 0;
  }
  std::string head;
  head.reserve(40 + scalars);
  Put(head, kernel.id);
  Put(head, launch.grid);
  Put(head, launch.block);
  Put(head, launch.shared_bytes);
  const std::size_t geometry = head.size();
  Put(head, scalars);
  if (known) PutScalars(kernel, launch.arguments, head);
  const char* full = nullptr;
  std::uint32_t id = kNone;
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return kNone;
    seen_ += calls;
    id = CounterOf(kernel, head, false);
    if (id == kNone) {
      full =
          "its launches have too many different arguments (a step, a seed?): further ones are "
          "counted by their geometry alone, and not recorded";
      head.resize(geometry);
      Put(head, std::uint32_t{0});
      id = CounterOf(kernel, head, true);
    }
    if (id == kNone) {
      full = "its launches have too many different geometries: further ones are not counted";
    } else {
      counters_[id].calls += calls;
      counters_[id].changed = true;
      Flush();
    }
  }
  if (full != nullptr && kernel.planned != nullptr) Note(&kernel, full);
  return id;
}

std::uint32_t Recorder::CounterOf(const Kernel& kernel, const std::string& head, bool folded) {
  if (const auto at = index_.find(head); at != index_.end()) return at->second;
  const unsigned quarters = (kernel.planned == nullptr ? 2 : 4) + (folded ? 4 : 0);
  if (counters_.size() >= kMostCounters / 4 * quarters ||
      head_bytes_ + head.size() > kMostHeadBytes / 4 * quarters) {
    return kNone;
  }
  head_bytes_ += head.size();
  const auto id = static_cast<std::uint32_t>(counters_.size());
  Counter& counter = counters_.emplace_back();
  counter.kernel = kernel.id;
  counter.head = head;
  counter.folded = folded;
  index_.emplace(counter.head, id);
  return id;
}

// The first launch, and of the further ones a uniform sample (Vitter's algorithm R).
bool Recorder::Draws(std::uint64_t index, std::uint32_t& replaced) {
  replaced = kNone;
  if (index <= plan_.launches) return true;
  if (plan_.launches == 0) return false;
  const std::uint64_t draw = Next(random_) % index;
  if (draw >= plan_.launches) return false;
  replaced = static_cast<std::uint32_t>(draw);
  return true;
}

// Nothing is held or read of a kernel that cannot be recorded anyway.
bool Recorder::IsHidden(const Kernel& kernel) {
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (kernel.parameters[i].kind != ParameterKind::kHidden) continue;
    Note(&kernel, "argument " + std::to_string(i + 1) +
                      " leads to pointers in memory, which its tag does not declare "
                      "(ptrs=pointers(count, bytes); those inside of structures cannot be)");
    return true;
  }
  return false;
}

void Recorder::Free::operator()(char* memory) const { std::free(memory); }
void Recorder::Forget::operator()(Recording* recording) const { delete recording; }

Recorder::Begun Recorder::Before(const Kernel& kernel, std::uint32_t counter,
                                 const Launch& launch) {
  if (kernel.planned == nullptr || counter == kNone) return nullptr;
  if (launch.arguments == nullptr && !kernel.parameters.empty()) return nullptr;
  std::uint64_t index = 0;
  std::uint32_t replaced = kNone;
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return nullptr;
    if (counters_[counter].folded) return nullptr;
    index = counters_[counter].offered++;
    if (!Draws(index, replaced)) return nullptr;
  }
  if (IsHidden(kernel)) return nullptr;
  Begun recording(new Recording(memory_));
  if (!recording->IsHeld()) {
    Note(&kernel,
         "a launch was not recorded: other threads' work did not end in time before it, or "
         "a graph was being captured");
    // The next one is the first, or is drawn in its place.
    const std::lock_guard lock(mutex_);
    --counters_[counter].offered;
    return nullptr;
  }
  recording->lock = std::unique_lock(recording_mutex_);
  recording->kernel = &kernel;
  recording->counter = counter;
  recording->index = index;
  recording->replaced = replaced;
  recording->launch = launch;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    recording->arguments.emplace_back(static_cast<const char*>(launch.arguments[i]),
                                      kernel.parameters[i].bytes);
  }
  if (!FindPointers(*recording) || !FindGlobals(*recording)) return nullptr;
  if (!Reserve(*recording)) {
    if (recording->wanted) {
      Note(&kernel, "launches of it were not recorded: --max-size allows no more");
    }
    return nullptr;
  }
  if (ReadRegions(*recording, false)) return recording;
  Drop(std::move(recording));
  return nullptr;
}

// Room for at most twice what is there: before, and after where it changed. Further launches of
// what is recorded already leave half of all room to what comes later for the first time.
bool Recorder::Reserve(Recording& recording) {
  const std::uint64_t bytes = 2 * recording.Bytes();
  const std::lock_guard lock(mutex_);
  const std::uint64_t taken = writer_.bytes_written() + reserved_;
  const bool again = recording.replaced < counters_[recording.counter].kept.size();
  const std::uint64_t most = again ? plan_.max_bytes / 2 : plan_.max_bytes;
  if (taken <= most && bytes <= most - taken) {
    recording.reserved = bytes;
    reserved_ += bytes;
    return true;
  }
  left_out_ += again ? 0 : 1;
  recording.wanted = !again;
  return false;
}

bool Recorder::AddPointer(Recording& recording, std::uint32_t parameter, std::uint32_t at,
                          bool must) {
  const std::uint64_t address = Word(recording.arguments[parameter].data() + at);
  if (address == 0) return true;
  Region region;
  if (!memory_.Find(address, region)) {
    if (!must) return true;
    Note(recording.kernel, "argument " + std::to_string(parameter + 1) +
                               " points to memory that the device's runtime did not allocate");
    return false;
  }
  recording.pointers.push_back(
      {parameter, at, recording.RegionOf(region), address - region.address});
  return true;
}

bool Recorder::FindPointers(Recording& recording) {
  const std::vector<PlannedParameter>& parameters = recording.kernel->parameters;
  for (std::uint32_t i = 0; i < parameters.size(); ++i) {
    const ParameterKind kind = parameters[i].kind;
    if (!MayHoldPointers(kind)) continue;
    const bool must = IsOnePointer(kind);
    for (std::uint32_t at = 0; at + 8 <= parameters[i].bytes; at += 8) {
      const std::size_t before = recording.pointers.size();
      if (!AddPointer(recording, i, at, must)) return false;
      if (kind == ParameterKind::kTable && recording.pointers.size() > before &&
          !FollowTable(recording, before)) {
        return false;
      }
    }
  }
  return true;
}

// All words behind the pointer that are addresses of allocations.
bool Recorder::FollowTable(Recording& recording, std::size_t pointer) {
  const std::uint32_t table = recording.pointers[pointer].region;
  const std::uint64_t offset = recording.pointers[pointer].offset;
  const Region region = recording.regions[table].region;
  if (region.bytes - offset > kMostTableBytes) {
    Note(recording.kernel, "a table of pointers lies in an allocation of more than " +
                               std::to_string(kMostTableBytes >> 20) + " MiB");
    return false;
  }
  std::vector<std::uint64_t> words((region.bytes - offset) / 8);
  if (!memory_.Read(region.address + offset, words.data(), words.size() * 8)) return false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    Region target;
    if (words[i] == 0 || !memory_.Find(words[i], target)) continue;
    recording.in_memory.push_back(
        {table, offset + 8 * i, recording.RegionOf(target), words[i] - target.address});
  }
  return true;
}

bool Recorder::FindGlobals(Recording& recording) {
  for (const PlannedGlobal& global : recording.kernel->planned->globals) {
    Region region;
    if (!memory_.FindGlobal(recording.launch.kernel, global, region)) {
      Note(recording.kernel, "the variable " + global.symbol + " was not found in the program");
      return false;
    }
    recording.globals.push_back({&global, {region}});
  }
  return true;
}

// Large pages, since most of what a buffer costs is that it is there for the first time.
bool Recorder::MakeBuffer(std::size_t bytes) {
  if (bytes <= buffer_bytes_) return true;
  constexpr std::size_t kPage = std::size_t{2} << 20;
  buffer_bytes_ = (bytes + kPage - 1) / kPage * kPage;
  buffer_.reset();
  buffer_.reset(static_cast<char*>(std::aligned_alloc(kPage, buffer_bytes_)));
  if (buffer_ == nullptr) buffer_bytes_ = 0;
  if (bytes >= kPage && buffer_ != nullptr) ::madvise(buffer_.get(), buffer_bytes_, MADV_HUGEPAGE);
  return buffer_ != nullptr;
}

std::uint32_t Recorder::ReadBlob(const Region& region, bool& failed) {
  if (failed) return kNone;
  failed = !MakeBuffer(region.bytes) || !memory_.Read(region.address, buffer_.get(), region.bytes);
  const std::uint32_t id = failed ? kNone : writer_.Blob(buffer_.get(), region.bytes);
  failed |= id == kNone;
  return id;
}

bool Recorder::ReadRegions(Recording& recording, bool after) {
  bool failed = false;
  const auto read = [&](Recording::Stretch& stretch) {
    (after ? stretch.after : stretch.before) = ReadBlob(stretch.region, failed);
  };
  for (Recording::Stretch& stretch : recording.regions) read(stretch);
  for (Recording::Global& global : recording.globals) {
    if (!after || !global.planned->constant) read(global.stretch);
  }
  if (failed) {
    Note(recording.kernel, writer_.good() ? "memory that its arguments point to cannot be read"
                                          : "the recording could not be written");
  }
  if ((after || failed) && buffer_bytes_ > kMostKeptBytes) {
    buffer_.reset();
    buffer_bytes_ = 0;
  }
  return !failed;
}

void Recorder::After(Begun recording) {
  if (!ReadRegions(*recording, true)) return Drop(std::move(recording));
  const Launch& launch = recording->launch;
  Payload payload;
  const std::lock_guard lock(mutex_);
  reserved_ -= recording->reserved;
  if (finished_) return;
  const std::uint32_t id = launches_++;
  payload.U32(id).U32(recording->kernel->id).U32(recording->counter).U64(recording->index);
  payload.U32(launch.device).U32(launch.cooperative ? 1 : 0);
  for (const std::uint32_t n : launch.cluster) payload.U32(n);
  payload.U64(launch.max_dynamic_shared_bytes);
  payload.U32(static_cast<std::uint32_t>(recording->arguments.size()));
  for (const std::string& bytes : recording->arguments) payload.Text(bytes);
  payload.U32(static_cast<std::uint32_t>(recording->regions.size()));
  for (const Recording::Stretch& stretch : recording->regions) {
    payload.U64(stretch.region.address).U64(stretch.region.bytes);
    payload.U32(static_cast<std::uint32_t>(stretch.region.kind));
    payload.U32(stretch.before).U32(stretch.after);
  }
  payload.U32(static_cast<std::uint32_t>(recording->pointers.size()));
  for (const Recording::Pointer& pointer : recording->pointers) {
    payload.U32(pointer.parameter).U32(static_cast<std::uint32_t>(pointer.at));
    payload.U32(pointer.region).U64(pointer.offset);
  }
  payload.U32(static_cast<std::uint32_t>(recording->in_memory.size()));
  for (const Recording::Pointer& pointer : recording->in_memory) {
    payload.U32(pointer.parameter).U64(pointer.at).U32(pointer.region).U64(pointer.offset);
  }
  payload.U32(static_cast<std::uint32_t>(recording->globals.size()));
  for (const Recording::Global& global : recording->globals) {
    payload.Text(global.planned->symbol).U32(global.planned->constant ? 1 : 0);
    payload.U32(global.stretch.before).U32(global.stretch.after);
  }
  writer_.Chunk(ChunkKind::kLaunch, payload);
  Counter& counter = counters_[recording->counter];
  if (recording->index == 0) return;
  // Of several threads a later launch may come first, into the place that this one was to have.
  const bool replaces = recording->replaced < counter.kept.size();
  if (!replaces && counter.kept.size() < plan_.launches) {
    counter.kept.push_back(id);
    return;
  }
  Payload replaced;
  replaced.U32(replaces ? counter.kept[recording->replaced] : id);
  writer_.Chunk(ChunkKind::kReplaced, replaced);
  if (replaces) counter.kept[recording->replaced] = id;
}

void Recorder::Drop(Begun recording) {
  const std::lock_guard lock(mutex_);
  reserved_ -= recording->reserved;
}

void Recorder::AddTime(std::uint32_t counter, double microseconds, std::uint64_t calls) {
  if (counter == kNone) return;
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  Counter& counted = counters_[counter];
  counted.timed += calls;
  counted.microseconds += microseconds;
  counted.changed = true;
}

void Recorder::Note(const Kernel* kernel, const std::string& text) {
  const std::uint32_t id = kernel == nullptr ? kNone : kernel->id;
  const std::lock_guard lock(mutex_);
  if (!notes_.emplace(id, text).second) return;
  Payload payload;
  payload.U32(id).Text(text);
  writer_.Chunk(ChunkKind::kNote, payload);
}

// So that of a program that is killed the counts are not lost: after a second, and each time an
// eighth more of the run has passed, which bounds what a long run writes. With the lock.
void Recorder::Flush() {
  const std::uint64_t now = Milliseconds();
  if (now < next_flush_) return;
  next_flush_ = now + std::max<std::uint64_t>(1000, (now - started_) / 8);
  if (writer_.bytes_written() < plan_.max_bytes) WriteCounters();
}

void Recorder::WriteCounters() {
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    Counter& counter = counters_[i];
    if (!counter.changed) continue;
    counter.changed = false;
    Payload payload;
    payload.U32(static_cast<std::uint32_t>(i)).Raw(counter.head.data(), counter.head.size());
    payload.U64(counter.calls).U64(counter.timed).F64(counter.microseconds);
    writer_.Chunk(ChunkKind::kCounter, payload);
  }
}

void Recorder::Finish() {
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  finished_ = true;
  WriteCounters();
  Payload end;
  end.U64(seen_).U64(left_out_);
  writer_.Chunk(ChunkKind::kEnd, end);
  // A thread that still reads memory would write behind the end.
  writer_.Close();
}

}  // namespace cupilot::capture
