#include "agents/provider_choice.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "agents/provider_factory.h"
#include "tests/support/manual_alarms.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::agents {
namespace {

ProviderChoice Parse(const std::string& text) {
  auto choice = ParseProvider(text, "/base");
  EXPECT_TRUE(choice) << choice.error().message;
  return choice ? *choice : ProviderChoice();
}

TEST(ProviderChoice, NamesServices) {
  EXPECT_EQ(Parse("openai:gpt-6-sol").model, "gpt-6-sol");
  EXPECT_EQ(Parse("openai:gpt-6-sol").address, "https://api.openai.com");
  EXPECT_TRUE(Parse("openai:gpt-6-sol").own_service);
  EXPECT_EQ(Parse("anthropic:claude-opus-5-5").address, "https://api.anthropic.com");
  const ProviderChoice local = Parse("ollama:qwen3:14b");
  EXPECT_EQ(local.model, "qwen3:14b");
  EXPECT_EQ(local.address, "http://127.0.0.1:11434");
  const ProviderChoice router = Parse("openai:meta/llama-4:free@https://openrouter.ai/api");
  EXPECT_EQ(router.model, "meta/llama-4:free");
  EXPECT_EQ(router.address, "https://openrouter.ai/api");
  EXPECT_FALSE(router.own_service);
}

TEST(ProviderChoice, NamesTheOthers) {
  EXPECT_EQ(Parse("command:llm -m 'a b' \"\"").words,
            (std::vector<std::string>{"llm", "-m", "a b", ""}));
  EXPECT_EQ(Parse("exchange:prompts").path, "/base/prompts");
  EXPECT_EQ(Parse("exchange:/x/prompts#gpt-6-sol").path, "/x/prompts");
  EXPECT_EQ(Parse("exchange:/x/prompts#gpt-6-sol").model, "gpt-6-sol");
  EXPECT_EQ(Parse("replay:a#b.jsonl").path, "/base/a#b.jsonl");
}

TEST(ProviderChoice, SaysWhatMayStandThere) {
  for (const char* text : {"", "openai", "openai:", "gemini:x", "command:", "command:'a",
                           "replay:", "openai:m@nonsense", "openai:m@https://me:pw@x.com"}) {
    const auto choice = ParseProvider(text, "/");
    ASSERT_FALSE(choice) << text;
    EXPECT_NE(choice.error().message.find("expected openai:MODEL"), std::string::npos);
  }
}

TEST(ProviderChoice, SeveralInOneSetting) {
  EXPECT_TRUE(ParseProviders("none", "/")->empty());
  EXPECT_TRUE(ParseProviders(" ", "/")->empty());
  const auto both = ParseProviders("openai:a, command:x -l a,b", "/");
  ASSERT_TRUE(both) << both.error().message;
  ASSERT_EQ(both->size(), 2u);
  EXPECT_EQ((*both)[1].words.back(), "a,b");
  EXPECT_FALSE(ParseProviders("openai:a, ", "/"));
}

class ProviderFactoryTest : public testing::Test {
 protected:
  base::Result<std::unique_ptr<Provider>> Make(const std::string& text) {
    auto choice = ParseProvider(text, folder_.path());
    EXPECT_TRUE(choice);
    return MakeProvider(*choice, {folder_ / "keys", folder_ / "batches"}, keys_, loop_,
                        {client_, alarms_, clock_, random_});
  }
  ProviderFactoryTest() {
    for (const char* name :
         {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_API_KEY", "CUPILOT_KEY_OPENROUTER_AI"}) {
      ::unsetenv(name);
    }
  }

  test::TemporaryFolder folder_;
  KeyRing keys_;
  loop::Loop loop_;
  loop::HttpClient client_{loop_};
  test::ManualClock clock_;
  test::ManualAlarms alarms_{clock_};
  base::UniqueFunction<double()> random_ = [] { return 0.0; };
};

TEST_F(ProviderFactoryTest, AServiceNeedsItsKey) {
  const auto without = Make("anthropic:m");
  ASSERT_FALSE(without);
  EXPECT_NE(without.error().message.find("ANTHROPIC_API_KEY"), std::string::npos);
  ::chmod(folder_.Write("keys/anthropic", "sk-1").c_str(), 0600);
  const auto with = Make("anthropic:m");
  ASSERT_TRUE(with) << with.error().message;
  EXPECT_EQ((*with)->name(), "anthropic https://api.anthropic.com");
  EXPECT_TRUE((*with)->traits().sends);
  EXPECT_TRUE((*with)->traits().costs);
}

TEST_F(ProviderFactoryTest, ABatchHasTheServicesKeyAndName) {
  EXPECT_FALSE(Make("anthropic-batch:m"));
  ::setenv("ANTHROPIC_API_KEY", "sk-1", 1);
  const auto made = Make("anthropic-batch:m");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ((*made)->name(), "anthropic https://api.anthropic.com");
  EXPECT_TRUE((*made)->traits().batch);
  EXPECT_TRUE(Make("anthropic:m")) << "with the key that the first one took";
  EXPECT_TRUE((*made)->traits().costs);
}

TEST_F(ProviderFactoryTest, AKeyIsNotSentElsewhere) {
  const KeySource own = KeySourceOf(*ParseProvider("openai:m", "/"), "/keys");
  EXPECT_EQ(own.variable, "OPENAI_API_KEY");
  EXPECT_EQ(own.file, "/keys/openai");
  EXPECT_EQ(own.credential, "cupilot-openai");
  const KeySource other =
      KeySourceOf(*ParseProvider("openai:m@https://openrouter.ai:444/api", "/"), "/keys");
  EXPECT_EQ(other.variable, "CUPILOT_KEY_OPENROUTER_AI_444");
  EXPECT_EQ(other.file, "/keys/openrouter.ai-444");
  EXPECT_EQ(other.credential, "cupilot-openrouter.ai-444");
}

TEST_F(ProviderFactoryTest, WhatRunsHereIsFree) {
  EXPECT_FALSE((*Make("ollama:m"))->traits().costs);
  EXPECT_FALSE((*Make("openai:m@http://localhost:8000"))->traits().costs);
  EXPECT_TRUE((*Make("openai:m@https://openrouter.ai/api"))->traits().costs);
  EXPECT_FALSE((*Make("command:cat"))->traits().costs);
  EXPECT_TRUE((*Make("exchange:x"))->traits().sends);
  folder_.Write("r.jsonl", "");
  EXPECT_FALSE((*Make("replay:r.jsonl"))->traits().sends);
  EXPECT_FALSE(Make("replay:none.jsonl"));
}

}  // namespace
}  // namespace cupilot::agents
