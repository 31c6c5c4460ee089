#include "service/original_times.h"

#include <set>

namespace cupilot::service {

void OriginalTimes::Note(const records::Evaluation& evaluation, const std::string& key) {
  const std::pair<std::string, std::string> now = {evaluation.date, key};
  const auto note = [&now](Seen& seen, double us) {
    if (us > 0 && seen.when <= now) seen = {us, now};
  };
  std::set<std::string> names;
  for (const records::CaseResult& result : evaluation.cases) {
    // On a GPU a case is there twice: cold, then warm.
    if (!names.insert(result.name).second) continue;
    Case& known = cases_[{evaluation.workload, result.name}];
    note(known.floor, result.floor_us);
    note(known.original, result.original_us);
  }
}

OriginalTimes::Times OriginalTimes::Find(const std::string& workload,
                                         const std::string& name) const {
  const auto found = cases_.find({workload, name});
  if (found == cases_.end()) return {};
  return {found->second.floor.us, found->second.original.us};
}

}  // namespace cupilot::service
