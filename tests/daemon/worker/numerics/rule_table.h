// The product's fills and its rule, applied to a subject: how far each candidate is from the limit.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/daemon/worker/numerics/subject.h"

namespace cupilot::worker::numerics {

// Of one candidate over some seeds. A margin is the greatest ratio of an error to its limit over
// all fills: the candidate is accepted up to 1.
struct Row {
  std::string subject, candidate;
  Quality quality = Quality::kGood;
  std::vector<double> margins;             // by seed
  std::map<std::string, double> worst_of;  // by fill: the least margin over seeds
  std::map<std::string, int> decided;      // by fill: how often it gave the margin

  double least() const;
  double greatest() const;
  int accepted() const;
  // As its quality says, for every seed.
  bool Right() const;
  std::string Text() const;
  // The fills that refuse it, with their margins; "none".
  std::string Refusing() const;
};

struct TableSettings {
  int seeds = 20;
  std::uint64_t first_seed = 1;
  // Contents of the workload's own fill; empty: the layout's (normal).
  std::function<void(const Layout& layout, std::uint64_t seed, Contents& contents)> workload;
};

// Contents for a workload's own fill on which short types are as good as float: what is lost in
// each value averages out in a sum of positive ones, or nothing is lost at all.
struct GoodData {
  const char* name;
  std::function<void(const Layout& layout, std::uint64_t seed, Contents& contents)> fill;
};
std::vector<GoodData> DataWhereHalfIsAsGood();

std::vector<Row> RowsOf(const Subject& subject, const TableSettings& settings);

}  // namespace cupilot::worker::numerics
