#include "worker/regimes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "worker/extreme_regimes.h"
#include "worker/plant.h"
#include "worker/regime_draw.h"
#include "worker/repeat_regimes.h"
#include "worker/split_mix.h"

namespace cupilot::worker {
namespace {

using device::FillKind;
using device::Number;

constexpr int kDrawsOfNumbers = 6, kDrawsOfMultiples = 4;
constexpr std::size_t kMostGaps = 2;  // between numbers of the sources
constexpr std::int64_t kNarrowestGap = 4;
constexpr std::size_t kMostRegions = 4;  // that are asked one by one

// Of floating numbers.
struct Levels {
  double low = 0, step = 0;
  std::uint64_t count = 0;
};

bool HoldsTies(const Region& region, const std::vector<std::byte>& bytes) {
  for (std::int64_t i = 0; i + 1 < region.count; ++i) {
    if (device::ReadNumber(bytes.data(), i, region.type) ==
        device::ReadNumber(bytes.data(), i + 1, region.type)) {
      return true;
    }
  }
  return false;
}

// Regimes keep it.
class Maker : public std::enable_shared_from_this<Maker> {
 public:
  Maker(const CasePlan& plan, const CaseInputs& workload, const std::vector<double>& numbers,
        bool wide, std::uint64_t seed)
      : plan_(plan), workload_(workload), numbers_(numbers), wide_(wide), seed_(seed) {
    for (const double number : numbers) {
      if (number != std::floor(number) || std::fabs(number) >= 9e15) continue;
      named_.insert(static_cast<std::int64_t>(number));
    }
    // An index that means none, a label that is left out.
    for (const auto& [name, value] : plan.environment.integers) {
      if (name.starts_with("$")) named_.insert(value);
    }
    for (const std::size_t r : PlantableRegions(plan.layout)) {
      const Region& region = plan.layout.regions[r];
      if (region.type.floating()) floats_.push_back(r);
    }
    for (std::size_t r = 0; r < plan.layout.regions.size(); ++r) {
      const Region& region = plan.layout.regions[r];
      if (EndsOf(region)) integers_.push_back(r);
      // A search in keys of which none is there twice may find any of two.
      const bool keys = region.fill && region.fill->kind == FillKind::kSorted;
      const bool ordered = region.input && region.count > 1 &&
                           ((region.fill && region.fill->kind == FillKind::kOffsets) ||
                            (keys && HoldsTies(region, workload.regions[r])));
      if (ordered) ordered_.push_back(r);
    }
  }

  std::vector<Regime> Run() {
    AddIntegers();
    AddLevels();
    AddOrdered();
    std::vector<std::size_t> all = floats_;
    all.insert(all.end(), integers_.begin(), integers_.end());
    for (Regime& regime : RepeatRegimes(plan_, workload_, all, ordered_, seed_)) {
      regimes_.push_back(std::move(regime));
    }
    AddMagnitudes();
    if (wide_) AddLargestHalves();
    AddZeros();
    for (Regime& regime : ExtremeRegimes(plan_, workload_, floats_, numbers_, seed_)) {
      regimes_.push_back(std::move(regime));
    }
    AddMultiples();
    // What follows what (a \n behind a \r) at the end of a stretch takes more than one draw.
    for (int draw = 2; draw <= kDrawsOfNumbers; ++draw) AddNumbersOfSources(draw);
    for (std::size_t gap = 0; gap < kMostGaps; ++gap) AddBetweenNumbers(gap);
    return std::move(regimes_);
  }

  std::optional<Regime> Meeting() {
    if (integers_.empty()) return std::nullopt;
    Add("integers that meet", [this](CaseInputs& inputs, auto& random) {
      for (const std::size_t r : integers_) {
        const Region& region = RegionOf(r);
        const Ends ends = *EndsOf(region);
        // Equal ones, and neighbours, which are bits of one word.
        const std::array<std::int64_t, 4> choices = {ends.low, std::min(ends.low + 1, ends.high),
                                                     ends.high, std::max(ends.high - 1, ends.low)};
        ForComponents(ComponentsOf(region), random, [&](std::int64_t i, auto& own) {
          PutInteger(inputs, region, r, i, choices[own() % choices.size()]);
        });
      }
    });
    return std::move(regimes_.front());
  }

