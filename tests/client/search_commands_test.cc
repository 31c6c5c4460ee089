// `cupilot import` and `cupilot search replay`: files of other autotuners, and searches on them.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/file.h"
#include "tests/client/client_fixture.h"

namespace cupilot::client {
namespace {

using records::Json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kT1 = R"t1({"ConfigurationSpace": {"TuningParameters": [
    {"Name": "block", "Type": "int", "Values": "[32, 64, 96, 128, 160, 192, 224, 256]"},
    {"Name": "tile", "Type": "int", "Values": "list(range(1, 9))"}],
  "Conditions": [{"Parameters": ["block", "tile"], "Expression": "block * tile <= 1024"}]}})t1";

// All valid points of that space, as Kernel Tuner appends them: no end.
std::string Cache() {
  std::string text =
      R"({"device_name": "Some GPU", "kernel_name": "k", "tune_params_keys": ["block", "tile"],
      "tune_params": {"block": [32, 64, 96, 128, 160, 192, 224, 256],
                      "tile": [1, 2, 3, 4, 5, 6, 7, 8]}, "cache": {)";
  for (int block = 32; block <= 256; block += 32) {
    for (int tile = 1; tile <= 8 && block * tile <= 1024; ++tile) {
      const std::string b = std::to_string(block), t = std::to_string(tile);
      const int time = (block - 128) * (block - 128) / 100 + (tile - 3) * (tile - 3) * 10 + 20;
      text += "\n\"" + b + "," + t + "\": {\"block\": " + b + ", \"tile\": " + t +
              ", \"time\": " + std::to_string(time) +
              ", \"compile_time\": 400, \"benchmark_time\": 100},";
    }
  }
  return text;
}

class SearchCommandsTest : public ClientTest {
 protected:
  SearchCommandsTest() {
    xdg_.folder().Write("t1.json", kT1);
    xdg_.folder().Write("cache.json", Cache());
  }
};

TEST_F(SearchCommandsTest, ACacheBecomesAMeasuredSpace) {
  const Json json = RunJson({"import", "cache.json", "--space", "t1.json", "-o", "out.json"}, 0);
  EXPECT_EQ(json["schema"], "cupilot.import/1");
  EXPECT_EQ(json["rows"], 51);
  EXPECT_EQ(json["points"], 51);
  EXPECT_EQ(json["complete"], true);
  const auto text = base::ReadFile(xdg_.folder() / "out.json");
  ASSERT_TRUE(text);
  EXPECT_EQ(Json::parse(*text)["schema"], "cupilot.measured/1");
  EXPECT_THAT(Run({"import", "out.json", "--t4", "-o", "t4.json"}).output,
              HasSubstr("51 of 51 valid points measured"));
  const auto t4 = base::ReadFile(xdg_.folder() / "t4.json");
  ASSERT_TRUE(t4);
  EXPECT_EQ(Json::parse(*t4)["results"].size(), 51u);
  EXPECT_EQ(RunJson({"import", "t1.json", "-o", "space.json"}, 0)["points"], 51);
}

TEST_F(SearchCommandsTest, WhatIsWrongNamesTheFile) {
  EXPECT_THAT(Run({"import", "none.json", "-o", "out.json"}).errors, HasSubstr("none.json"));
  EXPECT_EQ(RunJson({"import", "none.json", "-o", "out.json"}, 2)["schema"], "cupilot.error/1");
  xdg_.folder().Write("bad.json", "{\"cache\": {\"1\": 2}}");
  EXPECT_THAT(Run({"import", "bad.json", "-o", "out.json"}).errors, HasSubstr("bad.json"));
  EXPECT_EQ(Run({"import", "t1.json", "--t4", "-o", "out.json"}).exit_code, 2);
  EXPECT_THAT(Run({"search", "replay", "cache.json", "--strategy", "clever"}).errors,
              HasSubstr("no strategy 'clever'; there are random"));
  EXPECT_EQ(Run({"search", "replay", "cache.json", "--repeats", "0"}).exit_code, 2);
  EXPECT_EQ(Run({"search"}).exit_code, 2);
}

TEST_F(SearchCommandsTest, WhatIsNamedTwiceOrIsNoSeedIsRefused) {
  const auto errors = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"search", "replay", "cache.json", "--repeats", "1"});
    const auto run = Run(words);
    EXPECT_EQ(run.exit_code, 2);
    return run.errors;
  };
  EXPECT_THAT(errors({"--strategy", "random, random"}), HasSubstr("'random' is named twice"));
  EXPECT_THAT(errors({"./cache.json"}), HasSubstr("cache.json is named twice"));
  for (const char* seed : {"-1", "99999999999999999999999", "9007199254740993", ""}) {
    EXPECT_THAT(errors({"--seed", seed}), HasSubstr("--seed")) << seed;
  }
}

