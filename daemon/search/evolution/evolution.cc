#include "search/evolution/evolution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace cupilot::search::evolution {
namespace {

constexpr int kStepsOfLine = 100;
constexpr int kMostRevisions = 40;  // so that a line's steps stay below that

Settings Bounded(Settings settings) {
  settings.lines = std::max(settings.lines, 1);
  settings.wanted = std::max(settings.wanted, 1);
  settings.ideas = std::max(settings.ideas, 1);
  settings.revisions = std::clamp(settings.revisions, 0, kMostRevisions);
  settings.failures_until_dropped = std::max(settings.failures_until_dropped, 1);
  return settings;
}

// Two thirds of the votes that were asked for: silence counts for the candidate.
bool IsClearMajority(int other, int votes) { return other > 0 && 3 * other >= 2 * votes; }

}  // namespace

Evolution::Evolution(Input input, Settings settings)
    : input_(std::move(input)),
      settings_(Bounded(settings)),
      random_(input_.seed),
      tree_(settings_, settings_.pool ? input_.priors : std::map<std::string, Prior>()),
      population_(settings_, input_.original),
      seen_(input_.seen) {
  tree_.AddGiven(input_.original);
  See(input_.original.variant);
  for (Individual member : input_.given) {
    member.id = ++members_;
    member.idea = tree_.AddGiven(member);
    See(member.variant);
    population_.Add(std::move(member));
  }
  if (settings_.pool && settings_.strategies) {
    for (const Plan& plan : input_.seeds) tree_.AddPlan(plan, {});
  }
  gain_of_round_ = population_.best().log_gain;
}

bool Evolution::See(const VariantFacts& variant) {
  return variant.novelty_key.empty() || seen_.insert(variant.novelty_key).second;
}

Step Evolution::Next() {
  for (int turn = 0; turn < 2 && !stopped(); ++turn) {
    for (Line& line : wave_) {
      if (line.ready() == nullptr) continue;
      Task task = line.Take();
      events_.push_back({Event::Kind::kTask, task.id, task});
      return {Step::Kind::kTask, std::move(task)};
    }
    bool pending = true;
    bool outstanding = false;
    for (const Line& line : wave_) {
      outstanding = outstanding || line.outstanding();
      pending = pending && (line.done() || line.pending());
    }
    if (outstanding) return {pending ? Step::Kind::kPending : Step::Kind::kWait, std::nullopt};
    FinishWave();
    if (!PlanWave()) events_.push_back({Event::Kind::kStopped});
  }
  return {Step::Kind::kStopped, std::nullopt};
}

bool Evolution::Report(int id, Result result) {
  if (stopped()) return false;
  result.reason = Cut(std::move(result.reason), kDetailBytes);
  result.evidence.detail = Cut(std::move(result.evidence.detail), kDetailBytes);
  for (Line& line : wave_) {
    if (line.task().id != id || !line.Report(result, seen_)) continue;
    events_.push_back({Event::Kind::kReport, id, {}, {}, std::move(result)});
    return true;
  }
  return false;
}

void Evolution::Stop(std::string detail) {
  if (stopped()) return;
  Event event{Event::Kind::kStop};
  event.detail = detail;
  events_.push_back(std::move(event));
  // What is known is not lost.
  for (const Line& line : wave_) {
    if (line.done() || line.evidence()) Apply(line);
  }
  wave_.clear();
  Halt(StopReason::kTold, std::move(detail));
}

std::vector<Task> Evolution::Outstanding() const {
  std::vector<Task> tasks;
  for (const Line& line : wave_) {
    if (line.outstanding() && !stopped()) tasks.push_back(line.task());
  }
  return tasks;
}

void Evolution::Halt(StopReason reason, std::string detail) {
  stop_ = reason;
  stop_detail_ = std::move(detail);
}

// ---- what has ended ----

void Evolution::FinishWave() {
  // They stand in the order of their ids.
  for (const Line& line : wave_) Apply(line);
  wave_.clear();
}

