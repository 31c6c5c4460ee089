#include "worker/repeat_regimes.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "device/element.h"
#include "worker/regime_draw.h"

namespace cupilot::worker {
namespace {

constexpr std::size_t kMostPairs = 4;        // of arrays that are made equal
constexpr std::int64_t kLongestRunBits = 8;  // in elements, as a power of two
constexpr std::uint64_t kShortRun = 16;

class RepeatMaker {
 public:
  RepeatMaker(const CasePlan& plan, const CaseInputs& workload,
              const std::vector<std::size_t>& regions, const std::vector<std::size_t>& offsets,
              std::uint64_t seed)
      : plan_(plan),
        workload_(workload),
        regions_(regions),
        offsets_(offsets.begin(), offsets.begin() + static_cast<std::ptrdiff_t>(
                                                        std::min(offsets.size(), kMostPairs))),
        seed_(seed) {}

  std::vector<Regime> Run() {
    AddRuns("runs of equal values", [](std::mt19937_64& random) {
      return random() % (std::uint64_t{2} << (random() % kLongestRunBits));
    });
    AddRuns("short runs of equal values",
            [](std::mt19937_64& random) { return random() % kShortRun; });
    AddSingleBits();
    AddEqualArrays();
    AddChains();
    for (const std::size_t r : offsets_) AddRowsAlike(r);
    return std::move(regimes_);
  }

 private:
  using Length = std::uint64_t (*)(std::mt19937_64& random);

  const Region& RegionOf(std::size_t r) const { return plan_.layout.regions[r]; }
  void Add(const std::string& name, RegimeChange change) {
    regimes_.push_back(MakeRegime(name, workload_, seed_, std::move(change), Regime::Kind::kPlain));
  }

  // `length`: of a run, less one.
  void AddRuns(const std::string& name, Length length) {
    Add(name, [&plan = plan_, regions = regions_, length](CaseInputs& inputs, auto& random) {
      for (const std::size_t r : regions) {
        const Region& region = plan.layout.regions[r];
        const auto size = static_cast<std::size_t>(region.type.size());
        std::vector<std::byte>& bytes = inputs.regions[r];
        ForStretches(region.count, random, [&](std::int64_t begin, std::int64_t end, auto& own) {
          for (std::int64_t i = begin; i < end;) {
            const std::int64_t last = std::min(end, i + 1 + static_cast<std::int64_t>(length(own)));
            const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(i * region.type.size());
            for (++i; i < last; ++i) {
              std::copy_n(from, size,
                          bytes.begin() + static_cast<std::ptrdiff_t>(i * region.type.size()));
            }
          }
        });
      }
    });
  }

  void AddSingleBits() {
    Add("arrays that differ in single bits",
        [&plan = plan_, regions = regions_](CaseInputs& inputs, auto& random) {
          for (std::size_t k = 1; k < regions.size(); ++k) {
            const Region &from = plan.layout.regions[regions[k - 1]],
                         &to = plan.layout.regions[regions[k]];
            if (!(from.type == to.type) || from.count != to.count) continue;
            if (EndsOf(to) && to.fill->kind != device::FillKind::kBits) continue;
            std::vector<std::byte>& bytes = inputs.regions[regions[k]];
            bytes = inputs.regions[regions[k - 1]];
            ForComponents(ComponentsOf(to), random, [&](std::int64_t i, auto& own) {
              if (own() % 4 != 0) return;
              // Of a number the low bits of its mantissa: an ulp or some.
              const auto bits = static_cast<std::uint64_t>(8 * to.type.bytes);
              const std::uint64_t bit = own() % (to.type.floating() ? bits / 8 : bits);
              bytes[static_cast<std::size_t>(i * to.type.bytes) + bit / 8] ^=
                  std::byte{static_cast<unsigned char>(1u << (bit % 8))};
            });
          }
        });
  }

