// tune and evaluate: what is checked before anything starts, and how the child's answers end. The
// child is a shell script that stands for `cupilotd --once`.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/file.h"
#include "tests/client/client_fixture.h"

namespace cupilot::client {
namespace {

using records::Json;
using ::testing::HasSubstr;

class SourceCommandsTest : public ClientTest {
 protected:
  SourceCommandsTest() {
    const test::TemporaryFolder& folder = xdg_.folder();
    folder.Write("k.cu", "__global__ void k(float* x) { x[0] = 1; }\n");
    folder.Write("w.json", Workload().dump());
    folder.Write("v.json", Variant().dump());
  }

  static Json Workload() {
    return {{"schema", "cupilot.workload/1"},
            {"kernel", "n::k"},
            {"cases",
             {{{"name", "one"},
               {"grid", {1, 1, 1}},
               {"block", {1, 1, 1}},
               {"arguments",
                {{{"name", "x"}, {"type", "float*"}, {"count", 4}, {"access", "out"}}}}}}}};
  }
  static Json Variant() {
    return {{"schema", "cupilot.variant/1"},
            {"kernel", "n::k"},
            {"source", "__global__ void v(float* x) { x[0] = 1; }"},
            {"entry", "v"}};
  }

  // The script keeps its request in the file "request".
  void ChildSays(const std::string& lines) {
    const std::string script = xdg_.folder().Write(
        "child", "#!/bin/sh\nread -r line\nprintf '%s' \"$line\" >request\n" + lines + "\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    environment_["CUPILOT_DAEMON"] = script;
  }
  Json Request() {
    const auto text = base::ReadFile(xdg_.folder() / "request");
    return text ? records::ParseJson(*text).value_or(Json()) : Json();
  }

  static std::vector<std::string> Evaluate() {
    return {"evaluate", "k.cu", "--kernel", "k", "--workload", "w.json", "--variant", "v.json"};
  }
  static std::vector<std::string> Tune() { return {"tune", "k.cu", "--workload", "w.json"}; }
};

TEST_F(SourceCommandsTest, AcceptedIsZeroAndRejectedIsOne) {
  ChildSays(R"(echo '{"event":"stage","data":{"stage":"verify"}}'
echo '{"result":{"schema":"cupilot.evaluation/1","verdict":"accepted","speedup":1.5,"interval":[1.4,1.6]}}')");
  const auto accepted = Run(Evaluate());
  EXPECT_EQ(accepted.exit_code, 0) << accepted.errors;
  EXPECT_THAT(accepted.output, HasSubstr("accepted: 1.50x [1.40, 1.60]"));
  EXPECT_EQ(accepted.errors, "verify\n");
  EXPECT_EQ(Request()["verb"], "evaluate");
  EXPECT_EQ(Request()["params"]["file"], xdg_.folder() / "k.cu");
  EXPECT_EQ(Request()["params"]["variant"]["id"].get<std::string>().size(), 40u);
  ChildSays(
      R"(echo '{"result":{"schema":"cupilot.evaluation/1","verdict":"rejected","reason":"crashed","detail":"why"}}')");
  EXPECT_THAT(Run(Evaluate()).output, HasSubstr("rejected: crashed: why"));
  EXPECT_EQ(RunJson(Evaluate(), 1)["reason"], "crashed");
}

TEST_F(SourceCommandsTest, ErrorsOfTheChildKeepTheirKind) {
  ChildSays(R"(echo '{"error":{"code":"invalid_argument","message":"the original fails"}}')");
  EXPECT_EQ(RunJson(Evaluate(), 2)["message"], "the original fails");
  ChildSays(R"(echo '{"error":{"code":"unavailable","message":"no such device"}}')");
  EXPECT_EQ(RunJson(Evaluate(), 3)["code"], "unavailable");
}

TEST_F(SourceCommandsTest, AChildThatDiesIsTheEnvironmentsFault) {
  ChildSays("echo garbage; exit 7");
  const auto run = Run(Evaluate());
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.errors, HasSubstr("ended with 7"));
  ChildSays("kill -9 $$");
  EXPECT_EQ(Run(Evaluate()).exit_code, 3);
  environment_["CUPILOT_DAEMON"] = "/nonexistent";
  EXPECT_EQ(Run(Evaluate()).exit_code, 3);
}

TEST_F(SourceCommandsTest, TuneWritesTheWinner) {
  ChildSays(R"(echo '{"event":"verdict","data":{"title":"wider","verdict":"accepted","speedup":2}}'
echo '{"result":{"schema":"cupilot.tune/1","kernel":"n::k","evaluations":1,"variant":{"id":"77"},"evaluation":{"verdict":"accepted","speedup":2}}}')");
  std::vector<std::string> words = Tune();
  words.insert(words.end(),
               {"--budget", "5", "--seed", "9", "--strategy", "random", "-o", "best.json"});
  const auto run = Run(words);
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("1  accepted  2.00x  wider"));
  EXPECT_EQ(records::ParseJson(base::ReadFile(xdg_.folder() / "best.json").value_or(""))
                .value_or(Json())["id"],
            "77");
  EXPECT_EQ(Request()["params"]["evaluations"], 5);
  EXPECT_EQ(Request()["params"]["seed"], 9);
  EXPECT_EQ(Request()["params"]["strategy"], "random");
  EXPECT_EQ(Request()["params"]["kernel"], "n::k");
}

TEST_F(SourceCommandsTest, TuneThatFindsNothingIsOne) {
  ChildSays(
      R"(echo '{"result":{"schema":"cupilot.tune/1","evaluations":3,"variant":null,"evaluation":null,"expected":{"gain":0.0031,"evaluations":41},"ended":"its time is used up"}}')");
  std::vector<std::string> words = Tune();
  words.insert(words.end(), {"--budget", "60s", "-o", "best.json"});
  EXPECT_EQ(Run(words).exit_code, 1);
  EXPECT_FALSE(base::FileExists(xdg_.folder() / "best.json"));
  EXPECT_EQ(Request()["params"]["seconds"], 60.0);
  EXPECT_EQ(RunJson(Tune(), 1)["schema"], "cupilot.tune/1");
  EXPECT_THAT(Run(Tune()).output,
              HasSubstr("the search has ended: its time is used up; another minute is expected to "
                        "gain 0.3 %\n"));
}

TEST_F(SourceCommandsTest, ABudgetMayBeWhatIsExpected) {
  ChildSays(R"(echo '{"result":{"schema":"cupilot.tune/1","variant":null,"evaluation":null}}')");
  std::vector<std::string> words = Tune();
  words.insert(words.end(), {"--until-gain", "0.5%"});
  EXPECT_EQ(Run(words).exit_code, 1);
  EXPECT_EQ(Request()["params"]["until_gain"], 0.005);
  EXPECT_FALSE(Request()["params"].contains("seconds"));
}

TEST_F(SourceCommandsTest, BadInputNamesFileAndKey) {
  const test::TemporaryFolder& folder = xdg_.folder();
  Json workload = Workload();
  workload["cases"][0]["arguments"][0]["fill"] = {{"kind", "gauss"}};
  folder.Write("w.json", workload.dump());
  auto run = Run(Evaluate());
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.errors, HasSubstr("w.json: cases[0].arguments[0].fill.kind"));
  folder.Write("w.json", "{\n  \"schema\": nothing");
  run = Run(Evaluate());
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.errors, HasSubstr("line 2"));
  folder.Write("w.json", Workload().dump());
  Json variant = Variant();
  variant["id"] = std::string(40, '0');
  folder.Write("v.json", variant.dump());
  run = Run(Evaluate());
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.errors, HasSubstr("v.json: id"));
}

