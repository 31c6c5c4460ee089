#include "agents/exchange_provider.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/file.h"
#include "tests/support/manual_alarms.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::agents {
namespace {

using records::Json;
namespace fs = std::filesystem;

class ExchangeProviderTest : public testing::Test {
 protected:
  static ModelRequest Question(const std::string& prompt = "why?") {
    ModelRequest request;
    request.role = "strategist.v1";
    request.model = "m";
    request.prompt = prompt;
    request.max_tokens = 10;
    return request;
  }
  ModelResult Ask(ExchangeProvider& provider, const ModelRequest& request) {
    std::optional<ModelResult> result;
    const auto call = provider.Send(request, nullptr,
                                    [&result](ModelResult given) { result = std::move(given); });
    EXPECT_FALSE(result);
    alarms_.Advance(std::chrono::milliseconds(0));
    return std::move(*result);
  }
  ModelResult Ask(const std::string& folder, const ModelRequest& request) {
    ExchangeProvider provider(alarms_, folder);
    return Ask(provider, request);
  }
  static std::string Line(const ModelRequest& request, const std::string& text, int status = 200) {
    const Json body = {{"model", "m-2"},
                       {"choices", {{{"message", {{"content", text}}}, {"finish_reason", "stop"}}}},
                       {"usage", {{"prompt_tokens", 5}, {"completion_tokens", 6}}}};
    return Json{{"id", "batch_req_1"},
                {"custom_id", ExchangeProvider::IdOf(request)},
                {"response", {{"status_code", status}, {"request_id", "r"}, {"body", body}}},
                {"error", nullptr}}
               .dump() +
           "\n";
  }
  std::string RequestFile(const ModelRequest& request) const {
    return folder_ / ("requests/" + ExchangeProvider::IdOf(request) + ".jsonl");
  }

  test::TemporaryFolder folder_;
  test::ManualClock clock_;
  test::ManualAlarms alarms_{clock_};
};

TEST_F(ExchangeProviderTest, WritesALineOfTheBatchFormat) {
  const ModelRequest request = Question();
  const ModelResult result = Ask(folder_.path(), request);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().why, Failure::kPending);
  EXPECT_NE(result.error().message.find(RequestFile(request)), std::string::npos);
  const std::string text = *base::ReadFile(RequestFile(request));
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const Json line = *records::ParseJson(text);
  EXPECT_EQ(line.size(), 4u);
  EXPECT_EQ(line["custom_id"], ExchangeProvider::IdOf(request));
  EXPECT_LE(line["custom_id"].get<std::string>().size(), 64u);
  EXPECT_EQ(line["method"], "POST");
  EXPECT_EQ(line["url"], "/v1/chat/completions");
  EXPECT_EQ(line["body"]["messages"][0]["content"], "why?");
  EXPECT_FALSE(line["body"].contains("stream"));
}

TEST_F(ExchangeProviderTest, FindsTheAnswerAfterARestart) {
  const ModelRequest request = Question();
  EXPECT_FALSE(Ask(folder_.path(), request));
  folder_.Write("answers/any name.jsonl", "\n" + Line(Question("other"), "no") +
                                              "{\"custom_id\":\"somebody else's\"}\n" +
                                              Line(request, "because"));
  const ModelResult result = Ask(folder_.path(), request);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "because");
  EXPECT_EQ(result->model, "m-2");
  EXPECT_EQ(result->usage.output, 6);
  EXPECT_FALSE(base::FileExists(RequestFile(request)));
  // And again: the answer stays.
  EXPECT_TRUE(Ask(folder_.path(), request));
}

TEST_F(ExchangeProviderTest, FindsAnAnswerThatComesWhileItRuns) {
  const ModelRequest request = Question();
  ExchangeProvider provider(alarms_, folder_.path());
  EXPECT_FALSE(Ask(provider, request));
  EXPECT_EQ(provider.Open(), 1);
  const std::string line = Line(request, "because");
  folder_.Write("answers/a.jsonl", line.substr(0, line.size() / 2));  // it is being copied
  ModelResult result = Ask(provider, request);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().why, Failure::kPending);
  EXPECT_NE(result.error().message.find("a.jsonl:1 is no JSON"), std::string::npos);
  EXPECT_NE(Ask(provider, request).error().message.find("a.jsonl:1"), std::string::npos);
  folder_.Write("answers/a.jsonl", line);
  EXPECT_TRUE(Ask(provider, request));
  EXPECT_EQ(provider.Open(), 0);
}

