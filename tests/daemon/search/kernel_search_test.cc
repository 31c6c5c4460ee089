#include "search/kernel_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "search/techniques.h"

namespace cupilot::search {
namespace {

using records::Json;

Opinion Applies(const std::string& technique, std::vector<Json> parameters) {
  Opinion opinion;
  opinion.technique = technique;
  opinion.applies = true;
  opinion.parameters = std::move(parameters);
  return opinion;
}

SearchInput Input() {
  SearchInput input;
  input.kernel = "blur";
  input.opinions = {Applies("block_size", {{{"x", 64}, {"y", 1}}, {{"x", 256}, {"y", 1}}}),
                    Applies("thread_coarsening", {{{"x", 4}}}),
                    Applies("unrolling", {{{"factor", 4}}}),
                    Applies("restrict_readonly", {Json::object()})};
  Opinion refused;
  refused.technique = "vectorized_access";
  refused.reason = "no neighbouring accesses";
  input.opinions.push_back(refused);
  return input;
}

// A kernel on which coarsening and unrolling win and multiply, the greater factor up to 16 the
// more.
Outcome Measure(const Candidate& candidate) {
  double speedup = 1.0;
  for (const auto& step : candidate.strategy.steps) {
    if (step.technique == "thread_coarsening") speedup *= 1.4;
    if (step.technique == "restrict_readonly") speedup *= 0.97;
    if (step.technique == "unrolling") {
      const auto factor = step.parameters["factor"].get<int>();
      speedup *= factor <= 16 ? 1.0 + 0.05 * factor : 1.1;
    }
  }
  Outcome outcome;
  outcome.speedup = speedup;
  const bool wins = speedup >= 1.02;
  outcome.kind = wins ? Outcome::Kind::kAccepted : Outcome::Kind::kRejected;
  if (!wins) outcome.reason = "not_faster";
  return outcome;
}

TEST(KernelSearch, CrossesWinnersAndClimbs) {
  KernelSearch search(Input());
  int evaluations = 0;
  double after_ten = 0;
  while (const auto candidate = search.Next()) {
    search.Report(candidate->id, Measure(*candidate));
    ++evaluations;
    if (evaluations == 10) after_ten = *search.best()->outcome->speedup;
    ASSERT_LT(evaluations, 2000) << "it must end";
  }
  EXPECT_TRUE(search.Exhausted());
  EXPECT_NEAR(*search.best()->outcome->speedup, 1.4 * 1.8, 1e-9);
  EXPECT_GE(after_ten, 1.4 * 1.2) << "a budget of ten must find the combination";
}

TEST(KernelSearch, NeverAsksForTheSameTwice) {
  KernelSearch search(Input());
  std::set<std::string> seen;
  while (const auto candidate = search.Next()) {
    EXPECT_TRUE(seen.insert(candidate->strategy.title).second) << candidate->strategy.title;
    for (const auto& step : candidate->strategy.steps) {
      EXPECT_NE(step.technique, "vectorized_access");
      EXPECT_TRUE(CheckStep(step).has_value()) << candidate->strategy.title;
    }
    search.Report(candidate->id, Measure(*candidate));
  }
}

TEST(KernelSearch, BeginsWithWhatIsLikelyToPay) {
  KernelSearch search(Input());
  const auto first = search.Next();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->strategy.steps[0].technique, "restrict_readonly");
  EXPECT_EQ(first->parent, 0);
  EXPECT_GT(first->expected_gain, 1.0);
  EXPECT_FALSE(first->strategy.bottleneck.empty());
}

// The techniques in the order in which they are tried where none wins, coarsening with its form.
std::vector<std::string> OrderOn(const std::string& device) {
  SearchInput input = Input();
  input.device = device;
  input.opinions[1] = Applies("thread_coarsening",
                              {{{"form", "jammed"}, {"x", 4}}, {{"form", "sequential"}, {"y", 8}}});
  KernelSearch search(input);
  std::vector<std::string> order;
  while (const auto candidate = search.Next()) {
    const records::StrategyStep& step = candidate->strategy.steps[0];
    order.push_back(step.parameters.value("form", step.technique));
    Outcome outcome;
    outcome.kind = Outcome::Kind::kRejected;
    outcome.reason = "not_faster";
    search.Report(candidate->id, outcome);
  }
  return order;
}
TEST(KernelSearch, ElementsOneAfterTheOtherComeLastOnTheHost) {
  EXPECT_THAT(OrderOn("host"), ::testing::ElementsAre("restrict_readonly", "jammed", "block_size",
                                                      "unrolling", "block_size", "sequential"));
  EXPECT_THAT(OrderOn("cuda"),
              ::testing::ElementsAre("jammed", "block_size", "unrolling", "restrict_readonly",
                                     "sequential", "block_size"));
}

// A winner is developed when each technique was looked at once.
TEST(KernelSearch, LooksAtEachTechniqueBeforeItGoesDeeper) {
  SearchInput input = Input();
  input.first_pass = true;
  KernelSearch search(input);
  std::vector<Candidate> firsts;
  EXPECT_TRUE(search.first_pass());
  while (const auto candidate = search.NextFirst()) {
    firsts.push_back(*candidate);
    search.Report(candidate->id, Measure(*candidate));
  }
  std::vector<std::string> techniques;
  for (const Candidate& first : firsts) {
    ASSERT_EQ(first.strategy.steps.size(), 1u) << first.strategy.title;
    techniques.push_back(first.strategy.steps[0].technique);
  }
  EXPECT_THAT(techniques, ::testing::UnorderedElementsAre("block_size", "thread_coarsening",
                                                          "unrolling", "restrict_readonly"));
  EXPECT_FALSE(search.first_pass());
  EXPECT_EQ(search.NextFirst(), std::nullopt);
  const auto deeper = search.Next();
  ASSERT_TRUE(deeper);
  EXPECT_EQ(deeper->strategy.steps.size(), 2u) << deeper->strategy.title;
}

TEST(KernelSearch, OfTheFirstPassAllMustBeReported) {
  SearchInput input = Input();
  input.first_pass = true;
  records::Tunable width;
  width.name = "WIDTH";
  width.default_value = 1;
  width.values = {1, 2, 4};
  input.numbers.tunables = {width};
  KernelSearch search(input);
  std::vector<int> ids;
  bool numbers = false;
  while (const auto candidate = search.NextFirst()) {
    ids.push_back(candidate->id);
    numbers = numbers || candidate->retunes();
  }
  EXPECT_EQ(ids.size(), 5u);
  EXPECT_TRUE(numbers) << "values of the source's tunables are looked at, too";
  Outcome slower;
  slower.kind = Outcome::Kind::kRejected;
  slower.reason = "not_faster";
  slower.speedup = 0.9;
  for (const int id : ids) {
    EXPECT_TRUE(search.first_pass());
    search.Report(id, slower);
  }
  EXPECT_FALSE(search.first_pass());
}

// One block that is too wide says little of others: where nothing wins, more of them are looked at.
TEST(KernelSearch, LooksAtMoreOfEachTechniqueWhereNothingWins) {
  SearchInput input = Input();
  input.first_pass = true;
  input.opinions[0].parameters = {{{"x", 512}}, {{"x", 256}}, {{"x", 128}}, {{"x", 64}}};
  const auto result = [](double speedup) {
    Outcome outcome;
    outcome.kind = speedup > 1 ? Outcome::Kind::kAccepted : Outcome::Kind::kRejected;
    outcome.reason = speedup > 1 ? "" : "not_faster";
    outcome.speedup = speedup;
    return outcome;
  };
  KernelSearch search(input);
  std::vector<Candidate> firsts;
  while (const auto candidate = search.NextFirst()) firsts.push_back(*candidate);
  EXPECT_EQ(search.NextSecond(), std::nullopt) << "what was asked for first is not known";
  for (const Candidate& first : firsts) search.Report(first.id, result(0.2));
  EXPECT_FALSE(search.first_pass());
  EXPECT_TRUE(search.second_pass());
  std::map<std::string, int> looks;
  std::vector<int> ids;
  KernelSearch other = *KernelSearch::Replay(input, search.ToJson());
  while (const auto candidate = search.NextSecond()) {
    ASSERT_EQ(candidate->strategy.steps.size(), 1u) << candidate->strategy.title;
    ++looks[candidate->strategy.steps[0].technique];
    ids.push_back(candidate->id);
  }
  EXPECT_EQ(looks["block_size"], 3);
  for (const int id : ids) {
    EXPECT_TRUE(search.second_pass());
    search.Report(id, result(0.9));
  }
  EXPECT_FALSE(search.second_pass());

  // As soon as something wins it is developed.
  EXPECT_EQ(other.NextFirst(), std::nullopt);
  const auto second = other.NextSecond();
  ASSERT_TRUE(second);
  other.Report(second->id, result(1.3));
  EXPECT_EQ(other.NextSecond(), std::nullopt);
  EXPECT_FALSE(other.second_pass());
  const auto deeper = other.Next();
  ASSERT_TRUE(deeper);
  EXPECT_EQ(deeper->parent, second->id);
}

// There a look costs little; but others come before such a kernel.
TEST(KernelSearch, LooksAtMoreOnAGpuAlsoWhereSomethingWins) {
  SearchInput input = Input();
  input.first_pass = true;
  input.device = "cuda";
  KernelSearch search(input);
  while (const auto candidate = search.NextFirst()) {
    search.Report(candidate->id, Measure(*candidate));
  }
  EXPECT_FALSE(search.second_pass());
  const auto next = search.Next();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->strategy.title, "block_size x=256 y=1");
}

