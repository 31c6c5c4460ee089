// What the pool says about a kernel, from entries that tests make up.
#include "search/strategy_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "search/kernel_search.h"
#include "search/seed_pool.h"
#include "search/techniques.h"

namespace cupilot::search {
namespace {

using records::FeatureAt;
using records::Json;
using records::PoolEntry;
using records::PoolOrigin;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

records::KernelFeatures With(double coalesced) {
  records::KernelFeatures features;
  features.values[FeatureAt("coalesced_share")] = coalesced;
  features.values[FeatureAt("loop_depth")] = 2;
  return features;
}

PoolEntry Entry(const std::string& id, std::vector<records::StrategyStep> steps, double factor,
                double coalesced = 1) {
  PoolEntry entry;
  entry.id = id;
  entry.kernel = "secret::name";
  entry.kernel_key = "key of " + id;
  entry.features = With(coalesced);
  entry.bottleneck = "dram";
  entry.device = {"cuda", "a GPU", "sm_90"};
  entry.strategy.title = "secret title";
  entry.strategy.steps = std::move(steps);
  if (factor > 0) entry.gain = records::PoolGain{factor, std::nullopt};
  entry.tried = 1;
  entry.won = factor > 1 ? 1 : 0;
  if (factor == 0) entry.reason = "wrong_values";
  if (factor > 0 && factor <= 1) entry.reason = "not_faster";
  return entry;
}

records::StrategyStep Step(const std::string& technique, Json parameters = Json::object(),
                           const std::string& rationale = "") {
  return {technique, std::move(parameters), rationale, 1.0};
}
records::StrategyStep Wide(int width = 4) { return Step("vectorized_access", {{"width", width}}); }
records::StrategyStep Block(int x) { return Step("block_size", {{"x", x}}); }

PoolQuestion Question() {
  PoolQuestion question;
  question.features = With(1);
  question.bottleneck = "dram";
  question.device = "cuda";
  question.kernel_key = "mine";
  return question;
}

TEST(LearnedGain, IsThePriorWithoutEvidence) {
  EXPECT_EQ(LearnedGain(1.35, nullptr), 1.35);
  const TechniquePrior none;
  EXPECT_EQ(LearnedGain(1.35, &none), 1.35);
  EXPECT_THAT(LearnPriors({}, Question()), IsEmpty());
}

TEST(LearnedGain, MovesFromThePriorToTheMeanOfLogarithms) {
  const auto after = [](int count, double factor) {
    std::vector<PoolEntry> entries;
    for (int i = 0; i < count; ++i) {
      entries.push_back(Entry("e" + std::to_string(i), {Wide()}, factor));
    }
    const TechniquePriors priors = LearnPriors(entries, Question());
    return LearnedGain(1.2, &priors.at("vectorized_access"));
  };
  EXPECT_GT(after(1, 2.0), 1.2);
  EXPECT_GT(after(4, 2.0), after(1, 2.0));
  EXPECT_DOUBLE_EQ(after(4, 2.0), std::exp((std::log(1.2) + std::log(2.0)) / 2));
  EXPECT_NEAR(after(10000, 2.0), 2.0, 0.01);
  EXPECT_LT(after(10000, 0.8), 1.0) << "what loses is expected to lose";
}

TEST(LearnedGain, FallsWithFailures) {
  std::vector<PoolEntry> entries = {Entry("a", {Wide()}, 0), Entry("b", {Wide()}, 0)};
  const TechniquePriors two = LearnPriors(entries, Question());
  EXPECT_DOUBLE_EQ(LearnedGain(1.6, &two.at("vectorized_access")), 1 + 0.6 * (1 - 2.0 / 6));
  // What was fast and wrong is a failure, whatever an imported entry says that it gained.
  entries[0].gain = records::PoolGain{9, std::nullopt};
  EXPECT_EQ(LearnPriors(entries, Question()), two);
}

TEST(LearnPriors, CountsByBottleneckDeviceAndOrigin) {
  const auto weight = [](auto change) {
    PoolEntry entry = Entry("a", {Wide()}, 2.0);
    change(entry);
    const TechniquePriors priors = LearnPriors({entry}, Question());
    return priors.empty() ? 0 : priors.at("vectorized_access").weight;
  };
  EXPECT_EQ(weight([](PoolEntry&) {}), 1);
  EXPECT_EQ(weight([](PoolEntry& e) { e.bottleneck = "fp32"; }), 0.5);
  EXPECT_EQ(weight([](PoolEntry& e) { e.device.kind = "host"; }), 0);
  EXPECT_EQ(weight([](PoolEntry& e) { e.origin = PoolOrigin::kImported; }), 0.5);
  EXPECT_EQ(weight([](PoolEntry& e) { e.origin = PoolOrigin::kShipped; }), 0);
  EXPECT_EQ(weight([](PoolEntry& e) { e.kernel_key = "mine"; }), 0);
}

TEST(LearnPriors, NoEntrySaysMoreThanItCan) {
  const auto log_gain = [](double factor) {
    return LearnPriors({Entry("a", {Wide()}, factor)}, Question()).at("vectorized_access").log_gain;
  };
  EXPECT_EQ(log_gain(1e6), log_gain(1e5));
  EXPECT_GT(log_gain(1e5), log_gain(10));
}

TEST(LearnPriors, SharesWhatSeveralStepsGained) {
  const TechniquePriors priors = LearnPriors({Entry("a", {Wide(), Block(64)}, 4.0)}, Question());
  EXPECT_EQ(priors.at("block_size").weight, 0.5);
  EXPECT_DOUBLE_EQ(priors.at("block_size").log_gain, std::log(2.0));
  // Forms of a technique are techniques of their own.
  EXPECT_EQ(TechniqueKey("thread_coarsening", {{"form", "jammed"}, {"x", 2}}),
            "thread_coarsening jammed");
  EXPECT_EQ(TechniqueKey("thread_coarsening", Json::object()), "thread_coarsening");
}

TEST(NearestSeeds, AreNearMeasuredMechanicalAndDifferent) {
  PoolEntry shipped = Entry("shipped", {Block(32)}, 3.0);
  shipped.origin = PoolOrigin::kShipped;
  PoolEntry other_device = Entry("host", {Block(32)}, 3.0);
  other_device.device.kind = "host";
  PoolEntry mine = Entry("mine", {Block(32)}, 3.0);
  mine.kernel_key = "mine";
  PoolEntry far = Entry("far", {Step("launch_bounds", {{"min_blocks", 2}})}, 5.0);
  for (std::size_t i = 0; i < 20; ++i) far.features->values[i] = 1e9;
  const std::vector<PoolEntry> entries = {
      far,
      Entry("model", {Step("other:clever")}, 4.0),
      Entry("refused", {Step("unrolling", {{"factor", 4}})}, 4.0),
      Entry("lost", {Step("launch_bounds", {{"min_blocks", 4}})}, 0.9),
      Entry("again", {Wide(2)}, 1.2),
      Entry("wide", {Wide(4)}, 1.5),
      Entry("both", {Wide(4), Block(64)}, 1.4),
      shipped,
      other_device,
      mine};
  PoolQuestion question = Question();
  const std::vector<std::string> applicable = {"vectorized_access", "block_size", "launch_bounds"};
  const auto seeds = NearestSeeds(entries, question, applicable, 4);
  ASSERT_THAT(seeds, SizeIs(2));
  EXPECT_EQ(seeds[0].steps[0].parameters["width"], 4) << "of equally near ones the better";
  EXPECT_THAT(seeds[1].steps, SizeIs(2));
  EXPECT_EQ(seeds[0].title, "vectorized_access width=4") << "no title of another project";
  EXPECT_THAT(NearestSeeds(entries, question, applicable, 1), SizeIs(1));
  EXPECT_THAT(NearestSeeds(entries, question, {}, 4), IsEmpty());
  question.features.reset();
  EXPECT_THAT(NearestSeeds(entries, question, applicable, 4), IsEmpty());
}

TEST(NearestSeeds, TheNearestIsFirst) {
  const std::vector<PoolEntry> entries = {Entry("next", {Block(64)}, 3.0, 0.9),
                                          Entry("next-door", {Wide()}, 1.1, 1)};
  const auto seeds = NearestSeeds(entries, Question(), {"vectorized_access", "block_size"}, 4);
  ASSERT_THAT(seeds, SizeIs(2));
  EXPECT_EQ(seeds[0].steps[0].technique, "vectorized_access");
  EXPECT_EQ(seeds[1].steps[0].parameters["x"], 64);
}

TEST(NearestKernels, AreOfThisMachineAndEachOnce) {
  const auto of = [](const char* key, double difference) {
    PoolEntry entry = Entry(key, {Block(64)}, 1.5, difference);
    entry.kernel_key = key;
    return entry;
  };
  PoolEntry imported = of("imported", 1), host = of("host", 1), far = of("far", 1);
  imported.origin = PoolOrigin::kImported;
  host.device.kind = "host";
  for (std::size_t i = 0; i < 20; ++i) far.features->values[i] = 1e9;
  const std::vector<PoolEntry> entries = {
      of("next", 0.9), of("mine", 1), of("next-door", 1), of("next", 0.8), imported, host, far};
  PoolQuestion question = Question();
  question.kernel_key = "mine";
  const auto near = NearestKernels(entries, question, 8);
  ASSERT_THAT(near, SizeIs(2));
  EXPECT_EQ(near[0].key, "next-door");
  EXPECT_EQ(near[1].key, "next");
  EXPECT_LT(near[0].distance, near[1].distance);
  EXPECT_THAT(NearestKernels(entries, question, 1), SizeIs(1));
  question.features.reset();
  EXPECT_THAT(NearestKernels(entries, question, 8), SizeIs(0));
}

TEST(NearestExamples, PreferTheBottleneckAndShowFewFailures) {
  PoolEntry elsewhere = Entry("elsewhere", {Wide()}, 3.0);
  elsewhere.bottleneck = "fp32";
  std::vector<PoolEntry> entries = {elsewhere, Entry("here", {Block(64)}, 1.1)};
  for (const char* technique : {"other:a", "other:b", "other:c", "other:d"}) {
    entries.push_back(Entry(technique, {Step(technique)}, 0));
  }
  const auto examples = NearestExamples(entries, Question(), 3);
  ASSERT_THAT(examples, SizeIs(3));
  EXPECT_EQ(examples[0].id, "here");
  EXPECT_EQ(examples[1].id, "elsewhere");
  EXPECT_EQ(examples[2].reason, "wrong_values");
  for (const PoolEntry& example : examples) EXPECT_EQ(example.kernel, "");
}

TEST(Anonymous, HoldsNothingOfAProject) {
  PoolEntry entry =
      Entry("a",
            {Step("thread_coarsening", {{"x", 4}, {"form", "jammed"}, {"stride", "SECRET"}},
                  "SECRET of the user"),
             Step("other:plain_name", {{"count", 3}, {"path", "/home/SECRET"}}),
             Step("other:Call SECRET()"), Step("size_class", {{"guard", "SECRET > 7"}})},
            1.5);
  entry.kernel = "SECRET::kernel";
  entry.kernel_key = "SECRET";
  entry.strategy.title = "for SECRET";
  entry.note = "SECRET";
  const PoolEntry plain = Anonymous(entry);
  EXPECT_THAT(records::ToJson(plain).dump(), Not(HasSubstr("SECRET")));
  EXPECT_EQ(plain.strategy.steps[0].parameters, (Json{{"x", 4}, {"form", "jammed"}}));
  EXPECT_EQ(plain.strategy.steps[1].parameters, (Json{{"count", 3}}));
  EXPECT_EQ(plain.strategy.steps[2].technique, "other:unnamed");
  EXPECT_EQ(plain.gain, entry.gain);
  EXPECT_EQ(Anonymous(entry, true).kernel, "SECRET::kernel");
}

TEST(AboutText, SaysFeaturesBoundAndDevice) {
  PoolEntry entry = Entry("a", {Wide()}, 1.5);
  entry.features->values[FeatureAt("case_bytes")] = 67108864;
  entry.tried = 3;
  EXPECT_EQ(AboutText(entry),
            "coalesced access, 2 nested loops, 64 MB of data; bound by dram; cuda sm_90; "
            "tried 3 times");
  const std::string shipped = AboutText(SeedPool().front());
  EXPECT_THAT(shipped, AllOf(HasSubstr("Harris"), HasSubstr("2007")));
}

// What is in the file that is built in.
TEST(SeedPool, HoldsManyEntriesWithTheirSources) {
  const std::vector<PoolEntry>& pool = SeedPool();
  EXPECT_GE(pool.size(), 40u);
  std::set<std::string> ids, sources;
  for (const PoolEntry& entry : pool) {
    SCOPED_TRACE(entry.id);
    EXPECT_TRUE(ids.insert(entry.id).second);
    EXPECT_EQ(entry.origin, PoolOrigin::kShipped);
    ASSERT_TRUE(entry.source);
    sources.insert(entry.source->title);
    EXPECT_FALSE(entry.note.empty());
    EXPECT_TRUE(entry.features);
    EXPECT_FALSE(entry.bottleneck.empty());
    for (const records::StrategyStep& step : entry.strategy.steps) {
      const auto checked = CheckStep(step);
      EXPECT_TRUE(checked) << checked.error().message;
    }
    EXPECT_EQ(Anonymous(entry), entry);
  }
  EXPECT_GE(sources.size(), 30u);
}

Opinion Applies(const std::string& technique, Json parameters) {
  return {technique, true, "", {std::move(parameters)}};
}

TEST(KernelSearch, TriesFirstWhatPaidElsewhere) {
  SearchInput input;
  input.device = "cuda";
  input.opinions = {Applies("vectorized_access", {{"width", 4}}),
                    Applies("unrolling", {{"factor", 4}})};
  EXPECT_EQ(KernelSearch(input).Next()->strategy.steps[0].technique, "vectorized_access");
  std::vector<PoolEntry> entries;
  for (int i = 0; i < 8; ++i) {
    entries.push_back(Entry("u" + std::to_string(i), {Step("unrolling", {{"factor", 4}})}, 2.0));
    entries.push_back(Entry("v" + std::to_string(i), {Wide()}, 0));
  }
  input.priors = LearnPriors(entries, Question());
  const auto first = KernelSearch(input).Next();
  EXPECT_EQ(first->strategy.steps[0].technique, "unrolling");
  EXPECT_GT(first->expected_gain, PriorGain("unrolling", "cuda", {{"factor", 4}}));
}

}  // namespace
}  // namespace cupilot::search
