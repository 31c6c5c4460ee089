// Kernels in emulation, each with honest candidates and such as lose precision: what the rule of
// floating results (worker/error_rule.h) is shown on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "records/expression.h"
#include "tests/daemon/worker/numerics/emulated.h"
#include "worker/case_plan.h"
#include "worker/error_rule.h"

namespace cupilot::worker::numerics {

// What a case's regions hold, by region.
using Contents = std::vector<std::vector<std::byte>>;

enum class Quality { kGood, kBad, kEither };  // kEither: shown, since no rule of values decides it

struct Candidate {
  std::string name;
  Quality quality = Quality::kGood;
  std::function<std::vector<double>(const Contents& inputs, Random& random)> run;
};

struct Subject {
  std::string name;
  Layout layout;  // inputs, and the output last
  records::Environment environment;
  std::function<std::vector<double>(const Contents& inputs, Random& random)> original;
  // By the double twin (long double for double), as worker/twin_run.h has it; both empty for
  // integers, whose results must be the original's bits.
  std::function<Expected(const Contents& inputs, std::uint64_t seed, double reach)> expected;
  std::function<double(const Contents& inputs)> reach;
  std::vector<Candidate> candidates;
};

// The kernels of the reference (swap_and_gate.md, 1.6), each at the reference's size.
std::vector<Subject> ReferenceSubjects();
// Other element types, and ways of cheating that the reference does not have.
std::vector<Subject> FurtherSubjects();
// The sum of `count` floats by one sequential and by one tree-like original.
std::vector<Subject> SumsOf(std::int64_t count);

}  // namespace cupilot::worker::numerics
