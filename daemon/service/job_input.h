// What the work on one kernel begins with.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agents/roles/strategist.h"
#include "base/callback.h"
#include "evaluate/evaluator.h"
#include "records/compile_command.h"
#include "records/kernel.h"
#include "records/workload.h"
#include "search/evolution/task.h"
#include "search/number_search.h"
#include "service/in_flight.h"
#include "service/kernel_workload.h"
#include "service/models.h"
#include "service/place.h"

namespace cupilot::service {

// How much is begun at once.
struct Pace {
  // With those that have ended and wait to be told never more than its most.
  InFlightRange in_flight;
  int turn = 1;  // results of one step; then another kernel may be next
  // Results are told in the order of asking, until so many wait behind a candidate that takes
  // longer: a compiler that is busy with one for twenty seconds keeps no others waiting.
  int patience = 8;
};
// On the host nothing is compiled while something is measured: nothing is gained by more than one.
Pace PaceOn(const std::string& device);

// The language models that are asked for variants, too.
struct JobModels {
  Models* books = nullptr;  // null: none is asked. Outlives the job
  std::vector<ModelSource> sources;
  std::string project;       // ModelProject()
  double begin_share = 0.5;  // of the budget, at which they are asked at the latest
  std::int64_t requests = 60;
  // Of a judge on each variant. None: the gate answers within seconds what they are asked, for
  // nothing and for certain; they are for where evaluations are scarce.
  int votes = 0;
  // Of the strategy pool: what worked on kernels like it, for prompts and as first ideas, and what
  // techniques brought.
  std::vector<agents::StrategyExample> examples;
  std::vector<search::evolution::Plan> seeds;
  std::map<std::string, search::evolution::Prior> priors;
};

// All but what the pool says.
JobModels JobModelsOf(Models& models, const ModelOwner& owner);

// What of the search is used: all of it, but where ways of searching are compared.
struct SearchParts {
  bool techniques = true;  // mechanical strategies; false: values of tunables, and models' variants
  bool pool = true;        // what is known of other kernels, in the search and in prompts
  // Of the evolution with models (search/evolution/settings.h).
  bool strategies = true;
  bool roofline = true;
  bool tree = true;
};

struct JobInput {
  records::Kernel kernel;
  records::Workload workload;
  records::CompileCommand command;
  std::string source_text;  // the snapshot that was scanned
  std::string numerics = "close";
  Place place;  // what it is tuned on, and for what
  std::uint64_t seed = 1;
  std::string strategy = search::kNumberStrategy;  // that looks for numbers (search/strategy.h)
  // What ends the work, whichever comes first.
  double budget_seconds = 900;
  std::int64_t budget_evaluations = 0;  // verdicts; 0: any number
  double until_gain = 0;  // expected of another minute (0.01: 1 %) less than this; 0: never
  double measure_seconds = 1.5;
  JobModels models;
  SearchParts parts;
  // Called when an answer came for which the job waited between steps. May be empty.
  std::function<void()> wake;
  // Other kernels wait for their turn: a step of the first pass ends with it, and a step has its
  // end, too, where nothing but a proof is left to wait for.
  bool takes_turns = false;
  // The kernel's variants that an object does without: they beat nothing. May be empty.
  std::function<std::set<std::string>()> refused;
  // Before anything is tried: whether the workload is to be tuned on. Where it is not, nothing is
  // tried. May be empty.
  std::function<void(const evaluate::EvaluateRequest& request, base::Callback<bool> done)> prepare;
};

}  // namespace cupilot::service
