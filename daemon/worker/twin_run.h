// The double twin of a kernel, run on one case: exact results, and how far rounding of the inputs
// alone moves them (design, section 6).
#pragma once

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

  // By region of the original's layout; nullopt where there is no floating output.
  base::Result<std::vector<std::optional<Expected>>> Run(const CaseInputs& inputs);

 private:
  TwinRun(const CasePlan& original, CasePlan plan, Program program, Lease lease)
      : original_(original),
        plan_(std::move(plan)),
        program_(std::move(program)),
        lease_(std::move(lease)) {}
  void Widen(const CaseInputs& inputs, int draw);
  void WidenRegion(std::size_t region, const std::byte* from, int draw);
  bool Measured(std::size_t region) const;
  void Accumulate(std::size_t region, int draw, Expected& expected) const;

  const CasePlan& original_;
  CasePlan plan_;
  Program program_;
  Lease lease_;
};

}  // namespace cupilot::worker
