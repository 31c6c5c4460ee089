// Reads recordings (daemon/recording/format.h) for tests, and throws where one is not whole.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "recording/format.h"

namespace cupilot::test {

struct RecordedKernel {
  std::string signature;
  std::string name;
  std::vector<std::array<std::uint32_t, 3>> parameters;  // offset, bytes, kind
};
struct RecordedRegion {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  capture::RegionKind kind{};
  std::uint32_t before = capture::kNone;
  std::uint32_t after = capture::kNone;
};
struct RecordedPointer {
  std::uint32_t holder = 0;  // parameter, or region
  std::uint64_t at = 0;
  std::uint32_t region = 0;
  std::uint64_t offset = 0;
};
struct RecordedGlobal {
  std::string symbol;
  bool constant = false;
  std::uint32_t before = capture::kNone;
  std::uint32_t after = capture::kNone;
};
struct RecordedLaunch {
  std::uint32_t kernel = 0;
  std::uint32_t counter = 0;
  std::uint64_t index = 0;
  std::uint32_t device = 0;
  bool cooperative = false;
  std::uint64_t max_dynamic_shared = 0;
  std::vector<std::string> arguments;
  std::vector<RecordedRegion> regions;
  std::vector<RecordedPointer> pointers;
  std::vector<RecordedPointer> in_memory;
  std::vector<RecordedGlobal> globals;
};
struct RecordedCounter {
  std::uint32_t kernel = 0;
  std::array<std::uint32_t, 3> grid{};
  std::array<std::uint32_t, 3> block{};
  std::uint64_t shared = 0;
  std::string scalars;
  std::uint64_t calls = 0;
  std::uint64_t timed = 0;
  double microseconds = 0;
};

// Takes values off the front of a text.
class Chunks {
 public:
  explicit Chunks(std::string text) : text_(std::move(text)) {}
  template <class Value>
  Value Take() {
    Value value;
    std::memcpy(&value, Bytes(sizeof value).data(), sizeof value);
    return value;
  }
  std::uint32_t U32() { return Take<std::uint32_t>(); }
  std::uint64_t U64() { return Take<std::uint64_t>(); }
  std::string Text() { return Bytes(U32()); }
  std::string Bytes(std::size_t count) {
    if (count > Left()) throw std::runtime_error("the recording ends too early");
    at_ += count;
    return text_.substr(at_ - count, count);
  }
  std::size_t Left() const { return text_.size() - at_; }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

struct RecordingChunks {
  std::uint32_t device = 0;
  std::map<std::uint32_t, RecordedKernel> kernels;
  std::map<std::uint32_t, std::string> blobs;
  std::map<std::uint32_t, RecordedLaunch> launches;  // those replaced left out
  std::map<std::uint32_t, RecordedCounter> counters;
  std::vector<std::pair<std::uint32_t, std::string>> notes;
  int replaced = 0;
  bool ended = false;
  std::uint64_t seen = 0;
  std::uint64_t left_out = 0;

