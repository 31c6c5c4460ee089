// The search over the parameters of a strategy's steps: from one that won, others of the same
// techniques, by the number search that tunables of a source have (number_search.h). What must hold
// of a technique's parameters (techniques.h) is solved; what else a rewrite declines is learned.
// Pure: what it returns is a function of its inputs and of what was reported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "records/variant.h"
#include "search/number_search.h"
#include "search/opinion.h"

namespace cupilot::search {

using Steps = std::vector<records::StrategyStep>;

class StepSearch {
 public:
  // The same for steps that differ in the values of their parameters only.
  static std::string KeyOf(const Steps& steps);

  // What came of steps: their speedup over the original, or nothing if they failed, for what.
  struct Result {
    Steps steps;
    std::optional<double> speedup;
    BuildReport built;
    Failure failure = Failure::kWrong;
  };

  // `won`: steps that were measured, with their speedup over the original, which is above 0;
  // `known`: all results of their key so far. An integer may be what won, what `opinions` find
  // promising and what doubling and halving lead to from there; a choice each of its words. Of a
  // parameter of which all that was tried but for what won failed, nothing else is.
  StepSearch(Steps won, double speedup, const std::vector<Opinion>& opinions,
             const std::vector<Result>& known, std::uint64_t seed, const std::string& strategy);

  // A result of this key, whoever asked for the steps. `again`: what is known better of those that
  // were told before. Steps with values of which none may be are passed over.
  void Know(const Result& result, bool again);

  // The next steps, of which `is_tried` says that nobody asked for them; nothing: there are none
  // now, too little is known for more than guesses, or as many brought nothing as there is patience
  // for.
  std::optional<Steps> Next(const std::function<bool(const Steps&)>& is_tried);
  // Whether Next() would give some.
  bool HasNext(const std::function<bool(const Steps&)>& is_tried);

 private:
  // Results in a row that brought nothing, without those that were known when it began.
  int WithoutGain() const;
  // A parameter that is searched, and where it stands.
  struct Place {
    std::size_t step = 0;
    std::string parameter;
    std::vector<std::string> words;  // of a choice, by value
  };
  NumberSpace SpaceFrom(const std::vector<Opinion>& opinions, const std::vector<Result>& known);
  std::optional<Values> ValuesOf(const Steps& steps) const;
  Steps StepsOf(const Values& values) const;

  Steps won_;
  double speedup_;
  std::vector<Place> places_;
  std::vector<std::string> names_;  // of the space's tunables, by place
  NumberSearch numbers_;
  int patience_ = 0;
  int before_ = 0;    // results in a row without gain when it began
  int measured_ = 0;  // results with a time
  std::optional<Steps> ahead_;
};

}  // namespace cupilot::search
