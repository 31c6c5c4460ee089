#include <algorithm>
#include <cstdint>
#include <cstring>

#include "worker/checks/check.h"

namespace cupilot::worker {
namespace {

constexpr std::size_t kBlock = 4096;  // bytes that are compared at once

bool IsPoison(const std::byte* data, std::size_t size) {
  return std::all_of(data, data + size, [](std::byte b) { return b == kPoison; });
}

template <class Word>
bool HasPoisonedWord(const std::byte* data, std::size_t bytes) {
  Word poison;
  std::memset(&poison, std::to_integer<int>(kPoison), sizeof poison);
  bool found = false;
  for (std::size_t i = 0; i + sizeof poison <= bytes; i += sizeof poison) {
    Word word;
    std::memcpy(&word, data + i, sizeof word);
    found |= word == poison;
  }
  return found;
}

// Whether an element of `size` bytes may be poison still; a loop without branches where it can be.
bool MayHavePoison(const std::byte* data, std::size_t bytes, std::size_t size) {
  if (size == sizeof(std::uint32_t)) return HasPoisonedWord<std::uint32_t>(data, bytes);
  if (size == sizeof(std::uint64_t)) return HasPoisonedWord<std::uint64_t>(data, bytes);
  return true;
}

// Of one element whose bytes differ from the original's.
Finding Differing(const Observation& seen, const Region& region, const ReferenceOutput& expected,
                  const std::byte* candidate, std::size_t element) {
  const auto size = static_cast<std::size_t>(region.type.size());
  if (!expected.unwritten.empty() && expected.unwritten[element]) {
    return {"wrong_values", Where(region, element) +
                                " was written, which the original leaves alone" + FillName(seen)};
  }
  if (!region.input && IsPoison(candidate + element * size, size)) {
    return {"unwritten_output", Where(region, element) + " was not written" + FillName(seen)};
  }
  return {};
}

}  // namespace

Finding CheckWritten(const Observation& seen, Errors&) {
  for (std::size_t r = 0; r < seen.original.layout.regions.size(); ++r) {
    const Region& region = seen.original.layout.regions[r];
    if (!region.output) continue;
    const ReferenceOutput& expected = seen.reference.outputs[r];
    const std::byte* candidate = seen.after.data() + region.offset;
    const auto size = static_cast<std::size_t>(region.type.size());
    const std::size_t stretch = std::max<std::size_t>(1, kBlock / size) * size;
    for (std::size_t begin = 0; begin < expected.bytes.size(); begin += stretch) {
      const std::size_t end = std::min(expected.bytes.size(), begin + stretch);
      const std::byte* original = expected.bytes.data();
      if (std::memcmp(candidate + begin, original + begin, end - begin) == 0) continue;
      if (expected.unwritten.empty() &&
          (region.input || !MayHavePoison(candidate + begin, end - begin, size))) {
        continue;
      }
      for (std::size_t i = begin; i < end; i += size) {
        if (std::memcmp(candidate + i, original + i, size) == 0) continue;
        const Finding finding = Differing(seen, region, expected, candidate, i / size);
        if (!finding.reason.empty()) return finding;
      }
    }
  }
  return {};
}

}  // namespace cupilot::worker
