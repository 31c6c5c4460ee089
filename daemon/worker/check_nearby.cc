#include "worker/check_nearby.h"

#include <utility>

namespace cupilot::worker {
namespace {

// Whether it is about values that are judged by their errors.
bool DecidedByErrors(const Observation& seen, const Finding& finding) {
  if (finding.reason != "wrong_values" && finding.reason != "precision_loss") return false;
  if (seen.reference.key.empty()) return false;
  for (std::size_t r = 0; r < seen.reference.outputs.size(); ++r) {
    const Region& region = seen.original.layout.regions[r];
    if (!region.output || !seen.reference.outputs[r].expected) continue;
    if (EqualityOf(seen.set, region, seen.reference.outputs[r]) == Equality::kErrorRule) {
      return true;
    }
  }
  return false;
}

}  // namespace

base::Result<Finding> AskNearby(References& references, const OriginalResult& reference, bool dense,
                                Finding finding, const JudgeByErrors& judge) {
  const auto all_of = [&](const NearbyErrors& draws, auto error_of) {
    std::vector<Rho> errors;
    for (std::size_t r = 0; r < reference.outputs.size(); ++r) {
      const Rho& here = reference.outputs[r].original_rho;
      std::vector<Rho> near;
      for (const std::vector<Rho>& draw : draws) near.push_back(draw[r]);
      // On a probe an original that is exact is so for what it does: no luck.
      const bool exact_probe = !dense && IsExact(here);
      errors.push_back(exact_probe ? here : error_of(here, near));
    }
    return errors;
  };
  TRY_ASSIGN(const auto first, references.FindNearby(reference, true));
  if (first->empty()) return finding;
  NearbyErrors draws = *first;
  if (judge(all_of(draws, TypicalError)).reason.empty()) return Finding{};
  if (!judge(all_of(draws, HopefulError)).reason.empty()) return finding;
  TRY_ASSIGN(const auto further, references.FindNearby(reference, false));
  draws.insert(draws.end(), further->begin(), further->end());
  return judge(all_of(draws, TypicalError));
}

base::Result<Finding> CheckNearby(References& references, const Observation& seen, Errors& errors,
                                  const std::function<bool(const CheckRow&)>& asked) {
  Finding finding = RunChecks(seen, errors, asked);
  if (!DecidedByErrors(seen, finding)) return finding;
  const std::string check = finding.check;
  return AskNearby(references, seen.reference, seen.dense, std::move(finding),
                   [&](const std::vector<Rho>& original_errors) {
                     Observation again = seen;
                     again.original_errors = &original_errors;
                     Finding found = CheckValues(again, errors);
                     if (!found.reason.empty()) found.check = check;
                     return found;
                   });
}

}  // namespace cupilot::worker
