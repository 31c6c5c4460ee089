#include "recording/writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "recording/checksum.h"

namespace cupilot::capture {
namespace {

// A program that prints the numbers of its files, or that closes those it did not open, should not
// notice ours.
constexpr int kFarAway = 700;

int MoveAway(int file) {
  const int far = ::fcntl(file, F_DUPFD_CLOEXEC, kFarAway);
  if (far < 0) return file;
  ::close(file);
  return far;
}

int Create(const std::string& folder) {
  const std::string stem = folder + "/" + std::to_string(::getpid());
  for (int i = 0; i < 1000; ++i) {
    const std::string path = stem + (i > 0 ? "." + std::to_string(i) : "") + ".capture";
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) return MoveAway(file);
    if (errno != EEXIST) return -1;
  }
  return -1;
}

Payload ChunkHeader(ChunkKind kind, std::uint64_t bytes, std::uint64_t checksum) {
  Payload header;
  header.U32(static_cast<std::uint32_t>(kind)).U32(0).U64(bytes).U64(checksum);
  return header;
}

}  // namespace

Payload& Payload::Text(const std::string& text) {
  U32(static_cast<std::uint32_t>(text.size()));
  return Raw(text.data(), text.size());
}

Writer::Writer(const std::string& folder, std::uint32_t device) : file_(Create(folder)) {
  struct stat status{};
  good_ = file_ >= 0 && ::fstat(file_, &status) == 0;
  device_ = status.st_dev;
  number_ = status.st_ino;
  Payload header;
  header.Raw(kMagic, sizeof kMagic).U32(kVersion).U32(device);
  WriteWhole({{header.bytes().data(), header.bytes().size()}});
}

Writer::~Writer() { Close(); }

bool Writer::good() const {
  const std::lock_guard lock(mutex_);
  return good_;
}

std::uint64_t Writer::bytes_written() const {
  const std::lock_guard lock(mutex_);
  return written_;
}

void Writer::Close() {
  const std::lock_guard lock(mutex_);
  if (file_ >= 0 && IsStillOurs()) ::close(file_);
  file_ = -1;
  good_ = false;
}

void Writer::Abandon() {
  if (file_ >= 0 && IsStillOurs()) ::close(file_);
  file_ = -1;
  good_ = false;
}

// Daemons close all files; the number may be that of one of theirs by now.
bool Writer::IsStillOurs() const {
  struct stat status{};
  return ::fstat(file_, &status) == 0 && status.st_dev == device_ && status.st_ino == number_;
}

bool Writer::WriteAll(const Part& part) {
  const char* at = static_cast<const char*>(part.bytes);
  for (std::size_t left = part.count; left > 0;) {
    const ssize_t n = ::write(file_, at, left);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    left -= static_cast<std::size_t>(n);
  }
  return true;
}

bool Writer::WriteWhole(std::initializer_list<Part> parts) {
  if (!good_) return false;
  good_ = IsStillOurs();
  if (!good_) return false;
  std::uint64_t bytes = 0;
  for (const Part& part : parts) {
    good_ = good_ && WriteAll(part);
    bytes += part.count;
  }
  if (good_) {
    written_ += bytes;
  } else {
    // Where that fails, too, the reader stops before the part of a chunk.
    static_cast<void>(::ftruncate(file_, static_cast<off_t>(written_)) == 0);
  }
  return good_;
}

void Writer::Chunk(ChunkKind kind, const Payload& payload) {
  const std::string& bytes = payload.bytes();
  const Payload header = ChunkHeader(kind, bytes.size(), Checksum(bytes.data(), bytes.size()));
  const std::lock_guard lock(mutex_);
  WriteWhole({{header.bytes().data(), header.bytes().size()}, {bytes.data(), bytes.size()}});
}

std::uint32_t Writer::Blob(const void* bytes, std::size_t count) {
  std::unique_lock lock(mutex_);
  std::uint32_t id = blobs_;
  lock.unlock();
  // The id is padded to a word, so that the sum is that of two parts.
  const auto head_of = [](std::uint32_t number) { return Payload().U32(number).U32(0).bytes(); };
  std::string head = head_of(id);
  BlobSums sums = SumBlob(Checksum(head.data(), head.size()), bytes, count);
  lock.lock();
  if (!good_) return kNone;
  const auto [at, added] = seen_.try_emplace({count, {sums.even, sums.odd}}, blobs_);
  if (!added) return at->second;
  if (blobs_ != id) {  // another thread was quicker
    head = head_of(blobs_);
    sums.chunk = ContinueChecksum(Checksum(head.data(), head.size()), bytes, count);
  }
  id = blobs_++;
  const Payload header = ChunkHeader(ChunkKind::kBlob, head.size() + count, sums.chunk);
  const bool written = WriteWhole(
      {{header.bytes().data(), header.bytes().size()}, {head.data(), head.size()}, {bytes, count}});
  return written ? id : kNone;
}

}  // namespace cupilot::capture
