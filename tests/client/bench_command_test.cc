// `cupilot bench` with programs that do as a tuned one does: they look at CUPILOT_DISABLE and leave
// counts where CUPILOT_STATS says.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/file.h"
#include "tests/client/client_fixture.h"

namespace cupilot::client {
namespace {

using records::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class BenchCommandTest : public ClientTest {
 protected:
  // Notes each of its runs in the file `runs`.
  std::string WriteScript(const std::string& rest) {
    const std::string path = xdg_.folder().Write(
        "program", "#!/bin/sh\necho \"disable=$CUPILOT_DISABLE ${CUPILOT_STATS:+counts}\" >> " +
                       (xdg_.folder() / "runs") + "\n" + rest);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  std::vector<std::string> Runs() {
    std::vector<std::string> lines;
    std::string text = base::ReadFile(xdg_.folder() / "runs").value_or("");
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      lines.push_back(text.substr(0, end));
      text.erase(0, end + 1);
    }
    return lines;
  }
  // With --json before the program.
  Json BenchJson(std::vector<std::string> words, int exit_code) {
    words.insert(words.begin(), {"bench", "--json"});
    const test::ProgramRun run = Run(std::move(words));
    EXPECT_EQ(run.exit_code, exit_code) << run.output << run.errors;
    const auto json = records::ParseJson(run.output);
    EXPECT_TRUE(json) << run.output;
    return json.value_or(Json::object());
  }
  // A program in which the variant of "bad" costs a thousandfold of all else, that of "good" spares
  // much, and which says that it holds both. (A tenth of a second and more, so that a busy machine
  // does not decide what is slower.)
  std::string MakeLoser() {
    const std::string source = xdg_.folder().Write("loser.cc", R"(
#include <cstdio>
#include <cstdlib>
#include <cstring>
__attribute__((section(".cupilot"), used)) static const char held[] =
  "{\"schema\":\"cupilot.inspect/1\",\"source\":\"/p/a.cu\"}\n"
  "{\"kernel\":\"bad\",\"id\":\"0123\",\"target\":\"host\",\"title\":\"wider\",\"speedup\":1.5}\n"
  "{\"kernel\":\"good\",\"id\":\"4567\",\"target\":\"host\",\"title\":\"taller\",\"speedup\":2}\n";
int main() {
  const char* disabled = std::getenv("CUPILOT_DISABLE");
  long work = 200000000;
  if (disabled != nullptr) work = std::strcmp(disabled, "good") == 0 ? 3 * work : work / 1000;
  volatile long sum = 0;
  for (long i = 0; i < work; ++i) sum = sum + i;
  if (const char* counts = std::getenv("CUPILOT_STATS")) {
    std::FILE* file = std::fopen(counts, "a");
    std::fprintf(file, "bad\t7\t0\t0\thost\ngood\t9\t1\t0\thost\n");
    std::fclose(file);
  }
}
)");
    const std::string program = xdg_.folder() / "loser";
    EXPECT_EQ(test::RunProgram({"c++", source, "-o", program}).exit_code, 0);
    return program;
  }
};

constexpr const char* kCounts =
    "[ -z \"$CUPILOT_STATS\" ] || printf 'app::scale\\t90\\t9\\t1\\thost\\n' >> "
    "\"$CUPILOT_STATS\"\n";

TEST_F(BenchCommandTest, RunsThePairsInTurnAndReportsThem) {
  const std::string program =
      WriteScript(std::string("echo noise; echo more noise >&2; [ \"$*\" = 'a --json -- b' ]\n") +
                  "[ $? = 0 ] || exit 9\n" + kCounts);
  const test::ProgramRun run = Run({"bench", "--json", "--no-demote", "--pairs", "5", "--seconds",
                                    "0.001", "--", program, "a", "--json", "--", "b"});
  const auto parsed = records::ParseJson(run.output);
  ASSERT_TRUE(parsed) << run.output << run.errors;
  const Json& document = *parsed;
  EXPECT_EQ(document["schema"], "cupilot.bench/1");
  EXPECT_THAT(document["program"], ElementsAre(program, "a", "--json", "--", "b"));
  EXPECT_EQ(document["device"], "host");
  EXPECT_EQ(document["times"], "CPU times");
  EXPECT_EQ(document["pairs"].size(), 5u);
  EXPECT_TRUE(document["gpu"].is_null());
  EXPECT_EQ(document["wall"]["interval"].size(), 2u);
  ASSERT_EQ(document["kernels"].size(), 1u);
  const Json& kernel = document["kernels"][0];
  EXPECT_EQ(kernel["kernel"], "app::scale");
  EXPECT_EQ(kernel["calls"], 100);
  EXPECT_EQ(kernel["tuned"], 90);
  EXPECT_EQ(kernel["share"], 0.9);
  EXPECT_EQ(kernel["originals"], 10);
  EXPECT_EQ(kernel["outside_guard"], 9);
  EXPECT_EQ(kernel["captured"], 1);
  EXPECT_EQ(run.errors.find("noise"), std::string::npos);
  const std::string original = "disable=1 ", tuned = "disable= ";
  EXPECT_THAT(Runs(), ElementsAre(original, tuned + "counts", original, tuned, tuned, original,
                                  original, tuned, tuned, original, original, tuned,
                                  original));  // whether its kernels are seen
}

TEST_F(BenchCommandTest, TheUsersOwnSettingsDoNotReachTheProgram) {
  environment_["CUPILOT_DISABLE"] = "1";
  environment_["CUPILOT_STATS"] = "1";
  // So little time that a program which was slower by chance is not looked into.
  Run({"bench", "--no-demote", "--pairs", "5", "--seconds", "0.001", "--", WriteScript(kCounts)});
  const std::vector<std::string> runs = Runs();
  ASSERT_EQ(runs.size(), 13u);
  EXPECT_EQ(runs[1], "disable= counts");
  EXPECT_EQ(runs[3], "disable= ");
}

TEST_F(BenchCommandTest, LinesForPeopleSayWhatWasMeasured) {
  const test::ProgramRun run =
      Run({"bench", "--no-demote", "--pairs", "5", "--", WriteScript(kCounts)});
  for (const char* part : {"device          host", "CPU times", "5 pairs", "with tuned kernels",
                           "in kernels      not known", "app::scale", "90.0 %"}) {
    EXPECT_THAT(run.output, HasSubstr(part));
  }
}

TEST_F(BenchCommandTest, AFailureIsNamedWithItsLastWords) {
  const std::string always = WriteScript("echo no such input >&2; exit 4\n");
  const test::ProgramRun run = Run({"bench", "--", always});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.errors, HasSubstr("ended with 4 without tuned kernels"));
  EXPECT_THAT(run.errors, HasSubstr("no such input"));
  const std::string tuned = WriteScript("[ \"$CUPILOT_DISABLE\" = 1 ] || kill -ABRT $$\n");
  EXPECT_THAT(BenchJson({"--", tuned}, 3)["message"].get<std::string>(),
              HasSubstr("Aborted with tuned kernels; without them it ended well"));
}

TEST_F(BenchCommandTest, AProgramThatIsNotThereOrNotTunedSaysWhatToDo) {
  EXPECT_EQ(BenchJson({"--", "./missing"}, 2)["schema"], "cupilot.error/1");
  const Json document = BenchJson({"--", WriteScript("")}, 1);
  EXPECT_EQ(document["verdict"], "nothing tuned ran");
  EXPECT_THAT(document["advice"].get<std::string>(), HasSubstr("cupilot inspect program"));
  EXPECT_THAT(Runs(), ElementsAre("disable=1 ", "disable= counts"));
  const std::string missed =
      "[ -z \"$CUPILOT_STATS\" ] || printf 'k\\t0\\t5\\t0\\thost\\n' >> \"$CUPILOT_STATS\"\n";
  const test::ProgramRun run = Run({"bench", "--", WriteScript(missed)});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.output, HasSubstr("outside of the guards"));
}

