// What `cupilot watch` shows, as text: a pure function of its state and the terminal.
#include <gmock/gmock.h>

#include "client/watch/refresh.h"
#include "client/watch/terminal.h"
#include "client/watch/view.h"

namespace cupilot::client {
namespace {

using records::Json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Json WatchedRow(const std::string& kernel, const std::string& state) {
  return {{"kernel", kernel},
          {"project", "/p/build"},
          {"state", state},
          {"tried", 12},
          {"speedup", 1.42},
          {"curve", {1.0, 1.0, 1.2, 1.42}},
          {"budget",
           {{"seconds", 306.0}, {"of_seconds", 900.0}, {"evaluations", 12}, {"of_evaluations", 0}}},
          {"why", ""}};
}

WatchState WatchedState() {
  WatchState state;
  state.status = {{"version", "0.1.0"},
                  {"state", "tuning"},
                  {"uptime_seconds", 61.0},
                  {"devices",
                   {{{"device", "host"}, {"name", "Some CPU"}, {"arch", "host-x86-64-v3"}},
                    {{"device", "cuda:0"},
                     {"name", "NVIDIA H200"},
                     {"arch", "sm_90"},
                     {"state", "free"},
                     {"why", ""},
                     {"busy_share", 0.834},
                     {"waiting", 2},
                     {"builds_waiting", 1}},
                    {{"device", "cuda:1"},
                     {"name", "NVIDIA H200"},
                     {"arch", "sm_90"},
                     {"state", "others"},
                     {"why", "trainer (process 77) uses it"}}}},
                  {"counters", {{"evaluations", 120}, {"accepted", 3}, {"published", 2}}},
                  {"models", {{"requests", 14}, {"dollars", 0.12}}},
                  {"now", {{{"kernel", "image::blur"}, {"stage", "measure"}, {"title", "wider"}}}}};
  Adopt({WatchedRow("image::blur", "tuning"), WatchedRow("image::sharpen", "done")}, state);
  return state;
}

std::vector<std::string> Texts(WatchState& state, ViewSize size,
                               Charset charset = Charset::kAscii) {
  std::vector<std::string> texts;
  for (const ShownLine& line : Picture(state, size, charset)) {
    std::string text;
    for (const Span& span : line) text += span.text;
    while (!text.empty() && text.back() == ' ') text.pop_back();
    texts.push_back(std::move(text));
  }
  return texts;
}

TEST(WatchView, AnOrdinaryTerminalShowsAll) {
  WatchState state = WatchedState();
  EXPECT_THAT(
      Texts(state, {80, 18}),
      ElementsAre("cuPilot 0.1.0  tuning  up 61 s",
                  "evaluations 120, accepted 3, published 2; models: 14 requests, $0.1200",
                  "host Some CPU (host-x86-64-v3)  idle",
                  "cuda:0 NVIDIA H200 (sm_90)  free, 83 % busy, 2 waiting, 1 builds waiting",
                  "cuda:1 NVIDIA H200 (sm_90)  others: trainer (process 77) uses it", "",
                  "  kernel          state           best   tried  budget  best so far",
                  "> image::blur     tuning         1.42x      12    34 %  ..=@",
                  "  image::sharpen  done           1.42x      12    34 %  ..=@", "", "", "", "",
                  "", "", "", "now: image::blur, measure, wider",
                  "up/down choose  Enter details  p pause  s snooze 1 h  q quit"));
}

TEST(WatchView, BuildsOfOneKernelAreToldApart) {
  WatchState state = WatchedState();
  Json debug = WatchedRow("image::blur", "tuning"), release = debug;
  release["project"] = "/p/release";
  Adopt({debug, release}, state);
  const auto texts = Texts(state, {80, 18});
  EXPECT_THAT(texts, Contains(HasSubstr("> image::blur (build) ")));
  EXPECT_THAT(texts, Contains(HasSubstr("  image::blur (release) ")));
}

TEST(WatchView, UnicodeHasFinerCurves) {
  WatchState state = WatchedState();
  EXPECT_THAT(Texts(state, {80, 18}, Charset::kUnicode), Contains(HasSubstr("▁▁▄█")));
}

TEST(WatchView, WhatADaemonDoesNotKnowYetIsNoDevice) {
  WatchState state = WatchedState();
  state.status["devices"] = {{{"device", ""}, {"name", ""}, {"arch", ""}}};
  EXPECT_THAT(Texts(state, {80, 18}, Charset::kAscii), Not(Contains(HasSubstr("()"))));
}

TEST(WatchView, NoSizeIsTooSmallOrWrittenBeyond) {
  for (const Charset charset : {Charset::kAscii, Charset::kUnicode}) {
    for (int columns = 1; columns < 140; ++columns) {
      for (const int rows : {1, 2, 3, 4, 7, 13, 14, 24, 60}) {
        for (const bool details : {false, true}) {
          WatchState state = WatchedState();
          state.details = details;
          state.opened = KernelOf(state.rows[1]);
          state.explanation = {"won: wider, 1.42x", "  a längere line with words and 漢字 in it"};
          const auto lines = Texts(state, {columns, rows}, charset);
          ASSERT_EQ(lines.size(), static_cast<std::size_t>(rows)) << columns << " x " << rows;
          for (const std::string& line : lines) {
            ASSERT_LE(Columns(line, charset), columns) << line;
            if (charset == Charset::kUnicode) continue;
            for (const char byte : line) ASSERT_TRUE(byte >= 0x20 && byte < 0x7f) << line;
          }
        }
      }
    }
  }
}

TEST(WatchView, OfManyKernelsTheSelectedOneIsSeen) {
  WatchState state = WatchedState();
  Json rows = Json::array();
  for (int i = 0; i < 100; ++i) rows.push_back(WatchedRow("k" + std::to_string(i), "waiting"));
  Adopt(rows, state);
  for (const std::size_t selected : {0, 57, 99, 3}) {
    state.selected = selected;
    EXPECT_THAT(Texts(state, {80, 24}),
                Contains(::testing::StartsWith("> k" + std::to_string(selected) + " ")));
  }
}

TEST(WatchView, TheSelectedKernelStaysSelectedWhereItMoves) {
  WatchState state = WatchedState();
  state.selected = 1;
  Adopt({WatchedRow("a", "done"), WatchedRow("b", "done"), WatchedRow("image::sharpen", "done")},
        state);
  EXPECT_EQ(state.selected, 2u);
  Adopt(Json::array(), state);
  EXPECT_EQ(state.selected, 0u);
  EXPECT_THAT(Texts(state, {80, 24}), Contains(HasSubstr("no tagged kernel is known")));
}

TEST(WatchView, DetailsShowTheCurveAndTheExplanation) {
  WatchState state = WatchedState();
  state.details = true;
  state.opened = KernelOf(state.rows[0]);
  state.explanation = {"won: wider, 1.42x [1.40, 1.44], published",
                       "  runs where: width % 4 == 0 && aligned(in, 16) && aligned(out, 16) && "
                       "height % 2 == 0"};
  const auto lines = Texts(state, {60, 14});
  EXPECT_EQ(lines[0], "image::blur  tuning");
  EXPECT_EQ(lines[1], "best so far  ..=@  1.42x");
  EXPECT_EQ(lines[2], "tried 12, of its budget used: 34 %");
  EXPECT_EQ(lines[4], "won: wider, 1.42x [1.40, 1.44], published");
  EXPECT_EQ(lines[5], "  runs where: width % 4 == 0 && aligned(in, 16) &&");
  EXPECT_EQ(lines[6], "    aligned(out, 16) && height % 2 == 0");
  EXPECT_THAT(lines.back(), HasSubstr("Esc or q back"));
}

TEST(WatchView, ItIsSaidThatTheDaemonIsGone) {
  WatchState state = WatchedState();
  state.trouble = "the daemon has ended";
  EXPECT_THAT(Texts(state, {80, 24})[0], HasSubstr("the daemon has ended"));
  state.details = true;
  EXPECT_THAT(Texts(state, {80, 24}), Contains("the daemon has ended"));
}

TEST(WatchView, APausedDaemonCanBeResumed) {
  WatchState state = WatchedState();
  state.status["state"] = "paused";
  state.status["idle_reason"] = "snoozed";
  state.status["snoozed_until"] = "2026-11-21T09:00:00Z";
  const auto lines = Texts(state, {80, 24});
  EXPECT_THAT(lines[0], HasSubstr("paused: snoozed until 2026-11-21T09:00:00Z"));
  EXPECT_THAT(lines.back(), HasSubstr("p resume"));
}

TEST(WatchView, WhatModelsAndNamesSayCannotMoveTheCursor) {
  WatchState state = WatchedState();
  state.status["now"][0]["title"] =
      "wider\033[2J\r\n\x9b"
      "1A\x07";
  for (const Charset charset : {Charset::kAscii, Charset::kUnicode}) {
    for (const std::string& line : Texts(state, {80, 24}, charset)) {
      for (const char byte : line) EXPECT_TRUE(byte >= 0x20 || (byte & 0x80) != 0) << line;
      EXPECT_THAT(line, Not(HasSubstr("\x9b")));
    }
  }
}

TEST(WatchView, APlainPictureHasNothingThatChangesByItself) {
  WatchState state = WatchedState();
  const auto lines = PlainPicture(state, 120, Charset::kAscii);
  EXPECT_EQ(lines[0], "cuPilot 0.1.0  tuning");
  EXPECT_THAT(lines, Contains("  image::blur     tuning         1.42x      12    34 %  ..=@"));
  EXPECT_THAT(lines, Each(Not(HasSubstr("quit"))));
  state.status["uptime_seconds"] = 90.0;
  EXPECT_EQ(PlainPicture(state, 120, Charset::kAscii), lines);
}

TEST(WatchText, IsCutWithAMark) {
  EXPECT_EQ(Fit("abcdef", 6, Charset::kAscii), "abcdef");
  EXPECT_EQ(Fit("abcdef", 4, Charset::kAscii), "abc~");
  EXPECT_EQ(Fit("abcdef", 4, Charset::kUnicode), "abc…");
  EXPECT_EQ(FitEnd("abcdef", 4, Charset::kAscii), "~def");
  EXPECT_EQ(Fit("abc", 0, Charset::kAscii), "");
  EXPECT_EQ(Fit("漢字漢字", 5, Charset::kUnicode), "漢字…");  // of two columns each
  EXPECT_EQ(Columns("漢字", Charset::kUnicode), 4);
  EXPECT_EQ(Fit("é", 4, Charset::kAscii), "?");
  EXPECT_EQ(Fit("\xff\xc3", 4, Charset::kUnicode), "??");
}

TEST(WatchText, ACurveGoesFromTheOriginalToItsBest) {
  EXPECT_EQ(Sparkline(std::vector<double>{}, 10, Charset::kAscii), "");
  EXPECT_EQ(Sparkline(std::vector<double>{1, 1}, 10, Charset::kAscii), "..");
  EXPECT_EQ(Sparkline(std::vector<double>{1, 2, 3}, 10, Charset::kAscii), ".+@");
  // Of more points than columns the last of each slice: the best is never left out.
  EXPECT_EQ(Sparkline(std::vector<double>{1, 1, 1, 1, 1, 2}, 3, Charset::kAscii), "..@");
}

TEST(WatchScreen, OnlyLinesThatDifferAreWritten) {
  const std::vector<ShownLine> before = {{{"a", Style::kHead}}, {{"b"}}, {{"c"}}};
  const std::vector<ShownLine> after = {{{"a", Style::kHead}}, {{"x", Style::kGood}}};
  EXPECT_EQ(Repaint(before, before, true), "");
  EXPECT_EQ(Repaint(before, after, true), "\033[2;1H\033[32mx\033[0m\033[K\033[3;1H\033[K");
  EXPECT_EQ(Repaint(before, after, false), "\033[2;1Hx\033[K\033[3;1H\033[K");
}

TEST(WatchRefresh, NeverTwiceASecondAndSeldomAtRest) {
  RefreshPlan plan;
  EXPECT_EQ(plan.UntilDue(seconds(5)), milliseconds(0));
  EXPECT_TRUE(plan.AsksForRows(seconds(5)));
  plan.OnAsked(seconds(5), true);
  plan.OnAnswered(false);
  EXPECT_EQ(plan.UntilDue(seconds(5)), milliseconds(10000));
  plan.OnEvent(false);
  EXPECT_EQ(plan.UntilDue(seconds(5)), milliseconds(1000));
  EXPECT_EQ(plan.UntilDue(seconds(7)), milliseconds(0));
  EXPECT_FALSE(plan.AsksForRows(seconds(7)));
  plan.OnAsked(seconds(7), false);
  EXPECT_EQ(plan.UntilDue(seconds(8)), milliseconds(9000));
  EXPECT_FALSE(plan.AsksForRows(seconds(100)));  // nothing was said of kernels
  plan.OnEvent(true);
  EXPECT_TRUE(plan.AsksForRows(seconds(8)));
}

TEST(WatchRefresh, WhileTuningEverySecondAndKernelsEveryTen) {
  RefreshPlan plan;
  plan.OnAsked(seconds(0), true);
  plan.OnAnswered(true);
  EXPECT_EQ(plan.UntilDue(seconds(0)), milliseconds(1000));
  EXPECT_FALSE(plan.AsksForRows(seconds(9)));
  EXPECT_TRUE(plan.AsksForRows(seconds(10)));
}

}  // namespace
}  // namespace cupilot::client
