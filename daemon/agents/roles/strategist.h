// The strategist crosses and mutates strategies so that they answer the bottleneck that was found.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agents/roles/kernel_brief.h"
#include "agents/roles/role.h"
#include "records/variant.h"

namespace cupilot::agents {

// A row of the table of techniques (search/techniques.h), as values.
struct TechniqueParameterRow {
  std::string name;
  std::string what;
  std::int64_t low = 0, high = 0;  // an integer in [low, high]
  std::string choices;             // or, where not empty, one of these words: "a|b"
  bool expression = false;         // or a launch expression
};
struct TechniqueRow {
  std::string name;
  std::string what;
  std::string bottlenecks;  // separated by spaces
  std::vector<TechniqueParameterRow> parameters;
  double prior = 0;  // what it gained on kernels like this, as a factor; 0: nothing is known
};

// A strategy with what became of it here.
struct MeasuredStrategy {
  records::Strategy strategy;
  std::optional<double> speedup;  // over the original, where it was measured
  std::string reason;             // of its rejection; empty: accepted
  std::string bound;              // what holds it back now; may be empty
};

// An idea that did not work: what and why, in few words.
struct FailedIdea {
  std::string technique;
  std::string why;  // "not_faster: ...", "wrong_values: ..."
};

// What worked on another kernel, from the pool.
struct StrategyExample {
  std::string about;  // in words: the kernel's features, the device
  records::Strategy strategy;
  double gain = 0;  // as a factor; 0: nobody gives a figure
  std::string why;  // it failed; empty: it gained
};

struct StrategistInputs {
  KernelBrief brief;
  std::vector<TechniqueRow> techniques;
  std::vector<MeasuredStrategy> parents;  // empty: the first strategies are asked for
  std::vector<FailedIdea> failed;
  std::vector<StrategyExample> examples;
  int count = 4;       // strategies to answer, at most kMostStrategies
  int most_new = 1;    // techniques that no parent has, in one strategy
  int most_first = 3;  // steps of a strategy without a parent
};
inline constexpr int kMostStrategies = 16;

// expected_gain of each step is clamped to [1, 4]: a hint, and no more.
struct ProposedStrategy {
  records::Strategy strategy;
  std::vector<std::size_t> parents;  // places in StrategistInputs::parents; empty: the original
};

ModelRequest StrategistRequest(const StrategistInputs& inputs, const RoleSettings& settings);
// At least one and at most `count` strategies, all different. Each holds at most `most_new`
// techniques that none of its parents has, and parameters as the table says.
Answer<std::vector<ProposedStrategy>> ReadStrategies(const std::string& text,
                                                     const StrategistInputs& inputs);

// What its template is given.
records::Json StrategistData(const StrategistInputs& inputs);

}  // namespace cupilot::agents
