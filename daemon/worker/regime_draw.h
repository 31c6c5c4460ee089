// How the contents of a regime (regimes.h) are drawn.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "device/parallel.h"
#include "worker/regimes.h"
#include "worker/split_mix.h"

namespace cupilot::worker {

using RegimeChange = std::function<void(CaseInputs& inputs, std::mt19937_64& random)>;

// `change` is given a copy of `workload`, to which a reference is kept; its random numbers are a
// function of name and seed.
Regime MakeRegime(const std::string& name, const CaseInputs& workload, std::uint64_t seed,
                  RegimeChange change, Regime::Kind kind);

// `change(begin, end, random)` for stretches of `count` elements, on all processors. Each has
// random numbers of its own, so that what is drawn does not depend on how many processors there
// are.
template <class Change>
void ForStretches(std::int64_t count, std::mt19937_64& random, const Change& change) {
  constexpr std::int64_t kStretch = std::int64_t{1} << 15;
  const std::uint64_t key = random();
  const auto some = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t stretch = first; stretch < last; ++stretch) {
      std::mt19937_64 own(SplitMix(key, static_cast<std::uint64_t>(stretch)));
      change(stretch * kStretch, std::min(count, (stretch + 1) * kStretch), own);
    }
  };
  device::InParallel((count + kStretch - 1) / kStretch, some, 1);
}

// The same for each element: `change(i, random)`.
template <class Change>
void ForComponents(std::int64_t count, std::mt19937_64& random, const Change& change) {
  ForStretches(count, random, [&](std::int64_t begin, std::int64_t end, std::mt19937_64& own) {
    for (std::int64_t i = begin; i < end; ++i) change(i, own);
  });
}

// And without random numbers: `change(i)`.
template <class Change>
void ForComponents(std::int64_t count, const Change& change) {
  device::InParallel(count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) change(i);
  });
}

struct Ends {
  std::int64_t low = 0, high = 0;
};
// Of integers whose fill says what they may be; those in an order are none.
std::optional<Ends> EndsOf(const Region& region);

// Whether any buffer holds numbers in double precision.
bool HasDoubles(const Layout& layout);

// For names: the contents of others with other numbers are others.
std::string NameOfNumbers(const std::vector<double>& numbers);

// Components of a region's stretches: there are sixteen of them, or a few more, every other one of
// which is changed where some are.
std::int64_t StretchOf(const Region& region);

}  // namespace cupilot::worker
