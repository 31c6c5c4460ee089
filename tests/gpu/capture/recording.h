// Reads a recording for tests (daemon/recording/format.h says what is in it), without cuPilot's
// reader.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

struct RecordedKernel {
  std::string signature, name;
  std::vector<std::uint32_t> sizes;
};
struct RecordedRegion {
  std::uint64_t address = 0, bytes = 0;
  std::uint32_t kind = 0, before = 0, after = 0;
};
struct RecordedGlobal {
  std::string symbol;
  std::uint32_t constant = 0, before = 0, after = 0;
};
struct RecordedLaunch {
  std::uint32_t kernel = 0, counter = 0, device = 0;
  std::uint64_t index = 0;
  bool replaced = false;
  std::vector<std::string> arguments;
  std::vector<RecordedRegion> regions;
  std::size_t pointers = 0, pointers_in_memory = 0;
  std::vector<RecordedGlobal> globals;
};
struct RecordedCounter {
  std::uint32_t kernel = 0, grid[3] = {}, block[3] = {};
  std::string scalars;
  std::uint64_t calls = 0, timed = 0;
  double microseconds = 0;
};

struct Recording {
  std::map<std::uint32_t, RecordedKernel> kernels;
  std::map<std::uint32_t, std::string> blobs;
  std::map<std::uint32_t, RecordedLaunch> launches;
  std::map<std::uint32_t, RecordedCounter> counters;
  std::vector<std::string> notes;
  bool ended = false;
  std::uint64_t seen = 0, left_out = 0, bytes = 0;
};

class RecordingReader {
 public:
  explicit RecordingReader(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    text_.assign(std::istreambuf_iterator<char>(file), {});
  }
  bool Read(Recording& out) {
    out.bytes = text_.size();
    if (text_.compare(0, 8, "CUPILOTC") != 0) return false;
    at_ = 16;
    while (at_ < text_.size()) {
      const std::uint32_t kind = U32();
      U32();
      const std::uint64_t bytes = U64();
      U64();
      const std::size_t end = at_ + bytes;
      if (!good_ || end > text_.size()) return false;
      Chunk(kind, end, out);
      if (!good_ || at_ != end) return false;
    }
    return true;
  }

 private:
  template <class Value>
  Value Get() {
    Value value{};
    if (at_ + sizeof value > text_.size()) {
      good_ = false;
      return value;
    }
    std::memcpy(&value, text_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::uint32_t U32() { return Get<std::uint32_t>(); }
  std::uint64_t U64() { return Get<std::uint64_t>(); }
  std::string Text() {
    const std::uint32_t bytes = U32();
    if (at_ + bytes > text_.size()) {
      good_ = false;
      return "";
    }
    at_ += bytes;
    return text_.substr(at_ - bytes, bytes);
  }

  void Chunk(std::uint32_t kind, std::size_t end, Recording& out) {
    const std::uint32_t id = kind == 7 ? 0 : U32();
    switch (kind) {
      case 1: {
        RecordedKernel& kernel = out.kernels[id];
        kernel.signature = Text();
        kernel.name = Text();
        for (std::uint32_t n = U32(); n > 0 && good_; --n) {
          U32();
          kernel.sizes.push_back(U32());
          U32();
        }
        return;
      }
      case 2:
        U32();
        out.blobs[id] = text_.substr(at_, end - at_);
        at_ = end;
        return;
      case 3:
        return Launch(out.launches[id]);
      case 4: {
        RecordedCounter& counter = out.counters[id] = {};
        counter.kernel = U32();
        for (std::uint32_t& n : counter.grid) n = U32();
        for (std::uint32_t& n : counter.block) n = U32();
        U64();
        counter.scalars = Text();
        counter.calls = U64();
        counter.timed = U64();
        counter.microseconds = Get<double>();
        return;
      }
      case 5:
        out.notes.push_back((id == 0xffffffffu ? "" : out.kernels[id].signature + ": ") + Text());
        return;
      case 6:
        out.launches[id].replaced = true;
        return;
      case 7:
        out.seen = U64();
        out.left_out = U64();
        out.ended = true;
        return;
      default:
        good_ = false;
    }
  }

  void Launch(RecordedLaunch& launch) {
    launch.kernel = U32();
    launch.counter = U32();
    launch.index = U64();
    launch.device = U32();
    U32();
    for (int i = 0; i < 3; ++i) U32();
    U64();
    for (std::uint32_t n = U32(); n > 0 && good_; --n) launch.arguments.push_back(Text());
    for (std::uint32_t n = U32(); n > 0 && good_; --n) {
      RecordedRegion& region = launch.regions.emplace_back();
      region.address = U64();
      region.bytes = U64();
      region.kind = U32();
      region.before = U32();
      region.after = U32();
    }
    launch.pointers = U32();
    for (std::size_t i = 0; i < launch.pointers && good_; ++i) {
      U32();
      U32();
      U32();
      U64();
    }
    launch.pointers_in_memory = U32();
    for (std::size_t i = 0; i < launch.pointers_in_memory && good_; ++i) {
      U32();
      U64();
      U32();
      U64();
    }
    for (std::uint32_t n = U32(); n > 0 && good_; --n) {
      RecordedGlobal& global = launch.globals.emplace_back();
      global.symbol = Text();
      global.constant = U32();
      global.before = U32();
      global.after = U32();
    }
  }

  std::string text_;
  std::size_t at_ = 0;
  bool good_ = true;
};
