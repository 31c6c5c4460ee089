// What a new lock file changes against the one that is there.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "records/lock.h"

namespace cupilot::client {

struct LockChange {
  enum class Kind { kAdded, kChanged, kRemoved, kKept };
  Kind kind = Kind::kAdded;
  std::string kernel;  // as people know it
  std::string target;
  std::string text;  // "vectorised access, 1.42x; was 1.30x"
};

struct LockChanges {
  records::Lock lock;               // what the file should hold
  std::vector<LockChange> changes;  // in the file's order, removed ones last
  std::size_t same = 0;             // entries that stay as they were
};

// `targets`: the architectures that this machine speaks about. Entries of `before` for others are
// kept while the files of the project at `folder` (the lock file's) still say what they were proven
// for.
LockChanges CompareLocks(const records::Lock& before, records::Lock now,
                         const std::set<std::string>& targets, const std::string& folder);

}  // namespace cupilot::client
