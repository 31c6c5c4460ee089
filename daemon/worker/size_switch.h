// Whether a candidate may take another path at one size of a case than at a smaller one, as far as
// its launches and its text say so. Pure.
#pragma once

#include <string>

#include "records/kernel.h"
#include "records/variant.h"
#include "worker/case_plan.h"
#include "worker/program.h"

namespace cupilot::worker {

// A size that was planned, and the candidate's launches at it.
struct SizedProgram {
  const CasePlan& original;
  const Program& program;
};

// Why what the candidate does at the small size says little of the large one: it launches other
// kernels there, or its source or values name a number (also a product or a shift of two) that
// the original's source does not, above what block sizes are, which a scalar, a count, a size in
// bytes or the threads of the large case reach and those of the small one do not. Empty: nothing is
// seen.
std::string WhySizesDiffer(const records::Kernel& kernel, const records::Variant& variant,
                           const SizedProgram& large, const SizedProgram& small);

}  // namespace cupilot::worker
