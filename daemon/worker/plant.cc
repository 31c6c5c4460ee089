#include "worker/plant.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "device/parallel.h"
#include "worker/split_mix.h"

namespace cupilot::worker {
namespace {

using device::FillKind;

constexpr std::int64_t kLocalRow = 8;  // where an output has an input of its own, or a few

std::uint64_t PlantKey(const Region& region, std::uint64_t seed, int run) {
  std::uint64_t key = SplitMix(seed, static_cast<std::uint64_t>(run));
  for (const char c : region.name) key = SplitMix(key, static_cast<unsigned char>(c));
  return key;
}

double Share(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

std::int64_t PlantRowOf(const Layout& layout, const Region& region) {
  std::int64_t outputs = 1;
  for (const Region& other : layout.regions) {
    if (other.output) outputs = std::max(outputs, ComponentsOf(other));
  }
  const std::int64_t components = ComponentsOf(region);
  const std::int64_t row = components >= 2 * outputs ? components / outputs : kLocalRow;
  return std::clamp<std::int64_t>(row, 1, std::max<std::int64_t>(1, components));
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

Range FiniteRangeOf(const Region& region, const std::byte* data) {
  Range range;
  std::mutex joining;
  device::InParallel(ComponentsOf(region), [&](std::int64_t begin, std::int64_t end) {
    Range part;
    for (std::int64_t i = begin; i < end; ++i) {
      const double value = device::ReadNumber(data, i, region.type);
      if (!std::isfinite(value)) continue;
      part.low = std::min(part.low, value);
      part.high = std::max(part.high, value);
    }
    const std::scoped_lock lock(joining);
    range.low = std::min(range.low, part.low);
    range.high = std::max(range.high, part.high);
  });
  return range;
}

// Beyond all that is drawn, each a little different, but inside of what the fill says.
double DecisiveNumber(const Region& region, const Range& drawn, bool largest, double share) {
  const bool bounded = region.fill->kind == FillKind::kUniform;
  // Where zeros lie beyond all that is drawn, nothing else may.
  if (largest) {
    const double room = bounded ? std::max(0.0, region.fill->high - drawn.high)
                                : drawn.high - drawn.low + std::fabs(drawn.high);
    return drawn.high + room * (0.25 + 0.5 * share);
  }
  const double room = bounded ? std::max(0.0, drawn.low - region.fill->low)
                              : drawn.high - drawn.low + std::fabs(drawn.low);
  return drawn.low - room * (0.25 + 0.5 * share);
}

class Planter {
 public:
  Planter(const Region& region, std::int64_t row, bool largest, std::uint64_t key, std::byte* data)
      : region_(region), row_(row), largest_(largest), key_(key), data_(data) {}

  // At one position of all.
  void One(const std::byte* workload) {
    if (region_.type.floating()) drawn_ = FiniteRangeOf(region_, workload);
    const auto components = static_cast<std::uint64_t>(ComponentsOf(region_));
    const auto at = static_cast<std::int64_t>(SplitMix(key_, 0) % components);
    Put(at, 1, at, SplitMix(key_ ^ 1, 0));
  }

  std::vector<std::int64_t> Run() {
    if (region_.type.floating()) drawn_ = FiniteRangeOf(region_, data_);
    std::vector<std::int64_t> positions = Positions();
    const std::int64_t components = ComponentsOf(region_);
    const auto put = [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t r = first; r < last; ++r) {
        Put(r * row_, std::min(row_, components - r * row_), positions[static_cast<std::size_t>(r)],
            SplitMix(key_ ^ 1, static_cast<std::uint64_t>(r)));
      }
    };
    // A row has its own elements, unless two exchange theirs.
    const auto rows = static_cast<std::int64_t>(positions.size());
    if (region_.fill->kind == FillKind::kPermutation || region_.slices.count > 0) {
      put(0, rows);
    } else {
      device::InParallel(rows, put);
    }
    return positions;
  }

  // Where Run() puts something, one a row.
  std::vector<std::int64_t> Positions() const {
    const std::int64_t components = ComponentsOf(region_);
    std::vector<std::int64_t> positions(static_cast<std::size_t>((components + row_ - 1) / row_));
    device::InParallel(std::ssize(positions), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t r = first; r < last; ++r) {
        const auto length = static_cast<std::uint64_t>(std::min(row_, components - r * row_));
        const std::uint64_t word = SplitMix(key_, static_cast<std::uint64_t>(r));
        positions[static_cast<std::size_t>(r)] =
            InSlice(r * row_ + static_cast<std::int64_t>(word % length));
      }
    });
    return positions;
  }

