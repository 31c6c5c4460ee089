// Variants that were made elsewhere as ideas of a search.
#include <gtest/gtest.h>

#include "search/kernel_search.h"

namespace cupilot::search {
namespace {

using records::Json;

SearchInput OneTechnique() {
  SearchInput input;
  input.kernel = "blur";
  Opinion opinion;
  opinion.technique = "unrolling";
  opinion.applies = true;
  opinion.parameters = {{{"factor", 4}}};
  input.opinions = {opinion};
  return input;
}

records::Strategy StrategyOf(const std::string& technique, const Json& parameters) {
  records::Strategy strategy;
  strategy.title = technique + " by hand";
  records::StrategyStep step;
  step.technique = technique;
  step.parameters = parameters;
  strategy.steps = {step};
  return strategy;
}

Outcome Accepted(double speedup) {
  Outcome outcome;
  outcome.kind = Outcome::Kind::kAccepted;
  outcome.speedup = speedup;
  outcome.cases = {{"only", speedup, speedup, speedup, true}};
  return outcome;
}

TEST(MadeIdeas, AreIdeasLikeOthersAndMayBeTheBest) {
  KernelSearch search(OneTechnique());
  const auto first = search.Next();
  ASSERT_TRUE(first);
  search.Report(first->id, Accepted(1.2));
  const Candidate taken =
      search.Take({"aa", StrategyOf("other:recast", Json::object()), first->id, 1.5});
  EXPECT_EQ(taken.id, 2);
  EXPECT_EQ(taken.parent, first->id);
  EXPECT_EQ(taken.made, "aa");
  EXPECT_EQ(taken.expected_gain, 1.5);
  EXPECT_FALSE(taken.retunes());
  search.Report(taken.id, Accepted(2.5));
  EXPECT_EQ(search.best()->candidate.id, taken.id);
  EXPECT_EQ(search.Results().size(), 2u);
}

TEST(MadeIdeas, AParentThatIsNoneIsTheOriginal) {
  KernelSearch search(OneTechnique());
  EXPECT_EQ(search.Take({"aa", {}, 7, 1}).parent, 0);
  EXPECT_EQ(search.Take({"bb", {}, -1, 1}).parent, 0);
}

// What techniques do begins at the original: neither more of it nor less is tried for a model's.
TEST(MadeIdeas, TheTechniquesGoOnAsIfTheyWereNotThere) {
  KernelSearch alone(OneTechnique());
  KernelSearch with(OneTechnique());
  with.Report(with.Take({"aa", StrategyOf("unrolling", {{"factor", 4}}), 0, 1}).id, Accepted(3));
  while (const auto candidate = alone.Next()) {
    const auto same = with.Next();
    ASSERT_TRUE(same);
    EXPECT_EQ(same->strategy.title, candidate->strategy.title);
    EXPECT_EQ(same->expected_gain, candidate->expected_gain);
    alone.Report(candidate->id, Accepted(1.2));
    with.Report(same->id, Accepted(1.2));
  }
  EXPECT_FALSE(with.Next());
  EXPECT_TRUE(with.Exhausted());
}

TEST(MadeIdeas, AreReplayedWithTheSearch) {
  KernelSearch search(OneTechnique());
  const auto first = search.Next();
  const Candidate taken = search.Take({"aa", StrategyOf("other:recast", {{"x", 1}}), 0, 1.5});
  search.Report(taken.id, Accepted(2.5));
  search.Report(first->id, Accepted(1.2));
  const Candidate open =
      search.Take({"bb", StrategyOf("unrolling", Json::object()), taken.id, 1.1});
  const Json record = *records::ParseJson(search.ToJson().dump());
  const auto replayed = KernelSearch::Replay(OneTechnique(), record);
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_EQ(replayed->ToJson(), record);
  EXPECT_EQ(replayed->ideas().at(2).candidate.made, open.made);
  EXPECT_EQ(replayed->ideas().at(2).candidate.parent, taken.id);
  EXPECT_FALSE(replayed->ideas().at(2).outcome);
}

}  // namespace
}  // namespace cupilot::search
