// How an index grows with a thread's place or a loop's counter: what decides which accesses of
// neighbouring threads are neighbours in memory. Coefficients of linear forms, derived symbolically
// (the first half of the dependence analysis in Allen and Kennedy, "Optimizing Compilers for Modern
// Architectures", chapter 3). Pure.
#pragma once

#include "source/rewrite/draft.h"

namespace cupilot::source {

// What an expression grows by where its subject grows by one.
struct Slope {
  bool known = true;      // linear in the subject
  bool symbolic = false;  // by a value that is not known here: a parameter
  std::int64_t constant = 0;

  bool IsNone() const { return known && !symbolic && constant == 0; }
  bool IsOne() const { return known && !symbolic && constant == 1; }
  // Neighbours in the subject are no neighbours in memory.
  bool IsFar() const { return known && (symbolic || constant > 1 || constant < -1); }
};

// The subject: a thread's place along an axis (blockIdx.d * blockDim.d + threadIdx.d), or a
// counter.
struct Subject {
  char axis = 0;
  NodeId counter = kNone;
};

// Of integers and of pointers (in elements).
Slope SlopeOf(const Draft& draft, const Subject& subject, NodeId expression);

}  // namespace cupilot::source
