// How much of a kernel's job is begun at once, and when it has had enough.
#include <algorithm>
#include <chrono>
#include <utility>

#include "evaluate/calls.h"
#include "service/kernel_job.h"
#include "service/kernel_job_attempt.h"

namespace cupilot::service {

Pace PaceOn(const std::string& device) {
  if (evaluate::DeviceKind(device) != "cuda") return {};
  return {.in_flight = kInFlightOnGpu, .turn = 48};
}

bool KernelJob::MayOpenMore() const {
  const auto under_way = std::count_if(open_.begin(), open_.end(),
                                       [](const auto& attempt) { return !attempt->ended; });
  return static_cast<int>(under_way) < in_flight_.limit() &&
         static_cast<int>(open_.size()) < pace_.in_flight.most;
}

InFlight::Others KernelJob::Beside(const Attempt& own) const {
  const auto built = std::count_if(open_.begin(), open_.end(), [&own](const auto& attempt) {
    return attempt.get() != &own && attempt->built && !attempt->ended;
  });
  const auto devices = with_.workers.counters().devices;
  const auto device = devices.find(input_.place.device);
  const auto backlog = device == devices.end() ? 0 : device->second.builds_waiting;
  return {static_cast<int>(built), static_cast<int>(backlog)};
}

double KernelJob::Seconds() const {
  return std::chrono::duration<double>(with_.clock.Now()).count();
}

void KernelJob::OnBuilt(Attempt& attempt) {
  if (std::exchange(attempt.built, true) || &attempt == proving_.get() || open_.empty()) return;
  in_flight_.OnBuilt(Seconds(), attempt.id, open_.back()->id, Beside(attempt));
}

void KernelJob::CountBuilt(const Attempt& ended) {
  // What was declined, or does not build, says nothing of how long the GPU takes.
  if (ended.built) in_flight_.OnResult(Seconds(), Beside(ended));
}

std::optional<search::Expectation> KernelJob::Expected() const {
  if (!search_) return std::nullopt;
  if (ended_ == kNothingLeft) return search::Expectation();
  return search::ExpectAnotherMinute(search_->Results(), spent_seconds());
}

std::string KernelJob::BudgetUsed() const {
  if (spent_seconds() > input_.budget_seconds) return kTimeUsedUp;
  if (input_.budget_evaluations > 0 && Evaluations() >= input_.budget_evaluations) {
    return kEvaluationsUsedUp;
  }
  return {};
}

std::string KernelJob::WhyEnough() const {
  if (std::string used = BudgetUsed(); !used.empty()) return used;
  // What techniques and numbers promise says nothing of what a model may find.
  const bool asked = models_due_ || (models_ && !models_->ended());
  if (input_.until_gain <= 0 || asked) return {};
  const auto expected = Expected();
  return expected && expected->gain < input_.until_gain ? "too little is expected of more time"
                                                        : "";
}

}  // namespace cupilot::service
