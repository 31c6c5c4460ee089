// What is sent to end us while a program runs for us ends the program.
#include "client/child_program.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

namespace cupilot::client {
namespace {

// Sends it to us, and goes on until it gets something itself.
int EndsBy(const std::string& signal, EndingSignals& signals) {
  const auto status = RunChildProgram(
      {"sh", "-c", "kill -" + signal + " $PPID; while :; do :; done"}, {}, true, signals);
  EXPECT_TRUE(status);
  return status && WIFSIGNALED(*status) ? WTERMSIG(*status) : 0;
}

TEST(ChildProgram, IsEndedByWhatWasToEndUs) {
  EndingSignals signals;
  EXPECT_EQ(EndsBy("TERM", signals), SIGTERM);
  EXPECT_EQ(EndsBy("HUP", signals), SIGHUP);
  EXPECT_FALSE(signals.Asked()) << "it was for the program";
}

TEST(ChildProgram, WhatTheTerminalSendsToBothIsNotPassedOn) {
  EndingSignals signals;
  const auto status = RunChildProgram({"sh", "-c", "kill -INT $PPID; exit 7"}, {}, true, signals);
  ASSERT_TRUE(status);
  EXPECT_EQ(WEXITSTATUS(*status), 7);
}

TEST(EndingSignals, WithoutAProgramWeAreAsked) {
  EndingSignals signals;
  EXPECT_FALSE(signals.Asked());
  ::raise(SIGTERM);
  EXPECT_TRUE(signals.Asked());
}

TEST(EndingSignals, WhatWasIgnoredStaysIgnored) {
  const auto before = ::signal(SIGHUP, SIG_IGN);
  {
    EndingSignals signals;
    ::raise(SIGHUP);
    EXPECT_FALSE(signals.Asked());
  }
  EXPECT_EQ(::signal(SIGHUP, before), SIG_IGN);
}

}  // namespace
}  // namespace cupilot::client
