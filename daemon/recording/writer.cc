#include "recording/writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cupilot::capture {
namespace {

constexpr std::uint64_t kSecondStart = 0x2545f4914f6cdd1dull;

int Create(const std::string& folder) {
  const std::string stem = folder + "/" + std::to_string(::getpid());
  for (int i = 0; i < 1000; ++i) {
    const std::string path = stem + (i > 0 ? "." + std::to_string(i) : "") + ".capture";
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

}  // namespace

Payload& Payload::Text(const std::string& text) {
  U32(static_cast<std::uint32_t>(text.size()));
  return Raw(text.data(), text.size());
}

Writer::Writer(const std::string& folder, std::uint32_t device) : file_(Create(folder)) {
  good_ = file_ >= 0;
  Payload header;
  header.Raw(kMagic, sizeof kMagic).U32(kVersion).U32(device);
  WriteAll(header.bytes().data(), header.bytes().size());
}

Writer::~Writer() {
  if (file_ >= 0) ::close(file_);
}

bool Writer::good() const {
  const std::lock_guard lock(mutex_);
  return good_;
}

std::uint64_t Writer::bytes_written() const {
  const std::lock_guard lock(mutex_);
  return written_;
}

void Writer::Abandon() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  good_ = false;
}

bool Writer::WriteAll(const void* bytes, std::size_t count) {
  const char* at = static_cast<const char*>(bytes);
  while (good_ && count > 0) {
    const ssize_t n = ::write(file_, at, count);
    if (n < 0 && errno == EINTR) continue;
    good_ = n > 0;
    if (!good_) break;
    at += n;
    count -= static_cast<std::size_t>(n);
    written_ += static_cast<std::uint64_t>(n);
  }
  return good_;
}

bool Writer::WriteHeader(ChunkKind kind, std::uint64_t bytes, std::uint64_t checksum) {
  Payload header;
  header.U32(static_cast<std::uint32_t>(kind)).U32(0).U64(bytes).U64(checksum);
  return WriteAll(header.bytes().data(), header.bytes().size());
}

void Writer::Chunk(ChunkKind kind, const Payload& payload) {
  const std::lock_guard lock(mutex_);
  const std::string& bytes = payload.bytes();
  WriteHeader(kind, bytes.size(), Checksum(bytes.data(), bytes.size()));
  WriteAll(bytes.data(), bytes.size());
}

std::uint32_t Writer::Blob(const void* bytes, std::size_t count) {
  const std::uint64_t first = Checksum(bytes, count);
  const std::uint64_t second = ContinueChecksum(kSecondStart, bytes, count);
  const std::lock_guard lock(mutex_);
  const auto [at, added] = seen_.try_emplace({count, {first, second}}, blobs_);
  if (!added) return at->second;
  const std::uint32_t id = blobs_++;
  // The id is padded to a word, so that the sum is that of two parts.
  Payload head;
  head.U32(id).U32(0);
  const std::uint64_t sum =
      ContinueChecksum(Checksum(head.bytes().data(), head.bytes().size()), bytes, count);
  WriteHeader(ChunkKind::kBlob, head.bytes().size() + count, sum);
  WriteAll(head.bytes().data(), head.bytes().size());
  WriteAll(bytes, count);
  return good_ ? id : kNone;
}

}  // namespace cupilot::capture
