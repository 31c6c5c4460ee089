// What the original (and its double twin) gives for one case and one fill: run in processes of
// their own, kept for all candidates of the kernel.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/worker_messages.h"
#include "worker/case_inputs.h"
#include "worker/case_plan.h"
#include "worker/error_rule.h"
#include "worker/fill_recipe.h"
#include "worker/nearby.h"
#include "worker/series.h"

namespace cupilot::worker {

struct ReferenceOutput {
  std::vector<std::byte> bytes;      // of the region, after the original
  std::vector<bool> unwritten;       // elements that it leaves; empty: none
  std::optional<Expected> expected;  // with a twin, floating components
  Rho original_rho;
};

struct OriginalResult {
  std::string dropped;  // why this fill does not count: the original fails or does not repeat on it
  bool redundant = false;  // the fill changes nothing of the workload's own inputs
  bool repeats = true;     // both runs of the original gave the same bits
  // They differ by more than sums in another order do: its results depend on what lies beside its
  // buffers, or on the order of its threads.
  bool scattered = false;
  // No twin was asked yet: the original repeats its bits here, and who gives the same ones has its
  // errors, too (References::WithTwin).
  bool twin_waits = false;
  std::string no_twin;  // why there is no double twin to measure errors against; empty: there is
  double original_us = 0;
  std::shared_ptr<const CaseInputs> inputs;
  std::vector<ReferenceOutput> outputs;  // by region; empty bytes: no output
  std::string key = {};                  // that it is kept by; empty: it is not
};

// What one run of the original gave, without the twin: enough where a candidate has the same bits.
struct QuickResult {
  std::string dropped;
  std::vector<std::vector<std::byte>> outputs;  // by region; empty: no output
};

// What each run of a series gave.
struct SeriesResult {
  std::string dropped;
  std::vector<std::vector<std::vector<std::byte>>> outputs;  // by run, then as QuickResult's
};

// Whether results of the fill are judged by the limits of dense inputs (error_rule.h); null: the
// workload's own. Exact integers are a probe only where the original is exact on them.
bool IsDense(const GateFill* fill, const OriginalResult& reference);

// Why contents of which `reference` is what the original gives are none to judge by; empty: they
// are. `workload`: what it gives for the workload's own.
std::string WhyNotJudgedBy(const OriginalResult& reference, const OriginalResult& workload);

// Whether the workload declares how far a floating result may be from the original's.
bool DeclaresTolerance(const records::Workload& workload);

// The references of one case, by fill. Runs what is not kept from earlier requests, all fills in
// the same two processes (the original's and the twin's) unless the original breaks its own.
class References {
 public:
  References(const protocol::CandidateSet& set, const records::Case& workload,
             const CasePlan& plan);
  References(const References&) = delete;
  References& operator=(const References&) = delete;
  ~References();

  // `fill` null: the workload's own. kInvalidArgument: the workload is illegal. The twin takes many
  // runs of large buffers: it may wait (OriginalResult::twin_waits).
  base::Result<std::shared_ptr<const OriginalResult>> Find(const GateFill* fill);
  // Of inputs that are no fill's; `name` is theirs alone. They are drawn where nothing is kept by
  // it; if they are not `changed` the result is redundant.
  base::Result<std::shared_ptr<const OriginalResult>> FindOf(
      const std::string& name, const std::function<CaseInputs()>& draw);
  // `here`, which Find() or FindOf() gave, with what its twin says.
  base::Result<std::shared_ptr<const OriginalResult>> WithTwin(const OriginalResult& here);
  // The original's errors near the inputs of `here`, which Find() or FindOf() gave: of the first
  // draws, or of those behind them. None where nothing can be moved or there is no twin.
  base::Result<std::shared_ptr<const NearbyErrors>> FindNearby(const OriginalResult& here,
                                                               bool first);
  base::Result<std::shared_ptr<const QuickResult>> QuickOf(const std::string& name,
                                                           const CaseInputs& inputs);
  // Of `inputs` with each of the pokes; `name` is theirs alone.
  base::Result<std::shared_ptr<const SeriesResult>> SeriesOf(const std::string& name,
                                                             const CaseInputs& inputs,
                                                             const SeriesRequest& series);
  // Before a verdict on the inputs of `here`, on which two runs of the original gave the same bits:
  // asks it some more times, and notes if it gives others (KnownToVary). What is found from then on
  // says so.
  base::Result<> AskAgain(const OriginalResult& here);
  // As QuickOf(), and not kept.
  base::Result<QuickResult> RunOf(const CaseInputs& inputs);
  // Why the workload's own inputs at other places (`placed`: placement.h) are none to judge by: the
  // original fails there, or gives other bits though it repeats them here. Empty: they are.
  base::Result<std::string> WhyNotAt(const CasePlan& placed);
  // The same of a schedule of the host device.
  base::Result<std::string> WhyNotUnder(const std::string& schedule);

 private:
  class Original;
  Original& Runs();
  bool IsForThisTime(const OriginalResult& result);
  base::Result<std::string> WhyNotKept(const CasePlan& plan, const std::string& what,
                                       const std::string& schedule);
  base::Result<std::shared_ptr<const OriginalResult>> FindKept(
      const std::string& contents, bool always,
      const std::function<base::Result<std::shared_ptr<const CaseInputs>>()>& draw);
  const protocol::CandidateSet& set_;
  const records::Case& workload_;
  const CasePlan& plan_;
  std::unique_ptr<Original> original_;
};

}  // namespace cupilot::worker