 private:
  using Kind = Regime::Kind;

  void Add(const std::string& name, const RegimeChange& change, Kind kind = Kind::kPlain) {
    regimes_.push_back(MakeRegime(
        name, workload_, seed_,
        [self = shared_from_this(), change](CaseInputs& inputs, std::mt19937_64& random) {
          change(inputs, random);
        },
        kind));
  }

  std::string OfNumbers() const { return NameOfNumbers(numbers_); }

  const Region& RegionOf(std::size_t r) const { return plan_.layout.regions[r]; }

  static void PutInteger(CaseInputs& inputs, const Region& region, std::size_t r, std::int64_t i,
                         std::int64_t value) {
    device::WriteInteger(inputs.regions[r].data(), i, region.type, value);
  }
  static void PutNumber(CaseInputs& inputs, const Region& region, std::size_t r, std::int64_t i,
                        double value) {
    device::WriteNumber(inputs.regions[r].data(), i, region.type, value);
  }

  // What a value of the range may be that shortcuts forget.
  std::vector<std::int64_t> ChoicesOf(const Ends& ends) const {
    std::vector<std::int64_t> choices;
    const auto add = [&](std::int64_t value) {
      if (value >= ends.low && value <= ends.high) choices.push_back(value);
    };
    for (const std::int64_t value :
         {ends.low, ends.high, std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}}) {
      add(value);
    }
    if (ends.low < ends.high) add(ends.low + 1), add(ends.high - 1);
    for (const std::int64_t number : named_) add(number);
    return choices;
  }

  void AddIntegers() {
    if (integers_.empty()) return;
    // At one place all operands have the same kind of value: both at their least, both zero.
    Add("integers of few kinds, alike at each place" + OfNumbers(),
        [this](CaseInputs& inputs, auto& random) {
          const std::uint64_t key = random();
          for (const std::size_t r : integers_) {
            const Region& region = RegionOf(r);
            const auto choices = ChoicesOf(*EndsOf(region));
            ForComponents(ComponentsOf(region), [&](std::int64_t i) {
              const std::uint64_t word = SplitMix(key, static_cast<std::uint64_t>(i));
              PutInteger(inputs, region, r, i, choices[word % choices.size()]);
            });
          }
        });
    Add("integers of few kinds" + OfNumbers(), [this](CaseInputs& inputs, auto& random) {
      for (const std::size_t r : integers_) {
        const Region& region = RegionOf(r);
        const auto choices = ChoicesOf(*EndsOf(region));
        ForComponents(ComponentsOf(region), random, [&](std::int64_t i, auto& own) {
          PutInteger(inputs, region, r, i, choices[own() % choices.size()]);
        });
      }
    });
    AddNumbersOfSources(1);
    Add("integers at either end", [this](CaseInputs& inputs, auto& random) {
      for (const std::size_t r : integers_) {
        const Region& region = RegionOf(r);
        const Ends ends = *EndsOf(region);
        ForComponents(ComponentsOf(region), random, [&](std::int64_t i, auto& own) {
          PutInteger(inputs, region, r, i, own() % 2 == 0 ? ends.low : ends.high);
        });
      }
    });
    if (integers_.size() < 2) return;
    for (std::size_t k = 0; k < std::min(integers_.size(), kMostRegions); ++k) {
      const std::size_t high = integers_[k];
      Add("'" + RegionOf(high).name + "' at its upper end, other integers at their lower",
          [this, high](CaseInputs& inputs, auto&) {
            for (const std::size_t r : integers_) {
              const Region& region = RegionOf(r);
              const Ends ends = *EndsOf(region);
              ForComponents(ComponentsOf(region), [&](std::int64_t i) {
                PutInteger(inputs, region, r, i, r == high ? ends.high : ends.low);
              });
            }
          });
    }
  }