// A look costs little there, and a few other kernels that gained nothing say little of this one.
TEST(KernelSearch, LooksAtEachTechniqueOnAGpuWhateverOthersGained) {
  const auto techniques_of = [](const std::string& device) {
    SearchInput input = Input();
    input.first_pass = true;
    input.device = device;
    input.priors["block_size"] = {40, std::log(0.5), 40, 0};
    KernelSearch search(input);
    std::set<std::string> looks;
    while (const auto candidate = search.NextFirst()) {
      for (const auto& step : candidate->strategy.steps) looks.insert(step.technique);
    }
    return looks;
  };
  EXPECT_EQ(techniques_of("cuda").count("block_size"), 1U);
  EXPECT_EQ(techniques_of("host").count("block_size"), 0U) << "a look takes seconds there";
}

TEST(KernelSearch, GivesSeveralAhead) {
  KernelSearch search(Input());
  std::vector<Candidate> ahead;
  for (int i = 0; i < 4; ++i) ahead.push_back(*search.Next());
  for (auto it = ahead.rbegin(); it != ahead.rend(); ++it) search.Report(it->id, Measure(*it));
  const auto next = search.Next();
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->id, 5);
  EXPECT_GE(next->strategy.steps.size(), 2U);
}

TEST(KernelSearch, AGoodIdeaOutlivesABadFirstAttempt) {
  SearchInput input;
  input.opinions = {Applies("unrolling", {{{"factor", 8}}, {{"factor", 2}}})};
  KernelSearch search(input);
  const auto first = search.Next();
  Outcome broken;
  broken.kind = Outcome::Kind::kRejected;
  broken.reason = "wrong_values";
  search.Report(first->id, broken);
  const auto second = search.Next();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->strategy.steps[0].parameters["factor"], 2);
}

