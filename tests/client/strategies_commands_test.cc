// `cupilot strategies ...`
#include <gmock/gmock.h>

#include <filesystem>

#include "base/file.h"
#include "tests/client/client_fixture.h"

namespace cupilot::client {
namespace {

using records::Json;
using ::testing::HasSubstr;

Json ListReply() {
  return {{"schema", "cupilot.strategies_list/1"},
          {"strategies",
           {{{"id", "0123456789abcdef0123456789abcdef01234567"},
             {"strategy", "wide loads"},
             {"kernel", "image::blur"},
             {"bottleneck", "dram"},
             {"device", "cuda"},
             {"arch", "sm_90"},
             {"gain", 1.7},
             {"interval", {1.6, 1.8}},
             {"reason", ""},
             {"tried", 3},
             {"origin", "here"},
             {"source", ""}},
            {{"id", "softmax-online"},
             {"strategy", "one pass"},
             {"kernel", ""},
             {"bottleneck", "dram"},
             {"device", "cuda"},
             {"arch", ""},
             {"gain", nullptr},
             {"reason", "race"},
             {"tried", 0},
             {"origin", "shipped"},
             {"source", "Online normalizer"}}}},
          {"left_out", 2}};
}

Json EntryReply() {
  return {{"schema", "cupilot.pool_entry/1"},
          {"id", "softmax-online"},
          {"bottleneck", "dram"},
          {"device", {{"kind", "cuda"}, {"arch", "sm_90"}}},
          {"strategy",
           {{"title", "one pass"},
            {"steps", {{{"technique", "pass_fusion"}, {"parameters", {{"passes", 2}}}}}}}},
          {"features", {{"schema", "cupilot.kernel_features/1"}, {"loops", 3}}},
          {"gain", {{"factor", 1.3}, {"interval", {1.2, 1.4}}}},
          {"tried", 2},
          {"won", 1},
          {"date", "2026-11-21"},
          {"origin", "shipped"},
          {"note", "The running sum is scaled."},
          {"source",
           {{"title", "Online normalizer"},
            {"authors", "M. Milakov"},
            {"year", 2018},
            {"address", "https://arxiv.org/abs/1805.02867"}}}};
}

TEST_F(ClientTest, StrategiesListShowsWhatBecameOfThem) {
  Serve("strategies_list", ListReply());
  const auto run = Run({"strategies", "list"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  for (const char* part :
       {"0123456789ab ", "wide loads", "sm_90", "1.70x", "image::blur", "softmax-online", "race",
        "Online normalizer", "2 entries are not shown"}) {
    EXPECT_THAT(run.output, HasSubstr(part));
  }
  EXPECT_EQ(RunJson({"strategies", "list"}, 0)["strategies"].size(), 2u);
}

TEST_F(ClientTest, StrategiesShowNamesTheEntry) {
  Serve("strategies_show", EntryReply());
  const auto run = Run({"strategies", "show", "softmax"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_EQ(daemon_.requests()[0]["params"]["id"], "softmax");
  for (const char* part :
       {"one pass", "device: cuda, sm_90", "1.30x [1.20, 1.40]", "step: pass_fusion {\"passes\":2}",
        "2018", "https://arxiv.org", "loops: 3", "tried: 2, won 1"}) {
    EXPECT_THAT(run.output, HasSubstr(part));
  }
  EXPECT_EQ(RunJson({"strategies", "show", "softmax"}, 0)["schema"], "cupilot.pool_entry/1");
  EXPECT_EQ(Run({"strategies", "show"}).exit_code, 2);
}

TEST_F(ClientTest, StrategiesShowOfAnUnknownEntryIsNo) {
  Refuse("strategies_show", base::NotFound("there is no entry 'x' in the strategy pool"));
  const auto run = Run({"strategies", "show", "x"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.errors, HasSubstr("there is no entry 'x'"));
  EXPECT_EQ(RunJson({"strategies", "show", "x"}, 1)["schema"], "cupilot.error/1");
}

TEST_F(ClientTest, StrategiesExportWritesTheFile) {
  const std::string text = "{\"schema\": \"cupilot.strategies/1\", \"entries\": []}\n";
  daemon_.On("strategies_export", [&](const Json&) -> base::Result<Json> {
    return Json{{"schema", "cupilot.strategies_exported/1"},
                {"document", xdg_.folder().Write("reply.json", text)},
                {"entries", 1}};
  });
  ASSERT_TRUE(daemon_.Start());
  EXPECT_EQ(Run({"strategies", "export"}).output, text);
  EXPECT_FALSE(base::FileExists(xdg_.folder().path() + "/reply.json")) << "it is the reader's";
  EXPECT_EQ(daemon_.requests()[0]["params"]["names"], false);
  const auto run = Run({"strategies", "export", "--names", "-o", "mine.json"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("1 entry written to mine.json"));
  EXPECT_EQ(daemon_.requests()[1]["params"]["names"], true);
  EXPECT_EQ(*base::ReadFile(xdg_.folder().path() + "/mine.json"), text);
  const Json json = RunJson({"strategies", "export", "-o", "mine.json"}, 0);
  EXPECT_EQ(json["schema"], "cupilot.strategies_exported/1");
  EXPECT_EQ(json["file"], xdg_.folder().path() + "/mine.json");
  EXPECT_EQ(Run({"strategies", "export", "-o", "mine.json/mine.json"}).exit_code, 3);
}

TEST_F(ClientTest, StrategiesImportNamesAnAbsolutePath) {
  const std::string file = xdg_.folder().Write("theirs.json", "{}");
  Serve("strategies_import",
        {{"schema", "cupilot.strategies_imported/1"}, {"entries", 5}, {"imported", 4}});
  const auto run = Run({"strategies", "import", "theirs.json"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_EQ(daemon_.requests()[0]["params"]["file"], file);
  EXPECT_THAT(run.output, HasSubstr("4 entries of 5 imported"));
  EXPECT_EQ(RunJson({"strategies", "import", "theirs.json"}, 0)["imported"], 4);
}

TEST_F(ClientTest, StrategiesImportSaysWhatIsWrongWithTheFile) {
  Refuse("strategies_import", base::InvalidArgument("theirs.json: schema: expected ..."));
  const auto missing = Run({"strategies", "import", "nowhere.json"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.errors, HasSubstr("nowhere.json: there is no such file"));
  EXPECT_TRUE(daemon_.requests().empty());
  xdg_.folder().Write("theirs.json", "{}");
  const auto wrong = Run({"strategies", "import", "theirs.json"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.errors, HasSubstr("theirs.json: schema"));
}

TEST_F(ClientTest, StrategiesNeedsOneOfItsCommands) {
  EXPECT_EQ(Run({"strategies"}).exit_code, 2);
  EXPECT_EQ(Run({"strategies", "sparkle"}).exit_code, 2);
  EXPECT_EQ(Run({"strategies", "import"}).exit_code, 2);
  EXPECT_EQ(RunJson({"strategies", "sparkle"}, 2)["schema"], "cupilot.error/1");
}

}  // namespace
}  // namespace cupilot::client
