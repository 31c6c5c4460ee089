// The commands that ask the daemon: what they ask, what they print, their exit codes.
#include <gmock/gmock.h>

#include <future>
#include <thread>

#include "base/file.h"
#include "client/kernel_names.h"
#include "tests/client/client_fixture.h"
#include "tests/support/terminal_program.h"

namespace cupilot::client {
namespace {

using records::Json;
using ::testing::HasSubstr;
using ::testing::Not;

Json MakeStatus() {
  return {{"schema", "cupilot.status/1"},
          {"version", CUPILOT_VERSION},
          {"pid", 42},
          {"uptime_seconds", 61.0},
          {"state", "tuning"},
          {"idle_reason", ""},
          {"snoozed_until", nullptr},
          {"device", {{"name", "cpu"}, {"arch", "host-x86-64-v3"}, {"times", "CPU times"}}},
          {"projects",
           {{{"build_folder", "/p/build"}, {"kernels", 3}, {"warnings", {"a.cu:3: no workload"}}}}},
          {"counters", {{"evaluations", 7}, {"accepted", 2}, {"published", 1}}},
          {"now", {{{"kernel", "blur"}, {"stage", "measure"}, {"title", "wider"}}}}};
}

Json MakeRow() {
  return {{"kernel", "image::blur"},
          {"file", "/p/blur.cu"},
          {"line", 12},
          {"state", "done"},
          {"tried", 9},
          {"accepted", 2},
          {"speedup", 1.42},
          {"strategy", "wider"},
          {"published", true},
          {"why", ""}};
}

TEST_F(ClientTest, StatusSaysWhatIsBeingDone) {
  Serve("status", MakeStatus());
  const auto run = Run({"status"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  for (const char* part : {"tuning", "CPU times", "blur, measure, wider", "3 kernels",
                           "a.cu:3: no workload", "evaluations 7"}) {
    EXPECT_THAT(run.output, HasSubstr(part));
  }
  EXPECT_EQ(RunJson({"status"}, 0)["schema"], "cupilot.status/1");
}

TEST_F(ClientTest, StatusSaysWhereAGpusTimeWent) {
  Json status = MakeStatus();
  // Longer than what a string holds by itself.
  const std::string state = "left to whoever uses it beside the daemon";
  status["devices"] = {{{"device", "cuda:0"},
                        {"state", "free"},
                        {"why", ""},
                        {"busy_share", 0.31},
                        {"builds_waiting", 2},
                        {"spent_seconds", {{"looking", 79.0}, {"proving", 325.0}}},
                        {"left_seconds", {{"others", 12.0}, {state, 7.0}}}}};
  Serve("status", status);
  const auto run = Run({"status"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  for (const std::string& part :
       {std::string("cuda:0 free, 31 % busy, 2 builds waiting"),
        std::string("looking 79 s, proving 5 min"), std::string("waiting (others) 12 s"),
        "waiting (" + state + ") 7 s"}) {
    EXPECT_THAT(run.output, HasSubstr(part));
  }
}

TEST_F(ClientTest, StatusNamesTheTestThatIsRun) {
  Json status = MakeStatus();
  status["capturing"] = {{"test", "app.runs"}, {"build_folder", "/p/build"}};
  Serve("status", status);
  EXPECT_THAT(Run({"status"}).output,
              HasSubstr("now: the test 'app.runs' shows what kernels are run on (/p/build)"));
}

TEST_F(ClientTest, ListShowsARowAKernel) {
  Serve("list", {{"schema", "cupilot.list/1"}, {"kernels", {MakeRow()}}});
  const auto run = Run({"list"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("image::blur"));
  EXPECT_THAT(run.output, HasSubstr("1.42x"));
  EXPECT_THAT(run.output, HasSubstr("/p/blur.cu:12"));
  EXPECT_EQ(RunJson({"list"}, 0)["kernels"].size(), 1u);
  EXPECT_EQ(daemon_.requests().back()["params"]["folder"], xdg_.folder().path());
}

TEST_F(ClientTest, RowsOfTheListFitTheTerminalAndAreWholeInAPipe) {
  Json row = MakeRow();
  const std::string why = "it is " + std::string(200, 'y') + " long";
  row["why"] = "/p/a/folder/of/some/depth/blur.cu:12: " + why;
  row["kernel"] = "a_namespace::of_some_length::blur_rows";
  row["file"] = "/p/a/folder/of/some/depth/blur.cu";
  Serve("list", {{"schema", "cupilot.list/1"}, {"kernels", {row}}});
  environment_["LC_ALL"] = "C.UTF-8";
  EXPECT_THAT(Run({"list"}).output, HasSubstr(why));
  for (const int columns : {80, 120}) {
    test::TerminalProgram program({CUPILOT_PROGRAM, "list"}, {environment_, xdg_.folder().path()},
                                  columns);
    EXPECT_EQ(program.End(), 0);
    EXPECT_THAT(program.screen().Line(1), HasSubstr("blur_rows"));
    EXPECT_THAT(program.screen().Line(1), HasSubstr("  it is yy"));
    EXPECT_THAT(program.screen().Line(1), HasSubstr("\u2026"));
    EXPECT_THAT(program.screen().Line(1), HasSubstr(".cu:12"));
    EXPECT_EQ(program.screen().Line(2), "") << "it wraps";
  }
}

// One that was just started knows no kernel before it has read the sources.
TEST_F(ClientTest, WhoAsksForKernelsWaitsUntilTheSourcesAreRead) {
  int unread = 3, asked_before = 0;
  daemon_.On("status", [&](const Json&) {
    Json status = MakeStatus();
    status["unread"] = unread > 0 ? unread-- : 0;
    return status;
  });
  daemon_.On("list", [&](const Json&) {
    asked_before += unread;
    return Json{{"schema", "cupilot.list/1"}, {"kernels", {MakeRow()}}};
  });
  ASSERT_TRUE(daemon_.Start());
  const auto run = Run({"list"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("image::blur"));
  EXPECT_EQ(unread, 0);
  EXPECT_EQ(asked_before, 0);
  EXPECT_THAT(run.errors, Not(HasSubstr("not read")));
}

// Nothing is read during a build.
TEST_F(ClientTest, WhoAsksForKernelsDoesNotWaitForABuild) {
  Json status = MakeStatus();
  status["unread"] = 3;
  status["idle_reason"] = "build running";
  int asked = 0;
  daemon_.On("status", [&](const Json&) { return ++asked, status; });
  daemon_.On("list", [](const Json&) {
    return Json{{"schema", "cupilot.list/1"}, {"kernels", Json::array()}};
  });
  ASSERT_TRUE(daemon_.Start());
  EXPECT_EQ(Run({"list"}).exit_code, 0);
  EXPECT_EQ(asked, 1);
}

TEST_F(ClientTest, ListWithoutKernelsSaysWhatToDo) {
  Serve("list", {{"schema", "cupilot.list/1"}, {"kernels", Json::array()}});
  EXPECT_THAT(Run({"list"}).output, HasSubstr("// cupilot: tune"));
}

TEST_F(ClientTest, ExplainShowsVariantsForDifferentSizes) {
  Json document = MakeRow();
  document.update({{"schema", "cupilot.explain/1"}, {"verdict", "accepted"}});
  document["variants"] = {{{"id", "0123456789abcdef0123"},
                           {"strategy", "wider"},
                           {"speedup", 1.33},
                           {"cases", {"large", "huge"}}},
                          {{"id", "fedcba9876543210fedc"},
                           {"strategy", "narrower"},
                           {"speedup", 1.2},
                           {"cases", {"small"}}}};
  Serve("explain", document);
  const auto run = Run({"explain", "blur", "--full"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  for (const char* part : {"won: 2 variants for different sizes, 1.42x",
                           "  wider: cases 'large', 'huge', alone 1.33x, variant 0123456789abcdef",
                           "  narrower: cases 'small', alone 1.20x, variant fedcba9876543210"}) {
    EXPECT_THAT(run.output, HasSubstr(part));
  }
}

TEST_F(ClientTest, ExplainShowsWinnerTriesAndRefusals) {
  Json document = MakeRow();
  document.update({{"schema", "cupilot.explain/1"},
                   {"verdict", "accepted"},
                   {"read_seconds", 0.263},
                   {"original_us", 41.2},
                   {"variant_us", 29.0},
                   {"interval", {1.4, 1.44}},
                   {"guard", "width % 4 == 0"},
                   {"device", {{"name", "cpu"}, {"arch", "host"}, {"times", "CPU times"}}},
                   {"evaluation",
                    {{"date", "2026-11-21"},
                     {"variant", "0123456789abcdef0123"},
                     {"checks", {{{"name", "red_zones"}, {"passed", true}, {"detail", ""}}}}}},
                   {"tried",
                    {{{"title", "narrower"},
                      {"verdict", "rejected"},
                      {"reason", "not_faster"},
                      {"speedup", 0.9}}}},
                   {"declined", {{{"technique", "padding"}, {"reason", "no shared memory"}}}}});
  Serve("explain", document);
  const auto run = Run({"explain", "blur", "--full"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  for (const char* part :
       {"read in 263.00 ms", "won: wider, 1.42x [1.40, 1.44], published",
        "41.2 us before, 29.0 us after", "CPU times", "runs where: width % 4 == 0",
        "passed red_zones", "narrower", "not_faster", "padding: no shared memory"}) {
    EXPECT_THAT(run.output, HasSubstr(part));
  }
  EXPECT_EQ(daemon_.requests().back()["params"]["kernel"], "blur");
}

TEST_F(ClientTest, ExplainSaysWhatBoundsAKernel) {
  Json document = MakeRow();
  const Json roofline = {{"source", "cupti"},
                         {"original", {{"bound", "latency"}, {"share", 0.41}}},
                         {"variant", {{"bound", "dram"}, {"share", 0.874}}}};
  const Json blind = {{"source", "static"},
                      {"reason", "counters are for administrators only here"},
                      {"original", {{"bound", ""}, {"share", 0.2}}},
                      {"variant", {{"bound", "fp32"}, {"share", 0.7}}}};
  document.update({{"verdict", "accepted"},
                   {"evaluation",
                    {{"metrics",
                      {{"confirm", {{"speedup", 1.4}}},
                       {"case large", {{"roofline", roofline}}},
                       {"case small", {{"roofline", blind}}}}}}}});
  Serve("explain", document);
  const std::string output = Run({"explain", "blur", "--full"}).output;
  EXPECT_THAT(output, HasSubstr("case large, bound: memory (87 %), the original's: latency; "
                                "counted by CUPTI"));
  EXPECT_THAT(output,
              HasSubstr("case small, bound: fp32 arithmetic (70 %), the original's: not known; "
                        "without counters: counters are for administrators only here"));
}

TEST_F(ClientTest, ExplainSaysWhyTheOriginalRuns) {
  Json document = MakeRow();
  document.update(
      {{"verdict", "original"}, {"why_not", "4 tried, none proven faster"}, {"interval", nullptr}});
  Serve("explain", document);
  EXPECT_THAT(Run({"explain", "blur"}).output,
              HasSubstr("the original runs: 4 tried, none proven faster"));
}

TEST_F(ClientTest, ExplainSaysWhatIsLeftAfterTheEnd) {
  Json document = MakeRow();
  document.update({{"verdict", "original"},
                   {"why_not", "4 tried, none proven faster"},
                   {"interval", nullptr},
                   {"ended", "its time is used up"},
                   {"expected", {{"gain", 0.012}, {"evaluations", 41}}},
                   {"numbers", {{"points", 4096}, {"tried", 40}}}});
  Serve("explain", document);
  const char* const kSaid =
      "the search has ended: its time is used up; another minute is expected to gain 1.2 %; of "
      "4096 "
      "points of its tunables 40 were tried";
  EXPECT_THAT(Run({"explain", "blur", "--full"}).output, HasSubstr(kSaid));
  // Its lines are broken at words.
  std::string screen = Run({"explain", "blur"}).output;
  for (std::size_t at; (at = screen.find("\n  ")) != std::string::npos;) screen.replace(at, 3, " ");
  EXPECT_THAT(screen, HasSubstr(kSaid));
}

TEST_F(ClientTest, AnUnknownKernelIsOneAndAnAmbiguousOneTwo) {
  daemon_.On("explain", [](const Json&) -> base::Result<Json> {
    return base::Fail(base::NotFound("no tagged kernel"));
  });
  daemon_.On("history", [](const Json&) -> base::Result<Json> {
    return base::Fail(base::InvalidArgument("'k' is ambiguous:\n  a::k\n  b::k"));
  });
  ASSERT_TRUE(daemon_.Start());
  EXPECT_EQ(Run({"explain", "k"}).exit_code, 1);
  const auto run = Run({"history", "k"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.errors, HasSubstr("b::k"));
  const Json error = RunJson({"history", "k"}, 2);
  EXPECT_EQ(error["schema"], "cupilot.error/1");
  EXPECT_EQ(error["code"], "invalid_argument");
}

TEST_F(ClientTest, BestPrintsTheSourceAndWritesTheVariant) {
  Serve("best", {{"schema", "cupilot.best/1"},
                 {"variant", {{"kernel", "k"}, {"id", "77"}, {"source", "__global__ void v();"}}},
                 {"evaluation", {{"speedup", 2.0}}}});
  const auto run = Run({"best", "k", "--arch", "sm_90", "-o", "v.json"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("__global__ void v();"));
  EXPECT_EQ(daemon_.requests().back()["params"]["arch"], "sm_90");
  const auto text = base::ReadFile(xdg_.folder() / "v.json");
  ASSERT_TRUE(text);
  EXPECT_EQ(records::ParseJson(*text).value()["id"], "77");
}

TEST_F(ClientTest, BestOfNothingIsOne) {
  Refuse("best", base::NotFound("nothing is proven faster"));
  EXPECT_EQ(RunJson({"best", "k"}, 1)["code"], "not_found");
}

TEST_F(ClientTest, HistoryShowsAllEvaluations) {
  Serve("history",
        {{"schema", "cupilot.history/1"},
         {"evaluations",
          {{{"date", "2026"}, {"variant", "aa"}, {"verdict", "accepted"}, {"speedup", 1.5}},
           {{"date", "2026"},
            {"variant", "bb"},
            {"verdict", "rejected"},
            {"reason", "not_faster"},
            {"cases", {{{"name", "x"}, {"speedup", 0.5}}}}}}}});
  const auto run = Run({"history", "k"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("1.50x"));
  EXPECT_THAT(run.output, HasSubstr("0.50x"));
  EXPECT_EQ(RunJson({"history", "k"}, 0)["evaluations"].size(), 2u);
}

TEST_F(ClientTest, ListTellsBuildsOfOneKernelApart) {
  Json debug = MakeRow(), release = MakeRow(), other = MakeRow(), target = MakeRow();
  debug["project"] = "/p/build/debug";
  release["project"] = "/p/build/release";
  other["project"] = "/q/build/release";
  for (Json* row : {&debug, &release, &other}) (*row)["target"] = "app";
  target = release;
  target["target"] = "tool";
  Json alone = MakeRow();
  alone["kernel"] = "scale";
  alone["project"] = "/p/build/debug";
  Serve("list", {{"schema", "cupilot.list/1"}, {"kernels", {debug, release, alone}}});
  const auto run = Run({"list"});
  EXPECT_THAT(run.output, HasSubstr("image::blur (debug) "));
  EXPECT_THAT(run.output, HasSubstr("image::blur (release) "));
  EXPECT_THAT(run.output, HasSubstr("scale  "));
  EXPECT_EQ(KernelNames(Json::array({debug, release, other, target})),
            (std::vector<std::string>{
                "image::blur (debug, app)", "image::blur (/p/build/release, app)",
                "image::blur (/q/build/release, app)", "image::blur (/p/build/release, tool)"}));
  EXPECT_EQ(KernelNames(Json::array({release, target})),
            (std::vector<std::string>{"image::blur (app)", "image::blur (tool)"}));
}

TEST_F(ClientTest, HistorySaysWhatChangedAndAsksForPages) {
  daemon_.On("history", [](const Json& params) -> base::Result<Json> {
    const int from = params.value("from", -1);
    Json page = {{"schema", "cupilot.history/1"},
                 {"evaluations",
                  {{{"variant", std::to_string(from)}, {"title", "step " + std::to_string(from)}}}},
                 {"next", from < 2 ? Json(from + 1) : Json()}};
    if (from == 0) page["changes"] = {{{"what", "pinned"}, {"variants", {"77"}}}};
    return page;
  });
  ASSERT_TRUE(daemon_.Start());
  const auto run = Run({"history", "k"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("what changed"));
  for (const char* title : {"step 0", "step 1", "step 2"})
    EXPECT_THAT(run.output, HasSubstr(title));
  EXPECT_THAT(run.output, HasSubstr("pinned 77"));
  const Json document = RunJson({"history", "k"}, 0);
  EXPECT_EQ(document["evaluations"].size(), 3u);
  EXPECT_EQ(document["changes"].size(), 1u);
  EXPECT_FALSE(document.contains("next"));
}

TEST_F(ClientTest, ApplySaysWhatItPublished) {
  Serve("apply", {{"schema", "cupilot.apply/1"}, {"published", {"/p/blur.cu"}}});
  EXPECT_THAT(Run({"apply"}).output, HasSubstr("published for /p/blur.cu"));
  EXPECT_EQ(RunJson({"apply"}, 0)["schema"], "cupilot.apply/1");
}

TEST_F(ClientTest, SnoozeSendsSecondsAndResumeEndsIt) {
  Json snoozed = MakeStatus();
  snoozed["snoozed_until"] = "2026-11-21T09:00:00Z";
  daemon_.On("snooze", [snoozed](const Json&) { return snoozed; });
  daemon_.On("resume", [](const Json&) { return MakeStatus(); });
  ASSERT_TRUE(daemon_.Start());
  EXPECT_THAT(Run({"snooze", "30m"}).output, HasSubstr("2026-11-21T09:00:00Z"));
  EXPECT_EQ(daemon_.requests()[0]["params"]["seconds"], 1800.0);
  Run({"snooze"});
  EXPECT_EQ(daemon_.requests()[1]["params"]["seconds"], 3600.0);
  EXPECT_EQ(RunJson({"resume"}, 0)["state"], "tuning");
}

TEST_F(ClientTest, ADaemonOfAnotherVersionIsSaidAndUsed) {
  daemon_.AnswerGreeting({{"hello", {{"protocol", 1}, {"version", "9.9.9"}, {"pid", 1}}}});
  Serve("status", MakeStatus());
  const auto run = Run({"status"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.errors, HasSubstr("9.9.9"));
}

TEST_F(ClientTest, ADaemonOfAnotherProtocolIsAnError) {
  daemon_.AnswerGreeting(
      {{"error", {{"code", "protocol"}, {"message", "speaks protocol 2; restart it"}}}});
  Serve("status", MakeStatus());
  const auto run = Run({"status"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.errors, HasSubstr("restart it"));
}

// It is not waited for: nothing would come.
TEST_F(ClientTest, ADaemonThatEndsInsteadOfAnsweringIsSaid) {
  std::promise<void> asked;
  daemon_.On("status", [&](const Json&) {
    asked.set_value();
    return MakeStatus();
  });
  daemon_.DropAnswers();
  ASSERT_TRUE(daemon_.Start());
  std::thread stopper([&] {
    asked.get_future().wait();
    daemon_.Stop();
  });
  const auto run = Run({"status"});
  stopper.join();
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.errors, HasSubstr("the daemon has ended"));
}

TEST_F(ClientTest, WithoutADaemonTheyAreTheEnvironmentsFault) {
  for (const auto& words : std::vector<std::vector<std::string>>{{"status"},
                                                                 {"list"},
                                                                 {"explain", "k"},
                                                                 {"best", "k"},
                                                                 {"history", "k"},
                                                                 {"apply"},
                                                                 {"diff", "k"},
                                                                 {"pin", "k", "--none"},
                                                                 {"reject", "k"},
                                                                 {"prune"},
                                                                 {"forget", "p"},
                                                                 {"export"},
                                                                 {"snooze"},
                                                                 {"resume"}}) {
    const auto run = Run(words);
    EXPECT_EQ(run.exit_code, 3) << words[0];
    EXPECT_THAT(run.errors, HasSubstr("cupilot daemon start"));
    EXPECT_EQ(RunJson(words, 3)["code"], "unavailable");
  }
}

// A history may be larger than a message.
TEST_F(ClientTest, AReplyInAFileIsReadAndRemoved) {
  const std::string path = xdg_.folder().path() + "/reply.json";
  const Json history = {{"schema", "cupilot.history/1"},
                        {"kernel", "k"},
                        {"evaluations", Json::array()},
                        {"events", Json::array()},
                        {"strategies", Json::array()}};
  ASSERT_TRUE(base::WriteFileAtomically(path, history.dump()));
  Serve("history", {{"schema", "cupilot.reply_file/1"}, {"document", path}});
  EXPECT_EQ(RunJson({"history", "k"}, 0), history);
  EXPECT_FALSE(base::FileExists(path));
}

}  // namespace
}  // namespace cupilot::client
