#include "recording/recorder.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace cupilot::capture {
namespace {

// More geometries than that are no geometries that a tuner could serve.
constexpr std::size_t kMostCounters = 1 << 16;

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

// An address, as far as a number can tell; used only to tell launches of the same scalars apart
// from others.
bool LooksLikeAddress(std::uint64_t word) {
  return word >= (std::uint64_t{1} << 32) && word < (std::uint64_t{1} << 57);
}

bool MayHoldPointers(ParameterKind kind) { return kind != ParameterKind::kScalar; }
bool IsOnePointer(ParameterKind kind) {
  return kind == ParameterKind::kPointer || kind == ParameterKind::kTable ||
         kind == ParameterKind::kHidden;
}

// The bytes of all parameters, those of pointers zeroed.
std::string ScalarsOf(const std::vector<PlannedParameter>& parameters, void* const* arguments) {
  std::string scalars;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const PlannedParameter& parameter = parameters[i];
    const std::size_t begin = scalars.size();
    scalars.append(static_cast<const char*>(arguments[i]), parameter.bytes);
    if (!MayHoldPointers(parameter.kind)) continue;
    for (std::size_t at = 0; at + 8 <= parameter.bytes; at += 8) {
      char* word = scalars.data() + begin + at;
      if (IsOnePointer(parameter.kind) || LooksLikeAddress(Word(word))) std::memset(word, 0, 8);
    }
  }
  return scalars;
}

Payload HeadOf(std::uint32_t kernel, const Launch& launch, const std::string& scalars) {
  Payload head;
  head.U32(kernel);
  for (const auto& three : {launch.grid, launch.block}) {
    for (const std::uint32_t n : three) head.U32(n);
  }
  head.U64(launch.shared_bytes).Text(scalars);
  return head;
}

std::uint64_t Seconds() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

}  // namespace

class Recorder::Recording {
 public:
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

  std::uint32_t RegionOf(const Region& region) {
    for (std::size_t i = 0; i < regions.size(); ++i) {
      if (regions[i].region.address == region.address) return static_cast<std::uint32_t>(i);
    }
    regions.push_back({region});
    return static_cast<std::uint32_t>(regions.size() - 1);
  }
  std::uint64_t Bytes() const {
    std::uint64_t bytes = 0;
    for (const Stretch& stretch : regions) bytes += stretch.region.bytes;
    for (const Global& global : globals) bytes += global.stretch.region.bytes;
    return bytes;
  }
  std::unique_lock<std::mutex> lock;
};

Recorder::Recorder(Plan plan, Memory& memory, std::uint32_t device)
    : plan_(std::move(plan)), memory_(memory), writer_(plan_.folder, device), random_(plan_.seed) {}

Recorder::~Recorder() { Finish(); }

const Recorder::Kernel* Recorder::Find(const std::string& signature, const std::string& name,
                                       const std::vector<std::uint32_t>& sizes,
                                       const std::vector<std::uint32_t>& offsets) {
  const std::lock_guard lock(mutex_);
  const auto [at, added] = kernels_.try_emplace(signature);
  Kernel& kernel = at->second;
  if (!added) return &kernel;
  kernel.id = static_cast<std::uint32_t>(kernels_.size() - 1);
  for (const PlannedKernel& planned : plan_.kernels) {
    if (planned.signature == signature) kernel.planned = &planned;
  }
  if (kernel.planned == nullptr && !name.empty()) {
    const auto same = [&](const PlannedKernel& planned) { return planned.name == name; };
    if (std::count_if(plan_.kernels.begin(), plan_.kernels.end(), same) == 1) {
      kernel.planned = &*std::find_if(plan_.kernels.begin(), plan_.kernels.end(), same);
    }
  }
  for (const std::uint32_t bytes : sizes) kernel.parameters.push_back({{}, bytes});
  if (kernel.planned != nullptr && !kernel.planned->parameters.empty()) {
    const std::vector<PlannedParameter>& known = kernel.planned->parameters;
    const bool fits = std::equal(known.begin(), known.end(), sizes.begin(), sizes.end(),
                                 [](const PlannedParameter& parameter, std::uint32_t bytes) {
                                   return parameter.bytes == bytes;
                                 });
    if (fits) {
      kernel.parameters = known;
    } else {
      kernel.planned = nullptr;
    }
  }
  Payload payload;
  payload.U32(kernel.id).Text(signature).Text(name);
  payload.U32(static_cast<std::uint32_t>(sizes.size()));
  std::uint32_t offset = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    payload.U32(i < offsets.size() ? offsets[i] : offset).U32(sizes[i]);
    payload.U32(static_cast<std::uint32_t>(kernel.parameters[i].kind));
    offset += (sizes[i] + 7) / 8 * 8;
  }
  writer_.Chunk(ChunkKind::kKernel, payload);
  return &kernel;
}

