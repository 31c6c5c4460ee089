// What the catalogue reads of the store, and what it counts as evidence.
#include "service/catalog.h"

#include <gtest/gtest.h>

#include "cache/memory_store.h"

namespace cupilot::service {
namespace {

// Counts what is read.
class CountedStore final : public cache::Store {
 public:
  base::Result<std::optional<std::string>> Get(cache::Table table, std::string_view key) override {
    ++reads;
    return store_.Get(table, key);
  }
  base::Result<> Apply(const std::vector<cache::Write>& writes) override {
    return store_.Apply(writes);
  }
  base::Result<> Scan(
      cache::Table table, std::string_view prefix,
      const std::function<bool(std::string_view, std::string_view)>& visit) override {
    ++scans;
    return store_.Scan(table, prefix, visit);
  }
  int reads = 0;
  int scans = 0;

 private:
  cache::MemoryStore store_;
};

class CatalogTest : public ::testing::Test {
 protected:
  CatalogTest() {
    records::Case one;
    one.name = "a";
    one.grid = one.block = {"1", "1", "1"};
    workload_.kernel = "k";
    workload_.cases = {one};
    place_.identity = {"a GPU", "sm_90", 132, 1};
    place_.device = "cuda:0";
    place_.target = "compute_90,sm_90";
    place_.toolchain = "compiler";
    place_.driver = "580";
  }

  std::string Save(const std::string& source, double speedup, const std::string& toolchain) {
    records::Variant variant;
    variant.kernel = "k";
    variant.entry = "v";
    variant.source = source;
    variant.id = records::VariantId(variant);
    variant.strategy.emplace();
    variant.strategy->title = source;
    variant.strategy->steps.resize(1);
    variant.strategy->steps[0].technique = source;
    records::Evaluation evaluation;
    evaluation.variant = variant.id;
    evaluation.kernel_key = "key";
    evaluation.workload = WorkloadHash(workload_);
    evaluation.target = place_.target;
    evaluation.device = place_.identity;
    evaluation.driver = "580";
    evaluation.toolchain = "nvrtc 13.0";
    evaluation.date = "2026-11-21T08:30:00Z";
    evaluation.accepted = speedup > 1;
    if (!evaluation.accepted) evaluation.reason = "not_faster";
    if (evaluation.accepted) {
      evaluation.speedup = speedup;
      evaluation.interval = {{speedup * 0.999, speedup * 1.001}};
    }
    records::CaseResult result;
    result.name = "a";
    result.original_us = 100;
    result.variant_us = 100 / speedup;
    result.speedup = speedup;
    result.interval = {speedup * 0.999, speedup * 1.001};
    evaluation.cases = {result};
    EXPECT_TRUE(Catalog(store_).SaveVerdict(variant, evaluation, toolchain));
    EXPECT_TRUE(catalog_.SaveVerdict(variant, evaluation, toolchain));
    return variant.id;
  }
  std::string Best() {
    const auto best = catalog_.Best("key", workload_, place_);
    return best ? best->variant.id : "";
  }

