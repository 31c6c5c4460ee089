#include "agents/guarded_provider.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "agents/replay_provider.h"
#include "cache/memory_store.h"
#include "tests/support/manual_alarms.h"
#include "tests/support/scripted_provider.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::agents {
namespace {

constexpr NanoDollars kOneDollar = 1'000'000'000;

class GuardedProviderTest : public testing::Test {
 protected:
  GuardedProviderTest() {
    const std::string file = folder_.Write("prices.json", R"({
      "schema": "cupilot.model_prices/1", "prices": [
      {"origin": "https://api.x.com", "model": "m", "from": "2020-01-01", "source": "s",
       "input": 1000, "output": 2000}]})");
    prices_ = *PriceTable::Load({file});
    Redactor::Rules rules;
    rules.secrets = {base::Secret("open sesame")};
    redactor_ = Redactor(std::move(rules));
    log_ = std::make_unique<ExchangeLog>(store_, clock_, folder_ / "exchanges", redactor_);
    EXPECT_TRUE(consent_.Allow("project", inner_.name_));
    Make({});
  }
  void Make(GuardedProvider::Settings settings) {
    provider_ = std::make_unique<GuardedProvider>(
        inner_, Guards{alarms_, clock_, consent_, budget_, prices_, *log_}, redactor_, settings);
  }
  static ModelRequest Question() {
    ModelRequest request;
    request.role = "strategist.v1";
    request.model = "m";
    request.system = "s";
    request.prompt = "p";
    request.max_tokens = 10;
    request.project = "project";
    request.kernel = "kernel";
    return request;
  }
  void Ask(ModelRequest request = Question()) {
    result_.reset();
    call_ = provider_->Send(
        std::move(request), [this](std::string_view text) { streamed_ += text; },
        [this](ModelResult result) { result_ = std::move(result); });
    EXPECT_FALSE(result_);
    alarms_.Advance(std::chrono::milliseconds(0));
  }
  Failure why() const { return !result_ || *result_ ? Failure::kInternal : result_->error().why; }
  NanoDollars Spent() const { return budget_.Sums("kernel")->day; }
  static ModelAnswer Answered(std::int64_t input, std::int64_t output) {
    ModelAnswer answer;
    answer.text = "because";
    answer.usage = {true, input, 0, 0, output};
    return answer;
  }
  static ModelError Failed(Failure failure, bool may_cost, Usage usage = {}) {
    ModelError error;
    error.why = failure;
    error.message = "it failed";
    error.may_cost = may_cost;
    error.usage = usage;
    return error;
  }
  // The most that Question() may cost: each byte a token.
  NanoDollars Most() const {
    return static_cast<NanoDollars>(inner_.Bytes(Question()).size()) * 1'000'000 + 10 * 2'000'000;
  }

  test::TemporaryFolder folder_;
  test::ManualClock clock_;
  test::ManualAlarms alarms_{clock_};
  cache::MemoryStore store_;
  Consent consent_{store_, clock_};
  Budget budget_{store_, clock_, {kOneDollar, kOneDollar, kOneDollar}};
  PriceTable prices_;
  Redactor redactor_;
  std::unique_ptr<ExchangeLog> log_;
  test::ScriptedProvider inner_;
  std::unique_ptr<GuardedProvider> provider_;
  std::string streamed_;
  std::optional<ModelResult> result_;
  std::unique_ptr<ModelCall> call_;
};

TEST_F(GuardedProviderTest, SendsBooksAndKeeps) {
  Ask();
  ASSERT_EQ(inner_.requests_.size(), 1u);
  EXPECT_EQ(Spent(), Most()) << "set aside before it is answered";
  inner_.Say("beca");
  EXPECT_EQ(streamed_, "beca");
  inner_.Answer(Answered(5, 3));
  ASSERT_TRUE(*result_);
  EXPECT_EQ((*result_)->cost, 5 * 1'000'000 + 3 * 2'000'000);
  EXPECT_EQ(Spent(), (*result_)->cost);
  EXPECT_EQ(inner_.open_, 0);
  const auto last = log_->Last();
  ASSERT_TRUE(last && *last);
  EXPECT_EQ((*last)->sent, "bytes of: s|p");
  EXPECT_EQ((*last)->sent, provider_->Bytes(Question()));
  EXPECT_EQ((*last)->result->text, "because");
  EXPECT_EQ((*last)->result->cost, (*result_)->cost);
  EXPECT_EQ((*last)->request.kernel, "kernel");
  EXPECT_EQ((*last)->provider, inner_.name_);
  EXPECT_EQ((*budget_.Totals())[0].output, 3);
}

