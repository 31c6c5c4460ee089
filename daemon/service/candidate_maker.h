// Makes a variant of what the search asks for: a source worker retunes the original or applies a
// strategy's techniques. Nothing is asked for that cannot run on the device.
#pragma once

#include <optional>

#include "base/result.h"
#include "base/unique_function.h"
#include "evaluate/workers.h"
#include "protocol/worker_messages.h"
#include "search/kernel_search.h"
#include "search/resources.h"
#include "service/job_input.h"

namespace cupilot::service {

// On the loop thread; `input` must outlive it, not its callbacks.
class CandidateMaker {
 public:
  CandidateMaker(evaluate::Workers& workers, const JobInput& input);

  using Made = base::UniqueFunction<void(base::Result<protocol::RewriteReply> reply)>;
  // `made` is called once, later; or not at all, and it is returned how the candidate ended.
  std::optional<search::Outcome> Make(const search::Candidate& candidate, Made made) const;
  // Of a variant that was made: how it ended, where it goes beyond a limit of the device.
  std::optional<search::Outcome> WhyDropped(const search::Candidate& candidate,
                                            const records::Variant& variant) const;
  const search::DeviceLimits& limits() const { return limits_; }

 private:
  evaluate::Workers& workers_;
  const JobInput& input_;
  const search::DeviceLimits limits_;
};

// Values of tunables are no rewrite, to which the step that narrows to a class of sizes would
// belong: their variant gets it here.
void NarrowToClass(const records::Strategy& asked, records::Variant& variant);

}  // namespace cupilot::service
