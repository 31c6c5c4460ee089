// The gate's rule (worker/error_rule.h) with its fills, on emulated kernels: honest candidates are
// accepted for each seed, those that lose precision refused. The whole table is
// tests/bench/numerics_bench.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "tests/daemon/worker/numerics/rule_table.h"

namespace cupilot::worker::numerics {
namespace {

std::vector<Row> JudgeAll(const std::vector<Subject>& subjects, int seeds) {
  std::vector<Row> all;
  TableSettings settings;
  settings.seeds = seeds;
  for (const Subject& subject : subjects) {
    for (Row& row : RowsOf(subject, settings)) {
      std::printf("%s\n", row.Text().c_str());
      EXPECT_TRUE(row.Right()) << row.Text() << "; refused by " << row.Refusing();
      all.push_back(std::move(row));
    }
  }
  return all;
}

// The large ones are for the bench.
std::vector<Subject> Small(std::vector<Subject> subjects) {
  std::erase_if(subjects,
                [](const Subject& subject) { return subject.layout.regions[0].count > 150000; });
  return subjects;
}

TEST(Numerics, TheReferencesTable) {
  const std::vector<Row> rows = JudgeAll(Small(ReferenceSubjects()), 2);
  EXPECT_GE(rows.size(), 20u);
}

TEST(Numerics, OtherTypesAndOtherWaysToCheat) {
  const std::vector<Row> rows = JudgeAll(Small(FurtherSubjects()), 2);
  EXPECT_GE(rows.size(), 40u);
}

TEST(Numerics, SumsOfFewAndOfMany) {
  for (const std::int64_t count : {1, 2, 3, 31, 32, 33, 1000, 4097, 1 << 16}) {
    JudgeAll(SumsOf(count), 3);
  }
}

// On such data half inputs are as good as any; the gate's own fills tell them apart.
TEST(Numerics, WhereHalfIsAsGoodTheProbesDecide) {
  for (const GoodData& data : DataWhereHalfIsAsGood()) {
    TableSettings settings;
    settings.seeds = 3;
    settings.workload = data.fill;
    for (const Row& row : RowsOf(SumsOf(1 << 16)[1], settings)) {
      if (row.candidate != "half inputs") continue;
      EXPECT_LE(row.worst_of.at("workload"), 1) << data.name;
      EXPECT_EQ(row.accepted(), 0) << data.name;
      EXPECT_GT(row.worst_of.at("sparse1"), 1) << data.name << ": " << row.Refusing();
    }
  }
}

// Not by far: what an approximate exponential loses is what moved inputs do to it anyway. Its name
// is what is refused (source/whitelist_rules.h).
TEST(Numerics, TheRuleDoesNotSeeAFastExponential) {
  TableSettings settings;
  settings.seeds = 3;
  std::size_t rows = 0;
  for (const Subject& subject : Small(FurtherSubjects())) {
    if (!subject.name.starts_with("softmax")) continue;
    for (const Row& row : RowsOf(subject, settings)) {
      if (row.candidate != "fast exponential") continue;
      ++rows;
      EXPECT_EQ(row.accepted(), 3) << row.Text();
      EXPECT_LT(*std::max_element(row.margins.begin(), row.margins.end()), 0.5) << row.Text();
    }
  }
  EXPECT_GE(rows, 2u);
}

// A table that cannot fail shows nothing.
TEST(Numerics, TheTableSeesWrongVerdicts) {
  Row row{"a", "b", Quality::kGood, {0.5, 1.5}, {}, {{"wide", 2}}};
  EXPECT_FALSE(row.Right());
  row.quality = Quality::kBad;
  EXPECT_FALSE(row.Right()) << "accepted for one of two seeds";
  row.margins = {4, 1.5};
  EXPECT_TRUE(row.Right());
}

}  // namespace
}  // namespace cupilot::worker::numerics
