// The search for one kernel on one device: which strategy, or which values of the source's
// tunables, to evaluate next. It keeps a tree of ideas with expected and measured gain, crosses
// strategies that each won, searches the parameters of their techniques (first what is next to a
// winner, then by the number search: step_search.h) and orders everything by what it is expected to
// gain. A strategy that wins at some sizes and loses at others is proposed again for the former
// (size_classes.h), beside what won for the others. Pure: no clock, no I/O; what it returns is a
// function of its input, the seed and the order of results, so that it can be replayed from
// records.
//
//   KernelSearch search(input);
//   while (budget left) {
//     auto candidate = search.Next();           // ask for several to build ahead
//     if (!candidate) break;                    // with results outstanding: report, then ask again
//     ... rewrite or retune, evaluate ...
//     search.Report(candidate->id, outcome);    // every candidate is reported exactly once
//   }
//
// Variants that were made elsewhere, by a model, are ideas of the same tree: Take() admits one, and
// it is reported like the others. Nothing is developed from them here: a technique begins at the
// original's text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "records/json.h"
#include "records/kernel.h"
#include "records/variant.h"
#include "search/number_search.h"
#include "search/opinion.h"
#include "search/size_classes.h"
#include "search/step_search.h"
#include "search/strategy_pool.h"

namespace cupilot::search {

// A first look that shows this speedup is worth a proof, and a kernel that does more time.
inline constexpr double kWorthAFirstProof = 1.05;

struct SearchInput {
  std::string kernel;             // qualified name, for titles
  std::string device = "host";    // "host" | "cuda": which techniques are likely to pay
  std::vector<Opinion> opinions;  // those that do not apply are kept for explanations only
  NumberSpace numbers;            // SpaceOf(kernel, case); no tunables: no search over numbers
  std::vector<SizedCase> cases;   // SizedCasesOf(kernel, workload); of one case no class is sought
  std::vector<records::Strategy> seeds;  // strategies that worked elsewhere: tried first
  TechniquePriors priors;  // what techniques have brought elsewhere, beside PriorGain()
  std::uint64_t seed = 1;
  std::string strategy = kNumberStrategy;  // that looks for numbers (strategy.h)
  bool first_pass = false;                 // each technique is looked at once before any again
};

struct Candidate {
  int id = 0;      // from 1, in the order of Next()
  int parent = 0;  // 0: the original
  // Exactly one of these is what to do: values not empty: retune the original; else the strategy. A
  // last step kSizeClass narrows either to its guard.
  records::Strategy strategy;  // for values: title and a step "tunables", for people and records
  Values values;
  // Of the whole candidate over the original; for a size class, beside what won for other sizes.
  double expected_gain = 1.0;
  // Made elsewhere: the id of the variant, which whoever gave it has; then there is nothing to do.
  std::string made;
  bool retunes() const { return !values.empty(); }
};

// A variant that was made elsewhere, as an idea.
struct MadeIdea {
  std::string variant;  // its id, not empty
  records::Strategy strategy;
  int parent = 0;  // an idea of this search; what is none counts as 0, the original
  double expected_gain = 1.0;
};

// What became of a candidate.
struct Outcome {
  enum class Kind {
    kDeclined,  // the rewrite is not safe here, or not possible: nothing was evaluated
    kRejected,  // evaluated, and rejected for `reason`
    kAccepted,
    kFailed,  // no verdict (the environment failed); the idea is neither good nor bad
  };
  Kind kind = Kind::kFailed;
  std::string reason;  // of the evaluation (not_faster, wrong_values, ...) or of the technique
  // Measured over the original; also of a rejected one that was measured (not_faster).
  std::optional<double> speedup;
  std::vector<CaseSpeedup> cases;  // where it was measured
  std::string variant;             // id, where one was made
  BuildReport built;               // of the candidate's kernels the most
  // The variant that was measured in its place, since it was built to the same code; else empty.
  std::string same_code;
  // kDeclined: it cannot run, so that it was not built: the limit of the device (resources.h).
  std::string limit;
  // What the rewrite really did, where it differs from what was asked for.
  std::optional<records::Strategy> aligned;
  // Share of its physical floor that the case farthest from it reached, 0 to 1; 0: not known.
  double floor_share = 0;
};

// One node of the tree of ideas.
struct Idea {
  Candidate candidate;             // once accepted, with the strategy that was really done
  std::string asked;               // title of the strategy that was asked for
  std::optional<Outcome> outcome;  // absent: not reported yet
  std::optional<Outcome> probed;   // what a first look said, where there was one
  bool unproven = false;           // the outcome is what was probed
};

class KernelSearch {
 public:
  explicit KernelSearch(SearchInput input);

  // The most promising candidate that was not tried yet. Nothing: none is left now (results that
  // are outstanding may bring new ones), or the best is at 95 % of its floor.
  std::optional<Candidate> Next();

  // The same, but of the first pass only: what worked elsewhere, and each technique that applies
  // (on the host: and promises something), with the first of its parameters. Nothing, without a
  // trace: all of these were asked for, or the input asks for no first pass. Next() gives them
  // before anything else, too.
  std::optional<Candidate> NextFirst();

  // Behind the first pass each technique with some more of its parameters; on the host as long as
  // nothing was seen that is worth a proof. Next() gives them before anything else, too.
  std::optional<Candidate> NextSecond();

  // Of the first pass something is still to be asked for or reported; or of the second, and nothing
  // was seen that is worth a proof.
  bool first_pass() const;
  bool second_pass() const;

  // A variant that was made elsewhere becomes an idea, also where Next() has nothing more. Each is
  // to be taken once: nothing here knows whether it was tried.
  Candidate Take(MadeIdea made);

