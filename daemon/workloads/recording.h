// Reads what a captured program left behind (recording/format.h). Contents of memory stay in the
// file until they are asked for. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "recording/format.h"

namespace cupilot::workloads {

struct RecordedParameter {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  capture::ParameterKind kind = capture::ParameterKind::kUnknown;
};

struct RecordedKernel {
  std::string signature;  // mangled
  std::string name;       // as people say it; may be empty
  std::vector<RecordedParameter> parameters;
  std::vector<std::string> notes;  // why launches were not recorded
};

struct RecordedRegion {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  capture::RegionKind kind = capture::RegionKind::kDevice;
  std::uint32_t before = capture::kNone;  // blobs
  std::uint32_t after = capture::kNone;
};

// In the bytes of parameter `holder`, or of region `holder`.
struct RecordedPointer {
  std::uint32_t holder = 0;
  std::uint64_t at = 0;
  std::uint32_t region = 0;
  std::uint64_t offset = 0;
};

struct RecordedGlobal {
  std::string symbol;
  bool constant = true;
  std::uint32_t before = capture::kNone;
  std::uint32_t after = capture::kNone;
};

struct RecordedLaunch {
  std::uint32_t kernel = 0;
  std::uint32_t counter = 0;
  std::uint64_t index = 0;
  std::uint32_t device = 0;
  bool cooperative = false;
  std::array<std::uint32_t, 3> cluster{};
  std::uint64_t max_dynamic_shared_bytes = 0;
  std::vector<std::string> arguments;  // bytes
  std::vector<RecordedRegion> regions;
  std::vector<RecordedPointer> pointers;   // in parameters
  std::vector<RecordedPointer> in_memory;  // in regions
  std::vector<RecordedGlobal> globals;
};

// Launches of one kernel with the same geometry and scalars.
struct RecordedCounter {
  std::uint32_t kernel = 0;
  std::array<std::uint32_t, 3> grid{};
  std::array<std::uint32_t, 3> block{};
  std::uint64_t shared_bytes = 0;
  std::string scalars;
  std::uint64_t calls = 0;
  std::uint64_t timed = 0;
  double microseconds = 0;  // of the timed ones

  // Estimated from the timed ones; 0 where none was.
  double TotalMicroseconds() const {
    return timed == 0 ? 0 : microseconds / static_cast<double>(timed) * static_cast<double>(calls);
  }
};

class Recording {
 public:
  // kCorruption for a file that is none, is of another version or was changed, with the place. One
  // that merely ends early is read up to there: whole() says so.
  static base::Result<Recording> Read(const std::string& path);
  Recording(Recording&& other) noexcept;
  Recording& operator=(Recording&&) = delete;
  ~Recording();

  const std::string& path() const { return path_; }
  bool on_host() const { return device_ == 0; }
  // The program ended as programs do, and all that it recorded is here.
  bool whole() const { return whole_; }
  const std::map<std::uint32_t, RecordedKernel>& kernels() const { return kernels_; }
  const std::map<std::uint32_t, RecordedCounter>& counters() const { return counters_; }
  const std::map<std::uint32_t, RecordedLaunch>& launches() const { return launches_; }
  std::uint64_t launches_seen() const { return seen_; }
  // For want of space.
  std::uint64_t left_out() const { return left_out_; }
  const std::vector<std::string>& notes() const { return notes_; }

  bool HasBlob(std::uint32_t id) const { return blobs_.count(id) != 0; }
  std::uint64_t BlobBytes(std::uint32_t id) const;
  base::Result<std::string> Blob(std::uint32_t id) const;

 private:
  struct Place {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t checksum = 0;  // of the chunk
  };
  Recording() = default;
  base::Result<> ReadHeader();
  base::Result<> ReadChunks();
  base::Result<> Add(std::uint32_t kind, const std::string& payload);
  base::Result<> Check() const;

  std::string path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  std::uint32_t device_ = 0;
  bool whole_ = false;
  std::map<std::uint32_t, RecordedKernel> kernels_;
  std::map<std::uint32_t, RecordedCounter> counters_;
  std::map<std::uint32_t, RecordedLaunch> launches_;
  std::map<std::uint32_t, Place> blobs_;
  std::vector<std::string> notes_;
  std::uint64_t seen_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace cupilot::workloads
