// The table of techniques: what a step of a strategy may be (design, section 4.4). One row each;
// whether a mechanical rewrite exists is said here, the rewrites themselves are in source/rewrite.
// Depends on records only, so that the source worker can use it too. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/variant.h"

namespace cupilot::search {

struct TechniqueParameter {
  std::string_view name;
  std::string_view what;
  // Integer in [low, high], or, where choices is not empty, one of the words in it ("a|b").
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::string_view choices = {};
  bool expression = false;  // a launch expression (records/expression.h) instead
};

struct Technique {
  std::string_view name;
  std::string_view what;         // one plain sentence
  std::string_view bottlenecks;  // those it answers, separated by spaces
  std::span<const TechniqueParameter> parameters;
  bool mechanical = false;  // source/rewrite can make it
  // What must hold of its parameters, where all that an expression names are given: no rewrite
  // makes anything else.
  std::span<const std::string_view> require = {};
};

// All rows, in a fixed order.
std::span<const Technique> Techniques();

// The row of that name, or null.
const Technique* FindTechnique(std::string_view name);

// The row's parameter of that name, or null.
const TechniqueParameter* FindParameter(const Technique& row, std::string_view name);

// The words that a parameter may be, in their order; empty: it is no choice.
std::vector<std::string> WordsOf(const TechniqueParameter& parameter);

// What an integer parameter may be next to a number: twice it, and half of it.
std::vector<std::int64_t> TwiceAndHalf(const TechniqueParameter& parameter, std::int64_t number);

// Whether a row answers a bottleneck ("dram", "latency", ...).
bool Answers(const Technique& technique, std::string_view bottleneck);

// kInvalidArgument that names the step's first parameter that does not exist, has the wrong type or
// is out of range. Parameters may be left out. Steps named "other:..." are always valid.
base::Result<> CheckStep(const records::StrategyStep& step);

}  // namespace cupilot::search