void Evolution::Apply(const Line& line) {
  requests_ += line.requests();
  evaluations_ += line.evaluations();
  // Requests in a row that nobody answered, over lines.
  unanswered_ = line.answered() ? line.unanswered() : unanswered_ + line.unanswered();
  switch (line.first()) {
    case TaskKind::kStrategist:
      return ApplyPlans(line);
    case TaskKind::kTranslate:
      return ApplyTranslation(line);
    case TaskKind::kJudge:
      return ApplyVotes(line);
    case TaskKind::kEvaluate:
      return ApplyCandidate(line);
    case TaskKind::kRevise:
    case TaskKind::kAlign:
      break;  // begin no line
  }
}

void Evolution::ApplyPlans(const Line& line) {
  const Result& result = line.last();
  if (result.kind == Result::Kind::kUnanswered) return;
  std::vector<int> parents;
  for (const Individual& parent : line.task().parents) parents.push_back(parent.idea);
  int added = 0;
  for (const Plan& plan : result.plans) added += tree_.AddPlan(plan, parents);
  barren_ = added > 0 ? 0 : barren_ + 1;
}

void Evolution::ApplyTranslation(const Line& line) {
  const Result& result = line.last();
  const int idea = line.idea();
  if (result.kind == Result::Kind::kUnanswered) return tree_.Undo(idea);
  if (result.kind == Result::Kind::kNothing) return tree_.Fail(idea, {kNoVariant, result.reason});
  if (!See(result.variant)) return tree_.Fail(idea, {kSeenBefore, ""});
  Candidate candidate;
  candidate.idea = idea;
  candidate.variant = result.variant;
  candidate.strategy = line.task().strategy;
  candidate.step = line.task().step;
  candidate.promise = tree_.Promise(idea);
  candidates_.push_back(std::move(candidate));
}

void Evolution::ApplyVotes(const Line& line) {
  const Result& result = line.last();
  const auto found = std::find_if(candidates_.begin(), candidates_.end(),
                                  [&](const Candidate& one) { return one.idea == line.idea(); });
  const int cast = result.same + result.other;
  if (found == candidates_.end() || result.kind != Result::Kind::kVotes || cast <= 0) return;
  found->votes = static_cast<double>(result.same) / cast;
  if (!IsClearMajority(result.other, line.task().votes)) return;
  tree_.Fail(line.idea(), {kJudgedOther, std::to_string(result.other) + " of " +
                                             std::to_string(line.task().votes) + " votes"});
  candidates_.erase(found);
}

void Evolution::ApplyCandidate(const Line& line) {
  for (const std::string& key : line.keys()) seen_.insert(key);
  const auto waiting = std::find_if(under_way_.begin(), under_way_.end(),
                                    [&](const Candidate& one) { return one.idea == line.idea(); });
  Candidate candidate = std::move(*waiting);
  under_way_.erase(waiting);
  if (!line.evidence()) {
    ++environment_;
    if (candidate.retries++ == 0) return candidates_.push_back(std::move(candidate));
    return tree_.Undo(candidate.idea);
  }
  environment_ = 0;
  const Evidence& evidence = *line.evidence();
  if (!IsRight(evidence)) {
    return tree_.Fail(candidate.idea, {evidence.reason, evidence.detail});
  }
  Individual member;
  member.variant = line.variant();
  member.strategy = candidate.strategy;
  member.log_gain = std::log(std::max(evidence.speedup.value_or(1), 1e-9));
  member.floor_share = evidence.floor_share;
  member.bound = evidence.bound;
  member.idea = candidate.idea;
  member.epoch = epoch_;
  const bool aligned = line.aligned() && !line.aligned()->steps.empty();
  if (aligned) member.strategy = *line.aligned();
  if (aligned && !tree_.Does(candidate.idea, member.strategy)) {
    // Something good, but not this idea: it stands in the tree as what it is.
    member.idea = tree_.AddGiven(member, tree_.at(candidate.idea).parent);
    tree_.Fail(candidate.idea, {kNotDone, "it does: " + member.strategy.title});
  } else {
    // With something new to start from there may be new ideas.
    if (tree_.Measured(candidate.idea, line.variant(), evidence)) barren_ = 0;
    if (aligned) tree_.Align(candidate.idea, member.strategy);
  }
  if (evidence.kind != Evidence::Kind::kAccepted) return;
  member.id = ++members_;
  population_.Add(std::move(member));
}

