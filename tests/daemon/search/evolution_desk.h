// Who answers an evolution's tasks in tests: as well as it can be done, unless a test says
// otherwise.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "search/evolution/evolution.h"

namespace cupilot::search::evolution {

inline Evidence Verdict(double speedup, double floor_share = 0.3) {
  Evidence evidence;
  evidence.kind = speedup >= 1.02 ? Evidence::Kind::kAccepted : Evidence::Kind::kRejected;
  if (speedup < 1.02) evidence.reason = "not_faster";
  evidence.speedup = speedup;
  evidence.floor_share = floor_share;
  evidence.bound = "dram";
  return evidence;
}

inline Evidence Wrong(const std::string& reason, const std::string& detail = "") {
  Evidence evidence;
  evidence.kind = Evidence::Kind::kRejected;
  evidence.reason = reason;
  evidence.detail = detail;
  return evidence;
}

inline Plan OneStep(const std::string& technique, double gain = 1.5) {
  Plan plan;
  records::StrategyStep step;
  step.technique = technique;
  step.expected_gain = gain;
  plan.strategy.title = technique;
  plan.strategy.steps.push_back(step);
  return plan;
}

inline Input Plain() {
  Input input;
  input.kernel = "kernel";
  input.original.variant.novelty_key = "original";
  input.original.bound = "l2";
  return input;
}

// Keeps all tasks.
class Desk {
 public:
  using Answerer = std::function<Result(const Task&)>;

  explicit Desk(Evolution& evolution) : evolution_(evolution) {}

  void On(TaskKind kind, Answerer answer) { answers_[kind] = std::move(answer); }

  Result Answer(const Task& task) {
    const auto found = answers_.find(task.kind);
    if (found != answers_.end()) return found->second(task);
    const std::string id = "v" + std::to_string(task.id);
    switch (task.kind) {
      case TaskKind::kStrategist:
        return Result::Plans({OneStep("s" + id + "a"), OneStep("s" + id + "b")});
      case TaskKind::kTranslate:
      case TaskKind::kRevise:
        return Result::Variant({id, id, 0});
      case TaskKind::kJudge:
        return Result::Votes(task.votes, 0);
      case TaskKind::kEvaluate:
        return Result::Of(Verdict(1.0));
      case TaskKind::kAlign:
        return Result::Aligned(task.strategy);
    }
    return Result::Unanswered("");
  }

  // To its end, or for so many tasks.
  void Run(int most = 10000) {
    for (int i = 0; i < most; ++i) {
      const std::optional<Task> task = evolution_.Next().task;
      if (!task) return;
      tasks.push_back(*task);
      ASSERT_TRUE(evolution_.Report(task->id, Answer(*task))) << Name(task->kind);
    }
  }

  std::vector<Task> Of(TaskKind kind) const {
    std::vector<Task> of;
    for (const Task& task : tasks) {
      if (task.kind == kind) of.push_back(task);
    }
    return of;
  }

  std::vector<Task> tasks;

 private:
  Evolution& evolution_;
  std::map<TaskKind, Answerer> answers_;
};

}  // namespace cupilot::search::evolution
