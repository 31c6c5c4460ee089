// What an evolution asks for and what it is told: values only. Variants are opaque here: an id, a
// novelty key and how many tunables are declared. Sources, prompts and profiles are others' matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/json.h"
#include "records/variant.h"

namespace cupilot::search::evolution {

struct VariantFacts {
  std::string id;  // empty: the original
  // Equal for sources that differ in nothing that matters (normalised code); empty: not known, so
  // that the variant counts as new.
  std::string novelty_key;
  int tunables = 0;
  bool operator==(const VariantFacts&) const = default;
};

// What an evaluation said of a variant, at the best of its tunables' values.
struct Evidence {
  enum class Kind {
    kAccepted,
    kRejected,  // for `reason`
    kFailed,    // no verdict (the environment failed): the idea is neither good nor bad
  };
  Kind kind = Kind::kFailed;
  std::string reason;  // records::kReasons
  std::string detail;  // for the reviser; cut to kDetailBytes
  // Measured over the original; also of a rejected one that was measured (not_faster).
  std::optional<double> speedup;
  double floor_share = 0;  // of the case farthest from its floor, 0 to 1; 0: not known
  std::string bound;       // the roofline's word for what limits it: dram l2 ...; empty: not known
  bool operator==(const Evidence&) const = default;
};
inline constexpr std::size_t kDetailBytes = 4000;

// A member of the population: strategy, variant, evidence.
struct Individual {
  int id = 0;  // 0: the original
  VariantFacts variant;
  records::Strategy strategy;  // what the variant really does; no steps: the original, or unknown
  double log_gain = 0;         // natural logarithm of the speedup over the original
  double floor_share = 0;
  std::string bound;
  int idea = 0;   // of the tree
  int epoch = 0;  // in which it was made; 0: given
  bool operator==(const Individual&) const = default;
};

enum class TaskKind { kStrategist, kTranslate, kJudge, kEvaluate, kRevise, kAlign };

// An implementation that failed, for those who try again.
struct Failure {
  std::string reason;  // of the evaluation, or one of the words below
  std::string detail;
  bool operator==(const Failure&) const = default;
};
inline constexpr const char* kNoVariant = "no_variant";      // the answer holds none, and why
inline constexpr const char* kSeenBefore = "seen_before";    // the same code exists already
inline constexpr const char* kJudgedOther = "judged_other";  // most judges: not the same function
inline constexpr const char* kNoGain = "no_gain";            // right, but no faster than its parent
inline constexpr const char* kNotDone = "not_done";  // accepted, but it does not do the step

struct FailedIdea {
  std::string title;  // of the whole strategy
  std::string reason;
  bool operator==(const FailedIdea&) const = default;
};

// Only the fields of its kind are set.
struct Task {
  // 100 * (number of the line of work) + step. Of a replayed evolution the same task has the same
  // id, whatever the order in which results arrived.
  int id = 0;
  TaskKind kind = TaskKind::kStrategist;

  // kStrategist: one parent: mutate it; two: cross them. Also kAlign, kTranslate: why.
  std::vector<Individual> parents;
  int wanted = 0;
  std::string bottleneck;          // that the strategies must answer; empty: not to be named
  std::vector<FailedIdea> failed;  // not to be proposed again, the latest last
  bool pool = false;               // strategies of similar kernels may be shown as examples

  // kTranslate, kJudge, kEvaluate, kRevise, kAlign
  int idea = 0;                               // of the tree
  records::Strategy strategy;                 // what the variant is to do; no steps: "improve it"
  std::optional<records::StrategyStep> step;  // the one that the parent lacks; none: all of them

  // kTranslate
  VariantFacts parent;  // what is changed
  records::Strategy parent_strategy;
  std::vector<Failure> earlier;  // attempts at this idea, the latest last

  // kJudge, kEvaluate, kRevise, kAlign
  VariantFacts variant;
  int votes = 0;                 // kJudge: answers that are wanted
  std::int64_t evaluations = 0;  // kEvaluate: at most, values of tunables included; at least 1

  // kRevise: the one finding, and the how-manieth time (from 1)
  Evidence finding;
  int round = 0;
};

// A strategy that a strategist, or the pool, proposes. The steps' expected_gain are hints: clamped
// to [1, 4], and soon outweighed by what is measured.
struct Plan {
  records::Strategy strategy;     // whole: with the steps of the parents that it keeps
  std::vector<int> difficulties;  // of its steps, 1 to 5; those that are missing: 3
  bool operator==(const Plan&) const = default;
};

// What a technique brought on other kernels.
struct Prior {
  double log_gain = 0;  // mean of logarithms
  double weight = 0;    // how many measurements it counts as
  bool operator==(const Prior&) const = default;
};

struct Result {
  enum class Kind {
    kPending,     // asked, and the answer comes much later (an exchange folder); report again then
    kPlans,       // kStrategist
    kVariant,     // kTranslate, kRevise
    kNothing,     // answered, but without what was asked for: `reason`
    kUnanswered,  // not answered: no fault of the idea
    kVotes,       // kJudge
    kEvidence,    // kEvaluate
    kAligned,     // kAlign
  };
  Kind kind = Kind::kUnanswered;
  std::string reason;  // kNothing, kUnanswered
  std::vector<Plan> plans;
  VariantFacts variant;  // also of kEvidence: what was measured in the end, where it is another id
  int same = 0;          // kVotes: this is the same function
  int other = 0;         //         it is not
  Evidence evidence;
  records::Strategy aligned;
  // What it cost, where that is not 1 (a repaired answer: 2; none was made: 0). For kVotes the
  // number of votes that were asked for.
  std::optional<std::int64_t> requests;
  std::optional<std::int64_t> evaluations;  // kEvidence; not set: 1

  static Result Pending();
  static Result Plans(std::vector<Plan> plans);
  static Result Variant(VariantFacts variant);
  static Result Nothing(std::string reason);
  static Result Unanswered(std::string reason);
  static Result Votes(int same, int other);
  static Result Of(Evidence evidence, std::int64_t evaluations = 1);
  static Result Aligned(records::Strategy strategy);
  bool operator==(const Result&) const = default;
};

std::string_view Name(TaskKind kind);

// At most so many bytes, whole characters of UTF-8.
std::string Cut(std::string text, std::size_t bytes);

records::Json ToJson(const Task& task);
records::Json ToJson(const Result& result);
records::Json ToJson(const Individual& individual);
records::Json ToJson(const Plan& plan);
base::Result<Result> ReadResult(const records::Json& json, const std::string& path);

}  // namespace cupilot::search::evolution
