// One line of work of an evolution: a chain of tasks, in which each follows from the results of
// those before it and from nothing else. Four kinds: a strategist; a translation; a judge; and a
// candidate that is evaluated, revised one finding at a time, evaluated again, and aligned once it
// is accepted. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/evolution/settings.h"
#include "search/evolution/task.h"

namespace cupilot::search::evolution {

// A variant that waits for its evaluation.
struct Candidate {
  int idea = 0;
  VariantFacts variant;
  records::Strategy strategy;
  std::optional<records::StrategyStep> step;
  double promise = 0;           // of the idea
  std::optional<double> votes;  // share of judges that say: the same function
  bool asked = false;           // judges were
  int retries = 0;              // evaluations that the environment failed
};

// Whether it computes what the original does, as far as the gate knows, and was measured.
bool IsRight(const Evidence& evidence);

// What a line may spend, whatever other lines do.
struct LineLimits {
  std::int64_t requests = 0;
  std::int64_t evaluations = 0;
};

class Line {
 public:
  Line(Task first, const Settings& settings, LineLimits limits);

  // The task that is to be given out, if it was not; after Take() it is outstanding.
  const Task* ready() const { return done_ || taken_ ? nullptr : &task_; }
  Task Take();
  bool outstanding() const { return !done_ && taken_; }
  bool pending() const { return outstanding() && pending_; }
  bool done() const { return done_; }
  const Task& task() const { return task_; }  // the last one
  int work() const { return task_.id / 100; }

  // False: not a result of the task that is outstanding. `seen`: novelty keys that were known when
  // the wave began.
  bool Report(const Result& result, const std::set<std::string>& seen);

  // --- of one that is done ---
  TaskKind first() const { return first_; }
  int idea() const { return task_.idea; }
  std::int64_t requests() const { return requests_; }
  std::int64_t evaluations() const { return evaluations_; }
  const Result& last() const { return last_; }
  // A candidate's best evidence and the variant that it is of; none: never judged.
  const std::optional<Evidence>& evidence() const { return best_; }
  const VariantFacts& variant() const { return best_variant_; }
  const std::optional<records::Strategy>& aligned() const { return aligned_; }
  const std::set<std::string>& keys() const { return keys_; }  // of variants that it was shown
  // Of its requests: how many of the last ones in a row were not answered; whether any was.
  int unanswered() const { return unanswered_; }
  bool answered() const { return answered_; }

 private:
  void Follow(Task task);
  void OnEvidence(const Result& result);
  void OnRevision(const Result& result, const std::set<std::string>& seen);
  bool Revise(const VariantFacts& variant, const Evidence& finding, std::vector<Failure> earlier);
  std::int64_t EvaluationsFor(const VariantFacts& variant) const;
  std::int64_t EvaluationsLeft() const { return limits_.evaluations - evaluations_; }
  void AlignOrEnd();
  void Evaluate(const VariantFacts& variant);

  Settings settings_;
  LineLimits limits_;
  TaskKind first_;
  Task task_;
  bool taken_ = false;
  bool pending_ = false;
  bool done_ = false;
  std::int64_t requests_ = 0;
  std::int64_t evaluations_ = 0;
  Result last_;
  std::optional<Evidence> best_;
  VariantFacts best_variant_;
  std::optional<records::Strategy> aligned_;
  std::set<std::string> keys_;
  int rounds_ = 0;       // revisions so far
  int slow_rounds_ = 0;  // of those, for speed
  int unanswered_ = 0;
  bool answered_ = false;
};

}  // namespace cupilot::search::evolution
