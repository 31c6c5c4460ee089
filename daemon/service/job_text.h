// What can be said about the work on one kernel: numbers and sentences for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "service/kernel_job.h"

namespace cupilot::service {

struct Tally {
  std::int64_t tried = 0;  // with a verdict
  std::int64_t accepted = 0;
  std::int64_t declined = 0;   // a technique proposed it, its rewrite declined
  std::int64_t same_code = 0;  // built to what was measured before
};
Tally CountIdeas(const KernelJob& job);

// What was not built because it goes beyond a limit of the device: how often, by the limit.
std::map<std::string, std::int64_t> CountDropped(const KernelJob& job);

// What another minute is expected to bring: {"gain": 0.003, "evaluations": 41}, or null.
records::Json ExpectedJson(const KernelJob& job);
// What there is to be tried of the source's tunables, and how much of it has a result: {"points":
// 4096, "tried": 41}; null where there are none, or the search has not asked for one yet.
records::Json NumbersJson(const KernelJob& job);

// The best so far, by the original, after each verdict in the order of asking: [1.0, 1.31, 1.31],
// at most kCurvePoints (of more the last of each slice). Empty before the first verdict.
inline constexpr std::size_t kCurvePoints = 60;
records::Json CurveJson(const KernelJob& job);

// What of its limits is used: {"seconds", "of_seconds", "evaluations", "of_evaluations"}, where 0
// evaluations are any number.
records::Json BudgetJson(const KernelJob& job);

// `no_device` says why there is nothing to tune the kernel on; empty: there is something.

// "waiting", "tuning", "done", "declined", "no workload", "no device".
std::string StateOf(const records::Kernel& kernel, const KernelJob* job,
                    const std::string& no_device);

// Why it cannot be tuned; empty if it can. A job that ended without anything to try gives what its
// techniques said.
std::string WhyUntuned(const records::Kernel& kernel, const KernelJob* job,
                       const std::string& no_device);

// One line on why the original still runs; for kernels without an accepted variant.
std::string WhyOriginal(const records::Kernel& kernel, const KernelJob* job,
                        const std::string& no_device);

}  // namespace cupilot::service