// A first look found it four times as fast; the proof, that it is wrong.
TEST(KernelSearch, WhatWasFastButWrongPromisesNothing) {
  SearchInput input;
  input.opinions = {Applies("unrolling", {{{"factor", 8}}, {{"factor", 2}}}),
                    Applies("restrict_readonly", {Json::object()})};
  const auto after = [&](std::optional<double> probed) {
    KernelSearch search(input);
    const auto other = search.Next();
    const auto first = search.Next();
    EXPECT_EQ(other->strategy.steps[0].technique, "restrict_readonly");
    EXPECT_EQ(first->strategy.steps[0].technique, "unrolling");
    Outcome outcome;
    outcome.kind = Outcome::Kind::kAccepted;
    outcome.reason = "not proven";
    outcome.speedup = probed;
    if (probed) search.ReportProbe(first->id, outcome);
    Outcome wrong;
    wrong.kind = Outcome::Kind::kRejected;
    wrong.reason = "wrong_values";
    // Its time was taken before it was found to be wrong.
    wrong.speedup = probed;
    search.Report(first->id, wrong);
    const auto second = search.Next();
    EXPECT_EQ(second->strategy.steps[0].technique, "unrolling");
    return second->expected_gain;
  };
  EXPECT_DOUBLE_EQ(after(4.0), after(std::nullopt));
}

