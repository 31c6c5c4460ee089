#include "agents/command_provider.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/manual_alarms.h"
#include "tests/support/mock_http_server.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::agents {
namespace {

using std::chrono::seconds;
using test::RunUntil;

class CommandProviderTest : public testing::Test {
 protected:
  CommandProviderTest() { ::signal(SIGPIPE, SIG_IGN); }

  void Ask(const std::string& script, CommandProvider::Settings settings = {},
           const std::string& prompt = "why?") {
    settings.arguments = {"/bin/sh", "-c", script};
    provider_ = std::make_unique<CommandProvider>(loop_, alarms_, std::move(settings));
    request_.model = "m1";
    request_.system = "be brief";
    request_.prompt = prompt;
    call_ = provider_->Send(
        request_, [this](std::string_view text) { streamed_ += text; },
        [this](ModelResult result) { result_ = std::move(result); });
    EXPECT_FALSE(result_);
  }
  void AskAndWait(const std::string& script, CommandProvider::Settings settings = {},
                  const std::string& prompt = "why?") {
    Ask(script, std::move(settings), prompt);
    RunUntil(loop_, [this] { return result_.has_value(); });
  }
  Failure why() const { return *result_ ? Failure::kInternal : result_->error().why; }

  loop::Loop loop_;
  test::ManualClock clock_;
  test::ManualAlarms alarms_{clock_};
  ModelRequest request_;
  std::unique_ptr<CommandProvider> provider_;
  std::string streamed_;
  std::optional<ModelResult> result_;
  std::unique_ptr<ModelCall> call_;
};

TEST_F(CommandProviderTest, GivesThePromptAndTakesTheOutput) {
  AskAndWait("cat; printf \"$CUPILOT_MODEL\"");
  ASSERT_TRUE(*result_);
  EXPECT_EQ((*result_)->text, "be brief\n\nwhy?\nm1\n");
  EXPECT_EQ(streamed_, (*result_)->text);
  EXPECT_EQ(provider_->Bytes(request_), "be brief\n\nwhy?\n");
  EXPECT_FALSE((*result_)->usage.known);
  EXPECT_FALSE(alarms_.Next());
}

TEST_F(CommandProviderTest, GivesALongPromptWhole) {
  const std::string prompt(2 << 20, 'p');
  AskAndWait("wc -c", {}, prompt);
  ASSERT_TRUE(*result_);
  EXPECT_EQ(std::stoul((*result_)->text), provider_->Bytes(request_).size());
}

TEST_F(CommandProviderTest, AProgramThatFailsGivesNoAnswer) {
  AskAndWait("echo part; echo 'no model here' >&2; exit 3");
  EXPECT_EQ(why(), Failure::kBroken);
  EXPECT_EQ(result_->error().message, "the program ended with 3: no model here");
  EXPECT_EQ(result_->error().partial, "part\n");
}

TEST_F(CommandProviderTest, AProgramThatCrashesGivesNoAnswer) {
  AskAndWait("kill -SEGV $$");
  EXPECT_EQ(why(), Failure::kBroken);
}

TEST_F(CommandProviderTest, AProgramThatDoesNotReadIsFine) {
  AskAndWait("exec 0<&-; echo yes", {}, std::string(1 << 20, 'p'));
  ASSERT_TRUE(*result_);
  EXPECT_EQ((*result_)->text, "yes\n");
}

TEST_F(CommandProviderTest, SilenceIsNoAnswer) {
  AskAndWait("cat >/dev/null; echo");
  EXPECT_EQ(why(), Failure::kMalformed);
}

TEST_F(CommandProviderTest, WhatNeverEndsIsEnded) {
  Ask("echo half; exec tail -f /dev/null", {.total = seconds(60)});
  RunUntil(loop_, [this] { return !streamed_.empty(); });
  alarms_.Advance(seconds(60));
  EXPECT_EQ(why(), Failure::kTimeout);
  EXPECT_EQ(result_->error().partial, "half\n");
}

TEST_F(CommandProviderTest, WhatWritesWithoutEndIsEnded) {
  AskAndWait("yes", {.max_bytes = 100000});
  EXPECT_EQ(why(), Failure::kTooLarge);
  result_.reset();
  AskAndWait("cat /dev/zero", {.max_bytes = 100000});
  EXPECT_EQ(why(), Failure::kTooLarge);
}

TEST_F(CommandProviderTest, AProgramThatIsNotThere) {
  CommandProvider provider(loop_, alarms_, {.arguments = {"/no/such/program"}});
  call_ = provider.Send({}, nullptr, [this](ModelResult result) { result_ = std::move(result); });
  EXPECT_FALSE(result_);
  alarms_.Advance(seconds(0));
  EXPECT_EQ(why(), Failure::kUnreachable);
}

TEST_F(CommandProviderTest, MayBeCancelledByItsOwnText) {
  CommandProvider provider(loop_, alarms_, {.arguments = {"/bin/sh", "-c", "echo a; echo b; cat"}});
  int texts = 0;
  call_ = provider.Send(
      {},
      [&](std::string_view) {
        ++texts;
        call_.reset();
      },
      [](const ModelResult&) { FAIL(); });
  RunUntil(loop_, [&] { return texts == 1; });
  EXPECT_FALSE(call_);
}

TEST_F(CommandProviderTest, IsNamedByItsWords) {
  const CommandProvider provider(loop_, alarms_, {.arguments = {"llm", "-m", "x"}});
  EXPECT_EQ(provider.name(), "command llm -m x");
}

}  // namespace
}  // namespace cupilot::agents
