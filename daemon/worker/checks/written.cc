#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "device/parallel.h"
#include "records/element_values.h"
#include "worker/checks/check.h"

namespace cupilot::worker {
namespace {

constexpr std::size_t kWrittenBlock = 4096;  // bytes that are compared at once

template <class Word>
bool HasWord(const std::byte* data, std::size_t bytes, std::byte byte) {
  Word poison;
  std::memset(&poison, std::to_integer<int>(byte), sizeof poison);
  bool found = false;
  for (std::size_t i = 0; i + sizeof poison <= bytes; i += sizeof poison) {
    Word word;
    std::memcpy(&word, data + i, sizeof word);
    found |= word == poison;
  }
  return found;
}

// Whether an element of `size` bytes may be poison still; a loop without branches where it can be.
bool MayHavePoison(const Before& before, const std::byte* data, std::size_t bytes,
                   std::size_t size) {
  if (before.contents != nullptr) return true;
  if (size == sizeof(std::uint32_t)) return HasWord<std::uint32_t>(data, bytes, before.poison);
  if (size == sizeof(std::uint64_t)) return HasWord<std::uint64_t>(data, bytes, before.poison);
  return true;
}

// A result may be what lay there by chance: then it is close to the original's as well, up to some
// roundings of its type.
bool MayBeAResult(const Region& region, const std::byte* candidate, const std::byte* original,
                  std::size_t element) {
  if (!region.type.floating()) return false;
  const double share = region.type.bytes <= 2 ? 0x1p-5 : 0x1p-10;
  for (std::int64_t lane = 0; lane < region.type.lanes; ++lane) {
    const auto i = static_cast<std::int64_t>(element) * region.type.lanes + lane;
    const double c = device::ReadNumber(candidate, i, region.type);
    const double o = device::ReadNumber(original, i, region.type);
    if (!(std::fabs(c - o) <= share * std::fabs(c))) return false;
  }
  return true;
}

// Of one element whose bytes differ from the original's.
Finding Differing(const Observation& seen, std::size_t r, const std::byte* candidate,
                  std::size_t element, bool untouched) {
  const Region& region = seen.original.layout.regions[r];
  const ReferenceOutput& expected = seen.reference.outputs[r];
  const auto size = static_cast<std::size_t>(region.type.size());
  if (!expected.unwritten.empty() && expected.unwritten[element]) {
    return {"wrong_values", Where(region, element) +
                                " was written, which the original leaves alone" + FillName(seen)};
  }
  if (!region.input && untouched && seen.before.IsUntouched(r, candidate, element, size) &&
      !MayBeAResult(region, candidate, expected.bytes.data(), element)) {
    const auto component = static_cast<std::int64_t>(element) * region.type.lanes;
    return {
        "unwritten_output",
        Where(region, element) + " was not written: " +
            records::HoldsAsBefore(device::ShowNumber(candidate, component, region.type)) + ", " +
            records::Expected(device::ShowNumber(expected.bytes.data(), component, region.type)) +
            FillName(seen)};
  }
  return {};
}

// `untouched`: whether an element counts as unwritten that holds what it held.
Finding FirstDiffering(const Observation& seen, bool untouched) {
  for (std::size_t r = 0; r < seen.original.layout.regions.size(); ++r) {
    const Region& region = seen.original.layout.regions[r];
    if (!region.output) continue;
    const ReferenceOutput& expected = seen.reference.outputs[r];
    const std::byte* candidate = seen.after.data() + region.offset;
    if (device::SameBytes(candidate, expected.bytes.data(), expected.bytes.size())) continue;
    const auto size = static_cast<std::size_t>(region.type.size());
    const std::size_t stretch = std::max<std::size_t>(1, kWrittenBlock / size) * size;
    for (std::size_t begin = 0; begin < expected.bytes.size(); begin += stretch) {
      const std::size_t end = std::min(expected.bytes.size(), begin + stretch);
      const std::byte* original = expected.bytes.data();
      if (std::memcmp(candidate + begin, original + begin, end - begin) == 0) continue;
      if (expected.unwritten.empty() &&
          (region.input || !untouched ||
           !MayHavePoison(seen.before, candidate + begin, end - begin, size))) {
        continue;
      }
      for (std::size_t i = begin; i < end; i += size) {
        if (std::memcmp(candidate + i, original + i, size) == 0) continue;
        const Finding finding = Differing(seen, r, candidate, i / size, untouched);
        if (!finding.reason.empty()) return finding;
      }
    }
  }
  return {};
}

}  // namespace

// A poison is no result. What an output held otherwise may be one.
Finding CheckWritten(const Observation& seen, Errors&) {
  return FirstDiffering(seen, seen.before.contents == nullptr);
}

Finding FindUntouched(const Observation& seen) { return FirstDiffering(seen, true); }

}  // namespace cupilot::worker
