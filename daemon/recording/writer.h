// Writes one recording. Thread-safe. After the first failure (a full disk, or a program that closed
// every file it could think of) nothing more is written, and the file ends with its last whole
// chunk.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "recording/format.h"

namespace cupilot::capture {

// A payload that is put together in memory.
class Payload {
 public:
  Payload& U32(std::uint32_t value) { return Raw(&value, sizeof value); }
  Payload& U64(std::uint64_t value) { return Raw(&value, sizeof value); }
  Payload& F64(double value) { return Raw(&value, sizeof value); }
  Payload& Text(const std::string& text);
  Payload& Raw(const void* bytes, std::size_t count) {
    bytes_.append(static_cast<const char*>(bytes), count);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Writer {
 public:
  // Creates FOLDER/PID.capture (or .N.capture where it is there already). `device`: format.h.
  Writer(const std::string& folder, std::uint32_t device);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer();

  bool good() const;
  void Chunk(ChunkKind kind, const Payload& payload);
  // The id of a blob with these bytes, written unless one like it is there; kNone on failure.
  std::uint32_t Blob(const void* bytes, std::size_t count);
  // Of the file, so far.
  std::uint64_t bytes_written() const;
  // Nothing is written after it.
  void Close();
  // Forgets the file without touching it: in a forked child it is the parent's. Takes no lock,
  // which a thread that the child does not have may hold.
  void Abandon();

 private:
  struct Part {
    const void* bytes;
    std::size_t count;
  };
  bool IsStillOurs() const;
  bool WriteAll(const Part& part);
  bool WriteWhole(std::initializer_list<Part> parts);

  mutable std::mutex mutex_;
  int file_ = -1;
  dev_t device_ = 0;  // of the file, with its number: what tells it from another one
  ino_t number_ = 0;
  bool good_ = false;
  std::uint64_t written_ = 0;
  std::uint32_t blobs_ = 0;
  // By length and sums: those of random bytes agree once in 2^64.
  std::map<std::pair<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>>, std::uint32_t> seen_;
};

}  // namespace cupilot::capture