TEST_F(SearchCommandsTest, FewRepeatsDoNotSayWhichIsAbove) {
  const auto run = Run({"search", "replay", "cache.json", "--strategy", "random, portfolio",
                        "--repeats", "2", "--free-search"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.output, Not(HasSubstr("at the level of")));
  EXPECT_THAT(run.output, HasSubstr("give --repeats 10 or more"));
}

TEST_F(SearchCommandsTest, WhatIsReadIsNotWrittenOver) {
  for (const char* name : {"cache.json", "./cache.json"}) {
    EXPECT_THAT(Run({"import", "cache.json", "-o", name}).errors, HasSubstr("-o names"));
  }
  std::filesystem::create_symlink("cache.json", xdg_.folder() / "link.json");
  EXPECT_EQ(Run({"import", "cache.json", "-o", "link.json"}).exit_code, 2);
  EXPECT_EQ(base::ReadFile(xdg_.folder() / "cache.json").value_or(""), Cache());
}

// What was there before stays what it is.
TEST_F(SearchCommandsTest, LinksAndPipesAreWrittenThrough) {
  const std::string folder = xdg_.folder() / "";
  xdg_.folder().Write("far.json", "old");
  std::filesystem::create_symlink("far.json", folder + "near.json");
  std::filesystem::create_symlink("new.json", folder + "dangling.json");
  for (const char* name : {"near.json", "dangling.json"}) {
    EXPECT_EQ(Run({"import", "cache.json", "-o", name}).exit_code, 0);
    EXPECT_TRUE(std::filesystem::is_symlink(folder + name));
  }
  const std::string written = base::ReadFile(folder + "far.json").value_or("");
  EXPECT_EQ(Json::parse(written)["schema"], "cupilot.measured/1");
  EXPECT_EQ(base::ReadFile(folder + "new.json").value_or(""), written);
  const std::string pipe = folder + "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = base::ReadFile(pipe).value_or("none"); });
  const auto run = Run({"import", "cache.json", "-o", "pipe"});
  if (run.exit_code != 0) std::ofstream(pipe) << "failed";
  reader.join();
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_EQ(got, written);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

// Else each of the points that nobody measured would be one that costs nothing and says nothing.
TEST_F(SearchCommandsTest, OfAFileThatIsNotWholeWhatWasMeasuredIsTheSpace) {
  std::string text = Cache();
  text.resize(text.find("\n\"160,1\""));  // up to block 128: 8 points each
  xdg_.folder().Write("part.json", text);
  Run({"import", "part.json", "--space", "t1.json", "-o", "part.out.json"});
  const auto run = Run({"search", "replay", "part.out.json", "--strategy", "random,portfolio",
                        "--repeats", "3", "--free-search"});
  EXPECT_THAT(run.errors, HasSubstr("32 of 51 points were measured; the others are left out"));
  const Json json = RunJson({"search", "replay", "part.out.json", "--strategy", "random,portfolio",
                             "--repeats", "3", "--free-search"},
                            0);
  EXPECT_EQ(json["spaces"][0]["rows"], 32);
  EXPECT_EQ(json["spaces"][0]["points"], 32);
  for (const Json& strategy : json["strategies"]) EXPECT_EQ(strategy["unknown"], 0);
}

TEST_F(SearchCommandsTest, ReplayIsToldTheChampionsOfAnotherDevice) {
  const auto score = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"search",   "replay",    "cache.json", "--strategy",
                                      "transfer", "--repeats", "3",          "--free-search"};
    words.insert(words.end(), more.begin(), more.end());
    return RunJson(words, 0);
  };
  const Json alone = score({}), told = score({"--champions", "cache.json"});
  EXPECT_EQ(alone["spaces"][0]["champions"], 0);
  EXPECT_EQ(told["spaces"][0]["champions"], 50);
  EXPECT_GT(told["strategies"][0]["score"], alone["strategies"][0]["score"]);
  EXPECT_EQ(Run({"search", "replay", "cache.json", "--champions", "none.json"}).exit_code, 2);
}

TEST_F(SearchCommandsTest, ReplayIsAFunctionOfItsSeed) {
  const std::vector<std::string> words = {
      "search", "replay",     "cache.json",           "--repeats",    "20", "--seed",
      "3",      "--strategy", "random,number_search", "--free-search"};
  const Json json = RunJson(words, 0);
  EXPECT_EQ(json["schema"], "cupilot.replay/1");
  EXPECT_EQ(json["spaces"][0]["rows"], 51);
  ASSERT_EQ(json["strategies"].size(), 2u);
  EXPECT_EQ(json["strategies"][1]["name"], "number_search");
  EXPECT_EQ(json["strategies"][0]["curve"].size(), 101u);
  EXPECT_EQ(json["strategies"][0]["unknown"], 0);
  EXPECT_EQ(json["levels"].size(), 1u);
  EXPECT_EQ(RunJson(words, 0), json);
  const auto run = Run(words);
  EXPECT_THAT(run.output, HasSubstr("number_search"));
  EXPECT_THAT(run.output, HasSubstr("100 %"));
  EXPECT_THAT(run.output, HasSubstr("at the level of"));
}

}  // namespace
}  // namespace cupilot::client