// ---- what is next ----

bool Evolution::CheckStops() {
  const double share = population_.best().floor_share;
  if (share >= settings_.near_floor) {
    Halt(StopReason::kNearFloor, "the best reaches " + std::to_string(std::lround(share * 100)) +
                                     " % of its physical floor");
  } else if (unanswered_ >= settings_.unanswered) {
    Halt(StopReason::kUnanswered,
         std::to_string(unanswered_) + " requests in a row were not answered");
  } else if (environment_ >= settings_.unanswered) {
    Halt(StopReason::kEnvironment,
         std::to_string(environment_) + " evaluations in a row ended without a verdict");
  } else if (stagnant_ >= settings_.stagnation_rounds) {
    Halt(StopReason::kStagnation,
         std::to_string(stagnant_) + " rounds in a row brought less than " +
             std::to_string(std::lround((settings_.gain - 1) * 100)) + " %");
  } else if (EvaluationsLeft() < 1) {
    Halt(StopReason::kEvaluations,
         "its " + std::to_string(settings_.evaluations) + " evaluations are used");
  } else if (RequestsLeft() < 1 && candidates_.empty()) {
    Halt(StopReason::kRequests, "its " + std::to_string(settings_.requests) + " requests are used");
  } else if (barren_ >= settings_.barren_answers && tree_.Next().empty() && candidates_.empty()) {
    Halt(StopReason::kNoIdeas, "nothing new was proposed, and nothing is left to try");
  }
  return stopped();
}

bool Evolution::PlanWave() {
  while (!CheckStops()) {
    switch (phase_) {
      case Phase::kPlan:
        if (PlanStrategist()) return true;
        ChooseIdeas();
        phase_ = Phase::kTranslate;
        break;
      case Phase::kTranslate:
        if (PlanTranslations()) return true;
        phase_ = Phase::kJudge;
        break;
      case Phase::kJudge:
        if (PlanJudges()) return true;
        phase_ = Phase::kEvaluate;
        break;
      case Phase::kEvaluate:
        if (PlanEvaluations()) return true;
        EndRound();
        phase_ = Phase::kPlan;
        break;
    }
  }
  return false;
}

LineLimits Evolution::LimitsFor(std::size_t lines) const {
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(lines, 1));
  return {RequestsLeft() / count, EvaluationsLeft() / count};
}

void Evolution::Begin(Task task, LineLimits limits) {
  task.id = kStepsOfLine * ++works_ + 1;
  wave_.emplace_back(std::move(task), settings_, limits);
}

bool Evolution::PlanStrategist() {
  if (!settings_.strategies || asked_ || RequestsLeft() < 1) return false;
  if (barren_ >= settings_.barren_answers) return false;
  const double gain = population_.best().log_gain + std::log(settings_.gain);
  if (tree_.Above(gain) >= settings_.ideas) return false;
  asked_ = true;
  Task task;
  task.kind = TaskKind::kStrategist;
  task.parents = population_.Parents(random_);
  task.wanted = settings_.wanted;
  if (settings_.roofline) task.bottleneck = task.parents.front().bound;
  task.failed = tree_.FailedIdeas(static_cast<std::size_t>(std::max(settings_.failed_named, 0)));
  task.pool = settings_.pool;
  Begin(std::move(task), LimitsFor(1));
  return true;
}