  void AddNumbersOfSources(int draw) {
    if (integers_.empty() || named_.empty()) return;
    Add("integers of the sources, draw " + std::to_string(draw) + OfNumbers(),
        [this](CaseInputs& inputs, auto& random) { PutNumbersOfSources(inputs, random); });
  }

  // So many days, and a zone more or less.
  void AddMultiples() {
    if (integers_.empty() || named_.empty()) return;
    for (int draw = 1; draw <= kDrawsOfMultiples; ++draw) {
      Add("multiples of integers of the sources, draw " + std::to_string(draw) + OfNumbers(),
          [this](CaseInputs& inputs, auto& random) {
            const std::vector<std::int64_t> named(named_.begin(), named_.end());
            for (const std::size_t r : integers_) {
              const Region& region = RegionOf(r);
              const Ends ends = *EndsOf(region);
              ForComponents(ComponentsOf(region), random, [&](std::int64_t i, auto& own) {
                const std::int64_t unit = named[own() % named.size()];
                const std::int64_t more = named[own() % named.size()];
                const auto sign = static_cast<std::int64_t>(own() % 3) - 1;
                if (unit < 2) return;
                const std::int64_t was =
                    device::ReadInteger(workload_.regions[r].data(), i, region.type);
                std::int64_t shift = 0, value = 0;
                if (__builtin_mul_overflow(sign, more, &shift) ||
                    __builtin_add_overflow(was - was % unit, shift, &value)) {
                  return;
                }
                if (value >= ends.low && value <= ends.high) {
                  PutInteger(inputs, region, r, i, value);
                }
              });
            }
          });
    }
  }

  void PutNumbersOfSources(CaseInputs& inputs, std::mt19937_64& random) const {
    for (const std::size_t r : integers_) {
      const Region& region = RegionOf(r);
      std::vector<std::int64_t> choices;
      for (const std::int64_t value : ChoicesOf(*EndsOf(region))) {
        if (named_.contains(value)) choices.push_back(value);
      }
      if (choices.empty()) continue;
      ForComponents(ComponentsOf(region), random, [&](std::int64_t i, auto& own) {
        PutInteger(inputs, region, r, i, choices[own() % choices.size()]);
      });
    }
  }

  // Ranges between numbers of the sources that follow each other, themselves included ('0' and
  // '9'), the narrowest first: they divide what is read into kinds.
  std::vector<Ends> GapsOf(const Ends& ends) const {
    std::vector<Ends> gaps;
    for (auto low = named_.lower_bound(ends.low); low != named_.end(); ++low) {
      const auto high = std::next(low);
      if (high == named_.end() || *high > ends.high) break;
      if (*high - *low >= kNarrowestGap) gaps.push_back({*low, *high});
    }
    std::stable_sort(gaps.begin(), gaps.end(),
                     [](const Ends& a, const Ends& b) { return a.high - a.low < b.high - b.low; });
    return gaps;
  }

  // Of one kind all of them: whole fields of digits, say, with sums and products that are as large
  // as can be.
  void AddBetweenNumbers(std::size_t gap) {
    const bool any = std::any_of(integers_.begin(), integers_.end(), [&](std::size_t r) {
      return GapsOf(*EndsOf(RegionOf(r))).size() > gap;
    });
    if (!any) return;
    Add("integers between numbers of the sources, range " + std::to_string(gap + 1) + OfNumbers(),
        [this, gap](CaseInputs& inputs, auto& random) {
          for (const std::size_t r : integers_) {
            const Region& region = RegionOf(r);
            const auto gaps = GapsOf(*EndsOf(region));
            if (gaps.size() <= gap) continue;
            const Ends& ends = gaps[gap];
            const auto span = static_cast<std::uint64_t>(ends.high - ends.low) + 1;
            ForComponents(ComponentsOf(region), random, [&](std::int64_t i, auto& own) {
              PutInteger(inputs, region, r, i, ends.low + static_cast<std::int64_t>(own() % span));
            });
          }
        });
  }