std::uint32_t Recorder::Count(const Kernel& kernel, const Launch& launch) {
  const std::string head =
      HeadOf(kernel.id, launch, ScalarsOf(kernel.parameters, launch.arguments)).bytes();
  const std::uint64_t now = Seconds();
  const std::lock_guard lock(mutex_);
  if (finished_) return kNone;
  ++seen_;
  auto at = index_.find(head);
  if (at == index_.end()) {
    if (counters_.size() >= kMostCounters) return kNone;
    at = index_.emplace(head, static_cast<std::uint32_t>(counters_.size())).first;
    counters_.emplace_back();
    counters_.back().kernel = kernel.id;
    counters_.back().head = head;
  }
  Counter& counter = counters_[at->second];
  ++counter.calls;
  counter.changed = true;
  // So that of a program that is killed the counts are not lost.
  if (now > last_flush_ + 1) {
    last_flush_ = now;
    WriteCounters();
  }
  return at->second;
}

// The first launch, and of the further ones a uniform sample (Vitter's algorithm R).
bool Recorder::Draws(Counter& counter, std::uint64_t index, std::uint32_t& replaced) {
  replaced = kNone;
  if (index == 0) return true;
  if (index <= plan_.launches) return true;
  if (plan_.launches == 0) return false;
  const std::uint64_t draw = Next(random_) % index;
  if (draw >= counter.kept.size()) return false;
  replaced = static_cast<std::uint32_t>(draw);
  return true;
}

std::unique_ptr<Recorder::Recording> Recorder::Before(const Kernel& kernel, std::uint32_t counter,
                                                      const Launch& launch) {
  if (kernel.planned == nullptr || counter == kNone) return nullptr;
  auto recording = std::make_unique<Recording>();
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return nullptr;
    Counter& counted = counters_[counter];
    recording->index = counted.calls - 1;
    if (!Draws(counted, recording->index, recording->replaced)) return nullptr;
  }
  recording->kernel = &kernel;
  recording->counter = counter;
  recording->launch = launch;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    recording->arguments.emplace_back(static_cast<const char*>(launch.arguments[i]),
                                      kernel.parameters[i].bytes);
  }
  recording->lock = std::unique_lock(recording_mutex_);
  if (!FindPointers(*recording) || !FindGlobals(*recording)) return nullptr;
  {
    // At most twice what is there: before, and after where it changed.
    const std::lock_guard lock(mutex_);
    recording->reserved = 2 * recording->Bytes();
    if (writer_.bytes_written() + reserved_ + recording->reserved > plan_.max_bytes) {
      ++left_out_;
      return nullptr;
    }
    reserved_ += recording->reserved;
  }
  if (ReadRegions(*recording, false)) return recording;
  Drop(std::move(recording));
  return nullptr;
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
    if (kind == ParameterKind::kHidden) {
      Note(recording.kernel, "argument " + std::to_string(i + 1) +
                                 " leads to pointers in memory, which its tag does not declare "
                                 "(ptrs=pointers(count, bytes))");
      return false;
    }
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

std::uint32_t Recorder::ReadBlob(const Region& region, bool& failed) {
  std::unique_ptr<char[]> bytes(new (std::nothrow) char[region.bytes]);
  if (bytes == nullptr || !memory_.Read(region.address, bytes.get(), region.bytes)) {
    failed = true;
    return kNone;
  }
  const std::uint32_t id = writer_.Blob(bytes.get(), region.bytes);
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
  if (failed) Note(recording.kernel, "memory that its arguments point to cannot be read");
  return !failed;
}

void Recorder::After(std::unique_ptr<Recording> recording) {
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
  if (recording->replaced == kNone || recording->replaced >= counter.kept.size()) {
    counter.kept.push_back(id);
    return;
  }
  Payload replaced;
  replaced.U32(counter.kept[recording->replaced]);
  writer_.Chunk(ChunkKind::kReplaced, replaced);
  counter.kept[recording->replaced] = id;
}

void Recorder::Drop(std::unique_ptr<Recording> recording) {
  const std::lock_guard lock(mutex_);
  reserved_ -= recording->reserved;
}

void Recorder::AddTime(std::uint32_t counter, double microseconds) {
  if (counter == kNone) return;
  const std::lock_guard lock(mutex_);
  Counter& counted = counters_[counter];
  ++counted.timed;
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

// With the lock.
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
}

}  // namespace cupilot::capture
