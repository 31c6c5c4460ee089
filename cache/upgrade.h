// The version of what a store holds as a whole (FORMAT.md), apart from that of each value: an older
// store is upgraded in place after a copy of it was made, a newer one is left alone. Beside the
// store's folder stands a small file with the number, so that an older program says no before it
// touches anything.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cache/store.h"

namespace cupilot::cache {

// Raised whenever an older program would misuse the store as a whole. 1: without a number; 2: what
// the user rejected and pinned is in it, which an older program would not honour.
inline constexpr int kStoreFormat = 2;

// One step from `from` to the next number: adds what has to be written. Reads the store as it is.
struct UpgradeStep {
  int from = 0;
  std::function<base::Result<>(Store& store, std::vector<Write>& writes)> make;
};
const std::vector<UpgradeStep>& UpgradeSteps();

// Before the store in `folder` is opened. kUnsupported where a newer program wrote it: says which
// one is needed and that nothing was changed. `newest`: the number that this program writes.
base::Result<> CheckFormat(const std::string& folder, int newest = kStoreFormat);

struct Upgraded {
  int from = 0;        // the number that was there; 0: the store is new
  std::string backup;  // the folder of the copy; empty: nothing was upgraded
};
// After it was opened, before anything else is asked of it. The copy is made in `backups` beside
// the store's folder, with `date` in its name. All steps and the new number are one write: a kill
// leaves the old store or the new one.
base::Result<Upgraded> BringUpToDate(Store& store, const std::string& folder,
                                     const std::string& date, int newest = kStoreFormat,
                                     const std::vector<UpgradeStep>& steps = UpgradeSteps());

}  // namespace cupilot::cache