TEST_F(GuardedProviderTest, NothingIsSentBeforeTheUserAllowedIt) {
  ModelRequest request = Question();
  request.project = "another";
  Ask(request);
  EXPECT_EQ(why(), Failure::kNotAllowed);
  EXPECT_NE(result_->error().message.find(inner_.name_), std::string::npos);
  inner_.name_ = "openai https://elsewhere.com";
  Ask();
  EXPECT_EQ(why(), Failure::kNotAllowed);
  EXPECT_TRUE(inner_.requests_.empty());
  EXPECT_FALSE(*log_->Last());
}

TEST_F(GuardedProviderTest, WhatMustNotLeaveDoesNot) {
  ModelRequest request = Question();
  request.system = "you work for jane@example.com";
  request.prompt = "// open sesame\n#include \"/home/jane/x.h\"";
  Ask(request);
  EXPECT_EQ(inner_.requests_[0].system, "you work for <e-mail>");
  EXPECT_EQ(inner_.requests_[0].prompt, "// <secret>\n#include \"<home>/x.h\"");
  EXPECT_EQ(provider_->Bytes(request),
            "bytes of: you work for <e-mail>|// <secret>\n#include \"<home>/x.h\"");
  ModelAnswer answer = Answered(1, 1);
  answer.text = "ask bob@example.com";
  inner_.Answer(answer);
  EXPECT_EQ((*result_)->text, "ask <e-mail>") << "what is kept is what was given";
  EXPECT_EQ((*log_->Last())->result->text, "ask <e-mail>");
  const auto mode = std::filesystem::status(folder_ / "exchanges").permissions();
  EXPECT_EQ(mode, std::filesystem::perms::owner_all);
}

TEST_F(GuardedProviderTest, AnUnknownPriceIsRefusedUnlessAllowed) {
  ModelRequest request = Question();
  request.model = "unheard of";
  Ask(request);
  EXPECT_EQ(why(), Failure::kUnknownPrice);
  EXPECT_TRUE(inner_.requests_.empty());
  Make({.allow_unknown_price = true});
  Ask(request);
  ASSERT_EQ(inner_.requests_.size(), 1u);
  inner_.Answer(Answered(5, 3));
  EXPECT_EQ((*result_)->cost, 0);
  EXPECT_EQ((*budget_.Totals())[0].input, 5);
}

TEST_F(GuardedProviderTest, WhatMightExceedALimitIsNotSent) {
  ModelRequest request = Question();
  request.max_tokens = 1000;  // two dollars
  Ask(request);
  EXPECT_EQ(why(), Failure::kOverLimit);
  EXPECT_TRUE(inner_.requests_.empty());
  EXPECT_EQ(Spent(), 0);
}

TEST_F(GuardedProviderTest, WhatIsFreeNeedsNoPriceAndNoLimit) {
  inner_.traits_ = {.sends = true, .costs = false};
  ModelRequest request = Question();
  request.model = "local";
  request.max_tokens = 1'000'000;
  Ask(request);
  inner_.Answer(Answered(5, 3));
  EXPECT_EQ(Spent(), 0);
  inner_.traits_ = {.sends = false, .costs = false};
  request.project = "another";
  Ask(request);
  EXPECT_EQ(inner_.requests_.size(), 2u);
}

