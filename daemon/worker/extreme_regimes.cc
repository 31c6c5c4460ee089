#include "worker/extreme_regimes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "device/element.h"
#include "worker/regime_draw.h"

namespace cupilot::worker {
namespace {

using Kind = Regime::Kind;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kMostHalves = 1024;     // products of them, and sums, are exact
constexpr double kMostHalvesOfHalf = 4;  // and in half precision none overflows
constexpr std::size_t kMostAlone = 3;    // arrays of which an element is all that there is

// Of component i, which was that.
struct At {
  const Region& region;
  std::int64_t i;
  double was;
};
using Draw = std::function<double(const At& at, std::mt19937_64& random)>;

bool IsHalf(const Region& region) { return region.type.bytes == 2; }
bool IsFree(const Region& region) {
  return !region.fill || region.fill->kind != device::FillKind::kUniform;
}
bool InStretch(const At& at) { return at.i / StretchOf(at.region) % 2 == 1; }

class ExtremeMaker {
 public:
  ExtremeMaker(const CasePlan& plan, const CaseInputs& workload,
               const std::vector<std::size_t>& regions, const std::vector<double>& numbers,
               std::uint64_t seed)
      : plan_(plan), workload_(workload), regions_(regions), seed_(seed) {
    for (const double number : numbers) {
      const double size = std::fabs(number);
      if (size >= 2 && size <= kMostHalves && size == std::floor(size)) sizes_.insert(size);
    }
  }

  std::vector<Regime> Run() {
    AddFar();
    AddInfinite();
    AddSignedZeros();
    if (!sizes_.empty()) AddHalves();
    AddLargestOfOneThread();
    for (std::size_t k = 0; k < std::min(regions_.size(), kMostAlone); ++k) AddAlone(regions_[k]);
    return std::move(regimes_);
  }

 private:
  void Add(const std::string& name, Draw draw, Kind kind) {
    const auto change = [&plan = plan_, &workload = workload_, regions = regions_,
                         draw = std::move(draw)](CaseInputs& inputs, std::mt19937_64& random) {
      for (const std::size_t r : regions) {
        const Region& region = plan.layout.regions[r];
        ForComponents(ComponentsOf(region), random, [&](std::int64_t i, auto& own) {
          const double was = device::ReadNumber(workload.regions[r].data(), i, region.type);
          const double is = draw({region, i, was}, own);
          if (is != was || std::signbit(is) != std::signbit(was)) {
            device::WriteNumber(inputs.regions[r].data(), i, region.type, is);
          }
        });
      }
    };
    regimes_.push_back(MakeRegime(name, workload_, seed_, change, kind));
  }

  void AddFar() {
    Add(
        "all numbers far below zero",
        [](const At& at, auto&) {
          return IsFree(at.region) ? at.was - (IsHalf(at.region) ? 192 : 1024) : at.was;
        },
        Kind::kFinite);
    // Squares of them, and sums of these, are numbers of single precision; not of half precision.
    Add(
        "all numbers times 1e17",
        [](const At& at, auto&) { return IsHalf(at.region) ? at.was : at.was * 1e17; },
        Kind::kFinite);
    // Products in double precision that are split into short ones are good for what these hold.
    Add(
        "stretches of great negative numbers",
        [least = HasDoubles(plan_.layout) ? -1e18 : -1e35](const At& at, auto&) {
          if (!InStretch(at)) return at.was;
          return at.region.type.number == device::Number::kFloat16 ? -6e4 : least;
        },
        Kind::kFinite);
  }

  void AddInfinite() {
    Add(
        "stretches of minus infinity",
        [](const At& at, auto&) { return InStretch(at) ? -kInfinite : at.was; }, Kind::kSpecial);
    Add(
        "infinite values and some that are no numbers, close together",
        [](const At& at, auto& random) {
          switch (random() % 6) {
            case 0:
              return kInfinite;
            case 1:
              return -kInfinite;
            case 2:
              return std::numeric_limits<double>::quiet_NaN();
            default:
              return at.was;
          }
        },
        Kind::kSpecial);
  }

  void AddSignedZeros() {
    Add(
        "zeros of both signs and nothing above them",
        [](const At& at, auto& random) {
          const auto kind = random() % 4;
          return kind == 0 ? 0.0 : kind == 1 ? -0.0 : -std::fabs(at.was);
        },
        Kind::kSpecial);
  }

  // Up to a number that the sources name, itself among them, so that what is scaled by the largest
  // keeps its halves.
  void AddHalves() {
    const std::vector<double> sizes(sizes_.begin(), sizes_.end());
    Add(
        "halves up to numbers of the sources" + NameOfNumbers(sizes),
        [sizes](const At& at, auto& random) {
          const auto stretch = static_cast<std::size_t>(at.i / StretchOf(at.region));
          const double named = sizes[stretch % sizes.size()];
          const double most = IsHalf(at.region) ? std::min(named, kMostHalvesOfHalf) : named;
          const double sign = random() % 2 == 0 ? 1 : -1;
          if (random() % 16 == 0) return sign * most;
          return sign * (static_cast<double>(random() % static_cast<std::uint64_t>(most)) + 0.5);
        },
        Kind::kPlain);
    regimes_.back().lattice = true;
  }

  // Where threads take every so many-th element.
  void AddLargestOfOneThread() {
    const std::int64_t threads = plan_.block[0] * plan_.block[1] * plan_.block[2];
    for (const std::int64_t width : std::set<std::int64_t>{32, plan_.block[0], threads}) {
      if (width < 2) continue;
      const std::int64_t place = 1 + static_cast<std::int64_t>(seed_ % 7) % (width - 1);
      for (const double sign : {1.0, -1.0}) {
        Add(
            std::string("the ") + (sign > 0 ? "largest" : "least") + " all " +
                std::to_string(width) + " apart",
            [width, place, sign](const At& at, auto&) {
              const double size = std::fabs(at.was);
              if (!IsFree(at.region)) return at.was;
              return at.i % width == place ? sign * (size + 4) : -sign * size / 2;
            },
            Kind::kPlain);
      }
    }
  }

  // One element of one array, all else zeros: most results are zeros then, without any rounding. A
  // place in a table that is a little off has a share of its neighbour, which sums of thousands
  // hide.
  void AddAlone(std::size_t r) {
    const Region& alone = plan_.layout.regions[r];
    const std::int64_t last = ComponentsOf(alone) - 1;
    for (const std::int64_t place : std::set<std::int64_t>{1, last}) {
      if (place < 1 || place > last) continue;
      Add(
          "element " + std::to_string(place) + " of '" + alone.name + "' and nothing else",
          [&alone, place](const At& at, auto&) {
            if (&at.region == &alone && at.i == place) return IsFree(alone) ? 1.0 : at.was;
            if (IsFree(at.region)) return 0.0;
            return std::clamp(0.0, at.region.fill->low, at.region.fill->high);
          },
          Kind::kFinite);
    }
  }

  const CasePlan& plan_;
  const CaseInputs& workload_;
  const std::vector<std::size_t> regions_;
  const std::uint64_t seed_;
  std::set<double> sizes_;
  std::vector<Regime> regimes_;
};

}  // namespace

std::vector<Regime> ExtremeRegimes(const CasePlan& plan, const CaseInputs& workload,
                                   const std::vector<std::size_t>& regions,
                                   const std::vector<double>& numbers, std::uint64_t seed) {
  if (regions.empty()) return {};
  return ExtremeMaker(plan, workload, regions, numbers, seed).Run();
}

}  // namespace cupilot::worker
