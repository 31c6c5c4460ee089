// What a search may still find: how much faster its best will probably be after another minute.
// Pure: a function of the results so far and of the time that they took.
//
// Method. Speedups are taken as draws whose logarithm has an exponential upper tail of scale s. Of
// such draws the expected maximum after n of them grows as s (1 + 1/2 + ... + 1/n) (A. Renyi, On
// the theory of order statistics, 1953; the records of N. Glick, Breaking records and breaking
// boards, 1978), so that m more are expected to bring s ln((n + m) / n). The scale is the mean
// excess of the greatest k draws over the one below them, k = sqrt(n) (I. Weissman, Estimation of
// parameters and large quantiles based on the k largest observations, 1978). A search that follows
// what it finds climbs in another way than draws do: what its best gained while the number of its
// results last doubled, divided by ln 2, is a second estimate of s, and the greater of the two
// counts, so that a search is rather thought unfinished.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace cupilot::search {

// Before there are so many results nothing is said.
inline constexpr std::size_t kFewestResults = 12;

struct Expectation {
  double gain = 0;         // 0.003: another minute makes the best 0.3 % faster
  double evaluations = 0;  // that a minute is enough for
};

// `speedups`: over the original, in the order of the results; nothing where a candidate was
// rejected before it was measured. `seconds`: that all of them took together. Nothing: there are
// too few of them, or they took no time.
std::optional<Expectation> ExpectAnotherMinute(const std::vector<std::optional<double>>& speedups,
                                               double seconds);

}  // namespace cupilot::search
