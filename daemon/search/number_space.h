// What a search over numbers may choose: a kernel's tunables with what must hold of them, and the
// valid points of that, solved. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "records/expression.h"
#include "records/kernel.h"
#include "records/variant.h"
#include "search/resources.h"
#include "search/space.h"

namespace cupilot::search {

// Names and values, in the order of the space's tunables.
using Values = std::vector<std::pair<std::string, std::int64_t>>;

// The technique of a step that says which values a source's own tunables have.
inline constexpr const char* kTunablesStep = "other:tunables";

// A point is legal if every expression in `require` has a value that is not zero, where names are
// tunables and `constants`.
struct NumberSpace {
  std::vector<records::Tunable> tunables;
  std::vector<std::string> require;
  records::Environment constants;           // the case's scalars and what else expressions name
  std::function<bool(const Values&)> also;  // must be true, too, where it is set
  // Of a launch, as expressions: what is predicted not to fit is given later (resources.h), and
  // models of times know them (launch_facts.h).
  std::vector<std::string> block, grid;
  std::string shared_bytes;
  DeviceLimits limits;
  std::int64_t multiprocessors = 0;  // of the device; 0: not known
  // Values that won elsewhere, the best first: tried early. Those that are none here stand for the
  // nearest ones.
  std::vector<Values> champions;

  bool Legal(const Values& values) const;
  // The values that the source has as compiled.
  Values Default() const;
  // Legal or not; the product of the counts of values, at most 2^53.
  double Size() const;
};

// The space of a kernel's own tunables: `require` of its tag, and that the tag's launch line gives
// a block of 1 to 1024 threads and a grid that is not empty for this case. Empty if it has none.
NumberSpace SpaceOf(const records::Kernel& kernel, const records::Case& workload);

// The same of a variant's tunables that are integers: its `require`, and that each of its launches
// is legal. What its `values` say is the default; models know its first launch.
NumberSpace SpaceOf(const records::Variant& variant, const records::Case& workload);

// Integer scalars of a case as names of expressions, and its geometry (grid_x ... shared_bytes)
// where that can be computed.
records::Environment EnvironmentOf(const records::Case& workload);

// The valid points of a NumberSpace. Its parameters are the tunables, in their order.
struct SolvedSpace {
  Space space;
  // Of `require`, what is asked of each point that is drawn, since it could not be solved: no
  // expression of integers, or too many points are valid.
  std::vector<std::string> unsolved;
  std::string warning;  // a sentence; empty: all was solved
};

// kInvalidArgument: no tunables, or no valid point, with the constraint that leaves none.
base::Result<SolvedSpace> Solve(const NumberSpace& numbers, const Space::Limits& limits);

Values ValuesOf(const Space& space, const Point& point);

}  // namespace cupilot::search
