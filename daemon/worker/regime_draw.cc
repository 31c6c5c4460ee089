#include "worker/regime_draw.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/hash.h"
#include "worker/split_mix.h"

namespace cupilot::worker {

namespace {

bool SameContents(const std::vector<std::vector<std::byte>>& a,
                  const std::vector<std::vector<std::byte>>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.size() == other.size() && device::SameBytes(one.data(), other.data(), one.size());
  });
}

}  // namespace

Regime MakeRegime(const std::string& name, const CaseInputs& workload, std::uint64_t seed,
                  RegimeChange change, Regime::Kind kind) {
  const auto draw = [&workload, name, seed, change = std::move(change)] {
    CaseInputs inputs = workload;
    std::uint64_t of_name = seed;
    for (const char c : name) of_name = SplitMix(of_name, static_cast<unsigned char>(c));
    std::mt19937_64 random(of_name);
    change(inputs, random);
    inputs.changed = !SameContents(inputs.regions, workload.regions);
    return inputs;
  };
  return {name, draw, kind};
}

std::optional<Ends> EndsOf(const Region& region) {
  if (!region.input || !region.fill || !region.type.integer() || region.count == 0) {
    return std::nullopt;
  }
  const device::FillKind kind = region.fill->kind;
  if (kind == device::FillKind::kIntegers || kind == device::FillKind::kIndices) {
    return Ends{region.fill->integer_low, region.fill->integer_high};
  }
  if (kind != device::FillKind::kBits) return std::nullopt;
  const int bits = static_cast<int>(8 * region.type.bytes);
  if (region.type.number == device::Number::kUnsigned) {
    return Ends{
        0, bits >= 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << bits) - 1};
  }
  const std::int64_t high =
      bits >= 64 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << (bits - 1)) - 1;
  return Ends{-high - 1, high};
}

bool HasDoubles(const Layout& layout) {
  return std::any_of(layout.regions.begin(), layout.regions.end(), [](const Region& region) {
    return region.type.number == device::Number::kFloat64;
  });
}

std::string NameOfNumbers(const std::vector<double>& numbers) {
  base::Hasher hash;
  for (const double number : numbers) hash.Add(std::to_string(number));
  return " (numbers " + hash.Hex().substr(0, 8) + ")";
}

std::int64_t StretchOf(const Region& region) {
  constexpr std::int64_t kStretches = 16;
  return std::max<std::int64_t>(1, ComponentsOf(region) / kStretches);
}

}  // namespace cupilot::worker
