// Watched runs of original and candidate on one case, for the steps that judge what they found: at
// its own size, with buffers elsewhere, and at small sizes. What ran for one step is kept for the
// next.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "worker/trial.h"
#include "worker/watched_run.h"

namespace cupilot::worker {

class WatchedScene {
 public:
  using Runs = std::function<base::Result<WatchedRun>(unsigned char poison)>;
  struct Parts {
    const char* step;
    std::string of;  // "case 'rows'"
    std::uint64_t seed = 1;
    std::shared_ptr<const WatchedRun> original, candidate;
    Runs again;
  };
  explicit WatchedScene(Parts parts) : parts_(std::move(parts)) {}

  const std::string& of() const { return parts_.of; }
  // Shared memory holds zeros before it is written. Both have run to their end, or to a limit of
  // the candidate's own.
  const WatchedRun& original() const { return *parts_.original; }
  const WatchedRun& candidate() const { return *parts_.candidate; }
  // The candidate once more, with other contents of shared memory.
  base::Result<WatchedRun> Again(unsigned char poison) const { return parts_.again(poison); }

  // Behind a finding's detail.
  std::string Place() const {
    return " (" + parts_.of + ", seed " + std::to_string(parts_.seed) + ")";
  }
  // A finding about how the candidate ended.
  Finding Ended(const std::string& reason, const std::string& how) const;

 private:
  Parts parts_;
};

// The first of the scenes that `judge` finds something in ends it. What the candidate alone does to
// its process is a finding too. Notes, by the step's name, say where nothing could be looked at,
// and where all was in order.
base::Result<Finding> WatchScenes(
    Trial& trial, const char* step,
    const std::function<base::Result<Finding>(const WatchedScene& scene)>& judge);

// Whether the original's threads collide in memory where its buffers lie as in `plan`; false where
// it cannot be watched. On a GPU such a run may repeat its bits by luck.
base::Result<bool> OriginalCollides(const protocol::CandidateSet& set, const CasePlan& plan);

// Whether it is about what the language does not define, not about accesses.
bool IsUndefined(const WatchFinding& finding);

}  // namespace cupilot::worker
