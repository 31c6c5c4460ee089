// Which cases of a workload a candidate is for. Its own guard may be for a class of sizes: the
// other cases are left to the original, as their launches will be. Pure.
#pragma once

#include <string>
#include <vector>

#include "protocol/worker_messages.h"
#include "worker/case_plan.h"

namespace cupilot::worker {

// What names stand for in the variant's expressions: its tunables hide the launch's names.
records::Environment WithValues(records::Environment environment, const records::Variant& variant);

// Whether the guard does not hold for the case by what its launch says of itself: scalars,
// geometry, which pointers are null. The published guard asks it again, so that no launch of the
// case gets the variant.
//
// A guard that fails by where the memory lies (aligned, disjoint) leaves no case to the original:
// in the program the same launch may lie elsewhere, and would get a variant that proved nothing
// there. Such a case is run like the others, and is the invalid launch that it is.
bool IsLeftToOriginal(const records::Variant& variant, const CasePlan& plan);

struct Admission {
  std::vector<records::Case> cases;  // those that are run with the candidate
  std::vector<std::string> left;     // names of the others
};
// Cases that cannot be planned are among the first: what is wrong with them is said by who runs
// them. What is kept of the original is of the whole set, whatever is admitted.
Admission Admit(const protocol::CandidateSet& set, const device::Properties& properties);

// The reason of a rejection where none is run: "invalid_launch".
inline constexpr const char* kAdmitsNone = "the variant's guard holds for no case of the workload";
// The same, said of the guard that would be published.
inline constexpr const char* kNeverRuns =
    "the guard that would be published holds for no case of the workload, so it would never run: ";

}  // namespace cupilot::worker
