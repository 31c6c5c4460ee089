// How much of a program's time tuning can still win: what was captured of the kernel, less what its
// winner saves already and less the time that its memory traffic takes at best.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "records/evaluation.h"
#include "records/workload.h"
#include "service/catalog.h"
#include "workloads/captured.h"

namespace cupilot::service {

// The case results, speedup and interval of all variants of the set together, and nothing else of
// the record. Nothing where there is none.
std::optional<records::Evaluation> Together(const ProvenSet& set,
                                            const records::Workload& workload);

// What of the original's time its floor is, by case, as far as it was measured; whatever became of
// the candidates beside it.
using FloorShares = std::map<std::string, double>;
FloorShares FloorsOfOriginal(Catalog& catalog, const std::string& kernel_key,
                             const records::Workload& workload);

// Microseconds of one run of the captured program. `best`: of the variant that runs now, or null:
// the original does, of which `floors` are known.
double WinnableMicroseconds(const workloads::Captured& captured, const records::Evaluation* best,
                            const FloorShares& floors);

}  // namespace cupilot::service