  // A field that has not changed since the step before.
  void AddEqualArrays() {
    std::size_t pairs = 0;
    for (std::size_t k = 1; k < regions_.size() && pairs < kMostPairs; ++k) {
      const Region &from = RegionOf(regions_[k - 1]), &to = RegionOf(regions_[k]);
      if (!(from.type == to.type) || from.count != to.count) continue;
      if (!from.fill || !to.fill || from.fill->kind != to.fill->kind) continue;
      const auto ends = EndsOf(from), of_other = EndsOf(to);
      if (ends && (ends->low < of_other->low || ends->high > of_other->high)) continue;
      if (ends && from.fill->zeros > 0 && (of_other->low > 0 || of_other->high < 0)) continue;
      ++pairs;
      Add("'" + to.name + "' equal to '" + from.name + "'",
          [from = regions_[k - 1], to = regions_[k]](CaseInputs& inputs, auto&) {
            inputs.regions[to] = inputs.regions[from];
          });
    }
  }

  // Integers that may be places of their own array, all of them.
  void AddChains() {
    for (const std::int64_t back : {std::int64_t{1}, std::int64_t{0}}) {
      bool any = false;
      for (const std::size_t r : regions_) any = any || IsPlaces(RegionOf(r));
      if (!any) return;
      Add(back == 1 ? "places that lead to the one before" : "places that lead to themselves",
          [&plan = plan_, regions = regions_, back](CaseInputs& inputs, auto&) {
            for (const std::size_t r : regions) {
              const Region& region = plan.layout.regions[r];
              if (!IsPlaces(region)) continue;
              const Ends ends = *EndsOf(region);
              ForComponents(ComponentsOf(region), [&](std::int64_t i) {
                device::WriteInteger(inputs.regions[r].data(), i, region.type,
                                     std::max(ends.low, i - back));
              });
            }
          });
    }
  }
  static bool IsPlaces(const Region& region) {
    const auto ends = EndsOf(region);
    return ends && ends->low >= -1 && ends->low <= 0 && ends->high >= ComponentsOf(region) - 1;
  }

  // Rows of one length, each like the one before but for single elements.
  void AddRowsAlike(std::size_t r) {
    Add("rows of '" + RegionOf(r).name + "' of one length, nearly alike",
        [&plan = plan_, &workload = workload_, regions = regions_, r](CaseInputs& inputs,
                                                                      auto& random) {
          const Region& region = plan.layout.regions[r];
          const auto rows = region.count - 1;
          const std::byte* was = workload.regions[r].data();
          const auto first = static_cast<std::int64_t>(device::ReadNumber(was, 0, region.type));
          const auto last = static_cast<std::int64_t>(device::ReadNumber(was, rows, region.type));
          const std::int64_t width = rows > 0 ? (last - first) / rows : 0;
          if (width <= 0) return;
          for (std::int64_t i = 0; i < rows; ++i) {
            device::WriteInteger(inputs.regions[r].data(), i, region.type, first + i * width);
          }
          for (const std::size_t of : regions) {
            const Region& values = plan.layout.regions[of];
            const std::int64_t step = width * values.type.size();
            std::vector<std::byte>& bytes = inputs.regions[of];
            for (auto at = step; at + step <= static_cast<std::int64_t>(bytes.size()); at += step) {
              std::copy_n(bytes.begin() + (at - step), step, bytes.begin() + at);
              if (random() % 2 == 0) continue;
              const auto place =
                  static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(width));
              const auto from =
                  static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(values.count));
              std::copy_n(workload.regions[of].begin() + from * values.type.size(),
                          values.type.size(), bytes.begin() + at + place * values.type.size());
            }
          }
        });
  }

  const CasePlan& plan_;
  const CaseInputs& workload_;
  const std::vector<std::size_t> regions_, offsets_;
  const std::uint64_t seed_;
  std::vector<Regime> regimes_;
};

}  // namespace

std::vector<Regime> RepeatRegimes(const CasePlan& plan, const CaseInputs& workload,
                                  const std::vector<std::size_t>& regions,
                                  const std::vector<std::size_t>& offsets, std::uint64_t seed) {
  if (regions.empty()) return {};
  return RepeatMaker(plan, workload, regions, offsets, seed).Run();
}

}  // namespace cupilot::worker
