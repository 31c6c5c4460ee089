// How the contents of a regime (regimes.h) are drawn.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "worker/regimes.h"

namespace cupilot::worker {

using RegimeChange = std::function<void(CaseInputs& inputs, std::mt19937_64& random)>;

// `change` is given a copy of `workload`, to which a reference is kept; its random numbers are a
// function of name and seed.
Regime MakeRegime(const std::string& name, const CaseInputs& workload, std::uint64_t seed,
                  RegimeChange change, Regime::Kind kind);

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
