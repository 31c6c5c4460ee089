// The search for structure with language models (design, section 7): strategies, not sources, are
// crossed and mutated; each step of one is an idea of a tree; an idea is translated to a variant,
// judged, evaluated, revised and aligned. Which of these is next, this says; it knows no prompt,
// no source and no clock. What comes next is a function of input, seed and results.
//
//   Evolution evolution(input, settings);
//   for (;;) {
//     Step step = evolution.Next();
//     switch (step.kind) {
//       case Step::Kind::kTask:    ... start step.task; report when it is done ...   continue;
//       case Step::Kind::kWait:    ... results are outstanding: come back after a Report() ...
//       case Step::Kind::kPending: ... only open requests are left: come back with an answer ...
//       case Step::Kind::kStopped: ... evolution.stop() says why ...
//     }
//   }
//
// It goes in waves: up to Settings::lines lines of work are under way, each a chain of tasks that
// depends on its own results and on what was known when the wave began; when all have ended they
// are applied in the order of their ids. So results may be reported in any order, and the same
// tasks with the same ids come. An answer that is pending holds its own line; others go on to the
// end of the wave.
//
// A round: the strategist is asked where fewer than half of Settings::wanted untried ideas are
// left; the most promising ideas are translated; what is new is judged; candidates are evaluated in
// the order of votes, revised and aligned. Then the population is renewed and the stops are looked
// at.
//
// Not thread-safe. Holds ids and strategies, no sources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "search/evolution/idea_tree.h"
#include "search/evolution/line.h"
#include "search/evolution/population.h"
#include "search/evolution/settings.h"
#include "search/evolution/task.h"

namespace cupilot::search::evolution {

struct Input {
  std::string kernel;             // qualified name
  std::string device = "host";    // "host" | "cuda"
  Individual original;            // id 0; bound and floor share where they are known
  std::vector<Individual> given;  // the best mechanical results; ids are set here, in this order
  std::vector<Plan> seeds;        // of the strategy pool: what worked on similar kernels
  std::map<std::string, Prior> priors;  // by technique, of the pool: beside a strategist's hints
  std::set<std::string> seen;  // novelty keys of what was evaluated before, if more than those
  std::uint64_t seed = 1;
};

enum class StopReason {
  kNone,
  kNearFloor,
  kStagnation,
  kRequests,     // the budget of requests
  kEvaluations,  // the budget of evaluations
  kNoIdeas,      // strategists name nothing new, and nothing is left to try
  kUnanswered,   // requests fail one after the other
  kEnvironment,  // evaluations fail one after the other
  kTold,         // Stop() was called
};

struct Step {
  enum class Kind { kTask, kWait, kPending, kStopped };
  Kind kind = Kind::kStopped;
  std::optional<Task> task;
};

class Evolution {
 public:
  explicit Evolution(Input input, Settings settings = {});

  Step Next();

  // The result of a task that Next() gave. False, and nothing happens, where the id is of none that
  // is outstanding or the result is of another kind of task. kPending may be reported first.
  bool Report(int id, Result result);

  // Tasks that were given out and not reported: what a replayed evolution still waits for.
  std::vector<Task> Outstanding() const;

  // Ends it from outside (money or time is out), for a reason that is kept and shown.
  void Stop(std::string detail);

  bool stopped() const { return stop_ != StopReason::kNone; }
  StopReason stop() const { return stop_; }
  const std::string& stop_detail() const { return stop_detail_; }  // one sentence

  const Individual& best() const { return population_.best(); }
  const Population& population() const { return population_; }
  const IdeaTree& tree() const { return tree_; }
  std::int64_t requests() const { return requests_; }        // used
  std::int64_t evaluations() const { return evaluations_; }  // used
  int round() const { return round_; }
  int epoch() const { return epoch_; }

  // Input, settings, results and the order of calls; and the evolution that comes from the same
  // calls again. kCorruption where the record belongs to another input or to other settings (a task
  // would be another one).
  records::Json ToJson() const;
  static base::Result<Evolution> Replay(Input input, const Settings& settings,
                                        const records::Json& json);

 private:
  enum class Phase { kPlan, kTranslate, kJudge, kEvaluate };
  // A call that changed something, for the record.
  struct Event {
    enum class Kind { kTask, kReport, kStopped, kStop };
    Kind kind = Kind::kStopped;
    int id = 0;  // kTask, kReport
    // kTask: it, until somebody wants its hash, and then that.
    mutable std::optional<Task> task = {};
    mutable std::string hash = {};
    std::optional<Result> result = {};  // kReport
    std::string detail = {};            // kStop
  };

  static const std::string& HashOf(const Event& event);
  // A recorded call.
  base::Result<> Again(const records::Json& event, const std::string& path);

  bool PlanWave();  // false: stopped
  bool CheckStops();
  bool PlanStrategist();
  void ChooseIdeas();
  bool PlanTranslations();
  bool PlanJudges();
  bool PlanEvaluations();
  void EndRound();
  void Begin(Task task, LineLimits limits);
  // An equal share of what is left for each, so that what one spends changes no other.
  LineLimits LimitsFor(std::size_t lines) const;

  void FinishWave();
  void Apply(const Line& line);
  void ApplyPlans(const Line& line);
  void ApplyTranslation(const Line& line);
  void ApplyVotes(const Line& line);
  void ApplyCandidate(const Line& line);
  bool See(const VariantFacts& variant);  // false: seen before
  void Halt(StopReason reason, std::string detail);
  std::int64_t RequestsLeft() const { return settings_.requests - requests_; }
  std::int64_t EvaluationsLeft() const { return settings_.evaluations - evaluations_; }

  Input input_;
  Settings settings_;
  std::mt19937_64 random_;
  IdeaTree tree_;
  Population population_;
  std::set<std::string> seen_;  // novelty keys

  Phase phase_ = Phase::kPlan;
  std::vector<Line> wave_;             // in the order of their ids
  std::deque<int> to_translate_;       // ideas of this round
  std::vector<Candidate> candidates_;  // that wait for judges or evaluation
  std::vector<Candidate> under_way_;   // that are evaluated
  int works_ = 0;                      // lines of work so far
  int members_ = 0;                    // that were made so far
  int round_ = 0;                      // that have ended
  int epoch_ = 1;
  bool asked_ = false;        // a strategist, in this round
  bool worked_ = false;       // something was implemented in this round
  int barren_ = 0;            // strategists in a row
  int unanswered_ = 0;        // requests in a row
  int environment_ = 0;       // evaluations in a row
  int stagnant_ = 0;          // rounds in a row
  double gain_of_round_ = 0;  // logarithm, of the last round that gained
  std::int64_t requests_ = 0;
  std::int64_t evaluations_ = 0;
  StopReason stop_ = StopReason::kNone;
  std::string stop_detail_;
  std::vector<Event> events_;
};

std::string_view Name(StopReason reason);

}  // namespace cupilot::search::evolution
