#include "workloads/counted.h"

#include <algorithm>
#include <utility>

namespace cupilot::workloads {
namespace {

bool IsOneGeometry(const CapturedLaunches& a, const CapturedLaunches& b) {
  return a.grid == b.grid && a.block == b.block && a.shared_bytes == b.shared_bytes;
}

std::ptrdiff_t CountOf(const std::vector<CapturedLaunches>& all, const CapturedLaunches& wanted) {
  return std::count_if(all.begin(), all.end(),
                       [&](const CapturedLaunches& one) { return IsOneGeometry(one, wanted); });
}

// The same launches in `counted`; null: it did not see them, or cannot tell which they are. Their
// names are of what told them from others, which may be more than before.
const CapturedLaunches* FindSame(const Captured& recorded, const Captured& counted,
                                 const CapturedLaunches& wanted) {
  const bool alone =
      CountOf(recorded.launches, wanted) == 1 && CountOf(counted.launches, wanted) == 1;
  for (const CapturedLaunches& one : counted.launches) {
    if (IsOneGeometry(one, wanted) && (alone || one.name == wanted.name)) return &one;
  }
  return nullptr;
}

}  // namespace

bool KeepRecorded(const Captured& earlier, Captured& later) {
  if (earlier.cases.empty() || !later.cases.empty()) return false;
  Captured kept = earlier;
  for (CapturedLaunches& launches : kept.launches) {
    const CapturedLaunches* now =
        earlier.device == later.device ? FindSame(earlier, later, launches) : nullptr;
    if (now == nullptr) continue;
    launches.calls = now->calls;
    // Where nothing was timed, as before.
    if (now->microseconds <= 0) continue;
    launches.microseconds = now->microseconds;
    for (records::Case& one : kept.cases) {
      const auto theirs = std::find(launches.cases.begin(), launches.cases.end(), one.name);
      if (theirs == launches.cases.end()) continue;
      one.weight = launches.microseconds / static_cast<double>(launches.cases.size());
    }
  }
  std::stable_sort(kept.launches.begin(), kept.launches.end(),
                   [](const CapturedLaunches& a, const CapturedLaunches& b) {
                     return a.microseconds > b.microseconds;
                   });
  later = std::move(kept);
  return true;
}

}  // namespace cupilot::workloads