TEST_F(SourceCommandsTest, InputsThatDoNotFitTogetherAreTwo) {
  const std::vector<std::vector<std::string>> wrong = {
      {"evaluate", "none.cu", "--workload", "w.json", "--variant", "v.json"},
      {"evaluate", "k.cu", "--workload", "none.json", "--variant", "v.json"},
      {"evaluate", "k.cu", "--kernel", "other", "--workload", "w.json", "--variant", "v.json"},
      {"evaluate", "k.cu", "--workload", "w.json"},
      {"tune", "k.cu", "--workload", "w.json", "--budget", "0"},
      {"tune", "k.cu", "--workload", "w.json", "--budget", "soon"},
      {"tune", "k.cu", "--workload", "w.json", "--until-gain", "0"},
      {"tune", "k.cu", "--workload", "w.json", "--until-gain", "little"},
      {"tune", "k.cu", "--workload", "w.json", "--device", "moon"}};
  ChildSays("exit 9");
  for (const auto& words : wrong) {
    const auto run = Run(words);
    EXPECT_EQ(run.exit_code, 2) << ::testing::PrintToString(words) << run.errors;
  }
}

TEST_F(SourceCommandsTest, AFillsFileLiesBesideTheWorkload) {
  const test::TemporaryFolder& folder = xdg_.folder();
  Json workload = Workload();
  workload["cases"][0]["arguments"][0]["access"] = "inout";
  workload["cases"][0]["arguments"][0]["fill"] = {{"kind", "file"}, {"path", "x.bin"}};
  folder.Write("sub/w.json", workload.dump());
  std::vector<std::string> words = {"tune", "k.cu", "--workload", "sub/w.json"};
  ChildSays(R"(echo '{"error":{"code":"unavailable","message":"enough"}}')");
  const auto run = Run(words);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.errors, HasSubstr("sub/x.bin"));
  folder.Write("sub/x.bin", "0123456789abcdef");
  EXPECT_EQ(Run(words).exit_code, 3);
  EXPECT_EQ(Request()["params"]["workload"]["cases"][0]["arguments"][0]["fill"]["path"],
            folder / "sub/x.bin");
}

}  // namespace
}  // namespace cupilot::client