TEST(KernelSearch, StopsNearTheFloor) {
  KernelSearch search(Input());
  const auto first = search.Next();
  Outcome outcome = Measure(*first);
  outcome.kind = Outcome::Kind::kAccepted;
  outcome.speedup = 1.5;
  outcome.floor_share = 0.96;
  search.Report(first->id, outcome);
  EXPECT_FALSE(search.Next().has_value());
  EXPECT_TRUE(search.Exhausted());
}

TEST(KernelSearch, RecordsWhatWasReallyDone) {
  KernelSearch search(Input());
  const auto first = search.Next();
  Outcome outcome;
  outcome.kind = Outcome::Kind::kAccepted;
  outcome.speedup = 1.2;
  outcome.aligned = first->strategy;
  outcome.aligned->steps[0].parameters = {{"loads", "restrict"}};
  outcome.aligned->title = "marked pointers";
  search.Report(first->id, outcome);
  EXPECT_EQ(search.best()->candidate.strategy.title, "marked pointers");
  EXPECT_EQ(search.best()->asked, first->strategy.title);
}

TEST(KernelSearch, MixesNumbersWithStructure) {
  SearchInput input = Input();
  records::Tunable tunable;
  tunable.name = "BX";
  tunable.values = {16, 32, 64, 128};
  tunable.default_value = 16;
  input.numbers.tunables = {tunable};
  KernelSearch search(input);
  int retuned = 0;
  int structural = 0;
  while (const auto candidate = search.Next()) {
    (candidate->retunes() ? retuned : structural) += 1;
    Outcome outcome = Measure(*candidate);
    if (candidate->retunes()) {
      outcome.kind = Outcome::Kind::kAccepted;
      outcome.speedup = 1.0 + static_cast<double>(candidate->values[0].second) / 64;
    }
    search.Report(candidate->id, outcome);
  }
  EXPECT_EQ(retuned, 3);
  EXPECT_GT(structural, 5);
  EXPECT_EQ(search.best()->candidate.values, (Values{{"BX", 128}}));
}

TEST(KernelSearch, ReplaysFromItsRecord) {
  SearchInput input = Input();
  KernelSearch search(input);
  for (int i = 0; i < 8; ++i) {
    const auto candidate = search.Next();
    ASSERT_TRUE(candidate.has_value());
    Outcome outcome = Measure(*candidate);
    if (i == 2) outcome.aligned = candidate->strategy;
    if (i == 3) outcome.built = {32, 1024, 0.3};
    if (i != 7) search.Report(candidate->id, outcome);
  }
  const Json record = search.ToJson();
  EXPECT_THAT(record.dump(), ::testing::HasSubstr("\"build_cpu_seconds\":0.3"));
  auto replayed = KernelSearch::Replay(input, record);
  ASSERT_TRUE(replayed.has_value()) << replayed.error().message;
  EXPECT_EQ(replayed->ToJson(), record);
  EXPECT_EQ(replayed->Next()->strategy, search.Next()->strategy);

  input.opinions.erase(input.opinions.begin());
  EXPECT_FALSE(KernelSearch::Replay(input, record).has_value());
  EXPECT_FALSE(KernelSearch::Replay(Input(), Json::array()).has_value());
}

