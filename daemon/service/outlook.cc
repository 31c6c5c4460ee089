#include "service/outlook.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "service/job_text.h"
#include "service/kernel_job_attempt.h"

namespace cupilot::service {
namespace {

using records::Json;

constexpr double kNanoDollars = 1e9;

// Why more time would not be used.
std::string AfterTheEnd(const KernelJob& job, bool won) {
  if (job.ended() == kTimeUsedUp) {
    return "raise seconds_per_kernel of the settings (`cupilot config`) for more time";
  }
  if (job.ended() == kEvaluationsUsedUp) {
    return "raise evaluations_per_kernel of the settings (`cupilot config`) for more tries";
  }
  if (job.ended() == "too little is expected of more time") {
    return "nothing: too little is expected of more time (until_gain_percent of the settings)";
  }
  if (job.models() != nullptr) return "nothing: all is tried that is known, by models, too";
  return std::string(won ? "nothing has to be done; for more"
                         : "all that is known is tried; for more") +
         ", declare tunables in its tag or set a language model (`models` of the settings)";
}

std::string WhileTuned(Service& service, const KernelJob& job) {
  const std::string reason = service.IdleReason();
  if (reason == kSnoozed) return "`cupilot resume`: tuning is snoozed";
  if (reason == "build running") return "tuning goes on when the build has ended";
  if (reason == "gpu in use") return "tuning goes on when others have left the GPU";
  if (job.pending()) return "models' answers are waited for";
  std::string text = "tuning goes on by itself";
  if (const auto expected = job.Expected()) {
    char gain[64];
    std::snprintf(gain, sizeof gain, "; another minute is expected to gain %.1f %%",
                  100 * expected->gain);
    text += gain;
  }
  return text;
}

}  // namespace

Json CostJson(Service& service, const records::Kernel& kernel, const KernelJob* job) {
  const auto sums = service.models().budget().Sums(kernel.key);
  Json spent = Json::object();
  for (const auto& [purpose, time] : service.SpentOn(kernel)) {
    spent[purpose] = std::chrono::duration<double>(time).count();
  }
  return {{"seconds", job == nullptr ? 0.0 : job->spent_seconds()},
          {"spent_seconds", std::move(spent)},
          {"evaluations", service.catalog().CountEvaluations(kernel.key)},
          {"dollars", sums ? static_cast<double>(sums->kernel) / kNanoDollars : 0.0}};
}

std::string NextStepOf(Service& service, const ObjectState& state, const records::Kernel& kernel,
                       const ProvenSet& set, bool published) {
  const KernelJob* job = service.FindJob(state, kernel);
  if (!kernel.declined.empty()) {
    return "what it is declined for has to be written otherwise, or it stays as it is";
  }
  if (kernel.cases.empty()) {
    return "`cupilot capture -- PROGRAM`, or a line '// cupilot: workload ...' above it";
  }
  if (!state.places.why_none.empty()) return "a device that runs this build's code";
  if (job == nullptr) return "the daemon tunes it when its turn comes";
  if (!job->failure().empty()) {
    return "what stands in the way has to be removed; it is tried again by itself, now and then";
  }
  const bool pinned = std::any_of(set.begin(), set.end(), [&](const auto& one) {
    return service.catalog().marks().Pinned(kernel.key).contains(one->variant.id);
  });
  const std::string name = records::LabelOf(kernel);
  if (!set.empty() && !published && state.target.apply == "manual") {
    return "`cupilot apply`, then build";
  }
  if (pinned) return "`cupilot pin '" + name + "' --none` lets better ones in";
  const bool in_program = std::all_of(set.begin(), set.end(), [&](const auto& one) {
    return state.as_measured.contains(one->variant.id);
  });
  std::string next = job->finished() ? AfterTheEnd(*job, !set.empty()) : WhileTuned(service, *job);
  if (!set.empty() && published && !in_program && state.stamp_due) {
    next = "build: the next one has it; then " + next;
  }
  return next;
}

}  // namespace cupilot::service
