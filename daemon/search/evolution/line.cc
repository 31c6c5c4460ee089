#include "search/evolution/line.h"

#include <algorithm>

namespace cupilot::search::evolution {
namespace {

constexpr const char* kNotFaster = "not_faster";

// Which results a task may have, pending aside.
bool Fits(TaskKind task, Result::Kind result) {
  if (result == Result::Kind::kUnanswered) return true;
  if (task != TaskKind::kEvaluate && result == Result::Kind::kNothing) return true;
  switch (task) {
    case TaskKind::kStrategist:
      return result == Result::Kind::kPlans;
    case TaskKind::kTranslate:
    case TaskKind::kRevise:
      return result == Result::Kind::kVariant;
    case TaskKind::kJudge:
      return result == Result::Kind::kVotes;
    case TaskKind::kEvaluate:
      return result == Result::Kind::kEvidence;
    case TaskKind::kAlign:
      return result == Result::Kind::kAligned;
  }
  return false;
}

// 2: accepted; 1: right; 0: wrong or not built.
int Rank(const Evidence& evidence) {
  if (evidence.kind == Evidence::Kind::kAccepted) return 2;
  return IsRight(evidence) ? 1 : 0;
}

bool IsBetterThan(const Evidence& a, const Evidence& b) {
  if (Rank(a) != Rank(b)) return Rank(a) > Rank(b);
  // Of two that are wrong the later one, whose finding is what is left to do.
  return Rank(a) == 0 || a.speedup.value_or(0) > b.speedup.value_or(0);
}

}  // namespace

bool IsRight(const Evidence& evidence) {
  if (evidence.kind == Evidence::Kind::kAccepted) return true;
  return evidence.kind == Evidence::Kind::kRejected && evidence.reason == kNotFaster &&
         evidence.speedup.has_value();
}

Line::Line(Task first, const Settings& settings, LineLimits limits)
    : settings_(settings), limits_(limits), first_(first.kind), task_(std::move(first)) {
  if (first_ == TaskKind::kEvaluate) task_.evaluations = EvaluationsFor(task_.variant);
}

Task Line::Take() {
  taken_ = true;
  return task_;
}

void Line::Follow(Task task) {
  task.id = task_.id + 1;
  task.idea = task_.idea;
  task.strategy = task_.strategy;
  task.step = task_.step;
  task_ = std::move(task);
  taken_ = false;
}

std::int64_t Line::EvaluationsFor(const VariantFacts& variant) const {
  const std::int64_t wanted = variant.tunables > 0 ? settings_.tuning_evaluations : 1;
  return std::max<std::int64_t>(std::min(wanted, EvaluationsLeft()), 1);
}

void Line::Evaluate(const VariantFacts& variant) {
  Task task;
  task.kind = TaskKind::kEvaluate;
  task.variant = variant;
  task.evaluations = EvaluationsFor(variant);
  Follow(std::move(task));
}

bool Line::Report(const Result& result, const std::set<std::string>& seen) {
  if (!outstanding()) return false;
  if (result.kind == Result::Kind::kPending) {
    pending_ = true;
    return true;
  }
  if (!Fits(task_.kind, result.kind)) return false;
  pending_ = false;
  last_ = result;
  if (task_.kind == TaskKind::kEvaluate) {
    evaluations_ += result.evaluations.value_or(1);
  } else {
    requests_ += result.requests.value_or(task_.kind == TaskKind::kJudge ? task_.votes : 1);
    const bool answered = result.kind != Result::Kind::kUnanswered;
    unanswered_ = answered ? 0 : unanswered_ + 1;
    answered_ = answered_ || answered;
  }
  switch (task_.kind) {
    case TaskKind::kEvaluate:
      OnEvidence(result);
      break;
    case TaskKind::kRevise:
      OnRevision(result, seen);
      break;
    case TaskKind::kAlign:
      if (result.kind == Result::Kind::kAligned) aligned_ = result.aligned;
      done_ = true;
      break;
    case TaskKind::kStrategist:
    case TaskKind::kTranslate:
    case TaskKind::kJudge:
      done_ = true;
      break;
  }
  return true;
}

void Line::OnEvidence(const Result& result) {
  const Evidence& evidence = result.evidence;
  const bool judged =
      result.kind == Result::Kind::kEvidence && evidence.kind != Evidence::Kind::kFailed;
  if (!judged) return AlignOrEnd();
  // What was measured may hold the values that were found.
  VariantFacts measured = result.variant.id.empty() ? task_.variant : result.variant;
  if (measured.novelty_key.empty()) measured.novelty_key = task_.variant.novelty_key;
  if (!best_ || IsBetterThan(evidence, *best_)) {
    best_ = evidence;
    best_variant_ = measured;
  }
  if (!IsRight(evidence)) {
    if (Revise(measured, evidence, {})) return;
    return AlignOrEnd();
  }
  const bool slow = settings_.roofline && !evidence.bound.empty() &&
                    evidence.floor_share < settings_.near_floor &&
                    slow_rounds_ < settings_.slow_revisions;
  if (slow && Revise(measured, evidence, {})) {
    ++slow_rounds_;
    return;
  }
  AlignOrEnd();
}

bool Line::Revise(const VariantFacts& variant, const Evidence& finding,
                  std::vector<Failure> earlier) {
  const bool may =
      rounds_ < settings_.revisions && requests_ < limits_.requests && EvaluationsLeft() >= 1;
  if (!may) return false;
  Task task;
  task.kind = TaskKind::kRevise;
  task.variant = variant;
  task.finding = finding;
  task.round = ++rounds_;
  task.earlier = std::move(earlier);
  Follow(std::move(task));
  return true;
}

void Line::OnRevision(const Result& result, const std::set<std::string>& seen) {
  if (result.kind != Result::Kind::kVariant) return AlignOrEnd();
  const std::string& key = result.variant.novelty_key;
  const bool known = !key.empty() && (seen.count(key) > 0 || !keys_.insert(key).second);
  if (!known) return Evaluate(result.variant);
  // Copies: what follows replaces the task that they are of.
  const VariantFacts variant = task_.variant;
  const Evidence finding = task_.finding;
  if (!Revise(variant, finding, {{kSeenBefore, ""}})) AlignOrEnd();
}

void Line::AlignOrEnd() {
  const bool accepted = best_ && best_->kind == Evidence::Kind::kAccepted;
  if (!accepted || !settings_.strategies || requests_ >= limits_.requests) {
    done_ = true;
    return;
  }
  Task task;
  task.kind = TaskKind::kAlign;
  task.variant = best_variant_;
  Follow(std::move(task));
}

}  // namespace cupilot::search::evolution
