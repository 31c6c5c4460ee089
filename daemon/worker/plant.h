// Planted values: a case's own inputs with decisive ones at random positions, one for each
// independent output. What selects (a maximum, a threshold, a mask) shows by them whether it reads
// an input at all; what is drawn at random shows it almost never. Pure.
//
// A candidate that ignores one input in a hundred passes a decisive position with probability 0.99,
// and kPlantsNeeded of them with probability 0.001 (reference: swap_and_gate.md, 1.7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "worker/case_inputs.h"
#include "worker/case_plan.h"

namespace cupilot::worker {

inline constexpr std::int64_t kPlantsNeeded = 688;

struct Plant {
  std::size_t region = 0;
  int run = 0;  // even: the largest value, odd: the smallest

  std::string Name() const;  // among the contents of a case
};

// The regions that may be planted in: floating data, and integers whose fill says what they may be.
std::vector<std::size_t> PlantableRegions(const Layout& layout);

struct Planted {
  CaseInputs inputs;
  std::vector<std::int64_t> positions;  // components of the region, one a row, in order
};

// One position in each row: as many components as reach one output if all outputs share them
// evenly. A function of its arguments alone.
Planted PlantValues(const CasePlan& plan, const CaseInputs& workload, const Plant& plant,
                    std::uint64_t seed);

// Decisive values one at a time, each alone among contents that have none: for outputs so few that
// a run with one position for each of them shows little of a large input.
class PlantSeries {
 public:
  struct Write {
    std::int64_t at = 0;  // byte of the region
    std::vector<std::byte> bytes;
  };

  PlantSeries(const CasePlan& plan, const CaseInputs& workload, std::size_t region,
              std::uint64_t seed);

  // What each of them is written into: the workload's contents, but for integers that have an end
  // of their range, which are next to it.
  std::shared_ptr<const CaseInputs> base() const { return base_; }
  // Number `run`, a function of the constructor's arguments and of it alone; two where elements
  // are exchanged.
  std::vector<Write> Draw(int run) const;
  CaseInputs With(const std::vector<Write>& writes) const;

 private:
  const Region& region_;
  const std::size_t index_;
  const std::uint64_t seed_;
  std::shared_ptr<CaseInputs> base_;
  double low_ = 0, high_ = 0;  // of its finite numbers
};

// A decisive value at one position of the region, in `inputs`, which hold the workload's contents.
void PlantOne(const CasePlan& plan, const CaseInputs& workload, const Plant& plant,
              std::uint64_t seed, CaseInputs& inputs);

// The same positions in every fourth row of all floating regions that may be planted in, with
// `value` at each: a number that is none, an infinite one of either sign, or a tiny one.
CaseInputs WithSpecialValues(const CasePlan& plan, const CaseInputs& workload, double value,
                             std::uint64_t seed);

// The same, but half of the components of region `zeroed` are zero, and it has no `value`, so that
// zeros of one factor meet what is no number in another. Where it is the only such region, it has
// both.
CaseInputs WithZerosBeside(const CasePlan& plan, const CaseInputs& workload, std::size_t zeroed,
                           double value, std::uint64_t seed);

// All integers of those regions are one end of what their fills say.
CaseInputs WithIntegersAtEnd(const CasePlan& plan, const CaseInputs& workload, bool high);

// Each floating region that its fill makes one number everywhere has another one.
CaseInputs WithOtherConstants(const CasePlan& plan, const CaseInputs& workload);

// Components of all outputs.
std::int64_t OutputsOf(const Layout& layout);

}  // namespace cupilot::worker
