// The commands that need no daemon, and wrong usage.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "client/arguments.h"
#include "tests/client/client_fixture.h"

namespace cupilot::client {
namespace {

using records::Json;
using ::testing::HasSubstr;

TEST_F(ClientTest, WrongUsageIsTwo) {
  for (const auto& words : std::vector<std::vector<std::string>>{{},
                                                                 {"unheard"},
                                                                 {"explain"},
                                                                 {"daemon"},
                                                                 {"daemon", "dance"},
                                                                 {"status", "--unheard"},
                                                                 {"snooze", "soon"},
                                                                 {"snooze", "0m"},
                                                                 {"inspect"},
                                                                 {"tune"}}) {
    const auto run = Run(words);
    EXPECT_EQ(run.exit_code, 2) << (words.empty() ? "" : words[0]);
    EXPECT_FALSE(run.errors.empty());
    EXPECT_EQ(RunJson(words, 2)["schema"], "cupilot.error/1");
  }
}

TEST_F(ClientTest, WrongUsageNamesTheWordAndWhatWasProbablyMeant) {
  struct Case {
    std::vector<std::string> words;
    std::vector<std::string> said;
  };
  const std::vector<Case> cases = {
      {{"statu"}, {"'statu' is no command; the nearest is `cupilot status`", "`cupilot --help`"}},
      {{"lsit"}, {"`cupilot list`"}},
      {{"stop"}, {"'stop' is no command; the nearest is `cupilot daemon stop`"}},
      {{"frobnicate"}, {"'frobnicate' is no command\n`cupilot --help` lists the commands"}},
      {{"daemon", "restart"},
       {"'daemon restart' is no command; the nearest is `cupilot daemon start`",
        "`cupilot daemon --help`"}},
      {{"daemon", "dance"}, {"'daemon dance' is no command; there are: start, stop, logs"}},
      {{"daemon"}, {"`cupilot daemon` needs one of: start, stop, logs"}},
      {{}, {"a command is missing\n`cupilot --help`"}},
      {{"--unheard"}, {"'--unheard' is no option of `cupilot`"}},
      {{"status", "--unheard"}, {"--unheard", "`cupilot status --help` shows the usage"}},
      {{"explain"}, {"KERNEL", "`cupilot explain --help` shows the usage"}}};
  for (const Case& one : cases) {
    const auto run = Run(one.words);
    const std::string message = RunJson(one.words, 2)["message"];
    for (const std::string& said : one.said) {
      EXPECT_THAT(run.errors, HasSubstr(said));
      EXPECT_THAT(message, HasSubstr(said));
    }
  }
}

TEST_F(ClientTest, HelpIsACommandToo) {
  EXPECT_EQ(Run({"help"}).output, Run({"--help"}).output);
  EXPECT_EQ(Run({"help"}).exit_code, 0);
  EXPECT_EQ(Run({"help", "daemon", "stop"}).output, Run({"daemon", "stop", "--help"}).output);
}

TEST_F(ClientTest, HelpAndVersionAreAnswers) {
  EXPECT_EQ(Run({"--help"}).exit_code, 0);
  EXPECT_THAT(Run({"--version"}).output, HasSubstr(CUPILOT_VERSION));
  EXPECT_THAT(Run({"explain", "--help"}).output, HasSubstr("file:line"));
}

TEST(Duration, HasAUnit) {
  EXPECT_EQ(ParseDuration("90s").value_or(0), 90);
  EXPECT_EQ(ParseDuration("1.5h").value_or(0), 5400);
  EXPECT_EQ(ParseDuration("2d").value_or(0), 172800);
  for (const char* bad : {"", "1", "h", "-1h", "0s", "1w", "1h30m", "infs", "nans", "1 h"}) {
    EXPECT_FALSE(ParseDuration(bad)) << bad;
  }
}

TEST_F(ClientTest, ConfigShowsValuesAndWhereTheyComeFrom) {
  xdg_.folder().Write("config/cupilot/config.json", R"({"parallel": 4})");
  const Json config = RunJson({"config"}, 0);
  EXPECT_EQ(config["schema"], "cupilot.config/1");
  EXPECT_EQ(config["values"]["parallel"]["value"], 4);
  EXPECT_THAT(config["values"]["parallel"]["origin"].get<std::string>(), HasSubstr("config.json"));
  EXPECT_EQ(config["values"]["nice"]["origin"], "default");
  EXPECT_EQ(config["values"]["state_folder"]["value"], xdg_.state());
  EXPECT_EQ(config["values"]["state_folder"]["origin"], "$XDG_STATE_HOME");
  EXPECT_THAT(Run({"config", "--show-origin"}).output, HasSubstr("nice = 10  (default)"));
}

TEST_F(ClientTest, ABadSettingNamesFileAndKey) {
  for (const char* text : {R"({"paralel": 4})", R"({"parallel": "four"})", R"({"parallel": 1.5})",
                           R"({"parallel": 0})", R"({"log_level": "loud"})",
                           R"({"search_strategy": ""})", R"([])", "{"}) {
    xdg_.folder().Write("config/cupilot/config.json", text);
    const auto run = Run({"config"});
    EXPECT_EQ(run.exit_code, 2) << text;
    EXPECT_THAT(run.errors, HasSubstr("config/cupilot/config.json")) << text;
  }
}

TEST_F(ClientTest, ConfigPrintsTheHostCompiler) {
  xdg_.folder().Write("toolkit/bin/nvcc", "");
  environment_["CUPILOT_HOST_TOOLKIT"] = xdg_.folder() / "toolkit";
  EXPECT_EQ(Run({"config", "--host-nvcc"}).output, xdg_.folder() / "toolkit/bin/nvcc" + "\n");
  environment_["CUPILOT_HOST_TOOLKIT"] = xdg_.folder() / "none";
  EXPECT_EQ(Run({"config", "--host-nvcc"}).exit_code, 3);
}

TEST_F(ClientTest, InspectReadsTheVariantsOfAProgram) {
  const std::string source = xdg_.folder().Write("a.cc", R"(
__attribute__((section(".cupilot"), used)) static const char one[] =
  "{\"schema\":\"cupilot.inspect/1\",\"source\":\"/p/a.cu\"}\n"
  "{\"kernel\":\"k\",\"id\":\"0123\",\"target\":\"host\",\"title\":\"wider\",\"speedup\":1.5}\n";
__attribute__((section(".cupilot"), used)) static const char two[] =
  "{\"schema\":\"cupilot.inspect/1\",\"source\":\"/p/b.cu\"}\n"
  "{\"kernel\":\"m\",\"id\":\"4567\",\"target\":\"host\",\"title\":\"taller\",\"speedup\":2}\n";
int main() { return 0; }
)");
  const std::string program = xdg_.folder() / "a";
  ASSERT_EQ(test::RunProgram({"c++", source, "-o", program}).exit_code, 0);
  const Json document = RunJson({"inspect", program}, 0);
  EXPECT_EQ(document["schema"], "cupilot.inspect/1");
  ASSERT_EQ(document["variants"].size(), 2u);
  EXPECT_EQ(document["variants"][0]["kernel"], "k");
  EXPECT_EQ(document["variants"][1]["source"], "/p/b.cu");
  EXPECT_THAT(Run({"inspect", program}).output, HasSubstr("taller"));
}

TEST_F(ClientTest, InspectOfAnOrdinaryProgramFindsNothing) {
  EXPECT_EQ(RunJson({"inspect", CUPILOT_PROGRAM}, 0)["variants"].size(), 0u);
  EXPECT_THAT(Run({"inspect", CUPILOT_PROGRAM}).output, HasSubstr("the originals"));
}

TEST_F(ClientTest, InspectOfWhatIsNoProgramIsTwo) {
  EXPECT_EQ(Run({"inspect", "missing"}).exit_code, 2);
  xdg_.folder().Write("text", "no program");
  EXPECT_EQ(Run({"inspect", "text"}).exit_code, 2);
}

TEST_F(ClientTest, DoctorExplainsWhatIsWrongAndWhatToDo) {
  environment_["CUPILOT_LIBEXEC"] = xdg_.folder() / "none";
  const Json document = RunJson({"doctor"}, 3);
  EXPECT_EQ(document["schema"], "cupilot.doctor/1");
  EXPECT_EQ(document["healthy"], false);
  for (const Json& check : document["checks"]) {
    if (check["level"] == "wrong") {
      EXPECT_NE(check["fix"], "") << check.dump();
    }
  }
  EXPECT_THAT(Run({"doctor"}).output, HasSubstr("wrong  programs"));
}

TEST_F(ClientTest, DoctorFindsAnOpenFolder) {
  std::filesystem::create_directories(xdg_.state());
  std::filesystem::permissions(xdg_.state(), std::filesystem::perms::all);
  const Json doctor = RunJson({"doctor"}, 3);
  std::string level = "no such check";
  for (const Json& check : doctor["checks"]) {
    if (check["name"] == "folders") level = check["level"];
  }
  EXPECT_EQ(level, "wrong") << doctor.dump(1);
}

}  // namespace
}  // namespace cupilot::client
