#include "service/winnable.h"

#include <algorithm>

#include "evaluate/variant_set.h"

namespace cupilot::service {
namespace {

// Of one microsecond that is left of one of the original: what is above the floor. Where the tag's
// cases were measured, not the program's, above the least of theirs.
double AboveFloor(double left, const std::string& name, const FloorShares& floors) {
  if (floors.empty()) return left;
  const auto known = floors.find(name);
  double floor = 1;
  for (const auto& [other, share] : floors) floor = std::min(floor, share);
  return std::clamp(left - (known == floors.end() ? floor : known->second), 0.0, 1.0);
}

// Of one microsecond of the original in this case, what is still to be won.
double ShareOf(const std::string& name, const records::Evaluation* best,
               const FloorShares& floors) {
  if (best == nullptr) return AboveFloor(1, name, floors);
  double share =
      AboveFloor(best->speedup && *best->speedup > 1 ? 1 / *best->speedup : 1, name, floors);
  bool measured = false;
  // On a GPU a case is measured cold and warm: what is surely left is the lesser of both.
  for (const records::CaseResult& result : best->cases) {
    if (result.name == name && !result.admitted) return AboveFloor(1, name, floors);
    if (result.name != name || result.original_us <= 0 || result.variant_us <= 0) continue;
    const double now = result.variant_us / result.original_us;
    const double floor = result.floor_us / result.original_us;
    const double left = std::clamp(now - floor, 0.0, 1.0);
    share = measured ? std::min(share, left) : left;
    measured = true;
  }
  return share;
}

}  // namespace

std::optional<records::Evaluation> Together(const ProvenSet& set,
                                            const records::Workload& workload) {
  if (set.empty()) return std::nullopt;
  records::Evaluation all;
  all.cases = set[0]->evaluation.cases;
  all.speedup = set[0]->evaluation.speedup;
  all.interval = set[0]->evaluation.interval;
  if (set.size() == 1) return all;
  std::vector<records::Evaluation> evaluations;
  evaluations.reserve(set.size());
  for (const auto& one : set) evaluations.push_back(one->evaluation);
  all.cases = evaluate::CasesOfSet(evaluations, workload);
  if (const auto combined = evaluate::Combine(all.cases, workload)) {
    all.speedup = combined->speedup;
    all.interval = combined->interval;
  }
  return all;
}

FloorShares FloorsOfOriginal(Catalog& catalog, const std::string& kernel_key,
                             const records::Workload& workload) {
  FloorShares floors;
  if (workload.cases.empty()) return floors;
  const std::string hash = WorkloadHash(workload);
  for (const records::Case& one : workload.cases) {
    const OriginalTimes::Times times = catalog.TimesOfOriginal(kernel_key, hash, one.name);
    if (times.floor_us <= 0 || times.original_us <= 0) continue;
    floors[one.name] = times.floor_us / times.original_us;
  }
  return floors;
}

double WinnableMicroseconds(const workloads::Captured& captured, const records::Evaluation* best,
                            const FloorShares& floors) {
  double winnable = 0;
  double named = 0;
  for (const records::Case& one : captured.cases) {
    winnable += one.weight * ShareOf(one.name, best, floors);
    named += one.weight;
  }
  // Of launches that no case stands for nothing can be won. The weights, or even the cases, may be
  // an earlier capture's.
  const double covered = captured.CoveredMicroseconds();
  const double total = covered > 0 ? covered : captured.Microseconds();
  if (captured.cases.empty()) return total * ShareOf("", best, floors);
  return named > 0 && total > 0 ? winnable * total / named : winnable;
}

}  // namespace cupilot::service
