#include "search/evolution/idea_tree.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "search/kernel_search.h"  // TitleOf
#include "search/number_space.h"   // kTunablesStep

namespace cupilot::search::evolution {
namespace {

constexpr double kHarder = 0.85;  // a further degree of difficulty
constexpr double kFailed = 0.5;   // a failed implementation
constexpr double kMostExpected = 4;
constexpr std::size_t kFailuresKept = 3;
constexpr std::size_t kFailureBytes = 400;
constexpr double kImprovement = 1.1;  // what "improve it" is expected to bring

const records::StrategyStep* StepWith(const records::Strategy& strategy,
                                      const std::string& technique) {
  for (const records::StrategyStep& step : strategy.steps) {
    if (step.technique == technique) return &step;
  }
  return nullptr;
}

// What a strategy is, whatever the order and the words of its steps.
std::string StrategyKey(const records::Strategy& strategy) {
  std::set<std::string> parts;
  for (const records::StrategyStep& step : strategy.steps) {
    parts.insert(step.technique + records::CompactJson(step.parameters));
  }
  std::string key;
  for (const std::string& part : parts) key += part + ";";
  return key;
}

// With the step in the place of one of the same technique, or behind all others.
records::Strategy Extended(records::Strategy strategy, const records::StrategyStep& step) {
  const auto same =
      std::find_if(strategy.steps.begin(), strategy.steps.end(),
                   [&](const auto& present) { return present.technique == step.technique; });
  if (same == strategy.steps.end()) {
    strategy.steps.push_back(step);
  } else {
    *same = step;
  }
  strategy.title = TitleOf(strategy.steps);
  return strategy;
}

// Each technique once, those without a name left out.
Plan Cleaned(const Plan& plan) {
  Plan clean;
  clean.strategy.title = plan.strategy.title;
  clean.strategy.bottleneck = plan.strategy.bottleneck;
  for (std::size_t i = 0; i < plan.strategy.steps.size(); ++i) {
    const records::StrategyStep& step = plan.strategy.steps[i];
    if (step.technique.empty() || StepWith(clean.strategy, step.technique) != nullptr) continue;
    clean.strategy.steps.push_back(step);
    const int difficulty = i < plan.difficulties.size() ? plan.difficulties[i] : 3;
    clean.difficulties.push_back(std::clamp(difficulty, 1, 5));
  }
  return clean;
}

}  // namespace

std::string TechniquesOf(const records::Strategy& strategy) {
  std::set<std::string> names;
  for (const records::StrategyStep& step : strategy.steps) names.insert(step.technique);
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : "+") + name;
  return joined;
}

IdeaTree::IdeaTree(const Settings& settings, const std::map<std::string, Prior>& priors)
    : settings_(settings), gains_(priors) {}

int IdeaTree::Add(Node idea) {
  idea.id = static_cast<int>(nodes_.size());
  known_.emplace(StrategyKey(idea.strategy), idea.id);
  nodes_.push_back(std::move(idea));
  return nodes_.back().id;
}

int IdeaTree::AddGiven(const Individual& member, int parent) {
  Node idea;
  idea.parent = parent;
  idea.state = Node::State::kDone;
  idea.strategy = member.strategy;
  idea.variant = member.variant;
  idea.log_gain = member.log_gain;
  idea.bound = member.bound;
  idea.floor_share = member.floor_share;
  return Add(std::move(idea));
}

int IdeaTree::Base(const records::Strategy& strategy, const std::vector<int>& parents) const {
  // Values of tunables are no structure: no strategist names them, and they stay.
  const auto has_all = [&](const Node& idea) {
    return std::all_of(
        idea.strategy.steps.begin(), idea.strategy.steps.end(), [&](const auto& step) {
          return step.technique == kTunablesStep || StepWith(strategy, step.technique) != nullptr;
        });
  };
  const auto rank = [&](const Node& idea) {
    const bool is_parent = std::find(parents.begin(), parents.end(), idea.id) != parents.end();
    return std::tuple(idea.strategy.steps.size(), is_parent, idea.log_gain.value_or(0), -idea.id);
  };
  int base = 0;
  for (const Node& idea : nodes_) {
    // What was made without a strategy is no base of one.
    const bool usable = idea.variant && (idea.id == 0 || !idea.strategy.steps.empty());
    if (usable && has_all(idea) && rank(idea) > rank(at(base))) base = idea.id;
  }
  return base;
}

