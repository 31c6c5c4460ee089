// What `history` and `explain` say of many evaluations, and what they read for it.
#include "service/history.h"

#include "service/kernel_workload.h"
#include "service/requests.h"
#include "tests/daemon/service/service_fixture.h"

namespace cupilot::service {
namespace {

using cache::Table;
using records::Json;

class HistoryTest : public ServiceTest {
 protected:
  void Prove(int number, double speedup, const std::string& date) {
    const auto place = FindKernel(*service_, "k", "");
    const Place& where = place->object->places.places.at(0);
    evaluate::EvaluateRequest request;
    request.kernel = *place->kernel;
    request.workload = WorkloadAt(*place->kernel, where);
    request.variant.kernel = "k";
    request.variant.entry = "v";
    request.variant.source = "// " + std::to_string(number) + std::string(2000, 'x');
    request.variant.strategy.emplace();
    request.variant.strategy->title = "number " + std::to_string(number);
    request.variant.strategy->steps.resize(1);
    request.variant.strategy->steps[0].technique = "launch_bounds";
    request.variant.id = records::VariantId(request.variant);
    records::Evaluation evaluation = test::MakeEvaluation(request, speedup);
    evaluation.workload = WorkloadHash(request.workload);
    evaluation.device = where.identity;
    evaluation.detail = std::string(1000, 'y');
    evaluation.date = date;
    ASSERT_TRUE(service_->catalog().SaveVerdict(request.variant, evaluation, where.toolchain));
  }
  void ProveMany(int from, int to) {
    for (int i = from; i < to; ++i) {
      Prove(i, 0.8, "2027-01-01T00:00:00." + std::to_string(100000 + i) + "Z");
    }
  }
  Json Ask(const std::string& verb, const Json& more = Json::object()) {
    Json params = {{"kernel", "k"}};
    params.update(more);
    const std::string text =
        requests_->Handle("peer", Json{{"id", 1}, {"verb", verb}, {"params", params}}.dump());
    Json result = records::ParseJson(text).value_or(Json())["result"];
    if (result.value("schema", "") != "cupilot.reply_file/1") return result;
    return records::ParseJson(base::ReadFile(result["document"].get<std::string>()).value())
        .value_or(Json());
  }
  void Begin() {
    Prepare("kernel k a\n");
    Start();
    Drain();
    requests_ = std::make_unique<Requests>(*service_, state(), [] {});
  }

  std::unique_ptr<Requests> requests_;
};

TEST_F(HistoryTest, WhatWasReadOnceIsNotReadForEachQuestion) {
  Begin();
  ProveMany(0, 300);
  for (const char* verb : {"explain", "history", "list", "best", "status"}) {
    const Json first = Ask(verb);
    disk_.reads.clear();
    EXPECT_EQ(Ask(verb), first) << verb;
    EXPECT_EQ(disk_.reads[Table::kEvaluations], 0) << verb;
    EXPECT_EQ(disk_.reads[Table::kVariants], 0) << verb;
    EXPECT_EQ(disk_.reads[Table::kSelections], 0) << verb;
  }
}

TEST_F(HistoryTest, AVerdictIsInTheNextAnswerAndAloneIsRead) {
  Begin();
  ProveMany(0, 300);
  const Json before = Ask("history")["evaluations"];
  const int tried = Ask("explain")["cost"]["evaluations"];
  Prove(1000, 1.9, "2027-02-01T00:00:00Z");
  disk_.reads.clear();
  const Json after = Ask("history")["evaluations"];
  EXPECT_EQ(disk_.reads[Table::kEvaluations], 1);
  ASSERT_EQ(after.size(), before.size() + 1);
  EXPECT_EQ(after.back()["title"], "number 1000");
  const Json explained = Ask("explain");
  EXPECT_EQ(explained["cost"]["evaluations"], tried + 1);
  EXPECT_EQ(explained["strategy"], "number 1000");
  EXPECT_EQ(explained["floor_us"], 10);

  // The same once more, with another result: in the place of the first.
  Prove(1000, 1.8, "2027-02-02T00:00:00Z");
  const Json again = Ask("history")["evaluations"];
  ASSERT_EQ(again.size(), after.size());
  EXPECT_EQ(again.back()["speedup"], 1.8);
  EXPECT_EQ(Ask("best")["evaluation"]["speedup"], 1.8);
  EXPECT_EQ(Ask("explain")["evaluation"]["speedup"], 1.8);
}

TEST_F(HistoryTest, PagesAreTogetherTheWhole) {
  Begin();
  ProveMany(0, 300);
  const Json whole = Ask("history");
  EXPECT_FALSE(whole.contains("next"));
  Json evaluations = Json::array();
  Json from = 0u;
  int pages = 0;
  while (from.is_number()) {
    const Json page = Ask("history", {{"from", from}});
    EXPECT_EQ(page.contains("changes"), pages == 0);
    EXPECT_LT(page.dump().size(), 2 * History::kBytesAPage);
    for (const Json& one : page["evaluations"]) evaluations.push_back(one);
    from = page["next"];
    ASSERT_LT(++pages, 100);
  }
  EXPECT_GT(pages, 2);
  EXPECT_EQ(evaluations, whole["evaluations"]);
}

TEST_F(HistoryTest, ForAMomentAQuestionIsAnsweredOnceUnlessSomethingWasAskedOrHappened) {
  Begin();
  const auto ask = [this](const std::string& verb, int id) {
    const std::string text = requests_->Handle(
        "peer",
        Json{{"id", id}, {"verb", verb}, {"params", {{"kernel", "k"}, {"seconds", 60}}}}.dump());
    const Json reply = records::ParseJson(text).value_or(Json());
    EXPECT_EQ(reply["id"], id);
    return reply["result"];
  };
  using std::chrono::milliseconds;
  requests_->OnTime(milliseconds(1000));
  const Json first = ask("explain", 1);
  const Json status = ask("status", 2);
  // Behind the service's back.
  Prove(1000, 1.9, "2027-02-01T00:00:00Z");
  requests_->OnTime(milliseconds(1019));
  EXPECT_EQ(ask("explain", 3), first);
  EXPECT_EQ(ask("snooze", 4)["state"], "paused");
  EXPECT_NE(ask("explain", 5), first);
  EXPECT_EQ(ask("status", 6)["state"], "paused");
  EXPECT_NE(status["state"], "paused");
  Prove(1001, 2.5, "2027-02-01T00:00:00Z");
  EXPECT_NE(ask("explain", 7)["strategy"], "number 1001");
  requests_->OnTime(milliseconds(1020));
  EXPECT_EQ(ask("explain", 8)["strategy"], "number 1001");
  Prove(1002, 3.5, "2027-02-01T00:00:00Z");
  requests_->OnEvent();
  EXPECT_EQ(ask("explain", 9)["strategy"], "number 1002");
}

// What the evaluations are about is said beside each, also where they are the store's own.
TEST_F(HistoryTest, TheNumbersAreThoseOfTheStore) {
  Begin();
  ProveMany(0, 20);
  const auto place = FindKernel(*service_, "k", "");
  Json kept = Json::array();
  for (const records::Evaluation& one : service_->catalog().Evaluations(place->kernel->key)) {
    kept.push_back(records::ToJson(one));
  }
  Json said = Ask("history")["evaluations"];
  for (Json& one : said) {
    EXPECT_NE(one["title"], "");
    one.erase("title");
  }
  EXPECT_EQ(said, kept);
}

}  // namespace
}  // namespace cupilot::service