  CountedStore store_;
  Catalog catalog_{store_};
  records::Workload workload_;
  Place place_;
};

TEST_F(CatalogTest, TheBestIsNotSearchedForAtEachQuestion) {
  for (int i = 0; i < 50; ++i) Save("slow" + std::to_string(i), 0.9, "compiler");
  const std::string good = Save("good", 1.5, "compiler");
  EXPECT_EQ(Best(), good);
  const int scans = store_.scans, reads = store_.reads;
  EXPECT_EQ(Best(), good);
  EXPECT_EQ(store_.scans, scans);
  EXPECT_EQ(store_.reads, reads);  // evaluation and variant are remembered
  // What was rejected since then changes nothing, whichever kernel it is of.
  Save("slower", 0.8, "compiler");
  EXPECT_EQ(Best(), good);
  EXPECT_EQ(store_.scans, scans);
  EXPECT_EQ(store_.reads, reads);
}

TEST_F(CatalogTest, ANewVerdictOfAVariantIsReadAgain) {
  const std::string good = Save("good", 1.5, "compiler");
  EXPECT_EQ(catalog_.Best("key", workload_, place_)->evaluation.speedup, 1.5);
  EXPECT_EQ(Save("good", 2.5, "compiler"), good);
  EXPECT_EQ(catalog_.Best("key", workload_, place_)->evaluation.speedup, 2.5);
  EXPECT_EQ(catalog_.FindVerdict("key", WorkloadHash(workload_), place_, good)->speedup, 2.5);
}

TEST_F(CatalogTest, WorkloadsOfOneKernelHaveHashesOfTheirOwn) {
  records::Workload other = workload_;
  other.cases[0].weight = 2;
  const std::string hash = WorkloadHash(workload_);
  EXPECT_NE(WorkloadHash(other), hash);
  EXPECT_EQ(WorkloadHash(workload_), hash);
}

TEST_F(CatalogTest, WhatIsWrittenAfterwardsCounts) {
  EXPECT_EQ(Best(), "");
  const std::string good = Save("good", 1.5, "compiler");
  EXPECT_EQ(Best(), good);
  Save("bad", 0.5, "compiler");
  EXPECT_EQ(Best(), good);
  const std::string better = Save("better", 2.0, "compiler");
  EXPECT_EQ(Best(), better);
  // As a daemon that begins now sees it.
  Catalog fresh(store_);
  EXPECT_EQ(fresh.Best("key", workload_, place_)->variant.id, better);
  EXPECT_NE(fresh.Best("key", workload_, place_, {better})->variant.id, better);
}

TEST_F(CatalogTest, EvidenceOfAnotherCompilerIsStaleNotGone) {
  const std::string older = Save("older", 3.0, "another compiler");
  EXPECT_EQ(Best(), "");
  EXPECT_FALSE(catalog_.FindVerdict("key", WorkloadHash(workload_), place_, older));
  EXPECT_EQ(catalog_.Evaluations("key").size(), 1u);
  const auto winners = catalog_.WinnersElsewhere("key", WorkloadHash(workload_), place_, 50);
  ASSERT_EQ(winners.size(), 1u);
  EXPECT_EQ(winners[0].title, "older");
  const std::string good = Save("good", 1.5, "compiler");
  EXPECT_EQ(Best(), good);
}

TEST_F(CatalogTest, EvidenceIsOfOnePlace) {
  Save("good", 1.5, "compiler");
  Place other = place_;
  other.target = "compute_80,sm_90";
  EXPECT_FALSE(catalog_.Best("key", workload_, other));
  other = place_;
  other.identity.name = "another GPU";
  EXPECT_FALSE(catalog_.Best("key", workload_, other));
  other = Place();
  other.identity = {"a processor", "host-x86-64-v3", 2, 1};
  EXPECT_FALSE(catalog_.Best("key", workload_, other));
  EXPECT_TRUE(catalog_.WinnersElsewhere("key", WorkloadHash(workload_), other, 50).empty());
}

TEST_F(CatalogTest, WinnersElsewhereAreFromHereFirstAndTheFastestFirst) {
  const Place here = place_;
  Save("older", 1.2, "another compiler");
  place_.identity.name = "another GPU";
  Save("good", 1.5, "compiler");
  Save("best", 3.0, "compiler");
  place_ = here;
  const auto titles = [&](std::size_t most) {
    std::string text;
    for (const records::Strategy& winner :
         catalog_.WinnersElsewhere("key", WorkloadHash(workload_), here, most)) {
      text += winner.title + " ";
    }
    return text;
  };
  EXPECT_EQ(titles(50), "older best good ");
  EXPECT_EQ(titles(2), "older best ");
  Save("fresh", 9.0, "compiler");
  EXPECT_EQ(titles(50), "older best good ") << "what is evidence here won here";
}

}  // namespace
}  // namespace cupilot::service
