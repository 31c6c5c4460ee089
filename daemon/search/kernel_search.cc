#include "search/kernel_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/techniques.h"

namespace cupilot::search {
namespace {

constexpr double kWin = 1.02;           // a speedup that the gate can accept
constexpr double kNearFloor = 0.95;     // there is nothing left to gain behind this share
constexpr double kNumbersPrior = 1.35;  // who declares tunables expects something of them
// What the number search over a winner's parameters promises at least, while it has patience: more
// than can be accepted.
constexpr double kLeastOfClimb = 1.03;
constexpr std::size_t kSecondParameters = 5;  // of a technique, in the second pass
constexpr std::size_t kParents = 3;           // how many of the best are developed further

std::string KeyOf(const std::vector<records::StrategyStep>& steps) {
  std::string key;
  for (const records::StrategyStep& step : steps) {
    key += step.technique + records::CanonicalJson(step.parameters) + ";";
  }
  return key;
}

bool HasTechnique(const std::vector<records::StrategyStep>& steps, const std::string& technique) {
  return std::any_of(steps.begin(), steps.end(), [&](const records::StrategyStep& step) {
    return step.technique == technique;
  });
}

// Behind the others, but for the class of sizes, which comes last.
void Append(std::vector<records::StrategyStep>& steps, records::StrategyStep step) {
  const bool classed = !steps.empty() && steps.back().technique == kSizeClass;
  steps.insert(steps.end() - (classed ? 1 : 0), std::move(step));
}

// Whether both are for classes of sizes, and for different ones.
bool OfOtherSizes(const std::vector<records::StrategyStep>& a,
                  const std::vector<records::StrategyStep>& b) {
  return HasTechnique(a, kSizeClass) && HasTechnique(b, kSizeClass) &&
         a.back().parameters != b.back().parameters;
}

records::StrategyStep StepOf(const std::string& technique, const records::Json& parameters,
                             double gain) {
  records::StrategyStep step;
  step.technique = technique;
  step.parameters = parameters;
  step.expected_gain = gain;
  return step;
}

// Twice and half of an integer parameter, the other words of one with choices.
std::vector<records::Json> NeighboursOf(const TechniqueParameter& parameter,
                                        const records::Json& value) {
  std::vector<records::Json> neighbours;
  for (std::string& word : WordsOf(parameter)) {
    if (value != word) neighbours.emplace_back(std::move(word));
  }
  if (!parameter.choices.empty() || !value.is_number_integer()) return neighbours;
  for (const std::int64_t next : TwiceAndHalf(parameter, value.get<std::int64_t>())) {
    neighbours.emplace_back(next);
  }
  return neighbours;
}

// It computes the right thing as far as is known, and this fast.
bool IsMeasured(const Outcome& outcome) {
  return outcome.speedup && (outcome.kind == Outcome::Kind::kAccepted ||
                             (outcome.kind == Outcome::Kind::kRejected &&
                              (outcome.reason == "not_faster" || outcome.reason.empty())));
}

bool IsBetter(const Idea& a, const Idea& b) {
  const double x = a.outcome->speedup.value_or(0);
  const double y = b.outcome->speedup.value_or(0);
  return x != y ? x > y : a.candidate.id < b.candidate.id;
}

struct Prior {
  std::string_view technique;
  double host;
  double cuda;
  std::string_view form = {};  // of that value of the parameter "form" only
};
// What a technique brings where it applies: on the host a block's threads are a loop of one core,
// so that what lets the compiler vectorise pays and what fills a GPU does not.
constexpr Prior kPriors[] = {
    {"full_unrolling", 1.02, 1.06},
    {"reciprocal_root", 1.0, 1.35},
    {"loop_interchange", 1.8, 1.15},
    {"private_atomics", 1.7, 1.5},
    {"shared_tiling", 1.0, 2.0},
    {"shared_staging", 1.0, 1.7},
    {"joined_blocks", 1.8, 1.6},
    {"block_merge", 1.4, 1.05},
    {"restrict_readonly", 1.35, 1.1},
    {"thread_coarsening", 1.3, 1.2},
    {"block_size", 1.25, 1.15},
    {"unrolling", 1.2, 1.1},
    {"grid_stride", 1.12, 1.1},
    {"vectorized_access", 1.1, 1.25},
    {"shared_padding", 1.02, 1.15},
    {"launch_bounds", 1.01, 1.05},
    {"thread_coarsening", 1.01, 1.2, "sequential"},
};

// What failed for no reason of its own teaches nothing about others.
Failure FailureOf(const Outcome& outcome) {
  if (outcome.kind == Outcome::Kind::kFailed) return Failure::kUnknown;
  return outcome.reason == "build_failed" ? Failure::kBuild : Failure::kWrong;
}

StepSearch::Result ResultOf(const Steps& steps, const Outcome& outcome) {
  const std::optional<double> speedup = IsMeasured(outcome) ? outcome.speedup : std::nullopt;
  return {steps, speedup, outcome.built, FailureOf(outcome)};
}

}  // namespace

double PriorGain(const std::string& technique, const std::string& device,
                 const records::Json& parameters) {
  const Prior* found = nullptr;
  for (const Prior& row : kPriors) {
    const bool of_form = !row.form.empty() && parameters.is_object() &&
                         parameters.contains("form") && parameters["form"] == row.form;
    if (row.technique == technique && (row.form.empty() || of_form)) found = &row;
  }
  if (found == nullptr) return 1.1;
  return device == "cuda" ? found->cuda : found->host;
}

std::string TitleOf(const std::vector<records::StrategyStep>& steps) {
  std::string title;
  for (const records::StrategyStep& step : steps) {
    title += (title.empty() ? "" : " + ") + step.technique;
    for (const auto& [key, value] : step.parameters.items()) {
      title += " " + key + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  return title;
}

KernelSearch::KernelSearch(SearchInput input)
    : input_(std::move(input)),
      numbers_(input_.numbers, input_.seed, input_.strategy),
      all_first_asked_(!input_.first_pass),
      all_second_asked_(!input_.first_pass) {}

const Opinion* KernelSearch::OpinionOf(const std::string& technique) const {
  for (const Opinion& opinion : input_.opinions) {
    if (opinion.technique == technique) return &opinion;
  }
  return nullptr;
}

const KernelSearch::Record* KernelSearch::RecordOf(const std::string& technique) const {
  const auto found = techniques_.find(technique);
  return found == techniques_.end() ? nullptr : &found->second;
}

double KernelSearch::Prior(const std::string& technique, const records::Json& parameters) const {
  const auto learned = input_.priors.find(TechniqueKey(technique, parameters));
  return LearnedGain(PriorGain(technique, input_.device, parameters),
                     learned == input_.priors.end() ? nullptr : &learned->second);
}

double KernelSearch::Factor(const std::string& technique, const records::Json& parameters) const {
  const double prior = Prior(technique, parameters);
  const Record* record = RecordOf(technique);
  if (record == nullptr) return prior;
  // What was measured counts more than what was expected; failures make the idea less likely, but a
  // good one outlives a bad first attempt.
  const double known = record->best > 0 ? record->best : prior;
  return 1.0 + (known - 1.0) * std::pow(0.45, record->failures);
}

std::vector<const Idea*> KernelSearch::Winners(std::size_t count) const {
  std::vector<const Idea*> winners;
  for (const Idea& idea : ideas_) {
    if (idea.candidate.retunes() || !idea.candidate.made.empty() || !idea.outcome) continue;
    const bool won =
        idea.outcome->kind == Outcome::Kind::kAccepted && idea.outcome->speedup.value_or(0) >= kWin;
    if (won) winners.push_back(&idea);
  }
  std::sort(winners.begin(), winners.end(),
            [](const Idea* a, const Idea* b) { return IsBetter(*a, *b); });
  if (winners.size() > count) winners.resize(count);
  return winners;
}

std::vector<std::optional<double>> KernelSearch::Results() const {
  std::vector<std::optional<double>> results;
  for (const Idea& idea : ideas_) {
    if (!idea.outcome || !idea.outcome->same_code.empty()) continue;
    const bool judged = idea.outcome->kind == Outcome::Kind::kAccepted ||
                        idea.outcome->kind == Outcome::Kind::kRejected;
    if (judged) results.push_back(idea.outcome->speedup);
  }
  return results;
}

const Idea* KernelSearch::best() const {
  const Idea* best = nullptr;
  for (const Idea& idea : ideas_) {
    if (!idea.outcome || idea.outcome->kind != Outcome::Kind::kAccepted) continue;
    if (best == nullptr || IsBetter(idea, *best)) best = &idea;
  }
  return best;
}

void KernelSearch::Add(std::vector<records::StrategyStep> steps, int parent, double gain,
                       std::vector<Proposal>& out, Values values) const {
  Proposal proposal;
  proposal.candidate.values = std::move(values);
  proposal.key = KeyOf(steps);
  if (tried_.contains(proposal.key)) return;
  records::Strategy& strategy = proposal.candidate.strategy;
  strategy.title = TitleOf(steps);
  const Technique* row = steps.empty() ? nullptr : FindTechnique(steps.front().technique);
  if (row != nullptr) {
    strategy.bottleneck = std::string(row->bottlenecks.substr(0, row->bottlenecks.find(' ')));
  }
  strategy.steps = std::move(steps);
  proposal.candidate.parent = parent;
  proposal.candidate.expected_gain = gain;
  out.push_back(std::move(proposal));
}

// What worked elsewhere, before anything of our own.
void KernelSearch::ProposeSeeds(std::vector<Proposal>& out) const {
  for (const records::Strategy& seed : input_.seeds) {
    double gain = 1.5;
    for (const records::StrategyStep& step : seed.steps) gain = std::max(gain, step.expected_gain);
    Add(seed.steps, 0, gain, out);
  }
}

void KernelSearch::ProposeSingles(std::size_t most, Expect expect, double least,
                                  std::vector<Proposal>& out) const {
  for (const Opinion& opinion : input_.opinions) {
    if (!opinion.applies) continue;
    const std::vector<records::Json> none = {records::Json::object()};
    const std::vector<records::Json>& parameters =
        opinion.parameters.empty() ? none : opinion.parameters;
    for (std::size_t i = 0; i < std::min(most, parameters.size()); ++i) {
      const double factor = (this->*expect)(opinion.technique, parameters[i]);
      if (factor < least) continue;
      const double gain = 1.0 + (factor - 1.0) * std::pow(0.8, static_cast<double>(i));
      Add({StepOf(opinion.technique, parameters[i], gain)}, 0, gain, out);
    }
  }
}

// What is next to good strategies: one parameter of one step changed. The number search over the
// parameters begins with these.
void KernelSearch::ProposeNeighbours(std::vector<Proposal>& out) const {
  for (const Idea* idea : Winners(kParents)) ProposeBeside(*idea, out);
}

double KernelSearch::GainBeside(const Idea& winner) const {
  const auto tried = children_.find(winner.candidate.id);
  const int count = tried == children_.end() ? 0 : tried->second;
  return *winner.outcome->speedup * 1.06 * std::pow(0.97, count);
}

void KernelSearch::ProposeBeside(const Idea& winner, std::vector<Proposal>& out) const {
  const double gain = GainBeside(winner);
  const std::vector<records::StrategyStep>& steps = winner.candidate.strategy.steps;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const auto with = [&](const records::Json& parameters) {
      std::vector<records::StrategyStep> changed = steps;
      changed[s].parameters = parameters;
      Add(std::move(changed), winner.candidate.id, gain, out);
    };
    const Opinion* opinion = OpinionOf(steps[s].technique);
    if (opinion != nullptr) {
      for (const records::Json& parameters : opinion->parameters) with(parameters);
    }
    const Technique* row = FindTechnique(steps[s].technique);
    if (row == nullptr) continue;
    for (const TechniqueParameter& parameter : row->parameters) {
      const std::string name(parameter.name);
      if (!steps[s].parameters.contains(name)) continue;
      for (records::Json& value : NeighboursOf(parameter, steps[s].parameters[name])) {
        records::Json parameters = steps[s].parameters;
        parameters[name] = std::move(value);
        with(parameters);
      }
    }
  }
}

// One more technique on top of a good strategy, also one that did not win alone.
void KernelSearch::ProposeExtensions(std::vector<Proposal>& out) const {
  for (const Idea* idea : Winners(kParents)) {
    for (const Opinion& opinion : input_.opinions) {
      const std::vector<records::StrategyStep>& steps = idea->candidate.strategy.steps;
      if (!opinion.applies || HasTechnique(steps, opinion.technique)) continue;
      const records::Json parameters =
          opinion.parameters.empty() ? records::Json::object() : opinion.parameters.front();
      const double factor = 1.0 + (Factor(opinion.technique, parameters) - 1.0) * 0.6;
      std::vector<records::StrategyStep> longer = steps;
      Append(longer, StepOf(opinion.technique, parameters, factor));
      Add(std::move(longer), idea->candidate.id, *idea->outcome->speedup * factor, out);
    }
  }
}

// Two strategies that each won, together: the better one's steps first.
void KernelSearch::ProposeCrosses(std::vector<Proposal>& out) const {
  const std::vector<const Idea*> winners = Winners(2 * kParents);
  for (std::size_t i = 0; i < winners.size(); ++i) {
    for (std::size_t k = i + 1; k < winners.size(); ++k) {
      std::vector<records::StrategyStep> steps = winners[i]->candidate.strategy.steps;
      if (OfOtherSizes(steps, winners[k]->candidate.strategy.steps)) continue;
      bool adds = false;
      for (const records::StrategyStep& step : winners[k]->candidate.strategy.steps) {
        if (HasTechnique(steps, step.technique)) continue;
        Append(steps, step);
        adds = true;
      }
      if (!adds) continue;
      const double first = *winners[i]->outcome->speedup;
      const double second = *winners[k]->outcome->speedup;
      Add(std::move(steps), winners[i]->candidate.id, first * (1 + (second - 1) * 0.7), out);
    }
  }
}

Running KernelSearch::RunningNow() const {
  Running running;
  for (const Idea& idea : ideas_) {
    // One with a reason was beaten, and is not published.
    if (!idea.outcome || idea.outcome->kind != Outcome::Kind::kAccepted ||
        !idea.outcome->reason.empty()) {
      continue;
    }
    for (const CaseSpeedup& one : idea.outcome->cases) {
      double& best = running[one.name];
      best = std::max({best, one.speedup, 1.0});
    }
  }
  return running;
}

// What loses at some sizes, for those at which it wins: over the original, or over what won before.
void KernelSearch::ProposeClasses(std::vector<Proposal>& out) const {
  if (input_.cases.size() < 2) return;
  const Running running = RunningNow();
  const double now = GainOf(input_.cases, running);
  for (const Idea& idea : ideas_) {
    const std::vector<records::StrategyStep>& steps = idea.candidate.strategy.steps;
    if (!idea.outcome || idea.outcome->reason != "not_faster" || HasTechnique(steps, kSizeClass) ||
        !idea.candidate.made.empty()) {
      continue;
    }
    const std::vector<CaseSpeedup>& speedups = idea.outcome->cases;
    const auto found = FindSizeClass(input_.cases, speedups, running);
    if (!found) continue;
    // The verdict is on the whole workload, over the original; what is there already is no gain.
    const double gain = GainOf(input_.cases, *found, speedups, running);
    if (GainOf(input_.cases, *found, speedups, {}) < kWin || gain < kWin * now) continue;
    std::vector<records::StrategyStep> narrowed = steps;
    narrowed.push_back(StepOf(kSizeClass, records::Json{{"guard", found->guard}}, gain));
    Add(std::move(narrowed), idea.candidate.id, gain, out, idea.candidate.values);
  }
}

double KernelSearch::NumbersGain() const {
  const double best = numbers_.best_speedup();
  if (best > 1.0) return best * (1.0 + 0.05 * std::pow(0.8, numbers_.without_gain()));
  return 1.0 + (kNumbersPrior - 1.0) * std::pow(0.85, numbers_.without_gain());
}

std::optional<Candidate> KernelSearch::NextNumbers(double best_other) {
  const double gain = NumbersGain();
  if (gain < best_other) return std::nullopt;
  std::optional<Values> values = numbers_.Next();
  if (!values) return std::nullopt;
  Candidate candidate;
  records::Json parameters = records::Json::object();
  for (const auto& [name, value] : *values) parameters[name] = value;
  candidate.strategy.steps = {StepOf(kTunablesStep, parameters, gain)};
  candidate.strategy.title = "tunables";
  for (const auto& [name, value] : *values) {
    candidate.strategy.title += " " + name + "=" + std::to_string(value);
  }
  candidate.values = std::move(*values);
  candidate.expected_gain = gain;
  return candidate;
}

bool KernelSearch::IsTried(const Steps& steps) const { return tried_.contains(KeyOf(steps)); }

StepSearch& KernelSearch::StepSearchFrom(const Idea& winner) {
  const Steps& steps = winner.candidate.strategy.steps;
  const std::string key = StepSearch::KeyOf(steps);
  const auto known = step_searches_.find(key);
  if (known != step_searches_.end()) return known->second;
  std::vector<StepSearch::Result> results;
  for (const Idea& idea : ideas_) {
    const bool of_steps = !idea.candidate.retunes() && idea.candidate.made.empty();
    if (!of_steps || !idea.outcome) continue;
    if (StepSearch::KeyOf(idea.candidate.strategy.steps) != key) continue;
    results.push_back(ResultOf(idea.candidate.strategy.steps, *idea.outcome));
  }
  return step_searches_
      .try_emplace(key, steps, *winner.outcome->speedup, input_.opinions, results,
                   input_.seed + step_searches_.size() + 1, input_.strategy)
      .first->second;
}

void KernelSearch::TellStepSearch(const Steps& steps, const Outcome& outcome, bool again) {
  const auto search = step_searches_.find(StepSearch::KeyOf(steps));
  if (search != step_searches_.end()) search->second.Know(ResultOf(steps, outcome), again);
}

KernelSearch::Climb KernelSearch::NextToClimb(double best_other) {
  Climb next{nullptr, best_other};
  const auto is_tried = [this](const Steps& steps) { return IsTried(steps); };
  for (const Idea* winner : Winners(kParents)) {
    std::vector<Proposal> beside;
    ProposeBeside(*winner, beside);
    if (!beside.empty()) continue;
    // As long as there is patience, more than the least that can be accepted.
    const double gain = std::max(kLeastOfClimb, GainBeside(*winner));
    if (gain > next.gain && StepSearchFrom(*winner).HasNext(is_tried)) next = {winner, gain};
  }
  return next;
}

// What is wrong, or does not run, promises nothing, however fast a first look found it.
double KernelSearch::BestAlone(const std::string& technique) const {
  double best = 0;
  for (const Idea& idea : ideas_) {
    const std::vector<records::StrategyStep>& steps = idea.candidate.strategy.steps;
    const bool alone = idea.candidate.made.empty() && !idea.candidate.retunes() &&
                       steps.size() == 1 && steps.front().technique == technique;
    if (alone && idea.outcome && IsMeasured(*idea.outcome)) {
      best = std::max(best, *idea.outcome->speedup);
    }
  }
  return best;
}

// What a model made of steps is not what the techniques would make of them.
Candidate KernelSearch::Admit(Candidate candidate) {
  candidate.id = static_cast<int>(ideas_.size()) + 1;
  if (candidate.made.empty()) tried_.insert(KeyOf(candidate.strategy.steps));
  if (candidate.parent > 0) ++children_[candidate.parent];
  events_.push_back(candidate.id);
  ideas_.push_back({candidate, candidate.strategy.title, std::nullopt, std::nullopt});
  return candidate;
}

bool KernelSearch::NearFloor() const {
  const Idea* leader = best();
  return leader != nullptr && leader->outcome->floor_share >= kNearFloor;
}

// Of equals the earlier kind, which costs less to understand.
std::optional<KernelSearch::Proposal> KernelSearch::TopOf(std::vector<Proposal> frontier) {
  const auto top =
      std::max_element(frontier.begin(), frontier.end(), [](const Proposal& a, const Proposal& b) {
        return a.candidate.expected_gain < b.candidate.expected_gain;
      });
  if (top == frontier.end()) return std::nullopt;
  return std::move(*top);
}

std::optional<KernelSearch::Proposal> KernelSearch::MostPromising() const {
  std::vector<Proposal> frontier;
  ProposeSeeds(frontier);
  ProposeSingles(std::numeric_limits<std::size_t>::max(), &KernelSearch::Factor, 0, frontier);
  ProposeCrosses(frontier);
  ProposeExtensions(frontier);
  ProposeNeighbours(frontier);
  ProposeClasses(frontier);
  return TopOf(std::move(frontier));
}

std::optional<Candidate> KernelSearch::AskFirst(std::size_t parameters, double least) {
  std::vector<Proposal> frontier;
  ProposeSeeds(frontier);
  // As if nothing was measured: that a block is too wide says little of narrower ones.
  ProposeSingles(parameters, &KernelSearch::Prior, least, frontier);
  std::optional<Proposal> top = TopOf(std::move(frontier));
  const auto values = std::count_if(ideas_.begin(), ideas_.end(),
                                    [](const Idea& idea) { return idea.candidate.retunes(); });
  std::optional<Candidate> first;
  if (values < static_cast<std::ptrdiff_t>(parameters)) {
    first = NextNumbers(top ? top->candidate.expected_gain : 0.0);
  }
  if (!first && top) first = std::move(top->candidate);
  if (!first) return std::nullopt;
  return Admit(std::move(*first));
}

std::optional<Candidate> KernelSearch::Nothing() {
  if (events_.empty() || events_.back() != 0) events_.push_back(0);
  return std::nullopt;
}

bool KernelSearch::AreReported(int after, int last) const {
  return std::all_of(ideas_.begin() + after, ideas_.begin() + last,
                     [](const Idea& idea) { return idea.outcome.has_value(); });
}

// Also what a proof refuted later: what was asked for depends on it.
bool KernelSearch::ShowedGain() const {
  return std::any_of(ideas_.begin(), ideas_.end(), [](const Idea& idea) {
    const std::optional<Outcome>& seen = idea.probed ? idea.probed : idea.outcome;
    return seen && seen->kind == Outcome::Kind::kAccepted &&
           seen->speedup.value_or(0) >= kWorthAFirstProof;
  });
}

std::optional<Candidate> KernelSearch::NextFirst() {
  if (all_first_asked_) return std::nullopt;
  std::optional<Candidate> first;
  // On a GPU a look costs less than to believe a few other kernels that a technique wins nothing.
  if (!NearFloor()) first = AskFirst(1, input_.device == "cuda" ? 0 : kWin);
  all_first_asked_ = !first;
  if (first) last_first_ = last_second_ = first->id;
  return first;
}

std::optional<Candidate> KernelSearch::NextSecond() {
  if (all_second_asked_ || first_pass()) return std::nullopt;
  std::optional<Candidate> second;
  // A look takes a tenth of a second on a GPU, and some on the host.
  const bool cuda = input_.device == "cuda", gain = ShowedGain();
  if (!NearFloor() && (cuda || !gain))
    second = AskFirst(kSecondParameters, cuda && !gain ? 0 : kWin);
  all_second_asked_ = !second;
  if (second) last_second_ = second->id;
  return second;
}

bool KernelSearch::first_pass() const { return !all_first_asked_ || !AreReported(0, last_first_); }

bool KernelSearch::second_pass() const {
  if (first_pass() || ShowedGain()) return false;
  return !all_second_asked_ || !AreReported(last_first_, last_second_);
}

std::optional<Candidate> KernelSearch::Next() {
  if (NearFloor()) return Nothing();
  if (auto first = NextFirst()) return first;
  if (auto second = NextSecond()) return second;
  std::optional<Proposal> top = MostPromising();
  const Climb climb = NextToClimb(top ? top->candidate.expected_gain : 0.0);
  std::optional<Candidate> numbers = NextNumbers(climb.gain);
  if (numbers) return Admit(std::move(*numbers));
  if (climb.winner != nullptr) {
    std::vector<Proposal> climbed;
    const auto is_tried = [this](const Steps& steps) { return IsTried(steps); };
    Add(*StepSearchFrom(*climb.winner).Next(is_tried), climb.winner->candidate.id, climb.gain,
        climbed);
    return Admit(std::move(climbed.front().candidate));
  }
  if (!top) return Nothing();
  return Admit(std::move(top->candidate));
}

Candidate KernelSearch::Take(MadeIdea made) {
  Candidate candidate;
  const bool known = made.parent > 0 && made.parent <= static_cast<int>(ideas_.size());
  candidate.parent = known ? made.parent : 0;
  candidate.strategy = std::move(made.strategy);
  candidate.expected_gain = made.expected_gain;
  candidate.made = std::move(made.variant);
  return Admit(std::move(candidate));
}

void KernelSearch::Report(int id, const Outcome& outcome) {
  if (id < 1 || id > static_cast<int>(ideas_.size())) return;
  Idea& idea = ideas_[static_cast<std::size_t>(id) - 1];
  if (idea.outcome && !idea.unproven) return;
  idea.outcome = outcome;
  events_.push_back(-id);
  Learn(idea, std::exchange(idea.unproven, false));
}

void KernelSearch::ReportProbe(int id, const Outcome& probed) {
  if (id < 1 || id > static_cast<int>(ideas_.size())) return;
  Idea& idea = ideas_[static_cast<std::size_t>(id) - 1];
  if (idea.outcome) return;
  idea.outcome = idea.probed = probed;
  idea.unproven = true;
  events_.push_back(-id);
  Learn(idea, false);
}

void KernelSearch::Learn(Idea& idea, bool again) {
  const Outcome& outcome = *idea.outcome;
  if (!idea.candidate.made.empty()) return;
  const bool accepted = outcome.kind == Outcome::Kind::kAccepted;
  if (idea.candidate.retunes()) {
    // Of some sizes only: no result of the values everywhere.
    if (HasTechnique(idea.candidate.strategy.steps, kSizeClass)) return;
    const bool measured = accepted || outcome.reason == "not_faster";
    const std::optional<double> speedup = measured ? outcome.speedup : std::nullopt;
    if (again) return numbers_.Correct(idea.candidate.values, speedup);
    return numbers_.Report(idea.candidate.values, speedup, outcome.built, FailureOf(outcome));
  }
  TellStepSearch(idea.candidate.strategy.steps, outcome, again);
  if (outcome.aligned) {
    tried_.insert(KeyOf(outcome.aligned->steps));
    TellStepSearch(outcome.aligned->steps, outcome, again);
    // What is to be proven is made once more, as it was asked for.
    const bool done = accepted && !idea.unproven && !outcome.aligned->steps.empty();
    if (done) idea.candidate.strategy = *outcome.aligned;
  }
  // A step of several is not to blame alone; what it did to its parent shows.
  const std::vector<records::StrategyStep>& steps = idea.candidate.strategy.steps;
  if (steps.empty()) return;
  Record& record = techniques_[steps.back().technique];
  const bool broken = outcome.kind == Outcome::Kind::kDeclined ||
                      (outcome.kind == Outcome::Kind::kRejected && !IsMeasured(outcome));
  if (broken) record.failures += steps.size() == 1 ? 1.0 : 0.5;
  if (steps.size() == 1) record.best = BestAlone(steps.front().technique);
}

bool KernelSearch::Exhausted() {
  for (const Idea& idea : ideas_) {
    if (!idea.outcome) return false;
  }
  return NearFloor() ||
         (!MostPromising() && !numbers_.HasNext() && NextToClimb(0).winner == nullptr);
}

}  // namespace cupilot::search
