// The double twin of a kernel, run on one case: exact results, and how far rounding of the inputs
// alone moves them (design, section 6).
//
// Inputs move within the roundoff of the original's widest arithmetic. Those of half, bfloat16 and
// float are doubles here, which hold a moved value as it is drawn. Those of double are long
// doubles, which have 11 bits more: a move has 2048 steps. A float of a kernel whose arithmetic is
// double moves by whole last places of its double.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "protocol/worker_messages.h"
#include "worker/case_inputs.h"
#include "worker/error_rule.h"
#include "worker/lease.h"
#include "worker/program.h"

namespace cupilot::worker {

class TwinRun {
 public:
  // Starts the twin's process. An error is about the twin: the case has none then.
  static base::Result<std::unique_ptr<TwinRun>> Start(const protocol::CandidateSet& set,
                                                      const records::Case& workload,
                                                      const CasePlan& original);

  // Whether its process, which trials of other sizes have, too, has not ended.
  bool alive() const { return lease_.runner().alive(); }
  // By region of the original's layout; nullopt where there is no floating output.
  base::Result<std::vector<std::optional<Expected>>> Run(const CaseInputs& inputs);
  // The same of one run: exact results, no units.
  base::Result<std::vector<std::optional<Expected>>> RunOnce(const CaseInputs& inputs);

 private:
  TwinRun(const CasePlan& original, int significand_bits, CasePlan plan, Program program,
          Lease lease)
      : original_(original),
        roundoff_(std::ldexp(1.0, -significand_bits)),
        plan_(std::move(plan)),
        program_(std::move(program)),
        lease_(std::move(lease)) {}
  // What is done to a stretch of a region's components, of which the first is number `first`.
  // `rests`: to be added to them; null: the type has no room for any.
  struct Stretch {
    std::size_t region = 0;
    std::int64_t first = 0;
    std::int64_t count = 0;
    double* values = nullptr;
    double* rests = nullptr;
  };
  using Change = std::function<void(const Stretch& stretch)>;
  Change RoundingOf(int draw) const;
  void Widen(const CaseInputs& inputs, const Change& change);
  void WidenRegion(std::size_t region, const std::byte* from, const Change& change);
  void WidenStructures(std::size_t region, const std::byte* from, const Change& change);
  base::Result<> RunOn(const CaseInputs& inputs, const Change& change);
  // On the workload's own inputs: on others (a softmax of far apart values) most may reach nothing.
  base::Result<> FindReach(const CaseInputs& inputs);
  base::Result<> CountZeros(const CaseInputs& inputs,
                            std::vector<std::optional<Expected>>& expected);
  base::Result<> ShiftInputs(const CaseInputs& inputs,
                             const std::vector<std::optional<Expected>>& expected,
                             std::vector<std::vector<double>>& terms);
  std::vector<double> ResultsOf(std::size_t region) const;
  bool Measured(std::size_t region) const;
  void Accumulate(std::size_t region, int draw, Expected& expected) const;

  const CasePlan& original_;
  const double roundoff_;  // of the original's widest arithmetic
  CasePlan plan_;
  Program program_;
  Lease lease_;
  std::vector<double> reach_;  // by region
};

}  // namespace cupilot::worker