TEST_F(ExchangeProviderTest, TakesAPlainText) {
  const ModelRequest request = Question();
  EXPECT_FALSE(Ask(folder_.path(), request));
  folder_.Write("answers/" + ExchangeProvider::IdOf(request) + ".txt", "typed\n");
  const ModelResult result = Ask(folder_.path(), request);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->text, "typed\n");
}

TEST_F(ExchangeProviderTest, ACopiedFolderWorksElsewhere) {
  const ModelRequest request = Question();
  EXPECT_FALSE(Ask(folder_.path(), request));
  const test::TemporaryFolder elsewhere;
  fs::copy(folder_.path(), elsewhere / "copy", fs::copy_options::recursive);
  const std::string written =
      *base::ReadFile(elsewhere / ("copy/requests/" + ExchangeProvider::IdOf(request) + ".jsonl"));
  const std::string id = (*records::ParseJson(written))["custom_id"];
  EXPECT_EQ(id, ExchangeProvider::IdOf(request));
  elsewhere.Write("copy/answers/out.jsonl", Line(request, "from there"));
  const ModelResult result = Ask(elsewhere / "copy", request);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->text, "from there");
}

TEST_F(ExchangeProviderTest, AFailedLineIsAnErrorUntilABetterOneComes) {
  const ModelRequest request = Question();
  EXPECT_FALSE(Ask(folder_.path(), request));
  folder_.Write(
      "answers/errors.jsonl",
      Json{{"custom_id", ExchangeProvider::IdOf(request)},
           {"response",
            {{"status_code", 429}, {"body", {{"error", {{"code", "credit_balance_exhausted"}}}}}}},
           {"error", nullptr}}
              .dump() +
          "\n");
  ModelResult result = Ask(folder_.path(), request);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().why, Failure::kNoMoney);
  EXPECT_TRUE(base::FileExists(RequestFile(request)));
  folder_.Write("answers/b.jsonl",
                Json{{"custom_id", ExchangeProvider::IdOf(request)},
                     {"response", nullptr},
                     {"error", {{"code", "batch_expired"}, {"message", "too late"}}}}
                        .dump() +
                    "\n" + Line(request, "better"));
  EXPECT_TRUE(Ask(folder_.path(), request));
}

TEST_F(ExchangeProviderTest, SamplesAndSettingsAreRequestsOfTheirOwn) {
  const ModelRequest request = Question();
  ModelRequest other = request;
  other.sample = 1;
  EXPECT_NE(ExchangeProvider::IdOf(request), ExchangeProvider::IdOf(other));
  other = request;
  other.temperature = 0.5;
  EXPECT_NE(ExchangeProvider::IdOf(request), ExchangeProvider::IdOf(other));
  other = request;
  other.kernel = "k";
  other.project = "p";
  EXPECT_EQ(ExchangeProvider::IdOf(request), ExchangeProvider::IdOf(other));
}

TEST_F(ExchangeProviderTest, AnswersThatAreGarbageAreErrors) {
  const ModelRequest request = Question();
  folder_.Write("answers/a.jsonl", Json{{"custom_id", ExchangeProvider::IdOf(request)},
                                        {"response", {{"status_code", 200}, {"body", "text"}}}}
                                       .dump());
  EXPECT_EQ(Ask(folder_.path(), request).error().why, Failure::kMalformed);
}

TEST_F(ExchangeProviderTest, AFolderThatCannotBeWrittenIsAnError) {
  folder_.Write("file", "");
  const ModelResult result = Ask(folder_ / "file", Question());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().why, Failure::kInternal);
}

}  // namespace
}  // namespace cupilot::agents
