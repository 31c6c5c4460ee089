#include "worker/two_runs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace cupilot::worker {
namespace {

constexpr std::size_t kBlock = 4096;  // bytes that are compared at once
// How far two runs of an original are apart that adds in no certain order, at most: in units of the
// error rule, and as a part of the result where there are none.
constexpr double kRepeatedUnits = 1024, kRepeatedPart = 0.01;

std::set<std::string>& Varying() {
  static std::set<std::string>& artifacts = *new std::set<std::string>();
  return artifacts;
}

}  // namespace

bool IsAll(const std::byte* data, std::size_t size, std::byte value) {
  return std::all_of(data, data + size, [value](std::byte x) { return x == value; });
}

bool FarApart(const Region& region, std::span<const std::byte> a, std::span<const std::byte> b,
              const ReferenceOutput& output) {
  for (std::int64_t i = 0; i < ComponentsOf(region); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!output.unwritten.empty() &&
        output.unwritten[at / static_cast<std::size_t>(region.type.lanes)]) {
      continue;
    }
    const double x = device::ReadNumber(a.data(), i, region.type);
    const double y = device::ReadNumber(b.data(), i, region.type);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (!std::isfinite(x) || !std::isfinite(y)) return true;
    const double room = output.expected ? output.expected->Apart(kRepeatedUnits, at)
                                        : kRepeatedPart * std::max(std::fabs(x), std::fabs(y));
    if (std::fabs(x - y) > room) return true;
  }
  return false;
}

bool SameBits(const Region& region, std::span<const std::byte> a, std::span<const std::byte> b,
              const std::vector<bool>& unwritten) {
  if (unwritten.empty()) return false;
  const auto size = static_cast<std::size_t>(region.type.size());
  for (std::size_t i = 0; i < unwritten.size(); ++i) {
    if (!unwritten[i] && std::memcmp(a.data() + i * size, b.data() + i * size, size) != 0) {
      return false;
    }
  }
  return true;
}

bool FindUnwritten(const Region& region, std::span<const std::byte> a, std::span<const std::byte> b,
                   bool may_differ, ReferenceOutput& output) {
  const auto size = static_cast<std::size_t>(region.type.size());
  const std::size_t stretch = std::max<std::size_t>(1, kBlock / size) * size;
  for (std::size_t begin = 0; begin < a.size(); begin += stretch) {
    const std::size_t end = std::min(a.size(), begin + stretch);
    if (std::memcmp(a.data() + begin, b.data() + begin, end - begin) == 0) continue;
    for (std::size_t i = begin; i < end; i += size) {
      if (std::memcmp(a.data() + i, b.data() + i, size) == 0) continue;
      if (!region.input && IsAll(a.data() + i, size, kPoison) &&
          IsAll(b.data() + i, size, kOtherPoison)) {
        if (output.unwritten.empty()) output.unwritten.resize(a.size() / size);
        output.unwritten[i / size] = true;
      } else if (!may_differ) {
        return false;
      }
    }
  }
  return true;
}

bool KnownToVary(const std::string& artifact) { return Varying().contains(artifact); }

void NoteThatItVaries(const std::string& artifact) { Varying().insert(artifact); }

}  // namespace cupilot::worker
