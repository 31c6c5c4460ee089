// What an evolution may do and how it chooses. The paper of cuPilot (arXiv 2512.16465) describes
// tournament, elites and epochs, but gives no sizes but a population of 50 in its ablations and 2
// to 4 epochs; all sizes here are ours, chosen for a budget of tens of requests instead of
// thousands.
#pragma once

#include <cstddef>
#include <cstdint>

#include "records/json.h"

namespace cupilot::search::evolution {

struct Settings {
  // --- budgets; 0: none may be spent ---
  std::int64_t requests = 60;      // that a model is asked, each vote of a judge being one
  std::int64_t evaluations = 200;  // verdicts, those of tunables' values included

  // --- work at once ---
  // Serial refinement with shared conclusions beats parallel samples at equal budget, and two
  // workers with a common memory beat one (reference: KernelArc, MKEvolve, Kevin). For an exchange
  // folder, whose answers come together, more lines mean fewer visits.
  int lines = 2;
  int wanted = 6;  // strategies that a strategist is asked for
  int ideas = 2;   // that a round implements: the most promising of those that are open

  // --- population ---
  int population = 12;           // members that may become parents, the original aside
  int elites = 3;                // best members that survive a round whatever is drawn
  int tournament = 3;            // drawn for a tournament, of niches and within one
  int niche_cap = 2;             // members with the same set of techniques
  int epoch_rounds = 6;          // rounds of an epoch
  int epoch_parents = 3;         // best members (of different niches) that begin the next epoch
  double crossover_share = 0.6;  // of strategists that are asked to cross, where two niches won

  // --- ideas ---
  int failures_until_dropped = 3;  // failed implementations
  int hardest = 4;       // ideas of a greater difficulty wait until no other is left (K-Search: 4)
  int failed_named = 8;  // failed ideas that a strategist is told, the latest

  // --- one variant ---
  int revisions = 3;            // rounds of a variant, one finding each
  int slow_revisions = 1;       // of those, for speed, where the variant is right
  int votes = 3;                // of a judge; 0: none is asked
  int tuning_evaluations = 16;  // for one variant that declares tunables, at most

  // --- stops ---
  double near_floor = 0.95;   // share of the physical floor behind which nothing is left to gain
  double gain = 1.02;         // what counts as a gain
  int stagnation_rounds = 3;  // rounds in a row without one
  int barren_answers = 2;     // strategists in a row that name nothing new
  int unanswered = 3;         // requests, or evaluations, in a row that the environment failed

  // --- arms of comparisons; all true in earnest ---
  bool strategies = true;  // false: the translator is asked to improve a parent, without a strategy
  bool roofline = true;    // false: no bottleneck is named, and no variant is revised for speed
  bool pool = true;        // false: strategies of similar kernels are neither tried nor shown
  bool tree = true;    // false: a strategy is implemented whole, once, in the order of its coming
  bool niches = true;  // false: tournaments and caps know no sets of techniques
  bool crossover = true;  // false: each strategist mutates one parent

  bool operator==(const Settings&) const = default;
};

records::Json ToJson(const Settings& settings);

}  // namespace cupilot::search::evolution
