// The tree of ideas: each node is one step (one technique) more than its parent, kept apart from
// its implementations, so that a good idea outlives a bad first one (K-Search, arXiv 2602.19128;
// cuPilot for what a strategy is). An idea is dropped after several failed implementations only;
// its failures lower it, not its parent.
//
// What is next is the idea of greatest promise:
//
//   promise = g(parent) + ln(e) * 0.85^(difficulty - 1) * 0.5^failures
//
// where g is the natural logarithm of the parent's measured speedup and e the step's expected gain:
// the strategist's hint in [1, 4], and, once the technique was measured elsewhere in the tree or on
// other kernels (priors), the mean (of logarithms) of hint and measurements. The order is
// K-Search's (score first, easier first, those above a gate of difficulty last); it gives no
// formula, so the two bases are ours: 0.5 so that two failures of an idea of 1.5 leave it below a
// fresh one of 1.15; 0.85 so that the hardest idea counts half. Pure; not thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/evolution/settings.h"
#include "search/evolution/task.h"

namespace cupilot::search::evolution {

struct Node {
  enum class State {
    kOpen,     // may be implemented, as soon as its parent is
    kDone,     // implemented, and it gained
    kDropped,  // after several failures, or since it cannot be anything new any more: `dropped`
  };
  int id = 0;      // from 1; 0 is the original
  int parent = 0;  // an idea
  State state = State::kOpen;
  records::Strategy strategy;                 // whole; of a done one what it really does
  std::optional<records::StrategyStep> step;  // what it adds; none: given, or without a strategy
  double expected = 1.0;                      // of the step, over its parent
  int difficulty = 3;
  bool busy = false;              // being implemented
  int attempts = 0;               // implementations that were begun
  int failed = 0;                 // of those
  std::vector<Failure> failures;  // the latest three
  std::string dropped;            // why
  // The best implementation that computes the right thing; also one that gained nothing is
  // something to build the next step on.
  std::optional<VariantFacts> variant;
  std::optional<double> log_gain;  // of it, over the original
  std::string bound;
  double floor_share = 0;
};

class IdeaTree {
 public:
  explicit IdeaTree(const Settings& settings, const std::map<std::string, Prior>& priors = {});

  // Something that was there before: the original (first), members that are given.
  int AddGiven(const Individual& member, int parent = 0);
  // A plan as ideas below the best that has part of its steps (those of `parents` first): a chain
  // of one step each. How many ideas are new; 0: all of it is known. Without a tree one idea.
  int AddPlan(const Plan& plan, const std::vector<int>& parents);
  // "Improve it", for the arm without strategies.
  int AddImprovement(int parent);

  // Ideas that could be implemented now, the most promising first (the rule above).
  std::vector<int> Next() const;
  // How many of those promise more than that; without a tree all do.
  int Above(double log_gain) const;
  double Promise(int id) const;

  // An implementation was begun, and what became of it. Fail: drops after enough of them.
  void Begin(int id);
  void Fail(int id, Failure failure);
  // It computes the right thing, this fast. True: it gained over its parent (the idea is done).
  bool Measured(int id, const VariantFacts& variant, const Evidence& evidence);
  // Whether what a variant really does holds the step that was asked for; and that it does this.
  bool Does(int id, const records::Strategy& strategy) const;
  void Align(int id, const records::Strategy& strategy);
  // Not by its own fault: as if it had not begun.
  void Undo(int id);

  const Node& at(int id) const { return nodes_[static_cast<std::size_t>(id)]; }
  const std::vector<Node>& nodes() const { return nodes_; }
  // Dropped ideas, the latest last.
  std::vector<FailedIdea> FailedIdeas(std::size_t count) const;

 private:
  Node& node(int id) { return nodes_[static_cast<std::size_t>(id)]; }
  bool Ready(const Node& idea) const;
  int Base(const records::Strategy& strategy, const std::vector<int>& parents) const;
  int Add(Node idea);
  void Drop(int id, std::string why);
  void Renew(int id);
  bool IsBelow(int id, int above) const;
  // Expected gain of the step in the light of what was measured, as a logarithm.
  double Expected(const Node& idea) const;

  Settings settings_;
  std::vector<Node> nodes_;
  std::vector<int> dropped_;            // in their order
  std::map<std::string, int> known_;    // key of a strategy: idea
  std::map<std::string, Prior> gains_;  // by technique: priors, and what was measured here
};

// The set of techniques of a strategy, sorted, joined by '+'; the niche of who follows it.
std::string TechniquesOf(const records::Strategy& strategy);

}  // namespace cupilot::search::evolution