 private:
  // Into the slice before it, where it is between two.
  std::int64_t InSlice(std::int64_t at) const {
    const std::int64_t lanes = region_.type.lanes, stride = region_.slices.stride * lanes;
    const std::int64_t length = region_.slices.elements * lanes;
    return stride == 0 || length == 0 ? at : at / stride * stride + at % stride % length;
  }

  void Put(std::int64_t begin, std::int64_t length, std::int64_t at, std::uint64_t word) {
    if (region_.type.floating()) {
      if (drawn_.low > drawn_.high) return;
      device::WriteNumber(data_, at, region_.type,
                          DecisiveNumber(region_, drawn_, largest_, Share(word)));
    } else if (region_.fill->kind == FillKind::kPermutation) {
      Exchange(at,
               static_cast<std::int64_t>(word % static_cast<std::uint64_t>(ComponentsOf(region_))));
    } else if (region_.fill->kind == FillKind::kBits) {
      device::WriteInteger(data_, at, region_.type, largest_ ? -1 : 0);
    } else {
      PutInteger(begin, length, at);
    }
  }

  void Exchange(std::int64_t a, std::int64_t b) {
    const std::int64_t kept = device::ReadInteger(data_, a, region_.type);
    device::WriteInteger(data_, a, region_.type, device::ReadInteger(data_, b, region_.type));
    device::WriteInteger(data_, b, region_.type, kept);
  }

  // The end of the range belongs to one position of the row alone.
  void PutInteger(std::int64_t begin, std::int64_t length, std::int64_t at) {
    const std::int64_t low = region_.fill->integer_low, high = region_.fill->integer_high;
    const std::int64_t end = largest_ ? high : low;
    for (std::int64_t i = begin; low < high && i < begin + length; ++i) {
      if (device::ReadInteger(data_, i, region_.type) != end) continue;
      device::WriteInteger(data_, i, region_.type, largest_ ? end - 1 : end + 1);
    }
    device::WriteInteger(data_, at, region_.type, end);
  }

  const Region& region_;
  const std::int64_t row_;
  const bool largest_;
  const std::uint64_t key_;
  std::byte* data_;
  Range drawn_;
};

}  // namespace

PlantSeries::PlantSeries(const CasePlan& plan, const CaseInputs& workload, std::size_t region,
                         std::uint64_t seed)
    : region_(plan.layout.regions[region]),
      index_(region),
      seed_(seed),
      base_(std::make_shared<CaseInputs>(workload)) {
  std::byte* data = base_->regions[region].data();
  if (region_.type.floating()) {
    const Range drawn = FiniteRangeOf(region_, data);
    low_ = drawn.low;
    high_ = drawn.high;
    return;
  }
  const std::int64_t low = region_.fill->integer_low, high = region_.fill->integer_high;
  const bool ranged = region_.fill->kind != FillKind::kPermutation &&
                      region_.fill->kind != FillKind::kBits && high - low >= 2;
  for (std::int64_t i = 0; ranged && i < ComponentsOf(region_); ++i) {
    const std::int64_t value = device::ReadInteger(data, i, region_.type);
    const std::int64_t inside = std::clamp(value, low + 1, high - 1);
    if (inside != value) device::WriteInteger(data, i, region_.type, inside);
  }
}

