#include "service/again.h"

#include <algorithm>

namespace cupilot::service {

using std::chrono::nanoseconds;

void Again::Failed(const std::string& what, nanoseconds now) {
  Entry& entry = entries_[what];
  if (entry.due) return;
  entry.pause = entry.pause == nanoseconds(0) ? nanoseconds(kFirst)
                                              : std::min<nanoseconds>(2 * entry.pause, kMost);
  entry.due = now + entry.pause;
}

std::set<std::string> Again::Take(nanoseconds now) {
  std::set<std::string> due;
  for (auto& [what, entry] : entries_) {
    if (!entry.due || *entry.due > now) continue;
    entry.due.reset();
    due.insert(what);
  }
  return due;
}

std::optional<nanoseconds> Again::Next() const {
  std::optional<nanoseconds> next;
  for (const auto& [what, entry] : entries_) {
    if (entry.due) next = std::min(next.value_or(*entry.due), *entry.due);
  }
  return next;
}

}  // namespace cupilot::service
