#include "service/winnable.h"

#include <algorithm>

#include "evaluate/variant_set.h"

namespace cupilot::service {
namespace {

// Of one microsecond of the original in this case, what is still to be won.
double ShareOf(const std::string& name, const records::Evaluation* best) {
  if (best == nullptr) return 1;
  // Where the tag's cases were measured, not the program's.
  double share = best->speedup && *best->speedup > 1 ? 1 / *best->speedup : 1;
  bool measured = false;
  // On a GPU a case is measured cold and warm: what is surely left is the lesser of both.
  for (const records::CaseResult& result : best->cases) {
    if (result.name == name && !result.admitted) return 1;
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

double WinnableMicroseconds(const workloads::Captured& captured, const records::Evaluation* best) {
  double winnable = 0;
  double named = 0;
  for (const records::Case& one : captured.cases) {
    winnable += one.weight * ShareOf(one.name, best);
    named += one.weight;
  }
  // Geometries that no case stands for: like the others.
  const double total = captured.Microseconds();
  if (captured.cases.empty()) return total * ShareOf("", best);
  return named > 0 && total > named ? winnable * total / named : winnable;
}

}  // namespace cupilot::service