std::vector<PlantSeries::Write> PlantSeries::Draw(int run) const {
  const std::int64_t components = ComponentsOf(region_), size = region_.type.bytes;
  const std::uint64_t key = PlantKey(region_, seed_, run) ^ 2;
  const auto draw = [&](std::uint64_t index) {
    return static_cast<std::int64_t>(SplitMix(key, index) % static_cast<std::uint64_t>(components));
  };
  const bool largest = run % 2 == 0;
  const std::byte* data = base_->regions[index_].data();
  const auto write = [&](std::int64_t at, const auto& put) {
    Write one{at * size, std::vector<std::byte>(static_cast<std::size_t>(size))};
    put(one.bytes.data());
    return one;
  };
  const auto integer = [&](std::int64_t at, std::int64_t value) {
    return write(at, [&](std::byte* to) { device::WriteInteger(to, 0, region_.type, value); });
  };
  const std::int64_t at = draw(0);
  if (region_.type.floating()) {
    if (low_ > high_) return {};
    const double value = DecisiveNumber(region_, {low_, high_}, largest, Share(SplitMix(key, 1)));
    return {write(at, [&](std::byte* to) { device::WriteNumber(to, 0, region_.type, value); })};
  }
  const std::int64_t was = device::ReadInteger(data, at, region_.type);
  if (region_.fill->kind == FillKind::kPermutation) {
    const std::int64_t other = draw(1);
    return {integer(at, device::ReadInteger(data, other, region_.type)), integer(other, was)};
  }
  if (region_.fill->kind == FillKind::kBits) return {integer(at, largest ? -1 : 0)};
  const std::int64_t low = region_.fill->integer_low, high = region_.fill->integer_high;
  // Of two numbers it is always the other one.
  if (high - low < 2) return {integer(at, was == high ? low : high)};
  return {integer(at, largest ? high : low)};
}

CaseInputs PlantSeries::With(const std::vector<Write>& writes) const {
  CaseInputs inputs = *base_;
  for (const Write& write : writes) {
    std::copy(write.bytes.begin(), write.bytes.end(),
              inputs.regions[index_].begin() + static_cast<std::ptrdiff_t>(write.at));
  }
  inputs.changed = true;
  return inputs;
}

std::string Plant::Name() const {
  return "plant " + std::to_string(run) + " in region " + std::to_string(region);
}

std::vector<std::size_t> PlantableRegions(const Layout& layout) {
  std::vector<std::size_t> regions;
  for (std::size_t r = 0; r < layout.regions.size(); ++r) {
    const Region& region = layout.regions[r];
    if (!region.input || !region.fill || region.count == 0) continue;
    const FillKind kind = region.fill->kind;
    // A permutation of each slice is none of all.
    const bool ordered = kind == FillKind::kSorted || kind == FillKind::kOffsets ||
                         (kind == FillKind::kPermutation && region.slices.count > 0);
    const bool number = region.type.floating() && kind != FillKind::kConstant;
    const bool integer = region.type.integer() && region.declared;
    if (!ordered && (number || integer)) regions.push_back(r);
  }
  return regions;
}

std::int64_t OutputsOf(const Layout& layout) {
  std::int64_t outputs = 0;
  for (const Region& region : layout.regions) {
    if (region.output) outputs += ComponentsOf(region);
  }
  return outputs;
}

CaseInputs WithSpecialValues(const CasePlan& plan, const CaseInputs& workload, double value,
                             std::uint64_t seed) {
  CaseInputs inputs = workload;
  for (const std::size_t r : PlantableRegions(plan.layout)) {
    const Region& region = plan.layout.regions[r];
    if (!region.type.floating()) continue;
    // Those of the first plant.
    const std::vector<std::int64_t> positions =
        Planter(region, PlantRowOf(plan.layout, region), true, PlantKey(region, seed, 0),
                inputs.regions[r].data())
            .Positions();
    if (positions.empty()) continue;
    const std::size_t first = seed % std::min<std::size_t>(4, positions.size());
    for (std::size_t row = first; row < positions.size(); row += 4) {
      const bool negative = std::isinf(value) && row % 8 >= 4;
      device::WriteNumber(inputs.regions[r].data(), positions[row], region.type,
                          negative ? -value : value);
      inputs.changed = true;
    }
  }
  return inputs;
}

