// What the user decides of variants, and what is shown of it: pin, reject, diff, history, explain.
#include "service/decisions.h"

#include "tests/daemon/service/two_winners_fixture.h"

namespace cupilot::service {
namespace {

using records::Json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class DecisionsTest : public TwoWinnersTest {
 protected:
  void Tune(const Json& options = Json::object()) {
    Prepare("kernel one a\n", options);
    Start();
    Drain();
  }
  std::string CodeOf(const Json& reply) {
    return reply.contains("error") ? reply["error"]["code"].get<std::string>() : "done";
  }
  // The accepted one that is not published, or a rejected one.
  std::string Other(const std::string& verdict) {
    const Json history = Ask("history", {{"kernel", "one"}})["result"];
    for (const Json& one : history["evaluations"]) {
      if (one["verdict"] == verdict && one["variant"] != Published()) return one["variant"];
    }
    return {};
  }
  // Of the publications before the first decision the last.
  std::vector<std::string> Changes() {
    std::vector<std::string> what;
    const Json history = Ask("history", {{"kernel", "one"}})["result"];
    for (const Json& change : history["changes"]) {
      const bool original = change["what"] == "published" && change["variants"].empty();
      what.push_back(original ? "original" : change["what"].get<std::string>());
      if (what == std::vector<std::string>{"published", "published"}) what.pop_back();
    }
    return what;
  }
};

TEST_F(DecisionsTest, APinnedVariantIsUsedAgainstABetterOne) {
  Tune();
  const std::string best = Published();
  const std::string other = Other("accepted");
  ASSERT_THAT(other, Not(IsEmpty()));
  const Json reply = Ask("pin", {{"kernel", "one"}, {"variant", other.substr(0, 12)}})["result"];
  EXPECT_EQ(reply["schema"], "cupilot.decided/1");
  EXPECT_EQ(reply["what"], "pinned");
  EXPECT_EQ(reply["variants"][0]["variant"], other);
  EXPECT_EQ(reply["now"][0]["variant"], other);
  EXPECT_EQ(reply["message"], "the next build has it");
  DrainUntil([&] { return Published() == other; });
  EXPECT_EQ(Explain("one")["marks"][0]["mark"], "pinned");
  EXPECT_EQ(Row("one")["marks"][0]["variant"], other);
  EXPECT_THAT(Explain("one")["next"].get<std::string>(), HasSubstr("--none"));
  // Also for a later daemon.
  Restart();
  Drain();
  EXPECT_EQ(Published(), other);
  EXPECT_EQ(Ask("pin", {{"kernel", "one"}, {"none", true}})["result"]["what"], "unpinned");
  DrainUntil([&] { return Published() == best; });
  EXPECT_THAT(Row("one")["marks"], IsEmpty());
  EXPECT_EQ(Changes(), (std::vector<std::string>{"published", "pinned", "published", "unpinned",
                                                 "published"}));
}

TEST_F(DecisionsTest, APinTakesThePlaceOfAnother) {
  Tune();
  const std::string best = Published();
  const std::string other = Other("accepted");
  Ask("pin", {{"kernel", "one"}, {"variant", best}});
  Ask("pin", {{"kernel", "one"}, {"variant", other}});
  Drain();
  const Json marks = Row("one")["marks"];
  ASSERT_THAT(marks, SizeIs(1));
  EXPECT_EQ(marks[0]["variant"], other);
  EXPECT_EQ(Published(), other);
}

TEST_F(DecisionsTest, OnlyWhatIsProvenHereCanBePinned) {
  Tune();
  const std::string loser = Other("rejected");
  ASSERT_THAT(loser, Not(IsEmpty()));
  const Json reply = Ask("pin", {{"kernel", "one"}, {"variant", loser}});
  EXPECT_EQ(CodeOf(reply), "not_found");
  EXPECT_THAT(reply["error"]["message"].get<std::string>(), HasSubstr("it was rejected: "));
  EXPECT_EQ(CodeOf(Ask("pin", {{"kernel", "one"}, {"variant", "ffffffffffff"}})), "not_found");
  EXPECT_EQ(CodeOf(Ask("pin", {{"kernel", "two"}, {"variant", Published()}})), "not_found");
  EXPECT_EQ(CodeOf(Ask("pin", {{"kernel", "one"}, {"none", true}})), "not_found");
  EXPECT_EQ(CodeOf(Ask("pin", {{"kernel", "one"}})), "not_found");
  EXPECT_THAT(Row("one")["marks"], IsEmpty());
}

TEST_F(DecisionsTest, ARejectedVariantIsNeverUsedAgain) {
  Tune();
  const std::string best = Published();
  const std::string other = Other("accepted");
  const Json reply = Ask("reject", {{"what", best.substr(0, 10)}, {"folder", ""}})["result"];
  EXPECT_EQ(reply["what"], "rejected");
  EXPECT_EQ(reply["variants"][0]["variant"], best);
  DrainUntil([&] { return Published() == other; });
  // The second best is rejected by the kernel's name: the original is what remains.
  Ask("reject", {{"what", "one"}, {"folder", ""}});
  DrainUntil([&] { return project_.PublishedSwap().empty(); });
  EXPECT_THAT(Row("one")["why"].get<std::string>(), HasSubstr("you rejected "));
  EXPECT_EQ(Explain("one")["verdict"], "original");
  EXPECT_THAT(Row("one")["marks"], SizeIs(2));
  Restart();
  Drain();
  EXPECT_TRUE(project_.PublishedSwap().empty());
  const auto changes = Changes();
  EXPECT_EQ(changes, (std::vector<std::string>{"published", "rejected", "published", "rejected",
                                               "original"}));
  const Json history = Ask("history", {{"kernel", "one"}})["result"];
  EXPECT_THAT(history["changes"].back()["reason"].get<std::string>(), HasSubstr("rejected"));
  // Taken back.
  Ask("reject", {{"what", best}, {"folder", ""}, {"undo", true}});
  DrainUntil([&] { return Published() == best; });
}

TEST_F(DecisionsTest, AllOfAKernelIsAllowedAgainByItsName) {
  Tune();
  const std::string best = Published();
  Ask("reject", {{"what", "one"}, {"folder", ""}});
  Ask("reject", {{"what", "one"}, {"folder", ""}});
  DrainUntil([&] { return project_.PublishedSwap().empty(); });
  const Json reply = Ask("reject", {{"what", "one"}, {"folder", ""}, {"undo", true}})["result"];
  EXPECT_EQ(reply["what"], "allowed");
  EXPECT_THAT(reply["variants"], SizeIs(2));
  DrainUntil([&] { return Published() == best; });
  EXPECT_EQ(CodeOf(Ask("reject", {{"what", "one"}, {"folder", ""}, {"undo", true}})), "not_found");
}

TEST_F(DecisionsTest, WhatIsRejectedCannotBePinnedAndNothingElseIsRejected) {
  Tune();
  const std::string best = Published();
  Ask("reject", {{"what", best}});
  EXPECT_EQ(CodeOf(Ask("pin", {{"kernel", "one"}, {"variant", best}})), "invalid_argument");
  EXPECT_EQ(CodeOf(Ask("reject", {{"what", "ffffffffffff"}})), "not_found");
  EXPECT_EQ(CodeOf(Ask("reject", {{"what", "nobody"}})), "not_found");
  EXPECT_EQ(CodeOf(Ask("reject", Json::object())), "invalid_argument");
  EXPECT_EQ(CodeOf(Ask("reject", {{"what", "ffffffffffff"}, {"undo", true}})), "not_found");
  EXPECT_THAT(Row("one")["marks"], SizeIs(1));
}

TEST_F(DecisionsTest, APinWithoutEvidenceIsSaid) {
  Tune();
  const std::string best = Published();
  Ask("pin", {{"kernel", "one"}, {"variant", best}});
  std::vector<cache::Write> writes;
  ASSERT_TRUE(
      store_.Scan(cache::Table::kEvaluations, "", [&](std::string_view key, std::string_view) {
        if (key.find(best) != std::string_view::npos) {
          writes.push_back({cache::Table::kEvaluations, std::string(key), std::nullopt});
        }
        return true;
      }));
  Stop();
  ASSERT_TRUE(store_.Apply(writes));
  workers_.Resume();
  judge_ = [](const evaluate::EvaluateRequest& request) {
    return test::MakeEvaluation(request, 0.8);
  };
  Start();
  Drain();
  EXPECT_THAT(Explain("one")["warnings"].dump(), HasSubstr("is pinned and not in use"));
}

TEST_F(DecisionsTest, WhoAppliesByHandDecidesAndApplies) {
  Tune({{"apply", "manual"}});
  service_->Apply("");
  const std::string best = Published();
  const Json reply = Ask("reject", {{"what", best}})["result"];
  EXPECT_THAT(reply["message"].get<std::string>(), HasSubstr("cupilot apply"));
  Drain();
  EXPECT_EQ(Published(), best);
  service_->Apply("");
  EXPECT_NE(Published(), best);
}

TEST_F(DecisionsTest, HistorySaysWhatChangedAndWhy) {
  Tune();
  const Json changes = Ask("history", {{"kernel", "one"}})["result"]["changes"];
  ASSERT_THAT(changes, Not(IsEmpty()));
  const Json& last = changes.back();
  EXPECT_EQ(last["variants"], Json::array({Published()}));
  EXPECT_THAT(last["reason"].get<std::string>(), HasSubstr("1.50x ["));
  EXPECT_THAT(last["date"].get<std::string>(), Not(IsEmpty()));
  // Nothing is said twice.
  const std::size_t count = changes.size();
  Restart();
  Drain();
  EXPECT_THAT(Ask("history", {{"kernel", "one"}})["result"]["changes"], SizeIs(count));
}

TEST_F(DecisionsTest, AnEditIsAChangeWithItsReason) {
  Tune();
  judge_ = [](const evaluate::EvaluateRequest& request) {
    return test::MakeEvaluation(request, 0.8);
  };
  project_.WriteSource("kernel one b\n");
  DrainUntil([&] { return project_.PublishedSwap().empty(); });
  Drain();
  const Json changes = Ask("history", {{"kernel", "one"}})["result"]["changes"];
  EXPECT_THAT(changes.back()["variants"], IsEmpty());
  EXPECT_THAT(changes.back()["reason"].get<std::string>(), HasSubstr("nothing is proven"));
}

TEST_F(DecisionsTest, DiffHasBothTextsAndTheEvidence) {
  Tune();
  const Json reply = Ask("diff", {{"kernel", "one"}})["result"];
  EXPECT_EQ(reply["schema"], "cupilot.diff/1");
  EXPECT_EQ(reply["variant"]["id"], Published());
  EXPECT_EQ(reply["original"], "kernel one a\n");
  EXPECT_EQ(reply["evaluation"]["verdict"], "accepted");
  const std::string loser = Other("rejected");
  const Json other = Ask("diff", {{"kernel", "one"}, {"variant", loser.substr(0, 16)}})["result"];
  EXPECT_EQ(other["variant"]["id"], loser);
  EXPECT_EQ(other["evaluation"]["verdict"], "rejected");
  EXPECT_EQ(CodeOf(Ask("diff", {{"kernel", "one"}, {"arch", "sm_10"}})), "not_found");
  EXPECT_EQ(CodeOf(Ask("diff", {{"kernel", "one"}, {"variant", "ffffffff"}})), "not_found");
  EXPECT_EQ(CodeOf(Ask("diff", {{"kernel", "none"}})), "not_found");
}

// Whatever it claims: it is not used, and who wants to know finds what it was and what it claimed.
TEST_F(DecisionsTest, AClaimUnderTheFloorIsKeptForInspection) {
  judge_ = [](const evaluate::EvaluateRequest& request) {
    records::Evaluation evaluation = test::MakeEvaluation(request, 100);
    evaluation.accepted = false;
    evaluation.reason = "faster_than_physics";
    evaluation.detail = "case 'only' would take 1 us, and its 4096 bytes take at least 10 us";
    evaluation.speedup.reset();
    evaluation.interval.reset();
    evaluation.metrics["case only"]["necessary"] = {{"read", 4000}, {"written", 96}};
    return evaluation;
  };
  Prepare("kernel one a\n");
  Start();
  Drain();
  EXPECT_EQ(project_.PublishedSwap(), "");
  const Json tried = Explain("one")["tried"];
  const auto claim = std::find_if(tried.begin(), tried.end(), [](const Json& one) {
    return one["reason"] == "faster_than_physics";
  });
  ASSERT_NE(claim, tried.end()) << tried.dump(1);
  EXPECT_EQ((*claim)["verdict"], "rejected");
  const Json params = {{"kernel", "one"}, {"variant", (*claim)["variant"]}};
  const auto expect_kept = [&] {
    const Json reply = Ask("diff", params)["result"];
    EXPECT_EQ(reply["variant"]["id"], params["variant"]);
    EXPECT_THAT(reply["variant"]["source"].get<std::string>(), Not(IsEmpty()));
    const Json& evaluation = reply["evaluation"];
    EXPECT_EQ(evaluation["reason"], "faster_than_physics");
    EXPECT_THAT(evaluation["detail"].get<std::string>(), HasSubstr("4096 bytes"));
    EXPECT_LT(evaluation["cases"][0]["variant_us"], evaluation["cases"][0]["floor_us"]);
    EXPECT_EQ(evaluation["metrics"]["case only"]["necessary"]["written"], 96);
  };
  expect_kept();
  // Nor does a later daemon forget it, or ask again.
  const std::size_t evaluated = evaluator_.evaluated().size();
  Restart();
  Drain();
  expect_kept();
  EXPECT_EQ(evaluator_.evaluated().size(), evaluated);
}

TEST_F(DecisionsTest, ExplainSaysWhatItCostAndWhatComesNext) {
  Tune();
  const Json document = Explain("one");
  EXPECT_GT(document["cost"]["evaluations"], 1);
  EXPECT_EQ(document["cost"]["dollars"], 0.0);
  EXPECT_TRUE(document["cost"]["seconds"].is_number());
  EXPECT_THAT(document["next"].get<std::string>(), Not(IsEmpty()));
}

TEST_F(DecisionsTest, WhatComesNextIsWhatIsMissing) {
  Prepare("kernel one a\nkernel two a workload=none\n", {{"apply", "manual"}});
  Start();
  Drain();
  EXPECT_THAT(Explain("one")["next"].get<std::string>(), HasSubstr("cupilot apply"));
  EXPECT_THAT(Explain("two")["next"].get<std::string>(), HasSubstr("cupilot capture"));
}

}  // namespace
}  // namespace cupilot::service
