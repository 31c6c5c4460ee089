// `cupilot prune`, `forget`, `purge`, `export`, and `import` of what was exported.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/file.h"
#include "cache/upgrade.h"
#include "tests/client/client_fixture.h"

namespace cupilot::client {
namespace {

using records::Json;
using ::testing::HasSubstr;
using ::testing::Not;

Json PrunedReply() {
  return {{"schema", "cupilot.pruned/1"},
          {"dry_run", false},
          {"evaluations", 12},
          {"variants", 1},
          {"bytes_before", 3 << 20},
          {"bytes_after", 1 << 20},
          {"kernels",
           {{{"kernel", "image::blur"},
             {"evaluations", 12},
             {"bytes", 2 << 20},
             {"newest", "2025-01-01T00:00:00Z"},
             {"whole", true}}}},
          {"left_out", 0}};
}

TEST_F(ClientTest, PruneSaysWhatItDropped) {
  Serve("prune", PrunedReply());
  const auto run = Run({"prune", "--older-than", "30d", "--max-size", "100M"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  for (const char* part : {"image::blur", "2.0 MB", "all of it",
                           "dropped 12 evaluations and 1 variant: 3.0 MB before, 1.0 MB after"}) {
    EXPECT_THAT(run.output, HasSubstr(part));
  }
  const Json params = daemon_.requests().back()["params"];
  EXPECT_EQ(params["older_seconds"], 30.0 * 86400);
  EXPECT_EQ(params["max_bytes"], 100u << 20);
  EXPECT_FALSE(params.contains("dry_run"));
  EXPECT_THAT(Run({"prune", "--dry-run"}).output, HasSubstr("would drop 12"));
  EXPECT_EQ(daemon_.requests().back()["params"], (Json{{"dry_run", true}}));
  EXPECT_EQ(RunJson({"prune"}, 0)["schema"], "cupilot.pruned/1");
}

TEST_F(ClientTest, PruneRefusesWhatIsNoAgeOrSize) {
  Serve("prune", PrunedReply());
  EXPECT_EQ(Run({"prune", "--older-than", "old"}).exit_code, 2);
  EXPECT_EQ(Run({"prune", "--max-size", "big"}).exit_code, 2);
  EXPECT_TRUE(daemon_.requests().empty());
}

TEST_F(ClientTest, PruneWhileSourcesAreUnreadIsThree) {
  Refuse("prune", base::Unavailable("not read yet"));
  EXPECT_EQ(RunJson({"prune"}, 3)["code"], "unavailable");
}

Json ForgottenReply() {
  return {{"schema", "cupilot.forgotten/1"},
          {"dry_run", false},
          {"projects", {"/p/build"}},
          {"kernels", {"image::blur"}},
          {"evaluations", 1},
          {"variants", 2},
          {"captured", 0},
          {"marks", 3},
          {"objects", 2},
          {"bytes", 2048},
          {"problems", {"/p/build/x: cannot touch"}}};
}

TEST_F(ClientTest, ForgetSaysWhatItDrops) {
  Serve("forget", ForgottenReply());
  const auto run = Run({"forget", "/p"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  for (const char* part :
       {"dropped the project built in /p/build", "kernels: image::blur",
        "1 evaluation, 2 variants, 0 captured workloads, 3 marks (pinned, rejected), 2.0 kB",
        "the next build compiles the originals of 2 objects"}) {
    EXPECT_THAT(run.output, HasSubstr(part));
  }
  EXPECT_THAT(run.errors, HasSubstr("cannot touch"));
  EXPECT_EQ(daemon_.requests().back()["params"], (Json{{"project", "/p"}}));
  // A path is relative to where the user stands, a name is none.
  Run({"forget", "."});
  EXPECT_EQ(daemon_.requests().back()["params"]["project"], xdg_.folder().path());
  Run({"forget", "gallery", "--dry-run"});
  EXPECT_EQ(daemon_.requests().back()["params"], (Json{{"project", "gallery"}, {"dry_run", true}}));
  EXPECT_EQ(RunJson({"forget", "/p"}, 0)["schema"], "cupilot.forgotten/1");
  EXPECT_EQ(Run({"forget"}).exit_code, 2);
}

TEST_F(ClientTest, ForgetOfAnUnknownProjectIsOne) {
  Refuse("forget", base::NotFound("there is no project"));
  EXPECT_EQ(RunJson({"forget", "/q"}, 1)["code"], "not_found");
}

TEST_F(ClientTest, ExportWritesTheFile) {
  const std::string text = "{\"schema\": \"cupilot.export/1\", \"kernels\": []}\n";
  daemon_.On("export", [&](const Json&) -> base::Result<Json> {
    return Json{{"schema", "cupilot.exported/1"},
                {"document", xdg_.folder().Write("reply.json", text)},
                {"kernels", 1},
                {"variants", 2},
                {"evaluations", 3}};
  });
  ASSERT_TRUE(daemon_.Start());
  EXPECT_EQ(Run({"export"}).output, text);
  EXPECT_FALSE(base::FileExists(xdg_.folder().path() + "/reply.json")) << "it is the reader's";
  EXPECT_EQ(daemon_.requests().back()["params"]["folder"], xdg_.folder().path());
  EXPECT_FALSE(daemon_.requests().back()["params"].contains("all"));
  const auto run = Run({"export", "--all", "-o", "mine.json"});
  EXPECT_THAT(run.output, HasSubstr("1 kernel, 2 variants and 3 evaluations written to mine.json"));
  EXPECT_EQ(daemon_.requests().back()["params"]["all"], true);
  EXPECT_EQ(*base::ReadFile(xdg_.folder().path() + "/mine.json"), text);
  EXPECT_EQ(RunJson({"export", "-o", "mine.json"}, 0)["schema"], "cupilot.exported/1");
  EXPECT_EQ(Run({"export", "-o", "mine.json/mine.json"}).exit_code, 3);
  const auto nowhere = Run({"export", "-o", "none/here/mine.json"});
  EXPECT_EQ(nowhere.exit_code, 3);
  EXPECT_THAT(nowhere.errors, HasSubstr("there is no folder none/here"));
  EXPECT_FALSE(base::FileExists(xdg_.folder().path() + "/none"));
}

TEST_F(ClientTest, ExportOutsideOfAProjectIsOne) {
  Refuse("export", base::NotFound("no tuned project contains this folder"));
  EXPECT_EQ(RunJson({"export"}, 1)["code"], "not_found");
}

TEST_F(ClientTest, ImportOfAnExportIsTheDaemons) {
  const std::string file = xdg_.folder().Write("theirs.json", R"({"schema": "cupilot.export/1"})");
  Serve("import", {{"schema", "cupilot.imported/1"},
                   {"kernels", 2},
                   {"variants", 5},
                   {"proposals", 4},
                   {"waiting", 1},
                   {"strategies", 0}});
  const auto run = Run({"import", "theirs.json"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("4 new proposals of 5 accepted variants for 2 kernels"));
  EXPECT_THAT(run.output, HasSubstr("1 of them wait"));
  EXPECT_EQ(daemon_.requests().back()["params"]["file"], file);
  EXPECT_EQ(RunJson({"import", "theirs.json"}, 0)["schema"], "cupilot.imported/1");
  // What is for spaces is not for this.
  EXPECT_EQ(Run({"import", "theirs.json", "-o", "out.json"}).exit_code, 2);
  EXPECT_EQ(Run({"import", "theirs.json", "--t4"}).exit_code, 2);
}

TEST_F(ClientTest, ImportOfASpaceNeedsAFileToWrite) {
  xdg_.folder().Write("space.json", R"({"ConfigurationSpace": {"TuningParameters": [
      {"Name": "block", "Type": "int", "Values": "[32, 64]"}]}})");
  const auto run = Run({"import", "space.json"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.errors, HasSubstr("-o FILE"));
  EXPECT_EQ(Run({"import", "space.json", "-o", "out.json"}).exit_code, 0);
}

TEST_F(ClientTest, ImportOfWhatIsNeitherSaysWhatWasFound) {
  struct Case {
    const char* text;
    const char* said;
  };
  const std::string whole = R"({"schema": "cupilot.export/1", "kernels": [{"name": "blur"}, 1]})";
  const std::string cut = whole.substr(0, whole.size() - 5);
  for (const Case& one : {Case{cut.c_str(), "line 1"}, Case{"{\n\"kernels\": oh}", "line 2"},
                          Case{"no JSON", "line 1"}, Case{"{}", "no results are in this"}}) {
    xdg_.folder().Write("theirs.json", one.text);
    for (const auto& words : std::vector<std::vector<std::string>>{
             {"import", "theirs.json"}, {"import", "theirs.json", "-o", "out.json"}}) {
      const auto run = Run(words);
      EXPECT_EQ(run.exit_code, 2) << one.text;
      EXPECT_THAT(run.errors, HasSubstr("theirs.json"));
      EXPECT_THAT(run.errors, HasSubstr(one.said)) << one.text;
      EXPECT_THAT(run.errors, Not(HasSubstr("-o FILE"))) << one.text;
    }
  }
}

TEST_F(ClientTest, ImportSaysWhatIsWrongWithTheFile) {
  xdg_.folder().Write("theirs.json", R"({"schema": "cupilot.export/7"})");
  Refuse("import", base::InvalidArgument("theirs.json: schema: expected"));
  EXPECT_THAT(Run({"import", "theirs.json"}).errors, HasSubstr("schema"));
  EXPECT_EQ(RunJson({"import", "theirs.json"}, 2)["code"], "invalid_argument");
}

TEST_F(ClientTest, PurgeWithoutATerminalNeedsYes) {
  Serve("forget", ForgottenReply());
  std::filesystem::create_directories(xdg_.state());
  const auto run = Run({"purge"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.errors, HasSubstr("--yes"));
  EXPECT_THAT(run.errors, HasSubstr(xdg_.state()));
  EXPECT_EQ(RunJson({"purge"}, 2)["schema"], "cupilot.error/1");
  EXPECT_TRUE(base::FileExists(xdg_.state()));
  EXPECT_TRUE(daemon_.requests().empty());
}

TEST_F(ClientTest, PurgeWithoutADaemonDeletesAndWarns) {
  std::filesystem::create_directories(xdg_.state());
  xdg_.folder().Write("cache/cupilot/artifact", "x");
  xdg_.folder().Write("config/cupilot/config.json", "{}");
  const auto run = Run({"purge", "--yes"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.errors, HasSubstr("builds keep the variants"));
  EXPECT_FALSE(base::FileExists(xdg_.state()));
  EXPECT_FALSE(base::FileExists(xdg_.cache()));
  EXPECT_TRUE(base::FileExists(xdg_.config() + "/config.json")) << "the user's own";
}

TEST_F(ClientTest, PurgeOfADaemonThatRefusesDeletesNothing) {
  std::filesystem::create_directories(xdg_.state());
  Refuse("forget", base::Unavailable("a build runs"));
  EXPECT_EQ(RunJson({"purge", "--yes"}, 3)["code"], "unavailable");
  EXPECT_TRUE(base::FileExists(xdg_.state()));
}

// As a person on a terminal: `script` gives it one.
TEST_F(ClientTest, PurgeAsksOnATerminalAndOnlyYesIsYes) {
  std::filesystem::create_directories(xdg_.state());
  const auto answer = [&](const std::string& text) {
    test::RunOptions options;
    options.environment = environment_;
    options.environment["PROGRAM"] = CUPILOT_PROGRAM;
    options.folder = xdg_.folder().path();
    return test::RunProgram(
        {"sh", "-c", "echo '" + text + "' | script -qec '\"$PROGRAM\" purge' /dev/null"}, options);
  };
  const auto no = answer("y");
  EXPECT_EQ(no.exit_code, 1) << no.output;
  EXPECT_THAT(no.output, HasSubstr("Type yes to go on"));
  EXPECT_THAT(no.output, HasSubstr("nothing was deleted"));
  EXPECT_TRUE(base::FileExists(xdg_.state()));
  EXPECT_EQ(answer("yes").exit_code, 0);
  EXPECT_FALSE(base::FileExists(xdg_.state()));
}

class StoredDataTest : public ClientTest {
 protected:
  StoredDataTest() { environment_["CUPILOT_NO_SPAWN"] = ""; }
  ~StoredDataTest() override { Run({"daemon", "stop"}); }
};

TEST_F(StoredDataTest, PurgeEndsTheDaemonAndDeletes) {
  RunJson({"daemon", "start"}, 0);
  ASSERT_TRUE(base::FileExists(xdg_.state() + "/store"));
  const Json document = RunJson({"purge", "--yes"}, 0);
  EXPECT_EQ(document["schema"], "cupilot.purged/1");
  EXPECT_FALSE(base::FileExists(xdg_.state()));
  EXPECT_EQ(RunJson({"daemon", "stop"}, 0)["stopped"], false) << "it ended";
}

// A program that was set back to an older version.
TEST_F(StoredDataTest, ANewerStoreIsRefusedAndLeftAlone) {
  RunJson({"daemon", "start"}, 0);
  RunJson({"daemon", "stop"}, 0);
  const std::string file = xdg_.state() + "/store_format.json";
  const std::string newer = records::PrettyJson({{"schema", "cupilot.store_format/1"},
                                                 {"format", cache::kStoreFormat + 1},
                                                 {"tool", "9.9.9"}});
  ASSERT_TRUE(base::WriteFileAtomically(file, newer));
  const auto run = Run({"status"});
  EXPECT_EQ(run.exit_code, 3);
  for (const char* part : {"9.9.9", "or newer", "nothing was changed"}) {
    EXPECT_THAT(run.errors, HasSubstr(part));
  }
  EXPECT_EQ(*base::ReadFile(file), newer);
}

}  // namespace
}  // namespace cupilot::client
