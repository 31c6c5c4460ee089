// `cupilot models ...`
#include <gmock/gmock.h>

#include "base/file.h"
#include "tests/client/client_fixture.h"

namespace cupilot::client {
namespace {

using records::Json;
using ::testing::HasSubstr;

Json ModelsReply() {
  return {{"schema", "cupilot.models/1"},
          {"models", "openai:gpt"},
          {"limits", {{"kernel_dollars", 1}, {"day_dollars", 5}, {"month_dollars", 50}}},
          {"spent", {{"day_dollars", 0.25}, {"month_dollars", 1.5}}},
          {"totals",
           {{{"provider", "openai https://api.openai.com"},
             {"model", "gpt"},
             {"requests", 7},
             {"answers", 6},
             {"input_tokens", 1000},
             {"output_tokens", 500},
             {"dollars", 0.125},
             {"gain", 0.4055}}}},
          {"project", "/p"},
          {"allowed", {{{"provider", "openai https://api.openai.com"}, {"since", "2026-11-21"}}}}};
}

TEST_F(ClientTest, ModelsStatusShowsTokensMoneyAndGain) {
  Serve("models", ModelsReply());
  const auto run = Run({"models", "status"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  for (const char* part : {"models: openai:gpt", "today: $0.2500 of at most $5.0000", "1000",
                           "$0.1250", "+50.0 %", "allowed for this project: openai https://"}) {
    EXPECT_THAT(run.output, HasSubstr(part));
  }
  EXPECT_EQ(RunJson({"models", "status"}, 0)["totals"].size(), 1u);
}

TEST_F(ClientTest, ModelsAllowNamesProviderAndFolder) {
  Serve("models_allow", ModelsReply());
  EXPECT_EQ(Run({"models", "allow", "openai https://api.openai.com"}).exit_code, 0);
  EXPECT_EQ(daemon_.requests()[0]["params"]["provider"], "openai https://api.openai.com");
  EXPECT_EQ(daemon_.requests()[0]["params"]["folder"], xdg_.folder().path());
  EXPECT_EQ(Run({"models", "allow"}).exit_code, 2);
}

TEST_F(ClientTest, ModelsLastPrintsTheExactBytes) {
  const std::string file = xdg_.folder().Write(
      "last.json", R"({"schema": "cupilot.exchange/1", "sent": "{\"exact\":\"bytes\"}",
                       "answer": {"text": "because"}, "provider": "p", "time": "t"})");
  Serve("models_last", {{"schema", "cupilot.models_last/1"}, {"document", file}});
  EXPECT_EQ(Run({"models", "last"}).output, "{\"exact\":\"bytes\"}");
  EXPECT_EQ(Run({"models", "last", "--answer"}).output, "because");
  EXPECT_EQ(RunJson({"models", "last"}, 0)["schema"], "cupilot.exchange/1");
}

TEST_F(ClientTest, ModelsLastAllIsARecording) {
  const std::string recording =
      "{\"schema\":\"cupilot.exchange/1\",\"role\":\"a\"}\n"
      "{\"schema\":\"cupilot.exchange/1\",\"role\":\"b\"}\n";
  const std::string file = xdg_.folder().Write("all.jsonl", recording);
  Serve("models_last", {{"schema", "cupilot.models_last/1"}, {"document", file}, {"count", 2}});
  EXPECT_EQ(Run({"models", "last", "--all"}).output, recording);
  EXPECT_EQ(daemon_.requests()[0]["params"]["all"], true);
  const Json document = RunJson({"models", "last", "--all"}, 0);
  EXPECT_EQ(document["schema"], "cupilot.exchanges/1");
  EXPECT_EQ(document["exchanges"][1]["role"], "b");
  const std::string to = xdg_.folder() / "replay.jsonl";
  const auto run = Run({"models", "last", "--all", "-o", to});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("2 exchanges are in " + to));
  EXPECT_EQ(*base::ReadFile(to), recording);
  EXPECT_EQ(Run({"models", "last", "-o", to}).exit_code, 2);
}

}  // namespace
}  // namespace cupilot::client
