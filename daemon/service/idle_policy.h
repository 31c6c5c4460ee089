// What keeps the daemon from working: a snooze, a build of the user's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "service/catalog.h"

namespace cupilot::service {

// On the loop thread. A snooze outlives the daemon.
class IdlePolicy {
 public:
  IdlePolicy(const base::Clock& clock, Catalog& catalog);

  base::Result<> Snooze(std::int64_t seconds);
  base::Result<> Resume();
  // Nanoseconds since the epoch; 0: not snoozed.
  std::int64_t snoozed_until() const { return snoozed_until_; }

  bool snoozed() const { return clock_.WallTime().count() < snoozed_until_; }
  bool AnyBuildRuns(const std::vector<std::string>& build_folders) const;

 private:
  const base::Clock& clock_;
  Catalog& catalog_;
  std::int64_t snoozed_until_ = 0;
};

}  // namespace cupilot::service