  void AddLevels() {
    if (floats_.empty()) return;
    const auto levels_of = [this](std::size_t r) {
      const Region& region = RegionOf(r);
      const bool bounded = region.fill->kind == FillKind::kUniform;
      Levels levels{bounded ? region.fill->low : -2, 0.5};
      const double range = bounded ? region.fill->high - region.fill->low : 4;
      // Whole numbers where there is room for some.
      if (bounded) levels.step = range >= 4 ? 1 : range / 8;
      levels.count = static_cast<std::uint64_t>(std::clamp(range / levels.step, 2.0, 64.0));
      return levels;
    };
    Add("few levels, so that values are equal",
        [this, levels_of](CaseInputs& inputs, auto& random) {
          for (const std::size_t r : floats_) {
            const Region& region = RegionOf(r);
            const Levels levels = levels_of(r);
            ForComponents(ComponentsOf(region), random, [&](std::int64_t i, auto& own) {
              const auto level = static_cast<double>(own() % levels.count);
              PutNumber(inputs, region, r, i, levels.low + levels.step * level);
            });
          }
        });
    regimes_.back().lattice = std::all_of(floats_.begin(), floats_.end(), [&](std::size_t r) {
      const Levels levels = levels_of(r);
      return levels.low == std::floor(levels.low) && levels.step >= 0.5;
    });
    Add("numbers of other arrays", [this](CaseInputs& inputs, auto& random) {
      for (const std::size_t r : floats_) {
        const Region& region = RegionOf(r);
        const std::size_t other = OtherLike(r);
        if (other == r) continue;
        const std::byte* from = workload_.regions[other].data();
        const auto count = static_cast<std::uint64_t>(ComponentsOf(RegionOf(other)));
        ForComponents(ComponentsOf(region), random, [&](std::int64_t i, auto& own) {
          if (own() % 2 == 0) return;
          const auto at = static_cast<std::int64_t>(own() % count);
          PutNumber(inputs, region, r, i, device::ReadNumber(from, at, region.type));
        });
      }
    });
    if (numbers_.empty()) return;
    Add("numbers of the sources among others" + OfNumbers(),
        [this](CaseInputs& inputs, auto& random) {
          for (const std::size_t r : floats_) {
            const Region& region = RegionOf(r);
            ForComponents(ComponentsOf(region), random, [&](std::int64_t i, auto& own) {
              const std::uint64_t word = own();
              if (word % 4 == 0) return;
              PutNumber(inputs, region, r, i, NumberFor(region.type, own));
            });
          }
        });
  }

  // Another input of the same type, which may be in order (edges, say); itself: there is none.
  std::size_t OtherLike(std::size_t r) const {
    const std::size_t all = plan_.layout.regions.size();
    for (std::size_t step = 1; step < all; ++step) {
      const std::size_t other = (r + step) % all;
      const Region& region = RegionOf(other);
      if (region.input && region.count > 0 && region.type == RegionOf(r).type) return other;
    }
    return r;
  }

  // One of the numbers, or the next one of the type on either side, of either sign.
  double NumberFor(const device::ElementType& type, std::mt19937_64& random) const {
    double value = numbers_[random() % numbers_.size()];
    const double ulp = 2 * device::Roundoff(type) * std::fabs(value);
    switch (random() % 8) {
      case 3:
        value *= 0.5 * static_cast<double>(random() % 16);  // and halves between multiples
        break;
      case 0:
        value += ulp;
        break;
      case 1:
        value -= ulp;
        break;
      case 2:
        value = -value;
        break;
      default:
        break;
    }
    return value;
  }

