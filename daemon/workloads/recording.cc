#include "workloads/recording.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace cupilot::workloads {
namespace {

using capture::ChunkKind;

// No chunk but a blob is larger: what claims to be is no chunk.
constexpr std::uint64_t kLargestChunk = std::uint64_t{64} << 20;

// Whether so many bytes hold a pointer at `at`, which may be any number.
bool HasWord(std::uint64_t bytes, std::uint64_t at) { return bytes >= 8 && at <= bytes - 8; }

// Takes values off a payload; after the first that is not there all are 0 and ok() is false.
class Taker {
 public:
  explicit Taker(const std::string& bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && at_ == bytes_.size(); }
  template <class T>
  T Take() {
    T value{};
    if (!Has(sizeof value)) return value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::uint32_t U32() { return Take<std::uint32_t>(); }
  std::uint64_t U64() { return Take<std::uint64_t>(); }
  std::array<std::uint32_t, 3> Three() {
    std::array<std::uint32_t, 3> three{};
    for (std::uint32_t& n : three) n = U32();
    return three;
  }
  std::string Text() {
    const std::uint32_t count = U32();
    if (!Has(count)) return {};
    std::string text = bytes_.substr(at_, count);
    at_ += count;
    return text;
  }
  // A count of things of at least `least` bytes each.
  std::uint32_t Count(std::size_t least) {
    const std::uint32_t count = U32();
    ok_ = ok_ && count <= (bytes_.size() - at_) / least;
    return ok_ ? count : 0;
  }

 private:
  bool Has(std::size_t count) {
    ok_ = ok_ && count <= bytes_.size() - at_;
    return ok_;
  }

  const std::string& bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

std::vector<RecordedPointer> TakePointers(Taker& taker, bool in_memory) {
  std::vector<RecordedPointer> pointers(taker.Count(20));
  for (RecordedPointer& pointer : pointers) {
    pointer.holder = taker.U32();
    pointer.at = in_memory ? taker.U64() : taker.U32();
    pointer.region = taker.U32();
    pointer.offset = taker.U64();
  }
  return pointers;
}

RecordedLaunch TakeLaunch(Taker& taker) {
  RecordedLaunch launch;
  launch.kernel = taker.U32();
  launch.counter = taker.U32();
  launch.index = taker.U64();
  launch.device = taker.U32();
  launch.cooperative = taker.U32() != 0;
  launch.cluster = taker.Three();
  launch.max_dynamic_shared_bytes = taker.U64();
  launch.arguments.resize(taker.Count(4));
  for (std::string& argument : launch.arguments) argument = taker.Text();
  launch.regions.resize(taker.Count(28));
  for (RecordedRegion& region : launch.regions) {
    region.address = taker.U64();
    region.bytes = taker.U64();
    region.kind = static_cast<capture::RegionKind>(taker.U32());
    region.before = taker.U32();
    region.after = taker.U32();
  }
  launch.pointers = TakePointers(taker, false);
  launch.in_memory = TakePointers(taker, true);
  launch.globals.resize(taker.Count(16));
  for (RecordedGlobal& global : launch.globals) {
    global.symbol = taker.Text();
    global.constant = taker.U32() != 0;
    global.before = taker.U32();
    global.after = taker.U32();
  }
  return launch;
}

RecordedKernel TakeKernel(Taker& taker) {
  RecordedKernel kernel;
  kernel.signature = taker.Text();
  kernel.name = taker.Text();
  kernel.parameters.resize(taker.Count(12));
  for (RecordedParameter& parameter : kernel.parameters) {
    parameter.offset = taker.U32();
    parameter.bytes = taker.U32();
    parameter.kind = static_cast<capture::ParameterKind>(taker.U32());
  }
  return kernel;
}

RecordedCounter TakeCounter(Taker& taker) {
  RecordedCounter counter;
  counter.kernel = taker.U32();
  counter.grid = taker.Three();
  counter.block = taker.Three();
  counter.shared_bytes = taker.U64();
  counter.scalars = taker.Text();
  counter.calls = taker.U64();
  counter.timed = taker.U64();
  counter.microseconds = taker.Take<double>();
  return counter;
}

base::Result<> ReadAt(int file, std::uint64_t offset, void* to, std::size_t count) {
  char* at = static_cast<char*>(to);
  while (count > 0) {
    const ssize_t n = ::pread(file, at, count, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return base::Fail(base::IoError(n == 0 ? "the file became shorter" : std::strerror(errno)));
    }
    at += n;
    offset += static_cast<std::uint64_t>(n);
    count -= static_cast<std::size_t>(n);
  }
  return {};
}

base::Error Damaged(const std::string& path, std::uint64_t offset, const std::string& what) {
  return base::Corruption(path + ": byte " + std::to_string(offset) + ": " + what +
                          "; capture the program again");
}

}  // namespace

Recording::Recording(Recording&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      size_(other.size_),
      device_(other.device_),
      whole_(other.whole_),
      kernels_(std::move(other.kernels_)),
      counters_(std::move(other.counters_)),
      launches_(std::move(other.launches_)),
      blobs_(std::move(other.blobs_)),
      notes_(std::move(other.notes_)),
      seen_(other.seen_),
      left_out_(other.left_out_) {}

Recording::~Recording() {
  if (file_ >= 0) ::close(file_);
}

base::Result<Recording> Recording::Read(const std::string& path) {
  Recording recording;
  recording.path_ = path;
  recording.file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (recording.file_ < 0 || ::fstat(recording.file_, &status) != 0) {
    return base::Fail(base::IoError(path + ": " + std::strerror(errno)));
  }
  recording.size_ = static_cast<std::uint64_t>(status.st_size);
  TRY(recording.ReadHeader());
  TRY(recording.ReadChunks());
  TRY(recording.Check());
  return recording;
}

base::Result<> Recording::ReadHeader() {
  std::string header(capture::kHeaderBytes, '\0');
  if (size_ >= header.size()) TRY(ReadAt(file_, 0, header.data(), header.size()));
  if (std::memcmp(header.data(), capture::kMagic, sizeof capture::kMagic) != 0) {
    return base::Fail(base::Corruption(path_ + ": is no recording of a captured program"));
  }
  std::uint32_t version = 0;
  std::memcpy(&version, header.data() + 8, sizeof version);
  std::memcpy(&device_, header.data() + 12, sizeof device_);
  if (version == capture::kVersion && device_ <= 1) return {};
  return base::Fail(base::Corruption(
      path_ + ": was recorded by another version of cuPilot (format " + std::to_string(version) +
      ", this one reads " + std::to_string(capture::kVersion) + "); capture the program again"));
}

base::Result<> Recording::ReadChunks() {
  std::uint64_t at = capture::kHeaderBytes;
  while (size_ - at >= capture::kChunkHeaderBytes) {
    struct {
      std::uint32_t kind, zero;
      std::uint64_t bytes, checksum;
    } header{};
    static_assert(sizeof header == capture::kChunkHeaderBytes);
    TRY(ReadAt(file_, at, &header, sizeof header));
    const bool blob = header.kind == static_cast<std::uint32_t>(ChunkKind::kBlob);
    const bool known =
        header.kind >= 1 && header.kind <= static_cast<std::uint32_t>(ChunkKind::kEnd);
    if (!known || header.zero != 0 || (!blob && header.bytes > kLargestChunk)) {
      return base::Fail(Damaged(path_, at, "is not the beginning of a chunk"));
    }
    const std::uint64_t content = at + capture::kChunkHeaderBytes;
    if (header.bytes > size_ - content) return {};  // the program ended while it wrote this
    if (blob) {
      if (header.bytes < 8) return base::Fail(Damaged(path_, at, "is too short for its kind"));
      std::uint32_t id = 0;
      TRY(ReadAt(file_, content, &id, sizeof id));
      blobs_[id] = {content, header.bytes, header.checksum};
    } else {
      std::string payload(header.bytes, '\0');
      TRY(ReadAt(file_, content, payload.data(), payload.size()));
      if (capture::Checksum(payload.data(), payload.size()) != header.checksum) {
        return base::Fail(Damaged(path_, at, "has changed since it was written"));
      }
      if (auto added = Add(header.kind, payload); !added) {
        return base::Fail(Damaged(path_, at, added.error().message));
      }
    }
    at = content + header.bytes;
  }
  return {};
}

base::Result<> Recording::Add(std::uint32_t kind, const std::string& payload) {
  Taker taker(payload);
  const std::uint32_t id = static_cast<ChunkKind>(kind) == ChunkKind::kEnd ? 0 : taker.U32();
  switch (static_cast<ChunkKind>(kind)) {
    case ChunkKind::kKernel:
      kernels_[id] = TakeKernel(taker);
      break;
    case ChunkKind::kLaunch:
      launches_[id] = TakeLaunch(taker);
      break;
    case ChunkKind::kCounter:
      counters_[id] = TakeCounter(taker);
      break;
    case ChunkKind::kNote:
      (id == capture::kNone ? notes_ : kernels_[id].notes).push_back(taker.Text());
      break;
    case ChunkKind::kReplaced:
      launches_.erase(id);
      break;
    case ChunkKind::kEnd:
      seen_ = taker.U64();
      left_out_ = taker.U64();
      whole_ = true;
      break;
    case ChunkKind::kBlob:
      break;
  }
  if (taker.at_end()) return {};
  return base::Fail(base::Corruption("does not hold what a chunk of its kind holds"));
}

// What refers to something refers to what is there.
base::Result<> Recording::Check() const {
  const auto fail = [this](const std::string& what) {
    return base::Fail(base::Corruption(path_ + ": " + what + "; capture the program again"));
  };
  for (const auto& [id, counter] : counters_) {
    if (kernels_.count(counter.kernel) == 0)
      return fail("a count is of a kernel that is not there");
  }
  for (const auto& [id, launch] : launches_) {
    const auto kernel = kernels_.find(launch.kernel);
    if (kernel == kernels_.end()) return fail("a launch is of a kernel that is not there");
    if (launch.arguments.size() != kernel->second.parameters.size()) {
      return fail("a launch has other arguments than its kernel");
    }
    for (const RecordedPointer& pointer : launch.pointers) {
      if (pointer.holder >= launch.arguments.size() || pointer.region >= launch.regions.size() ||
          !HasWord(launch.arguments[pointer.holder].size(), pointer.at) ||
          pointer.offset > launch.regions[pointer.region].bytes) {
        return fail("a pointer of a launch leads nowhere");
      }
    }
    for (const RecordedPointer& pointer : launch.in_memory) {
      if (pointer.holder >= launch.regions.size() || pointer.region >= launch.regions.size() ||
          !HasWord(launch.regions[pointer.holder].bytes, pointer.at) ||
          pointer.offset > launch.regions[pointer.region].bytes) {
        return fail("a pointer in recorded memory leads nowhere");
      }
    }
    for (const RecordedRegion& region : launch.regions) {
      for (const std::uint32_t blob : {region.before, region.after}) {
        if (blob == capture::kNone) continue;
        if (!HasBlob(blob) || BlobBytes(blob) != region.bytes) {
          return fail("the contents of a launch's memory are not there");
        }
      }
    }
  }
  return {};
}

std::uint64_t Recording::BlobBytes(std::uint32_t id) const {
  const auto at = blobs_.find(id);
  return at == blobs_.end() ? 0 : at->second.bytes - 8;
}

base::Result<std::string> Recording::Blob(std::uint32_t id) const {
  const auto at = blobs_.find(id);
  if (at == blobs_.end()) return base::Fail(base::NotFound(path_ + ": has no such contents"));
  const Place& place = at->second;
  std::string head(8, '\0');
  std::string bytes(place.bytes - 8, '\0');
  TRY(ReadAt(file_, place.offset, head.data(), head.size()));
  TRY(ReadAt(file_, place.offset + 8, bytes.data(), bytes.size()));
  const std::uint64_t sum = capture::ContinueChecksum(capture::Checksum(head.data(), head.size()),
                                                      bytes.data(), bytes.size());
  if (sum == place.checksum) return bytes;
  return base::Fail(Damaged(path_, place.offset, "has changed since it was written"));
}

}  // namespace cupilot::workloads
