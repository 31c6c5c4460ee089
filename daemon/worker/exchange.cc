#include "worker/exchange.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace cupilot::worker {
namespace {

constexpr std::size_t kOneIn = 64;
// Neighbours that do not fall, of all: random ones have one half.
constexpr double kOrdered = 0.75;

class Exchanger {
 public:
  Exchanger(const Region& region, std::vector<std::byte>& bytes, std::uint64_t seed)
      : type_(region.type),
        count_(static_cast<std::size_t>(region.count)),
        bytes_(bytes),
        random_(seed) {}

  bool Run(Exchange how_many) {
    if (count_ < 2) return false;
    return IsOrdered() ? Move(how_many) : Swap(how_many);
  }

 private:
  std::int64_t At(std::size_t i) const {
    return device::ReadInteger(bytes_.data(), static_cast<std::int64_t>(i), type_);
  }
  void Put(std::size_t i, std::int64_t value) {
    device::WriteInteger(bytes_.data(), static_cast<std::int64_t>(i), type_, value);
  }

  bool IsOrdered() const {
    std::size_t rising = 0;
    bool moves = false;
    for (std::size_t i = 0; i + 1 < count_; ++i) {
      rising += At(i) <= At(i + 1) ? 1 : 0;
      moves = moves || At(i) != At(i + 1);
    }
    return moves && static_cast<double>(rising) >= kOrdered * static_cast<double>(count_ - 1);
  }

  bool Swap(Exchange how_many) {
    const std::size_t pairs = how_many == Exchange::kTwo    ? 1
                              : how_many == Exchange::kSome ? count_ / (2 * kOneIn) + 1
                                                            : count_;
    bool changed = false;
    for (std::size_t p = 0; p < pairs; ++p) {
      // Any two are the same number in an array that repeats a few: some tries find others.
      for (int attempt = 0; attempt < 64; ++attempt) {
        const std::size_t i = random_() % count_, j = random_() % count_;
        if (At(i) == At(j)) continue;
        const std::int64_t one = At(i);
        Put(i, At(j));
        Put(j, one);
        changed = true;
        break;
      }
    }
    return changed;
  }

  // Where neighbours on both sides leave room, in steps that all elements share. What never
  // repeats goes on not to.
  bool Move(Exchange how_many) {
    std::uint64_t step = 0;
    bool repeats = false;
    for (std::size_t i = 0; i + 1 < count_; ++i) {
      const std::int64_t up = At(i + 1) - At(i);
      step = std::gcd(step, static_cast<std::uint64_t>(up < 0 ? -up : up));
      repeats = repeats || up == 0;
    }
    const auto by = static_cast<std::int64_t>(step);
    const std::int64_t apart = repeats ? 0 : by;
    std::vector<std::size_t> places;
    for (std::size_t i = 1; i + 1 < count_; ++i) {
      if (At(i - 1) <= At(i) && At(i) <= At(i + 1)) places.push_back(i);
    }
    std::shuffle(places.begin(), places.end(), random_);
    std::size_t left = how_many == Exchange::kTwo    ? 1
                       : how_many == Exchange::kSome ? count_ / kOneIn + 1
                                                     : count_;
    bool changed = false;
    for (const std::size_t i : places) {
      if (left == 0) break;
      // Of what may stand there, by how many steps it is above the least.
      const std::int64_t least = At(i - 1) + apart, most = At(i + 1) - apart;
      if (most <= least) continue;
      const std::int64_t choices = (most - least) / by + 1;
      const auto drawn = static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(choices));
      std::int64_t value = least + by * drawn;
      if (value == At(i)) value = drawn + 1 < choices ? value + by : value - by;
      if (value < least || value > most || value == At(i)) continue;
      Put(i, value);
      changed = true;
      --left;
    }
    return changed;
  }

  const device::ElementType type_;
  const std::size_t count_;
  std::vector<std::byte>& bytes_;
  std::mt19937_64 random_;
};

}  // namespace

std::vector<std::size_t> ExchangeableRegions(const Layout& layout) {
  std::vector<std::size_t> regions;
  for (std::size_t r = 0; r < layout.regions.size(); ++r) {
    const Region& region = layout.regions[r];
    const bool file = region.fill && region.fill->kind == device::FillKind::kFile;
    const bool plain = region.type.integer() && region.type.lanes == 1 && region.entries.empty();
    if (region.input && file && plain && !region.table) regions.push_back(r);
  }
  return regions;
}

CaseInputs WithExchanged(const CasePlan& plan, const CaseInputs& workload, std::size_t region,
                         Exchange how_many, std::uint64_t seed) {
  CaseInputs inputs = workload;
  inputs.changed =
      Exchanger(plan.layout.regions[region], inputs.regions[region], seed).Run(how_many);
  return inputs;
}

}  // namespace cupilot::worker