TEST_F(BenchCommandTest, WordsBehindTheDashesAreTheProgramsOwn) {
  // A word that is also one of our commands.
  EXPECT_THAT(BenchJson({"--", "status-of-nothing", "status"}, 2)["message"].get<std::string>(),
              HasSubstr("status-of-nothing: cannot be started"));
  EXPECT_EQ(Run({"bench"}).exit_code, 2);
  EXPECT_EQ(Run({"bench", "--"}).exit_code, 2);
  EXPECT_EQ(Run({"bench", "--pairs", "4", "--", "true"}).exit_code, 2);
  EXPECT_EQ(Run({"bench", "--seconds", "0", "--", "true"}).exit_code, 2);
  EXPECT_EQ(Run({"bench", "--", "true", "--json"}).exit_code, 1);
}

TEST_F(BenchCommandTest, TheVariantThatLosesIsPutAside) {
  for (const char* verb : {"snooze", "resume"}) {
    daemon_.On(verb, [](const Json&) { return Json::object(); });
  }
  daemon_.On("status", [](const Json&) -> Json { return {{"snoozed_until", nullptr}}; });
  daemon_.On("demote", [](const Json& params) {
    return Json{{"schema", "cupilot.demoted/1"},
                {"kernel", params["kernel"]},
                {"variants", Json::array({{{"variant", params["variants"][0]}}})},
                {"message", "the next build does without it"}};
  });
  ASSERT_TRUE(daemon_.Start());
  const std::string program = MakeLoser();
  const Json document = BenchJson({"--pairs", "5", "--", program}, 1);
  EXPECT_EQ(document["verdict"], "slower");
  ASSERT_EQ(document["suspects"].size(), 2u);
  ASSERT_EQ(document["demoted"].size(), 1u) << document.dump(1);
  EXPECT_EQ(document["demoted"][0]["kernel"], "bad");
  EXPECT_EQ(document["demoted"][0]["done"], true);
  // It pauses while the program is measured.
  std::vector<std::string> verbs;
  for (const Json& request : daemon_.requests()) verbs.push_back(request["verb"]);
  ASSERT_THAT(verbs, ElementsAre("status", "snooze", "resume", "demote"));
  EXPECT_GE(daemon_.requests()[1]["params"]["seconds"].get<int>(), 60);
  const Json params = daemon_.requests()[3]["params"];
  EXPECT_EQ(params["kernel"], "bad");
  EXPECT_THAT(params["variants"], ElementsAre("0123"));
  EXPECT_EQ(params["program"], program);
  EXPECT_EQ(params["folder"], xdg_.folder().path());
  EXPECT_LT(params["high"].get<double>(), 1);
  EXPECT_LE(params["low"].get<double>(), params["speedup"].get<double>());
  EXPECT_EQ(params["pairs"].size(), 5u);
}

TEST_F(BenchCommandTest, ADaemonThatIsSnoozedStaysSo) {
  daemon_.On("status", [](const Json&) -> Json { return {{"snoozed_until", "2026-01-01"}}; });
  ASSERT_TRUE(daemon_.Start());
  BenchJson({"--pairs", "5", "--no-demote", "--", MakeLoser()}, 1);
  ASSERT_EQ(daemon_.requests().size(), 1u);
  EXPECT_EQ(daemon_.requests()[0]["verb"], "status");
}

TEST_F(BenchCommandTest, WithoutADaemonItSaysWhatWouldBeDone) {
  const std::string program = MakeLoser();
  const test::ProgramRun run = Run({"bench", "--pairs", "5", "--", program});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.output, HasSubstr("slower with tuned kernels"));
  EXPECT_THAT(run.output, HasSubstr("to be demoted: bad: not done: no daemon is running"));
  EXPECT_THAT(Run({"bench", "--pairs", "5", "--no-demote", "--", program}).output,
              HasSubstr("to be demoted: bad: not done: --no-demote"));
}

}  // namespace
}  // namespace cupilot::client