TEST_F(GuardedProviderTest, BooksWhatAFailureMayHaveCost) {
  const auto booked = [this](ModelError error) {
    const NanoDollars before = Spent();
    Ask();
    inner_.Answer(tl::unexpected(std::move(error)));
    return Spent() - before;
  };
  EXPECT_EQ(booked(Failed(Failure::kRateLimited, false)), 0);
  EXPECT_EQ(booked(Failed(Failure::kTimeout, true)), Most());
  EXPECT_EQ(booked(Failed(Failure::kBroken, true, {true, 5, 0, 0, 1})), Most());
  EXPECT_EQ(booked(Failed(Failure::kTruncated, true, {true, 5, 0, 0, 10})),
            5 * 1'000'000 + 10 * 2'000'000);
  EXPECT_EQ(booked(Failed(Failure::kRefused, true)), Most());
  EXPECT_EQ((*log_->Last())->result.error().why, Failure::kRefused);
}

TEST_F(GuardedProviderTest, AnAnswerThatDoesNotSayWhatItUsedCostsTheMost) {
  Ask();
  ModelAnswer answer = Answered(0, 0);
  answer.usage.known = false;
  inner_.Answer(answer);
  EXPECT_EQ((*result_)->cost, Most());
}

TEST_F(GuardedProviderTest, CancellingBooksTheMostAndKeepsThat) {
  Ask();
  call_.reset();
  EXPECT_EQ(inner_.open_, 0);
  EXPECT_FALSE(result_);
  EXPECT_EQ(Spent(), Most());
  EXPECT_EQ((*log_->Last())->result.error().why, Failure::kCancelled);
}

TEST_F(GuardedProviderTest, ARequestThatWaitsIsNoExchange) {
  Ask();
  inner_.Answer(tl::unexpected(Failed(Failure::kPending, false)));
  EXPECT_EQ(why(), Failure::kPending);
  EXPECT_FALSE(*log_->Last());
  EXPECT_EQ(Spent(), 0);
}

TEST_F(GuardedProviderTest, WhatWasKeptCanBeReplayed) {
  ModelRequest request = Question();
  request.prompt = "// Latin-1: \xfc";
  Ask(request);
  ModelAnswer answer = Answered(5, 3);
  answer.text = "because \xff";
  inner_.Answer(answer);
  ReplayProvider replay(alarms_, *log_->All("kernel"));
  GuardedProvider guarded(replay, {alarms_, clock_, consent_, budget_, prices_, *log_}, redactor_,
                          {});
  std::optional<ModelResult> result;
  const auto call =
      guarded.Send(request, nullptr, [&result](ModelResult given) { result = std::move(given); });
  alarms_.Advance(std::chrono::milliseconds(0));
  ASSERT_TRUE(*result) << result->error().message;
  EXPECT_EQ((*result)->text, (*result_)->text);
  EXPECT_EQ((*result)->text, "because \xef\xbf\xbd");
  EXPECT_EQ(log_->All("")->size(), 1u) << "a replay is no exchange";
  EXPECT_TRUE(log_->All("another kernel")->empty());
}

TEST_F(GuardedProviderTest, ExchangesOfDroppedKernelsGoWithTheirFiles) {
  for (const char* kernel : {"dropped", "kept"}) {
    ModelRequest request = Question();
    request.kernel = kernel;
    request.prompt = kernel;
    Ask(request);
    inner_.Answer(Answered(1, 1));
  }
  ASSERT_EQ(log_->All("")->size(), 2u);
  ASSERT_TRUE(log_->Drop({"dropped"}));
  const auto left = log_->All("");
  ASSERT_EQ(left->size(), 1u);
  EXPECT_EQ((*left)[0].request.prompt, "kept");
  const std::filesystem::directory_iterator files(folder_ / "exchanges");
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(GuardedProviderTest, TheOldestExchangesGoFirst) {
  for (const char* prompt : {"one", "two", "three"}) {
    ModelRequest request = Question();
    request.prompt = prompt;
    Ask(request);
    inner_.Answer(Answered(1, 1));
    clock_.Advance(std::chrono::seconds(1));
  }
  std::uint64_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder_ / "exchanges")) {
    bytes += file.file_size();
  }
  ASSERT_TRUE(log_->Trim(bytes - 1));
  const auto left = log_->All("");
  ASSERT_EQ(left->size(), 2u);
  EXPECT_EQ((*left)[0].request.prompt, "two");
  ASSERT_TRUE(log_->Trim(0));
  EXPECT_FALSE(*log_->Last());
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "exchanges"));
}

}  // namespace
}  // namespace cupilot::agents