  // Where rows begin, and keys in order.
  void AddOrdered() {
    static constexpr std::array<const char*, 4> kShapes = {
        "everything in the first row", "everything in the last row", "many empty rows",
        "everything in two rows"};
    for (std::size_t k = 0; k < std::min(ordered_.size(), kMostRegions); ++k) {
      const std::size_t r = ordered_[k];
      for (std::size_t shape = 0; shape < kShapes.size(); ++shape) {
        Add("'" + RegionOf(r).name + "': " + kShapes[shape],
            [this, r, shape](CaseInputs& inputs, auto&) {
              Shape(inputs, r, shape);
              if (shape != 2) Ramp(inputs);
            });
      }
    }
  }

  // So that a mean of the first part of a long row is not like that of the whole.
  void Ramp(CaseInputs& inputs) const {
    for (const std::size_t r : floats_) {
      const Region& region = RegionOf(r);
      if (region.fill->kind == FillKind::kUniform) continue;
      const auto count = static_cast<double>(ComponentsOf(region));
      ForComponents(ComponentsOf(region), [&](std::int64_t i) {
        const double was = device::ReadNumber(workload_.regions[r].data(), i, region.type);
        PutNumber(inputs, region, r, i, was + 4 * static_cast<double>(i) / count);
      });
    }
  }

  void Shape(CaseInputs& inputs, std::size_t r, std::size_t shape) const {
    const Region& region = RegionOf(r);
    const std::int64_t count = region.count;
    const std::byte* was = workload_.regions[r].data();
    const auto first = device::ReadNumber(was, 0, region.type);
    const auto last = device::ReadNumber(was, count - 1, region.type);
    ForComponents(count, [&](std::int64_t i) {
      double value = first;
      if (shape == 0) value = i == 0 ? first : last;
      if (shape == 1) value = i == count - 1 ? last : first;
      if (shape == 3) value = 2 * i < count ? first : last;
      if (shape == 2) {
        // In eight steps.
        const double part = std::floor(8.0 * static_cast<double>(i) / static_cast<double>(count));
        value = std::floor(first + (last - first) * part / 8);
        if (i == 0) value = first;
        if (i == count - 1) value = last;
      }
      PutNumber(inputs, region, r, i, value);
    });
  }

  void AddMagnitudes() {
    if (floats_.empty()) return;
    struct Scale {
      const char* name;
      double factor, half;
    };
    // Numbers of half precision have no room for larger ones in other orders of a sum; products in
    // double precision that are split into short ones are good for what these hold.
    static constexpr std::array<Scale, 3> kScales = {
        {{"times 1e-9", 1e-9, 0x1p-9}, {"times 1e12", 1e12, 1}, {"times 1e25", 1e25, 1}}};
    for (const Scale& scale : kScales) {
      if (scale.factor > 1e20 && HasDoubles(plan_.layout)) continue;
      for (const bool whole : {true, false}) {
        Add(
            std::string(whole ? "all numbers " : "some stretches ") + scale.name,
            [this, scale, whole](CaseInputs& inputs, auto&) {
              for (const std::size_t r : floats_) {
                const Region& region = RegionOf(r);
                const double factor = region.type.bytes == 2 ? scale.half : scale.factor;
                const std::int64_t stretch = StretchOf(region);
                ForComponents(ComponentsOf(region), [&](std::int64_t i) {
                  if (!whole && i / stretch % 2 == 0) return;
                  const double was =
                      device::ReadNumber(workload_.regions[r].data(), i, region.type);
                  PutNumber(inputs, region, r, i, was * factor);
                });
              }
            },
            Kind::kFinite);
      }
    }
  }

