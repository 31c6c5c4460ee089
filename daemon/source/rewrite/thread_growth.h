// How an index grows from one thread of a block to the next along an axis: whether threads side by
// side touch elements side by side. As slopes.h, but also for kernels that use threadIdx by itself,
// that clamp, and that walk over elements; an estimate that nothing is made safe by. Pure.
#pragma once

#include <cstdint>

#include "source/rewrite/draft.h"

namespace cupilot::source {

struct Growth {
  bool linear = true;
  bool symbolic = false;  // by a value that is not known here
  bool indirect = false;  // it depends on what is read from memory
  std::int64_t constant = 0;

  bool IsNone() const { return linear && !symbolic && constant == 0; }
  bool IsOne() const { return linear && !symbolic && (constant == 1 || constant == -1); }
};

// Of integers and pointers (in elements) in the kernel's own body; `axis` is 'x', 'y' or 'z'.
Growth GrowthOf(const Draft& draft, char axis, NodeId expression);

}  // namespace cupilot::source
