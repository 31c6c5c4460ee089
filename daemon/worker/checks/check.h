// The checks of the gate's stage "verify" (design, section 6): what is asked of the arena after a
// candidate ran on one fill of one case. One file and one row each; a row's order is its cost, and
// the first that finds something ends the verification.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/worker_messages.h"
#include "worker/case_plan.h"
#include "worker/fill_recipe.h"
#include "worker/reference.h"

namespace cupilot::worker {

struct Finding {
  std::string reason;  // of records::kReasons; empty: nothing wrong
  std::string detail;
  std::string check = {};  // that found it; empty: the run itself failed
};

struct Observation {
  const protocol::CandidateSet& set;
  const CasePlan& original;
  const CasePlan& plan;  // the same regions, and the candidate's workspaces behind them
  const OriginalResult& reference;
  std::span<const std::byte> after;
  std::string fill = "of the workload";  // and what was special about the run, for details
  bool dense = true;                     // by which limits of the error rule
  Before before = {};  // what the arena held beside the inputs; elements that the original leaves
                       // alone and that still hold it have kPoison again in `after`
  // By region, the original's errors that decide in place of the reference's; null: those do.
  const std::vector<Rho>* original_errors = nullptr;
};

// The greatest rms error over fills and outputs, in units of the error rule.
struct Errors {
  double candidate = 0;
  double original = 0;
};

struct CheckRow {
  const char* name;  // in the evaluation's record
  const char* what;  // that holds where the check passes
  Finding (*run)(const Observation& seen, Errors& errors);
  bool of_results = false;  // asks what the original gives
};

extern const std::vector<CheckRow> kChecks;

// The first finding of those checks for which `asked` holds; errors grow by what they measure.
Finding RunChecks(const Observation& seen, Errors& errors,
                  const std::function<bool(const CheckRow&)>& asked);

Finding CheckRedZones(const Observation& seen, Errors& errors);
Finding CheckInputs(const Observation& seen, Errors& errors);
Finding CheckWritten(const Observation& seen, Errors& errors);
Finding CheckValues(const Observation& seen, Errors& errors);
// Where values are wrong: whether it is that an element was not written.
Finding FindUntouched(const Observation& seen);

// Whether what the original's errors are decides about the results, and its twin was not asked yet.
bool NeedsTwin(const Observation& seen);

// How the values of an output are compared: the first of these that the workload and the reference
// allow.
// (kSet: an output whose order is free, bit by bit).
enum class Equality { kSet, kTolerance, kErrorRule, kBits };
Equality EqualityOf(const protocol::CandidateSet& set, const Region& region,
                    const ReferenceOutput& reference);

// The elements of a region, views of `data`, in ascending order of their bytes.
std::vector<std::string_view> SortedElements(const Region& region, const std::byte* data,
                                             const std::vector<bool>& left_out);

// The first byte outside of all regions that is not `red`, in the order of places.
std::optional<std::size_t> FirstByteOutside(const Layout& layout, std::span<const std::byte> arena,
                                            std::byte red);
// "a byte outside of all buffers was written, near 'in' (...)".
std::string DescribeByteOutside(const Layout& layout, std::size_t at);

// "'out'[17]", " (fill wide, case '1080p', seed 1)": for details.
std::string Where(const Region& region, std::size_t element);
std::string FillName(const Observation& seen);

}  // namespace cupilot::worker