void Evolution::ChooseIdeas() {
  if (!settings_.strategies) {
    for (int i = 0; i < settings_.ideas; ++i) {
      to_translate_.push_back(tree_.AddImprovement(population_.Parent(random_).idea));
    }
    return;
  }
  for (const int idea : tree_.Next()) {
    if (static_cast<int>(to_translate_.size()) < settings_.ideas) to_translate_.push_back(idea);
  }
}

bool Evolution::PlanTranslations() {
  const auto lines = std::min({static_cast<std::int64_t>(to_translate_.size()),
                               static_cast<std::int64_t>(settings_.lines), RequestsLeft()});
  for (std::int64_t i = 0; i < lines; ++i) {
    const Node& idea = tree_.at(to_translate_.front());
    const Node& parent = tree_.at(idea.parent);
    to_translate_.pop_front();
    Task task;
    task.kind = TaskKind::kTranslate;
    task.idea = idea.id;
    task.strategy = idea.strategy;
    task.step = idea.step;
    task.parent = *parent.variant;
    if (settings_.strategies) task.parent_strategy = parent.strategy;
    task.earlier = idea.failures;
    if (settings_.roofline) task.bottleneck = parent.bound;
    worked_ = true;
    tree_.Begin(idea.id);
    Begin(std::move(task), LimitsFor(static_cast<std::size_t>(lines)));
  }
  if (lines <= 0) to_translate_.clear();
  return lines > 0;
}

bool Evolution::PlanJudges() {
  if (settings_.votes <= 0) return false;
  std::int64_t room = RequestsLeft() / settings_.votes;
  for (Candidate& candidate : candidates_) {
    if (candidate.asked || room < 1 || static_cast<int>(wave_.size()) >= settings_.lines) continue;
    candidate.asked = true;
    --room;
    Task task;
    task.kind = TaskKind::kJudge;
    task.idea = candidate.idea;
    task.strategy = candidate.strategy;
    task.step = candidate.step;
    task.variant = candidate.variant;
    task.votes = settings_.votes;
    Begin(std::move(task), {settings_.votes, 0});
  }
  return !wave_.empty();
}

bool Evolution::PlanEvaluations() {
  const auto rank = [](const Candidate& one) {
    return std::tuple(-one.votes.value_or(0.5), -one.promise, one.idea);
  };
  std::sort(candidates_.begin(), candidates_.end(),
            [&](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); });
  const auto lines = static_cast<std::size_t>(
      std::min({static_cast<std::int64_t>(candidates_.size()),
                static_cast<std::int64_t>(settings_.lines), EvaluationsLeft()}));
  for (std::size_t i = 0; i < lines; ++i) {
    Task task;
    task.kind = TaskKind::kEvaluate;
    task.idea = candidates_[i].idea;
    task.strategy = candidates_[i].strategy;
    task.step = candidates_[i].step;
    task.variant = candidates_[i].variant;
    Begin(std::move(task), LimitsFor(lines));
    under_way_.push_back(std::move(candidates_[i]));
  }
  candidates_.erase(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(lines));
  return lines > 0;
}

void Evolution::EndRound() {
  asked_ = false;
  ++round_;
  const double best = population_.best().log_gain;
  const bool gained = best >= gain_of_round_ + std::log(settings_.gain);
  if (gained) stagnant_ = 0;
  if (!gained && worked_) ++stagnant_;
  worked_ = false;
  if (gained) gain_of_round_ = best;
  population_.Survive(random_);
  if (settings_.epoch_rounds > 0 && round_ % settings_.epoch_rounds == 0) {
    ++epoch_;
    population_.BeginEpoch();
  }
}

std::string_view Name(StopReason reason) {
  static constexpr std::array<std::string_view, 9> kNames = {
      "none",     "near_floor", "stagnation",  "requests", "evaluations",
      "no_ideas", "unanswered", "environment", "told"};
  return kNames[static_cast<std::size_t>(reason)];
}

}  // namespace cupilot::search::evolution
