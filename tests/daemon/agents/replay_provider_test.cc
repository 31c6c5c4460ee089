#include "agents/replay_provider.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/support/manual_alarms.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::agents {
namespace {

class ReplayProviderTest : public testing::Test {
 protected:
  static ExchangeRecord Recorded(const std::string& role, const std::string& prompt,
                                 const std::string& text) {
    ExchangeRecord record{};
    record.time = "2026-11-21T08:30:00Z";
    record.provider = "openai https://example.com";
    record.request.role = role;
    record.request.system = "s";
    record.request.prompt = prompt;
    record.request.temperature = 0.5;
    record.sent = "{\"bytes\": \"é\"}";
    ModelAnswer answer;
    answer.text = text;
    answer.model = "m";
    answer.cost = 12345;
    answer.usage = {true, 10, 2, 1, 5};
    record.result = answer;
    return record;
  }
  ModelResult Ask(ReplayProvider& provider, const std::string& role, const std::string& prompt,
                  int sample = 0) {
    ModelRequest request;
    request.role = role;
    request.system = "s";
    request.prompt = prompt;
    request.sample = sample;
    request.model = "another model";
    std::optional<ModelResult> result;
    std::string streamed;
    const auto call = provider.Send(
        request, [&streamed](std::string_view text) { streamed += text; },
        [&result](ModelResult given) { result = std::move(given); });
    EXPECT_FALSE(result);
    alarms_.Advance(std::chrono::milliseconds(0));
    if (*result) {
      EXPECT_EQ(streamed, (*result)->text);
    }
    return std::move(*result);
  }

  test::ManualClock clock_;
  test::ManualAlarms alarms_{clock_};
};

TEST_F(ReplayProviderTest, AnswersWhatWasRecordedForRoleAndPrompt) {
  std::vector<ExchangeRecord> all = {Recorded("a", "p", "1"), Recorded("b", "p", "2")};
  all.push_back(Recorded("a", "p", "3"));
  all.back().request.sample = 1;
  ReplayProvider provider(alarms_, std::move(all));
  EXPECT_EQ(Ask(provider, "b", "p")->text, "2");
  EXPECT_EQ(Ask(provider, "a", "p", 1)->text, "3");
  EXPECT_EQ(provider.left(), 1u);
  const ModelResult first = Ask(provider, "a", "p");
  EXPECT_EQ(first->text, "1");
  EXPECT_EQ(first->usage.output, 5);
  EXPECT_FALSE(provider.traits().sends);
}

TEST_F(ReplayProviderTest, AMissShowsTheRequest) {
  std::vector<ExchangeRecord> all = {Recorded("a", "p", "1")};
  ReplayProvider provider(alarms_, std::move(all));
  const ModelResult result = Ask(provider, "a", "p ");  // one byte more
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().why, Failure::kMissing);
  EXPECT_NE(result.error().message.find("role: a"), std::string::npos);
  EXPECT_NE(result.error().message.find("--- prompt\np \n--- end"), std::string::npos);
}

TEST_F(ReplayProviderTest, GivesSeveralAnswersInTheirOrderErrorsToo) {
  std::vector<ExchangeRecord> all = {Recorded("a", "p", "1"), Recorded("a", "p", "2")};
  ModelError error;
  error.why = Failure::kTruncated;
  error.message = "cut";
  error.partial = "hal";
  all[0].result = tl::unexpected(error);
  ReplayProvider provider(alarms_, std::move(all));
  const ModelResult first = Ask(provider, "a", "p");
  EXPECT_EQ(first.error().why, Failure::kTruncated);
  EXPECT_EQ(Ask(provider, "a", "p")->text, "2");
  const ModelResult third = Ask(provider, "a", "p");
  EXPECT_EQ(third.error().why, Failure::kMissing);
  EXPECT_NE(third.error().message.find("recorded: 2"), std::string::npos);
}

TEST_F(ReplayProviderTest, ReadsFilesAndFolders) {
  const test::TemporaryFolder folder;
  folder.Write("1.jsonl", records::CompactJson(ToJson(Recorded("a", "p", "1"))) + "\n\n" +
                              records::CompactJson(ToJson(Recorded("a", "q", "2"))));
  folder.Write("2.jsonl", records::CompactJson(ToJson(Recorded("a", "p", "3"))) + "\n");
  folder.Write("other.txt", "nothing of ours");
  const auto provider = ReplayProvider::Load(alarms_, folder.path());
  ASSERT_TRUE(provider) << provider.error().message;
  EXPECT_EQ(Ask(**provider, "a", "p")->text, "1");
  EXPECT_EQ(Ask(**provider, "a", "p")->text, "3");
  EXPECT_EQ(Ask(**provider, "a", "q")->cost, 12345);
  const auto one = ReplayProvider::Load(alarms_, folder / "2.jsonl");
  EXPECT_EQ((*one)->left(), 1u);
  EXPECT_FALSE(ReplayProvider::Load(alarms_, folder / "none.jsonl"));
  folder.Write("3.jsonl", "{}\n");
  const auto broken = ReplayProvider::Load(alarms_, folder.path());
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("3.jsonl:1"), std::string::npos);
}

TEST(ExchangeRecord, SurvivesItsDocument) {
  ExchangeRecord record{};
  record.request.role = "r";
  record.request.prompt = "p\n\"x\"";
  record.request.seed = 7;
  record.request.sample = 2;
  record.request.kernel = "k";
  ModelError error;
  error.why = Failure::kRefused;
  error.message = "no";
  error.may_cost = true;
  error.usage = {true, 1, 2, 3, 4};
  record.result = tl::unexpected(error);
  const auto again = ReadExchange(ToJson(record));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(ToJson(*again), ToJson(record));
  for (const Failure why : {Failure::kRateLimited, Failure::kOverLimit, Failure::kInternal}) {
    EXPECT_EQ(FailureOf(Name(why)), why);
  }
}

}  // namespace
}  // namespace cupilot::agents