TEST(KernelSearch, ReplaysNumbersOfTheStrategyThatLookedForThem) {
  SearchInput input;
  records::Tunable tunable;
  tunable.name = "BX";
  tunable.values = {16, 32, 64, 128, 256};
  tunable.default_value = 16;
  input.numbers.tunables = {tunable};
  input.strategy = "random";
  KernelSearch search(input);
  std::vector<Candidate> open;
  while (const auto candidate = search.Next()) open.push_back(*candidate);
  EXPECT_EQ(open.size(), 4u);
  // That there was nothing more was an answer, too.
  EXPECT_FALSE(search.Next());
  for (const Candidate& candidate : open) {
    EXPECT_FALSE(search.Exhausted());
    Outcome outcome;
    outcome.kind = Outcome::Kind::kRejected;
    search.Report(candidate.id, outcome);
  }
  EXPECT_TRUE(search.Exhausted());
  const Json record = search.ToJson();
  const auto replayed = KernelSearch::Replay(input, record);
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_EQ(replayed->ToJson(), record);
  input.strategy = "number_search";
  const auto other = KernelSearch::Replay(input, record);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("'random'"), std::string::npos);
}

// Two sizes: coarsening wins at the large one and loses at the small one, unrolling the other way
// round, and values of the tunable like coarsening.
SearchInput InputOfTwoSizes() {
  SearchInput input = Input();
  input.opinions.resize(3);
  input.cases = {{"small", 1, {{"n", 64}}}, {"large", 1, {{"n", 4096}}}};
  return input;
}

Outcome MeasureTwoSizes(const Candidate& candidate) {
  double small = 0.99, large = 0.99;
  std::string guard;
  for (const auto& step : candidate.strategy.steps) {
    if (step.technique == "thread_coarsening" || step.technique == "other:tunables") {
      small *= 0.5;
      large *= 2.0;
    }
    if (step.technique == "unrolling") {
      small *= 1.5;
      large *= 0.5;
    }
    if (step.technique == "size_class") guard = step.parameters["guard"];
  }
  Outcome outcome;
  outcome.cases = {{"small", small, small, small, true}, {"large", large, large, large, true}};
  if (guard == "n >= 4096") outcome.cases[0] = {"small", 1, 1, 1, false};
  if (guard == "n <= 64") outcome.cases[1] = {"large", 1, 1, 1, false};
  double after = 0, least = 9;
  for (const CaseSpeedup& one : outcome.cases) {
    after += 1 / one.speedup;
    least = std::min(least, one.speedup);
  }
  outcome.speedup = 2 / after;
  const bool wins = least >= 0.98 && *outcome.speedup >= 1.02;
  outcome.kind = wins ? Outcome::Kind::kAccepted : Outcome::Kind::kRejected;
  if (!wins) outcome.reason = "not_faster";
  return outcome;
}

TEST(KernelSearch, WhatWinsAtSomeSizesIsTriedForThose) {
  KernelSearch search(InputOfTwoSizes());
  std::vector<std::string> classes;
  while (const auto candidate = search.Next()) {
    const auto& steps = candidate->strategy.steps;
    EXPECT_TRUE(CheckStep(steps.back()).has_value()) << candidate->strategy.title;
    if (steps.back().technique == "size_class") {
      if (steps.size() == 2) classes.push_back(candidate->strategy.title);
      EXPECT_GT(candidate->expected_gain, 1.02);
      EXPECT_GT(candidate->parent, 0);
    }
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) EXPECT_NE(steps[i].technique, "size_class");
    search.Report(candidate->id, MeasureTwoSizes(*candidate));
    ASSERT_LT(search.ideas().size(), 500u) << "it must end";
  }
  EXPECT_THAT(classes,
              ::testing::IsSupersetOf({"thread_coarsening x=4 + size_class guard=n >= 4096",
                                       "unrolling factor=4 + size_class guard=n <= 64"}));
  ASSERT_NE(search.best(), nullptr);
  EXPECT_NEAR(*search.best()->outcome->speedup, 2 / (1 + 1 / 1.98), 1e-9);
}

