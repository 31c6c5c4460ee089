// What of the store nothing needs any more: which records go, by age and size (`cupilot prune`, and
// the daemon by itself: store_days, store_megabytes of the settings), and what a dropped project
// leaves. Readers of the store; any thread that may use it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "cache/store.h"

namespace cupilot::service {

struct PruneLimits {
  // Evidence older than this goes: a date as records have it. Empty: none for its age.
  std::string before;
  // Of kernels, workloads, variants, evaluations and jobs, keys and values; 0: any. The oldest
  // evidence goes first.
  std::uint64_t most_bytes = 0;
};

// What stays whatever the limits say.
struct PruneNeeds {
  std::set<std::string> variants;     // published, best, pinned, rejected: with all their evidence
  std::set<std::string> kernel_keys;  // of present sources: what is known of them, and their jobs
};

// One kernel's part of what goes.
struct PrunedKernel {
  std::string kernel;  // label, or the key where that is not known
  std::int64_t evaluations = 0;
  std::uint64_t bytes = 0;
  std::string newest;  // date of the youngest that goes
  bool whole = false;  // nothing remains of it
};

struct PruneReport {
  std::vector<PrunedKernel> kernels;
  std::int64_t evaluations = 0;
  std::int64_t variants = 0;
  std::int64_t jobs = 0;
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
  std::vector<cache::Write> writes;  // that do it
};

// Nothing is written. What cannot be read counts as of no date: it goes first.
base::Result<PruneReport> PlanPrune(cache::Store& store, const PruneNeeds& needs,
                                    const PruneLimits& limits);

struct ForgetReport {
  std::vector<std::string> projects;  // build folders
  std::set<std::string> sources;      // their source folders
  std::set<std::string> kernels;      // labels
  std::int64_t evaluations = 0;
  std::int64_t variants = 0;
  std::int64_t captured = 0;  // workloads that were captured
  std::int64_t marks = 0;
  std::int64_t objects = 0;  // whose next build compiles the original
  std::uint64_t bytes = 0;
  std::vector<std::string> problems;  // what could not be done
};

// What is kept under keys of these kernels alone: kernels, variants, evaluations, proposals, jobs,
// marks; and what the journal has under these prefixes. Counts what it finds into the report.
base::Result<std::vector<cache::Write>> PlanForget(cache::Store& store,
                                                   const std::set<std::string>& kernel_keys,
                                                   const std::set<std::string>& journals,
                                                   ForgetReport& report);

// Keys of kernels of the store whose definition lies in one of the folders.
base::Result<std::set<std::string>> KernelKeysIn(cache::Store& store,
                                                 const std::set<std::string>& folders);

}  // namespace cupilot::service