  // What a first look at a candidate says, before anything is proven of it: its outcome up to its
  // report, which may then come or not. kAccepted with a reason, so that it is a parent and not a
  // winner.
  void ReportProbe(int id, const Outcome& probed);

  // The result of a candidate; unknown ids and second reports are ignored.
  void Report(int id, const Outcome& outcome);

  // True when Next() has nothing and no result is outstanding.
  bool Exhausted();

  // All ideas, by id. What `explain` shows and what a record of the search keeps.
  const std::vector<Idea>& ideas() const { return ideas_; }
  // The speedups of all verdicts in their order, each code once; nothing where it was not measured.
  std::vector<std::optional<double>> Results() const;
  // The accepted idea with the greatest speedup, or null.
  const Idea* best() const;
  const NumberSearch& numbers() const { return numbers_; }

  // Nothing more is asked or reported: frees what that would need.
  void Close() { numbers_.Close(); }

  // The whole search as JSON (input's seed, ideas with expected and measured gain), and the search
  // that results from running those results again: Next(), Take() and Report() in the recorded
  // order.
  records::Json ToJson() const;
  // kCorruption if the records do not belong to this input (another candidate would have been
  // next).
  static base::Result<KernelSearch> Replay(SearchInput input, const records::Json& json);

 private:
  // Something that could be tried.
  struct Proposal {
    Candidate candidate;
    std::string key;  // of what it does; each is tried once
  };
  // How a technique has done so far.
  struct Record {
    double failures = 0;  // declined, or rejected for anything but its speed; half in company
    double best = 0;  // greatest speedup of the technique alone, of what is not refuted; 0: none
  };

  void ProposeSeeds(std::vector<Proposal>& out) const;
  // What a technique with these parameters is expected to multiply the speedup by.
  using Expect = double (KernelSearch::*)(const std::string& technique,
                                          const records::Json& parameters) const;
  // Each technique alone, with the first `most` of the parameters that it finds promising, but for
  // those of which less than `least` is expected.
  void ProposeSingles(std::size_t most, Expect expect, double least,
                      std::vector<Proposal>& out) const;
  void ProposeNeighbours(std::vector<Proposal>& out) const;
  // What other parameters of a winner are expected to bring; it falls with each that was tried.
  double GainBeside(const Idea& winner) const;
  void ProposeBeside(const Idea& winner, std::vector<Proposal>& out) const;
  void ProposeExtensions(std::vector<Proposal>& out) const;
  void ProposeCrosses(std::vector<Proposal>& out) const;
  void ProposeClasses(std::vector<Proposal>& out) const;
  void Add(std::vector<records::StrategyStep> steps, int parent, double gain,
           std::vector<Proposal>& out, Values values = {}) const;
  // Nothing: there is none.
  static std::optional<Proposal> TopOf(std::vector<Proposal> frontier);
  // Of all that could be tried, numbers aside.
  std::optional<Proposal> MostPromising() const;
  // What is looked at first, with so many parameters of each technique.
  std::optional<Candidate> AskFirst(std::size_t parameters, double least);
  // The ideas behind `after` up to `last`.
  bool AreReported(int after, int last) const;
  bool ShowedGain() const;
  bool NearFloor() const;
  // What runs each case by what was accepted so far.
  Running RunningNow() const;
  std::optional<Candidate> NextNumbers(double best_other);
  double NumbersGain() const;
  // A winner beside which all was tried, and what more of the number search over its parameters is
  // expected to bring.
  struct Climb {
    const Idea* winner = nullptr;
    double gain = 0;
  };
  // The most promising one that has more; its gain is above this.
  Climb NextToClimb(double best_other);
  // Of steps like those of this idea, told all that is known of them.
  StepSearch& StepSearchFrom(const Idea& winner);
  bool IsTried(const Steps& steps) const;
  void TellStepSearch(const Steps& steps, const Outcome& outcome, bool again);
  // Accepted ideas that are faster, best first, at most `count`.
  std::vector<const Idea*> Winners(std::size_t count) const;
  const Opinion* OpinionOf(const std::string& technique) const;
  const Record* RecordOf(const std::string& technique) const;
  // What the technique is expected to multiply the speedup by with these parameters, before
  // anything was measured here, and in the light of what was.
  double Prior(const std::string& technique, const records::Json& parameters) const;
  double Factor(const std::string& technique, const records::Json& parameters) const;
  Candidate Admit(Candidate candidate);
  // From its outcome. `again`: it was probed before.
  void Learn(Idea& idea, bool again);
  // Over all that is known now.
  double BestAlone(const std::string& technique) const;
  // Also that there was nothing is an event: the strategy for numbers was asked.
  std::optional<Candidate> Nothing();

  SearchInput input_;
  NumberSearch numbers_;
  std::vector<Idea> ideas_;
  std::set<std::string> tried_;
  std::map<std::string, Record> techniques_;
  std::map<std::string, StepSearch> step_searches_;  // by StepSearch::KeyOf()
  std::map<int, int> children_;                      // how many were made from an idea
  int last_first_ = 0;                               // the last idea of the first pass
  int last_second_ = 0;                              // and of the second
  bool all_first_asked_;  // at once where the input asks for no first pass
  bool all_second_asked_;
  // The order of calls, for the replay: > 0 a candidate that Next() gave or Take() admitted, < 0
  // the one reported, 0 Next() gave none.
  std::vector<int> events_;
};

// Expected gain of one technique with these parameters before anything was measured, by device
// ("host", "cuda").
double PriorGain(const std::string& technique, const std::string& device,
                 const records::Json& parameters);

// A short name of what steps do, for titles: "block_size x=256 + unrolling factor=4".
std::string TitleOf(const std::vector<records::StrategyStep>& steps);

}  // namespace cupilot::search