TEST(KernelSearch, WhatWonForTheOtherSizesCountsAsThere) {
  SearchInput input = InputOfTwoSizes();
  input.opinions.erase(input.opinions.begin());
  KernelSearch search(input);
  std::map<std::string, double> gains;  // of each technique's first class
  while (const auto candidate = search.Next()) {
    const auto& steps = candidate->strategy.steps;
    if (steps.size() == 2 && steps.back().technique == "size_class") {
      gains.emplace(steps.front().technique, candidate->expected_gain);
    }
    search.Report(candidate->id, MeasureTwoSizes(*candidate));
  }
  EXPECT_NEAR(gains["thread_coarsening"], 2 / (1 + 1 / 1.98), 1e-9);
  // The first one is there by now.
  EXPECT_NEAR(gains["unrolling"], 2 / (1 / 1.485 + 1 / 1.98), 1e-9);
}

TEST(KernelSearch, WithoutSizesThereAreNoClasses) {
  SearchInput input = InputOfTwoSizes();
  input.cases.clear();
  KernelSearch search(input);
  while (const auto candidate = search.Next()) {
    EXPECT_NE(candidate->strategy.steps.back().technique, "size_class");
    search.Report(candidate->id, MeasureTwoSizes(*candidate));
  }
  EXPECT_EQ(search.best(), nullptr);
}

TEST(KernelSearch, ValuesThatWinAtSomeSizesAreTriedForThose) {
  SearchInput input = InputOfTwoSizes();
  input.opinions.clear();
  records::Tunable tunable;
  tunable.name = "BX";
  tunable.values = {16, 32};
  tunable.default_value = 16;
  input.numbers.tunables = {tunable};
  KernelSearch search(input);
  const auto everywhere = search.Next();
  ASSERT_TRUE(everywhere && everywhere->retunes());
  search.Report(everywhere->id, MeasureTwoSizes(*everywhere));
  const auto large = search.Next();
  ASSERT_TRUE(large && large->retunes());
  EXPECT_EQ(large->values, everywhere->values);
  EXPECT_EQ(large->strategy.steps.back().parameters["guard"], "n >= 4096");
  EXPECT_TRUE(large->strategy.title.ends_with("size_class guard=n >= 4096"))
      << large->strategy.title;
  search.Report(large->id, MeasureTwoSizes(*large));
  EXPECT_TRUE(search.Exhausted());
  EXPECT_EQ(search.best()->candidate.id, large->id);
}

TEST(KernelSearch, ReplaysClassesFromItsRecord) {
  const SearchInput input = InputOfTwoSizes();
  KernelSearch search(input);
  while (const auto candidate = search.Next()) {
    search.Report(candidate->id, MeasureTwoSizes(*candidate));
    if (search.best() != nullptr && search.ideas().size() > 6) break;
  }
  const Json record = search.ToJson();
  auto replayed = KernelSearch::Replay(input, *records::ParseJson(record.dump()));
  ASSERT_TRUE(replayed.has_value()) << replayed.error().message;
  EXPECT_EQ(replayed->ToJson(), record);
  const auto next = search.Next();
  const auto again = replayed->Next();
  ASSERT_EQ(next.has_value(), again.has_value());
  if (next) {
    EXPECT_EQ(again->strategy, next->strategy);
  }
  SearchInput other = input;
  other.cases.clear();
  EXPECT_FALSE(KernelSearch::Replay(other, record).has_value());
}

}  // namespace
}  // namespace cupilot::search
