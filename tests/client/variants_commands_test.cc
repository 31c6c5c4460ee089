// `cupilot diff`, `pin`, `reject`, and the one screen of `explain`.
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "client/commands/explain_screen.h"
#include "client/text_diff.h"
#include "tests/client/client_fixture.h"

namespace cupilot::client {
namespace {

using records::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kId = "0123456789abcdef0123456789abcdef01234567";

Json DiffReply() {
  return {{"schema", "cupilot.diff/1"},
          {"kernel", "image::blur"},
          {"file", "/p/blur.cu"},
          {"line", 12},
          {"original", "void blur() {\n  a();\n  b();\n}\n"},
          {"variant",
           {{"id", kId},
            {"source", "void blur() {\n  a();\n  c();\n}\n"},
            {"values", {{"BX", 64}}},
            {"strategy",
             {{"title", "wider"},
              {"steps", {{{"technique", "vectorized_access"}, {"parameters", {{"width", 4}}}}}}}}}},
          {"evaluation",
           {{"verdict", "accepted"},
            {"speedup", 1.42},
            {"interval", {1.4, 1.44}},
            {"device", {{"arch", "sm_90"}}}}}};
}

TEST_F(ClientTest, DiffShowsWhatTheWinnerChanged) {
  Serve("diff", DiffReply());
  const auto run = Run({"diff", "blur"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  for (const char* part :
       {"image::blur: wider [vectorized_access(width=4), BX=64], 1.42x [1.40, 1.44] on sm_90",
        "--- /p/blur.cu:12", "+++ variant 0123456789abcdef", "\n-  b();\n", "\n+  c();\n",
        "\n   a();\n"}) {
    EXPECT_THAT(run.output, HasSubstr(part));
  }
  EXPECT_THAT(run.output, Not(HasSubstr("\033"))) << "no terminal, no colours";
  const Json json = RunJson({"diff", "blur", "--arch", "sm_90", "--variant", "0123"}, 0);
  EXPECT_EQ(json["schema"], "cupilot.diff/1");
  EXPECT_THAT(json["difference"].dump(), HasSubstr("+  c();"));
  const Json params = daemon_.requests().back()["params"];
  EXPECT_EQ(params["arch"], "sm_90");
  EXPECT_EQ(params["variant"], "0123");
}

// What a user looks at who wonders about a claim that nobody believed.
TEST_F(ClientTest, DiffOfARejectedVariantSaysWhatWasFound) {
  Json reply = DiffReply();
  reply["evaluation"] = {{"verdict", "rejected"},
                         {"reason", "faster_than_physics"},
                         {"detail", "case 'all' would take 1.5 us, ... take at least 9 us\nmore"},
                         {"device", {{"arch", "sm_90"}}}};
  Serve("diff", reply);
  const auto run = Run({"diff", "blur", "--variant", "0123"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output,
              HasSubstr(", rejected: faster_than_physics on sm_90\n"
                        "  case 'all' would take 1.5 us, ... take at least 9 us\n--- "));
}

TEST_F(ClientTest, DiffSideBySideHasTwoColumns) {
  Serve("diff", DiffReply());
  const auto run = Run({"diff", "blur", "--side-by-side"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  std::istringstream lines(run.output);
  bool changed = false;
  for (std::string line; std::getline(lines, line);) {
    changed = changed || (line.starts_with("  b();") && line.find(" |   c();") != line.npos);
  }
  EXPECT_TRUE(changed) << run.output;
}

TEST_F(ClientTest, DiffOfNothingIsOneAndWithoutAKernelTwo) {
  Refuse("diff", base::NotFound("nothing is proven faster"));
  EXPECT_EQ(RunJson({"diff", "k"}, 1)["code"], "not_found");
  EXPECT_EQ(Run({"diff"}).exit_code, 2);
}

TEST(TextDiff, EqualTextsHaveNoDifference) {
  EXPECT_THAT(TextDiff("a\nb\n", "a\nb\n").Unified(), IsEmpty());
  EXPECT_THAT(TextDiff("", "").Unified(), IsEmpty());
}

TEST(TextDiff, HunksNameTheirLinesAndLeaveOutTheRest) {
  std::string before, after;
  for (int i = 1; i <= 30; ++i) {
    before += std::to_string(i) + "\n";
    if (i == 5) continue;
    after += (i == 25 ? "new" : std::to_string(i)) + "\n";
  }
  EXPECT_THAT(
      TextDiff(before, after).Unified(),
      ElementsAre("@@ -2,7 +2,6 @@", " 2", " 3", " 4", "-5", " 6", " 7", " 8", "@@ -22,7 +21,7 @@",
                  " 22", " 23", " 24", "-25", "+new", " 26", " 27", " 28"));
  EXPECT_THAT(TextDiff("", "a\n").Unified(), ElementsAre("@@ -0,0 +1,1 @@", "+a"));
  EXPECT_THAT(TextDiff("a\r\n\tb\n", "a\n").Unified(),
              ElementsAre("@@ -1,2 +1,1 @@", " a", "-    b"));
}

// What is said of both texts gives both again, and nothing that both have is said to be changed.
TEST(TextDiff, AppliedToTheFirstItGivesTheSecond) {
  unsigned state = 1;
  const auto random_text = [&state] {
    std::string text;
    for (int i = 0; i < 12; ++i) {
      state = state * 1103515245u + 12345u;
      text += std::string(1, static_cast<char>('a' + (state >> 16) % 3)) + "\n";
    }
    return text;
  };
  for (int round = 0; round < 200; ++round) {
    const std::string before = random_text(), after = random_text();
    std::string left, right;
    const auto lines = TextDiff(before, after).SideBySide("l", "r", 9);
    for (std::size_t i = 1; i < lines.size(); ++i) {  // "a   | b"
      const char mark = lines[i].at(4);
      if (mark != '>') left += lines[i].substr(0, 1) + "\n";
      if (mark != '<') right += lines[i].substr(6) + "\n";
    }
    EXPECT_EQ(left, before);
    EXPECT_EQ(right, after);
  }
}

TEST(TextDiff, TextsTooLargeForATableAreReplacedAsAWhole) {
  std::string before, after;
  for (int i = 0; i < 5000; ++i) {
    before += "a" + std::to_string(i) + "\n";
    after += "b" + std::to_string(i) + "\n";
  }
  EXPECT_EQ(TextDiff(before, after).Unified().size(), 10001u);
}

TEST(TextDiff, ColumnsAreCutBetweenCharacters) {
  const auto lines = TextDiff("ä123456789\nx\n", "ä123456789\n").SideBySide("l", "r", 11);
  EXPECT_THAT(lines, ElementsAre("l      r", "ä12   ä12", "x    <"));
}

Json DecidedReply(const char* what) {
  return {{"schema", "cupilot.decided/1"},
          {"kernel", "image::blur"},
          {"what", what},
          {"variants", {{{"variant", kId}, {"title", "wider"}, {"mark", what}}}},
          {"now", {{{"variant", kId}, {"title", "wider"}, {"target", "sm_90"}, {"speedup", 1.2}}}},
          {"message", "the next build has it"}};
}

TEST_F(ClientTest, PinNamesWhatIsChosenNow) {
  Serve("pin", DecidedReply("pinned"));
  const auto run = Run({"pin", "blur", "01234567"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  for (const char* part : {"pinned variant 0123456789abcdef (wider)",
                           "now chosen for sm_90: wider, 1.20x", "the next build has it"}) {
    EXPECT_THAT(run.output, HasSubstr(part));
  }
  EXPECT_EQ(daemon_.requests().back()["params"]["variant"], "01234567");
  EXPECT_EQ(RunJson({"pin", "blur", "--none"}, 0)["schema"], "cupilot.decided/1");
  EXPECT_EQ(daemon_.requests().back()["params"]["none"], true);
  EXPECT_FALSE(daemon_.requests().back()["params"].contains("variant"));
}

TEST_F(ClientTest, PinNeedsAVariantOrNone) {
  Serve("pin", DecidedReply("pinned"));
  EXPECT_THAT(Run({"pin", "blur"}).errors, HasSubstr("--none"));
  EXPECT_EQ(Run({"pin", "blur"}).exit_code, 2);
  EXPECT_EQ(RunJson({"pin", "blur", "0123", "--none"}, 2)["schema"], "cupilot.error/1");
  EXPECT_EQ(Run({"pin"}).exit_code, 2);
  EXPECT_TRUE(daemon_.requests().empty());
}

TEST_F(ClientTest, PinOfWhatIsNotProvenIsOne) {
  Refuse("pin", base::NotFound("it is not proven here"));
  EXPECT_EQ(Run({"pin", "blur", "0123"}).exit_code, 1);
}

TEST_F(ClientTest, RejectSaysWhatRunsNow) {
  Json reply = DecidedReply("rejected");
  reply["now"] = Json::array();
  Serve("reject", reply);
  const auto run = Run({"reject", "01234567"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("rejected variant 0123456789abcdef"));
  EXPECT_THAT(run.output, HasSubstr("now chosen: the original"));
  EXPECT_EQ(daemon_.requests().back()["params"]["what"], "01234567");
  EXPECT_FALSE(daemon_.requests().back()["params"].contains("undo"));
  EXPECT_EQ(RunJson({"reject", "01234567", "--undo"}, 0)["what"], "rejected");
  EXPECT_EQ(daemon_.requests().back()["params"]["undo"], true);
  EXPECT_EQ(Run({"reject"}).exit_code, 2);
}

TEST_F(ClientTest, RejectOfAnUnknownVariantIsOneAndAnAmbiguousOneTwo) {
  Refuse("reject", base::NotFound("no variant"));
  EXPECT_EQ(Run({"reject", "ffff"}).exit_code, 1);
  EXPECT_EQ(RunJson({"reject", "ffff"}, 1)["code"], "not_found");
}

TEST_F(ClientTest, HistorySaysWhatChangedWhenAndWhy) {
  Serve("history", {{"schema", "cupilot.history/1"},
                    {"evaluations", Json::array()},
                    {"changes",
                     {{{"date", "2026-11-21T08:30:00Z"},
                       {"what", "published"},
                       {"variants", {kId}},
                       {"title", "wider"},
                       {"reason", "proven faster than the original: 1.42x"}},
                      {{"date", "2026-11-22T08:30:00Z"},
                       {"what", "published"},
                       {"variants", Json::array()},
                       {"title", ""},
                       {"reason", "the user rejected what was there"}}}},
                    {"marks", {{{"mark", "rejected"}, {"variant", kId}, {"title", "wider"}}}}});
  const auto run = Run({"history", "k"});
  for (const char* part :
       {"2026-11-21T08:30:00Z  published 0123456789abcdef (wider): proven faster",
        "2026-11-22T08:30:00Z  the original: the user rejected what was there",
        "now rejected: variant 0123456789abcdef (wider)"}) {
    EXPECT_THAT(run.output, HasSubstr(part));
  }
}

TEST_F(ClientTest, ListShowsWhatTheUserDecided) {
  Serve("list",
        {{"schema", "cupilot.list/1"},
         {"kernels",
          {{{"kernel", "image::blur"},
            {"strategy", "wider"},
            {"file", "/p/blur.cu"},
            {"marks", {{{"mark", "pinned"}}, {{"mark", "rejected"}}, {{"mark", "rejected"}}}}}}}});
  EXPECT_THAT(Run({"list"}).output, HasSubstr("wider (pinned, rejected)"));
}

// As much as there can be of everything.
Json LargeExplain() {
  const std::string word(40, 'w');
  const std::string text = word + " " + word + " " + word + " " + word + " " + word;
  Json document = {
      {"schema", "cupilot.explain/1"},
      {"kernel", "image::" + std::string(120, 'k')},
      {"file", "/p/blur.cu"},
      {"line", 12},
      {"state", "done"},
      {"verdict", "accepted"},
      {"strategy", text},
      {"speedup", 1.42},
      {"interval", {1.4, 1.44}},
      {"why", text},
      {"guard", text},
      {"ended", "its time is used up"},
      {"next", "`cupilot apply`, then build " + text + text},
      {"cost",
       {{"seconds", 900.0},
        {"evaluations", 240},
        {"dollars", 0.25},
        {"spent_seconds",
         {{"building", 3600.0}, {"left_to_others", 12.0}, {"looking", 0.2}, {"proving", 79.0}}}}},
      {"device",
       {{"device", "cuda:0"}, {"name", text}, {"arch", "sm_90"}, {"times", "device times"}}},
      {"evaluation", {{"date", "2026-11-21T08:30:00Z"}, {"variant", kId}}}};
  for (int i = 0; i < 40; ++i) {
    document["tried"].push_back({{"title", "title " + std::to_string(i) + text},
                                 {"verdict", i % 2 == 0 ? "rejected" : "accepted"},
                                 {"reason", i % 2 == 0 ? "not_faster" : ""},
                                 {"speedup", 1.0 + 0.01 * i}});
    document["warnings"].push_back("warning\nof several lines " + text);
    document["marks"].push_back({{"mark", "pinned"}, {"variant", kId}, {"title", text}});
    document["variants"].push_back({{"id", kId}, {"strategy", text}, {"speedup", 1.1}});
    document["declined"].push_back({{"technique", "padding"}, {"reason", text}});
    document["evaluation"]["checks"].push_back({{"name", "red_zones"}, {"passed", true}});
  }
  document["models"] = {{"state", "ended"}, {"requests", 12}, {"trouble", text}};
  return document;
}

std::size_t CharactersOf(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

TEST(ExplainScreen, FitsOneScreenWhateverThereIs) {
  for (const char* verdict : {"accepted", "original"}) {
    Json document = LargeExplain();
    document["verdict"] = verdict;
    document["why_not"] = document["why"];
    document["strategy"] = "größer " + document["strategy"].get<std::string>();
    const auto lines = ExplainScreen(document, "/p/blur.cu");
    EXPECT_LT(lines.size(), kScreenLines);
    for (const std::string& line : lines) {
      EXPECT_LE(CharactersOf(line), kScreenColumns) << line;
      EXPECT_EQ(line.find('\n'), line.npos);
    }
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    // What has to be there even so.
    for (const char* part :
         {"tried: 40; rejected: 20 not_faster", "cost: 15 min of work on the GPU",
          "240 evaluations, $0.25", "workers: building 60 min, proving 79 s, left to others 12 s",
          "next: `cupilot apply`, then build"}) {
      EXPECT_THAT(all, HasSubstr(part));
    }
  }
}

// After a rejection it begins anew.
TEST(ExplainScreen, ASearchThatHasJustBegunSaysWhereTheEvaluationsAre) {
  Json document = LargeExplain();
  document["tried"] = Json::array();
  std::string all;
  for (const std::string& line : ExplainScreen(document, "/p/blur.cu")) all += line + "\n";
  EXPECT_THAT(all, HasSubstr("tried: 0; this search has just begun; `cupilot history` has"));
}

TEST_F(ClientTest, ExplainAnswersOnOneScreen) {
  Json document = LargeExplain();
  document["kernel"] = "image::blur";
  document["strategy"] = "wider";
  document["variants"] = {{{"id", kId}, {"strategy", "wider"}, {"speedup", 1.42}}};
  document["marks"] = Json::array();
  document["why"] = "";
  Serve("explain", document);
  const auto run = Run({"explain", "blur"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  for (const char* part : {"image::blur (/p/blur.cu:12): done", "won: wider, 1.42x [1.40, 1.44]",
                           "40 of 40 checks passed", "1.39x", "cupilot explain --full",
                           "the search has ended: its time is used up", "next: "}) {
    EXPECT_THAT(run.output, HasSubstr(part));
  }
  EXPECT_LT(std::count(run.output.begin(), run.output.end(), '\n'), 24);
  const auto full = Run({"explain", "blur", "--full"});
  EXPECT_GT(std::count(full.output.begin(), full.output.end(), '\n'), 100);
  EXPECT_THAT(full.output, HasSubstr("next: "));
  EXPECT_THAT(full.output, HasSubstr("cost: 15 min"));
}

}  // namespace
}  // namespace cupilot::client