CaseInputs WithZerosBeside(const CasePlan& plan, const CaseInputs& workload, std::size_t zeroed,
                           double value, std::uint64_t seed) {
  CaseInputs inputs = WithSpecialValues(plan, workload, value, seed);
  const Region& region = plan.layout.regions[zeroed];
  std::vector<std::byte>& bytes = inputs.regions[zeroed];
  bool others = false;
  for (const std::size_t r : PlantableRegions(plan.layout)) {
    others = others || (r != zeroed && plan.layout.regions[r].type.floating());
  }
  if (others) bytes = workload.regions[zeroed];
  const std::uint64_t key = SplitMix(seed, zeroed);
  device::InParallel(ComponentsOf(region), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const bool keep = (SplitMix(key, static_cast<std::uint64_t>(i)) & 1) != 0 ||
                        !std::isfinite(device::ReadNumber(bytes.data(), i, region.type));
      if (!keep) device::WriteNumber(bytes.data(), i, region.type, 0);
    }
  });
  return inputs;
}

CaseInputs WithIntegersAtEnd(const CasePlan& plan, const CaseInputs& workload, bool high) {
  CaseInputs inputs = workload;
  for (const std::size_t r : PlantableRegions(plan.layout)) {
    const Region& region = plan.layout.regions[r];
    if (!region.type.integer() || region.fill->kind == FillKind::kPermutation) continue;
    std::int64_t end = high ? region.fill->integer_high : region.fill->integer_low;
    if (region.fill->kind == FillKind::kBits) end = high ? -1 : 0;
    for (std::int64_t i = 0; i < ComponentsOf(region); ++i) {
      device::WriteInteger(inputs.regions[r].data(), i, region.type, end);
    }
    inputs.changed = true;
  }
  return inputs;
}

CaseInputs WithOtherConstants(const CasePlan& plan, const CaseInputs& workload) {
  CaseInputs inputs = workload;
  inputs.changed = false;
  for (std::size_t r = 0; r < plan.layout.regions.size(); ++r) {
    const Region& region = plan.layout.regions[r];
    const bool constant = region.fill && region.fill->kind == FillKind::kConstant;
    if (!region.input || !constant || !region.type.floating() || region.slices.count > 0) continue;
    std::byte* data = inputs.regions[r].data();
    for (std::int64_t i = 0; i < ComponentsOf(region); ++i) {
      const double other = 0.75 * device::ReadNumber(data, i, region.type) + 0.5;
      device::WriteNumber(data, i, region.type, other + 0.25 * static_cast<double>(r % 4));
    }
    inputs.changed = true;
  }
  return inputs;
}

void PlantOne(const CasePlan& plan, const CaseInputs& workload, const Plant& plant,
              std::uint64_t seed, CaseInputs& inputs) {
  const Region& region = plan.layout.regions[plant.region];
  // A large and a small one at the same position.
  const std::uint64_t key = PlantKey(region, seed, plant.run / 2);
  Planter(region, 1, plant.run % 2 == 0, key, inputs.regions[plant.region].data())
      .One(workload.regions[plant.region].data());
}

Planted PlantValues(const CasePlan& plan, const CaseInputs& workload, const Plant& plant,
                    std::uint64_t seed) {
  const Region& region = plan.layout.regions[plant.region];
  Planted planted;
  planted.inputs = workload;
  const std::uint64_t key = PlantKey(region, seed, plant.run);
  planted.positions = Planter(region, PlantRowOf(plan.layout, region), plant.run % 2 == 0, key,
                              planted.inputs.regions[plant.region].data())
                          .Run();
  return planted;
}

}  // namespace cupilot::worker