  const RecordedCounter* Counter(const std::string& kernel, std::uint32_t blocks) const {
    for (const auto& [id, counter] : counters) {
      if (kernels.at(counter.kernel).name == kernel && counter.grid[0] == blocks) return &counter;
    }
    return nullptr;
  }
  std::vector<RecordedLaunch> LaunchesOf(const std::string& kernel) const {
    std::vector<RecordedLaunch> found;
    for (const auto& [id, launch] : launches) {
      if (kernels.at(launch.kernel).name == kernel) found.push_back(launch);
    }
    return found;
  }
};

inline RecordedLaunch ReadLaunch(Chunks& from) {
  RecordedLaunch launch;
  launch.kernel = from.U32();
  launch.counter = from.U32();
  launch.index = from.U64();
  launch.device = from.U32();
  launch.cooperative = from.U32() != 0;
  from.Bytes(12);
  launch.max_dynamic_shared = from.U64();
  for (std::uint32_t n = from.U32(); n > 0; --n) launch.arguments.push_back(from.Text());
  for (std::uint32_t n = from.U32(); n > 0; --n) {
    RecordedRegion region{from.U64(), from.U64(), capture::RegionKind{from.U32()}, from.U32(), 0};
    region.after = from.U32();
    launch.regions.push_back(region);
  }
  for (std::uint32_t n = from.U32(); n > 0; --n) {
    launch.pointers.push_back({from.U32(), from.U32(), from.U32(), from.U64()});
  }
  for (std::uint32_t n = from.U32(); n > 0; --n) {
    launch.in_memory.push_back({from.U32(), from.U64(), from.U32(), from.U64()});
  }
  for (std::uint32_t n = from.U32(); n > 0; --n) {
    launch.globals.push_back({from.Text(), from.U32() != 0, from.U32(), from.U32()});
  }
  return launch;
}

inline void ReadChunk(capture::ChunkKind kind, Chunks from, RecordingChunks& all) {
  using capture::ChunkKind;
  if (kind == ChunkKind::kEnd) {
    all.ended = true;
    all.seen = from.U64();
    all.left_out = from.U64();
    return;
  }
  const std::uint32_t id = from.U32();
  if (kind == ChunkKind::kKernel) {
    RecordedKernel& kernel = all.kernels[id];
    kernel.signature = from.Text();
    kernel.name = from.Text();
    for (std::uint32_t n = from.U32(); n > 0; --n) {
      kernel.parameters.push_back({from.U32(), from.U32(), from.U32()});
    }
  } else if (kind == ChunkKind::kBlob) {
    from.U32();
    all.blobs[id] = from.Bytes(from.Left());
  } else if (kind == ChunkKind::kLaunch) {
    all.launches[id] = ReadLaunch(from);
  } else if (kind == ChunkKind::kCounter) {
    RecordedCounter& counter = all.counters[id];
    counter.kernel = from.U32();
    for (auto& n : counter.grid) n = from.U32();
    for (auto& n : counter.block) n = from.U32();
    counter.shared = from.U64();
    counter.scalars = from.Text();
    counter.calls = from.U64();
    counter.timed = from.U64();
    counter.microseconds = from.Take<double>();
  } else if (kind == ChunkKind::kNote) {
    all.notes.emplace_back(id, from.Text());
  } else if (kind == ChunkKind::kReplaced) {
    all.launches.erase(id);
    ++all.replaced;
  } else {
    throw std::runtime_error("a chunk of an unknown kind");
  }
}

// The chunks that are whole; `whole`, where given, says whether nothing was behind them.
inline RecordingChunks ReadRecording(const std::string& path, bool* whole = nullptr) {
  std::ifstream file(path, std::ios::binary);
  Chunks from(std::string(std::istreambuf_iterator<char>(file), {}));
  RecordingChunks all;
  if (from.Bytes(8) != std::string(capture::kMagic, 8)) throw std::runtime_error("no recording");
  if (from.U32() != capture::kVersion) throw std::runtime_error("another version");
  all.device = from.U32();
  while (from.Left() >= capture::kChunkHeaderBytes) {
    const capture::ChunkKind kind{from.U32()};
    from.U32();
    const std::uint64_t bytes = from.U64();
    const std::uint64_t checksum = from.U64();
    if (whole != nullptr && bytes > from.Left()) {
      *whole = false;
      return all;
    }
    const std::string payload = from.Bytes(bytes);
    if (capture::Checksum(payload.data(), payload.size()) != checksum) {
      throw std::runtime_error("a chunk with another checksum");
    }
    ReadChunk(kind, Chunks(payload), all);
  }
  if (whole != nullptr) *whole = from.Left() == 0;
  return all;
}

inline std::vector<std::string> RecordingsIn(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    paths.push_back(entry.path().string());
  }
  return paths;
}

}  // namespace cupilot::test