int IdeaTree::AddPlan(const Plan& plan, const std::vector<int>& parents) {
  const Plan clean = Cleaned(plan);
  if (clean.strategy.steps.empty() || known_.count(StrategyKey(clean.strategy)) > 0) return 0;
  int parent = Base(clean.strategy, parents);
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < clean.strategy.steps.size(); ++i) {
    const records::StrategyStep& step = clean.strategy.steps[i];
    if (StepWith(at(parent).strategy, step.technique) == nullptr) missing.push_back(i);
  }
  // The same techniques with other parameters: one of them is the step.
  for (std::size_t i = 0; missing.empty() && i < clean.strategy.steps.size(); ++i) {
    const records::StrategyStep& step = clean.strategy.steps[i];
    const records::StrategyStep* before = StepWith(at(parent).strategy, step.technique);
    if (before->parameters != step.parameters) missing.push_back(i);
  }
  if (!settings_.tree) {
    Node idea;
    idea.parent = parent;
    idea.strategy = clean.strategy;
    if (idea.strategy.title.empty()) idea.strategy.title = TitleOf(idea.strategy.steps);
    for (const std::size_t i : missing) idea.expected *= clean.strategy.steps[i].expected_gain;
    Add(std::move(idea));
    return 1;
  }
  int added = 0;
  for (const std::size_t i : missing) {
    Node idea;
    idea.parent = parent;
    idea.step = clean.strategy.steps[i];
    idea.strategy = Extended(at(parent).strategy, *idea.step);
    idea.strategy.bottleneck = clean.strategy.bottleneck;
    idea.expected = idea.step->expected_gain;
    idea.difficulty = clean.difficulties[i];
    const auto known = known_.find(StrategyKey(idea.strategy));
    if (known == known_.end()) {
      parent = Add(std::move(idea));
      ++added;
    } else if (at(known->second).state != Node::State::kDropped || at(known->second).variant) {
      parent = known->second;
    }  // else without the step that never worked
  }
  return added;
}

int IdeaTree::AddImprovement(int parent) {
  Node idea;
  idea.id = static_cast<int>(nodes_.size());
  idea.parent = parent;
  idea.expected = kImprovement;
  nodes_.push_back(std::move(idea));
  return nodes_.back().id;
}

bool IdeaTree::Ready(const Node& idea) const {
  return idea.state == Node::State::kOpen && !idea.busy && at(idea.parent).variant.has_value();
}

std::vector<int> IdeaTree::Next() const {
  std::vector<std::tuple<bool, double, int, int>> ranks;
  for (const Node& idea : nodes_) {
    if (!Ready(idea)) continue;
    if (settings_.tree) {
      const bool waits = idea.difficulty > settings_.hardest;
      ranks.emplace_back(waits, -Promise(idea.id), idea.difficulty, idea.id);
    } else {
      ranks.emplace_back(false, 0, 0, idea.id);
    }
  }
  std::sort(ranks.begin(), ranks.end());
  std::vector<int> ready;
  ready.reserve(ranks.size());
  for (const auto& rank : ranks) ready.push_back(std::get<3>(rank));
  return ready;
}

int IdeaTree::Above(double log_gain) const {
  return static_cast<int>(std::count_if(nodes_.begin(), nodes_.end(), [&](const Node& idea) {
    return Ready(idea) && (!settings_.tree || Promise(idea.id) > log_gain);
  }));
}

double IdeaTree::Expected(const Node& idea) const {
  const double hint = std::log(std::clamp(idea.expected, 1.0, kMostExpected));
  if (!idea.step) return hint;
  const auto measured = gains_.find(idea.step->technique);
  if (measured == gains_.end()) return hint;
  const auto& [log_gain, weight] = measured->second;
  return std::max((hint + log_gain * weight) / (1 + weight), 0.0);
}

double IdeaTree::Promise(int id) const {
  const Node& idea = at(id);
  return at(idea.parent).log_gain.value_or(0) +
         Expected(idea) * std::pow(kHarder, idea.difficulty - 1) * std::pow(kFailed, idea.failed);
}

void IdeaTree::Begin(int id) {
  node(id).busy = true;
  ++node(id).attempts;
}

void IdeaTree::Undo(int id) {
  node(id).busy = false;
  --node(id).attempts;
}