  // Sums of two are more than half precision holds. Of one sign: what the whole sum has room for,
  // its parts have in any order.
  void AddLargestHalves() {
    const auto is_half = [this](std::size_t r) {
      return RegionOf(r).type.number == Number::kFloat16;
    };
    if (std::none_of(floats_.begin(), floats_.end(), is_half)) return;
    Add(
        "the largest numbers of half precision",
        [this, is_half](CaseInputs& inputs, auto& random) {
          for (const std::size_t r : floats_) {
            if (!is_half(r)) continue;
            const Region& region = RegionOf(r);
            ForComponents(ComponentsOf(region), random, [&](std::int64_t i, auto& own) {
              PutNumber(inputs, region, r, i, 32768 + static_cast<double>(own() % 1000) * 32);
            });
          }
        },
        Kind::kFinite);
  }

  void AddZeros() {
    if (floats_.empty()) return;
    for (std::size_t k = 0; k < std::min(floats_.size(), kMostRegions); ++k) {
      const std::size_t r = floats_[k];
      for (const bool whole : {true, false}) {
        Add(
            "zeros in " + std::string(whole ? "" : "stretches of ") + "'" + RegionOf(r).name + "'",
            [this, r, whole](CaseInputs& inputs, auto&) {
              const Region& region = RegionOf(r);
              const std::int64_t stretch = StretchOf(region);
              ForComponents(ComponentsOf(region), [&](std::int64_t i) {
                if (whole || i / stretch % 2 == 1) PutNumber(inputs, region, r, i, 0);
              });
            },
            Kind::kSpecial);
      }
    }
    Add(
        "zeros of both signs",
        [this](CaseInputs& inputs, auto& random) {
          for (const std::size_t r : floats_) {
            const Region& region = RegionOf(r);
            ForComponents(ComponentsOf(region), random, [&](std::int64_t i, auto& own) {
              const std::uint64_t word = own() % 4;
              if (word < 2) PutNumber(inputs, region, r, i, word == 0 ? 0.0 : -0.0);
            });
          }
        },
        Kind::kSpecial);
    Add(
        "tiny and huge negative numbers, and neighbours that are none",
        [this](CaseInputs& inputs, auto& random) {
          for (const std::size_t r : floats_) {
            const Region& region = RegionOf(r);
            const bool half = region.type.bytes == 2;
            const std::int64_t stretch = StretchOf(region);
            for (std::int64_t begin = 0; begin < ComponentsOf(region); begin += stretch) {
              const std::int64_t length = std::min(stretch, ComponentsOf(region) - begin);
              const auto at =
                  begin + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(length));
              const std::uint64_t kind = random() % 3;
              if (kind == 0) PutNumber(inputs, region, r, at, half ? -0x1p-12 : -1e-7);
              if (kind == 1) PutNumber(inputs, region, r, at, half ? -0x1p13 : -1e12);
              for (std::int64_t i = at; kind == 2 && i < std::min(at + 2, begin + length); ++i) {
                PutNumber(inputs, region, r, i, std::numeric_limits<double>::quiet_NaN());
              }
            }
          }
        },
        Kind::kSpecial);
  }

  const CasePlan& plan_;
  const CaseInputs& workload_;
  const std::vector<double> numbers_;
  const bool wide_;
  const std::uint64_t seed_;
  std::set<std::int64_t> named_;  // whole numbers of the sources, and the launch's
  std::vector<std::size_t> floats_, integers_, ordered_;
  std::vector<Regime> regimes_;
};

}  // namespace

std::vector<Regime> Regimes(const CasePlan& plan, const CaseInputs& workload,
                            const std::vector<double>& numbers, bool wide, std::uint64_t seed) {
  return std::make_shared<Maker>(plan, workload, numbers, wide, seed)->Run();
}

std::optional<Regime> IntegersThatMeet(const CasePlan& plan, const CaseInputs& workload,
                                       std::uint64_t seed) {
  return std::make_shared<Maker>(plan, workload, std::vector<double>{}, false, seed)->Meeting();
}

}  // namespace cupilot::worker
