// The search over numbers: which values of a kernel's tunables to try next. Pure: what it returns
// is a function of the space, the seed and the results that were reported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "records/expression.h"
#include "records/kernel.h"

namespace cupilot::search {

// Names and values, in the order of the space's tunables.
using Values = std::vector<std::pair<std::string, std::int64_t>>;

// What may be chosen. A point is legal if every expression in `require` has a value that is not
// zero, where names are tunables and `constants`.
struct NumberSpace {
  std::vector<records::Tunable> tunables;
  std::vector<std::string> require;
  records::Environment constants;           // the case's scalars and what else expressions name
  std::function<bool(const Values&)> also;  // must be true, too, where it is set

  bool Legal(const Values& values) const;
  // The values that the source has as compiled.
  Values Default() const;
  // Legal or not; the product of the counts of values, at most 2^53.
  double Size() const;
};

// The space of a kernel's own tunables: `require` of its tag, and that the tag's launch line gives
// a block of 1 to 1024 threads and a grid that is not empty for this case. Empty if it has none.
NumberSpace SpaceOf(const records::Kernel& kernel, const records::Case& workload);

// Integer scalars of a case as names of expressions, and its geometry (grid_x ... shared_bytes)
// where that can be computed.
records::Environment EnvironmentOf(const records::Case& workload);

// The default point counts as measured with a speedup of 1. Then random points, then coordinate
// descent from the best: one tunable at a time to its neighbouring values, over and over, until no
// step helps; then again from a random point, until every legal point was tried (of large spaces:
// until random points find nothing new).
class NumberSearch {
 public:
  NumberSearch(NumberSpace space, std::uint64_t seed);

  // The next point, or nothing when none is left. May be called again before the point was
  // reported: where the descent waits for results, what comes is a random point.
  std::optional<Values> Next();

  // The result of a point that Next() returned: its speedup over the original, or nothing if it was
  // rejected.
  void Report(const Values& values, std::optional<double> speedup);

  const Values& best() const { return best_; }
  double best_speedup() const { return best_speedup_; }
  std::size_t tried() const { return tried_.size(); }
  // Results since the last improvement; tells how promising it is to go on.
  int without_gain() const { return without_gain_; }

 private:
  // Known points have a result (a speedup, or 0 for a rejected one); the others are waiting for it.
  std::optional<Values> RandomPoint();
  std::optional<Values> DescentPoint() const;
  void Draw(Values& values);  // other values for these names
  bool Fresh(const Values& values) const;

  NumberSpace space_;
  std::mt19937_64 random_;
  std::vector<Values> legal_;  // all of them, where the space is small
  bool enumerated_ = false;
  std::map<Values, std::optional<double>> tried_;
  Values best_;
  double best_speedup_ = 1.0;
  Values centre_;  // of the descent
  double centre_speedup_ = 1.0;
  std::optional<Values> restart_;  // a random point that becomes the centre when it is reported
  std::size_t random_left_ = 0;
  std::size_t pending_ = 0;
  int without_gain_ = 0;
};

}  // namespace cupilot::search