void IdeaTree::Fail(int id, Failure failure) {
  Node& idea = node(id);
  idea.busy = false;
  ++idea.failed;
  const std::string reason = failure.reason;
  failure.detail = Cut(std::move(failure.detail), kFailureBytes);
  idea.failures.push_back(std::move(failure));
  if (idea.failures.size() > kFailuresKept) idea.failures.erase(idea.failures.begin());
  // Without a tree, and without a strategy, nothing outlives its implementation.
  const int limit = settings_.tree && idea.step ? settings_.failures_until_dropped : 1;
  if (idea.failed < limit) return;
  Drop(id, std::to_string(idea.failed) + " failed, the last: " + reason);
  dropped_.push_back(id);
}

void IdeaTree::Drop(int id, std::string why) {
  node(id).state = Node::State::kDropped;
  node(id).dropped = std::move(why);
  if (at(id).variant) return;  // it computes the right thing: something to build on
  // What was to be built on it is as good an idea without it.
  for (Node& child : nodes_) {
    if (child.parent != id || child.state != Node::State::kOpen) continue;
    child.parent = at(id).parent;
    Renew(child.id);
  }
}

bool IdeaTree::IsBelow(int id, int above) const {
  while (id != 0 && id != above) id = at(id).parent;
  return id == above;
}

// The strategy anew, since that of its parent changed.
void IdeaTree::Renew(int id) {
  Node& idea = node(id);
  if (!idea.step || idea.state == Node::State::kDone) return;
  const std::string bottleneck = idea.strategy.bottleneck;
  const auto before = known_.find(StrategyKey(idea.strategy));
  if (before != known_.end() && before->second == id) known_.erase(before);
  idea.strategy = Extended(at(idea.parent).strategy, *idea.step);
  idea.strategy.bottleneck = bottleneck;
  const auto [other, is_new] = known_.emplace(StrategyKey(idea.strategy), id);
  const bool twin = !is_new && idea.state == Node::State::kOpen && !idea.busy && !idea.variant &&
                    !IsBelow(other->second, id);
  if (twin) {
    idea.state = Node::State::kDropped;
    idea.dropped = "the same as idea " + std::to_string(other->second);
  }
  for (Node& child : nodes_) {
    if (child.parent != id || child.id == 0) continue;
    if (twin) child.parent = other->second;
    Renew(child.id);
  }
}

bool IdeaTree::Measured(int id, const VariantFacts& variant, const Evidence& evidence) {
  Node& idea = node(id);
  const double log_gain = std::log(std::max(evidence.speedup.value_or(1), 1e-9));
  const double over_parent = log_gain - at(idea.parent).log_gain.value_or(0);
  if (idea.step) {
    Prior& known = gains_[idea.step->technique];
    known.log_gain = (known.log_gain * known.weight + over_parent) / (known.weight + 1);
    known.weight += 1;
  }
  if (!idea.log_gain || log_gain > *idea.log_gain) {
    idea.variant = variant;
    idea.log_gain = log_gain;
    idea.bound = evidence.bound;
    idea.floor_share = evidence.floor_share;
  }
  const bool accepted = evidence.kind == Evidence::Kind::kAccepted;
  if (!accepted || over_parent < std::log(settings_.gain)) {
    Fail(id, {accepted ? kNoGain : evidence.reason, evidence.detail});
    return false;
  }
  idea.busy = false;
  idea.state = Node::State::kDone;
  return true;
}

bool IdeaTree::Does(int id, const records::Strategy& strategy) const {
  const Node& idea = at(id);
  return !idea.step || StepWith(strategy, idea.step->technique) != nullptr;
}

void IdeaTree::Align(int id, const records::Strategy& strategy) {
  node(id).strategy = strategy;
  known_.emplace(StrategyKey(strategy), id);  // the one that was asked for stays known, too
  for (const Node& child : nodes_) {
    if (child.parent == id) Renew(child.id);
  }
}

std::vector<FailedIdea> IdeaTree::FailedIdeas(std::size_t count) const {
  std::vector<FailedIdea> failed;
  const std::size_t first = dropped_.size() > count ? dropped_.size() - count : 0;
  for (std::size_t i = first; i < dropped_.size(); ++i) {
    const Node& idea = at(dropped_[i]);
    if (idea.strategy.steps.empty()) continue;
    failed.push_back({idea.strategy.title, idea.failures.back().reason});
  }
  return failed;
}

}  // namespace cupilot::search::evolution
