// Contents that random data hardly ever have, and that a shortcut of a candidate is wrong on:
// numbers that the sources name, ties and repeats, integers at the ends of their ranges in every
// combination, rows of which one has everything, other magnitudes, zeros. Pure; what names a
// regime, its workload and the seed is what its contents are a function of.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "worker/case_inputs.h"
#include "worker/case_plan.h"

namespace cupilot::worker {

struct Regime {
  enum class Kind {
    kPlain,    // results as those of the workload, with more room for errors that add up
    kSpecial,  // they may be infinite or no numbers, which is asked too
    kFinite,   // they may overflow, which is not asked; what is finite there is
  };
  std::string name;  // among the contents of a case, and for details
  std::function<CaseInputs()> draw;
  Kind kind = Kind::kPlain;
  // All floating numbers are small multiples of a power of two: products and sums of them are exact
  // in any order, and what branches on these takes the same one in every honest candidate.
  bool lattice = false;
};

// In the order of what they show. `numbers`: of the sources and the scalars, for floating regions
// and integers whose range holds them. `wide`: the arithmetic on numbers in half precision is that
// of a wider format, so that none overflows inside. References to `plan` and `workload` are kept.
std::vector<Regime> Regimes(const CasePlan& plan, const CaseInputs& workload,
                            const std::vector<double>& numbers, bool wide, std::uint64_t seed);

// For watched runs: integers of so few kinds that threads meet wherever these lead them; nothing
// where there are none.
std::optional<Regime> IntegersThatMeet(const CasePlan& plan, const CaseInputs& workload,
                                       std::uint64_t seed);

}  // namespace cupilot::worker
