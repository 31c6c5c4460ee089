// Every command with --json: one document, with the schema and the keys, at every depth, that
// client/SCHEMAS.md names.
#include <gmock/gmock.h>

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "base/file.h"
#include "records/lock.h"
#include "tests/client/client_fixture.h"
#include "tests/support/schema_pages.h"
#include "tests/support/terminal_program.h"
#include "workloads/captured.h"

namespace cupilot::client {
namespace {

using records::Json;

struct JsonCase {
  std::string command;             // as main.cc's table has it
  std::vector<std::string> words;  // behind the command
  std::string schema;
  int exit_code = 0;
};

// What a capture prints, capture_test shows; it would wait here for kernels.
constexpr const char* kNoCapture = "cupilot.error/1";

// With a daemon.
const std::vector<JsonCase>& Cases() {
  static const std::vector<JsonCase> cases = {
      {"status", {}, "cupilot.status/1"},
      {"list", {}, "cupilot.list/1"},
      {"watch", {}, "cupilot.watch/1"},
      {"explain", {"k"}, "cupilot.explain/1"},
      {"best", {"k"}, "cupilot.best/1"},
      {"history", {"k"}, "cupilot.history/1"},
      {"apply", {}, "cupilot.apply/1"},
      {"report", {}, "cupilot.report/1"},
      {"diff", {"k"}, "cupilot.diff/1"},
      {"pin", {"k", "0123"}, "cupilot.decided/1"},
      {"reject", {"k"}, "cupilot.decided/1"},
      {"prune", {"--dry-run"}, "cupilot.pruned/1"},
      {"forget", {"p", "--dry-run"}, "cupilot.forgotten/1"},
      {"export", {"-o", "kept.json"}, "cupilot.exported/1"},
      {"export", {}, "cupilot.export/1"},
      {"import", {"kept.json"}, "cupilot.imported/1"},
      {"lock", {}, "cupilot.lock_changes/1", 1},
      {"lock", {"--verify", "-o", "empty.lock"}, "cupilot.lock_verified/1"},
      {"tune", {"k.cu", "--workload", "w.json"}, "cupilot.tune/1", 1},
      {"evaluate", {"k.cu", "--workload", "w.json", "--variant", "v.json"}, "cupilot.evaluation/1"},
      {"inspect", {CUPILOT_PROGRAM}, "cupilot.inspect/1"},
      {"capture", {"--", "true"}, kNoCapture, 1},
      {"workload list", {}, "cupilot.workload_list/1"},
      {"workload show", {"k"}, "cupilot.captured/1"},
      {"workload export", {"k", "-o", "out.json"}, "cupilot.workload_exported/1"},
      {"workload drop", {"k"}, "cupilot.workload_dropped/1"},
      {"bench", {"--pairs", "5", "--", "true"}, "cupilot.bench/1", 1},
      {"import", {"cache.json", "-o", "measured.json"}, "cupilot.import/1"},
      {"search replay", {"measured.json", "--repeats", "2"}, "cupilot.replay/1"},
      {"models status", {}, "cupilot.models/1"},
      {"models last", {}, "cupilot.exchange/1"},
      {"models allow", {"openai x"}, "cupilot.models/1"},
      {"models forbid", {"openai x"}, "cupilot.models/1"},
      {"strategies list", {}, "cupilot.strategies_list/1"},
      {"strategies show", {"1"}, "cupilot.pool_entry/1"},
      {"strategies export", {"-o", "mine.json"}, "cupilot.strategies_exported/1"},
      {"strategies export", {}, "cupilot.strategies/1"},
      {"strategies import", {"v.json"}, "cupilot.strategies_imported/1"},
      {"doctor", {}, "cupilot.doctor/1", 3},
      {"config", {}, "cupilot.config/1"},
      {"config", {"--host-nvcc"}, "cupilot.config/1"},
      {"daemon start", {}, "cupilot.daemon/1"},
      {"daemon logs", {}, "cupilot.logs/1"},
      {"snooze", {}, "cupilot.status/1"},
      {"resume", {}, "cupilot.status/1"},
      // Without a terminal it only asks for --yes; what it prints then, storage_commands_test
      // shows.
      {"purge", {}, "cupilot.error/1", 2},
  };
  return cases;
}

class JsonDocumentsTest : public ClientTest {
 protected:
  JsonDocumentsTest() {
    WriteFiles();
    for (const auto& [verb, schema] :
         std::map<std::string, std::string>{{"status", "status"},
                                            {"list", "list"},
                                            {"explain", "explain"},
                                            {"best", "best"},
                                            {"history", "history"},
                                            {"apply", "apply"},
                                            {"diff", "diff"},
                                            {"pin", "decided"},
                                            {"reject", "decided"},
                                            {"prune", "pruned"},
                                            {"forget", "forgotten"},
                                            {"import", "imported"},
                                            {"lock", "locked"},
                                            {"workload_list", "workload_list"},
                                            {"workload_drop", "workload_dropped"},
                                            {"models", "models"},
                                            {"models_allow", "models"},
                                            {"models_forbid", "models"},
                                            {"strategies_list", "strategies_list"},
                                            {"strategies_show", "pool_entry"},
                                            {"strategies_import", "strategies_imported"},
                                            {"snooze", "status"},
                                            {"resume", "status"}}) {
      daemon_.On(verb, [schema = schema](const Json&) {
        return Json{{"schema", "cupilot." + schema + "/1"}};
      });
    }
    daemon_.On("workload_show", [](const Json&) { return workloads::ToJson(MadeUpCapture()); });
    daemon_.On("models_last", [this](const Json&) {
      return Json{{"schema", "cupilot.models_last/1"},
                  {"document", xdg_.folder().Write(
                                   "exchange", R"({"schema": "cupilot.exchange/1", "sent": ""})")}};
    });
    // Whoever reads these deletes them.
    daemon_.On("report", [this](const Json&) {
      const std::string text = R"({"schema": "cupilot.report/1", "kernels": []})";
      return Json{{"schema", "cupilot.reported/1"},
                  {"document", xdg_.folder().Write("reply.json", text)}};
    });
    daemon_.On("export", [this](const Json&) {
      const std::string text = R"({"schema": "cupilot.export/1", "kernels": []})";
      return Json{{"schema", "cupilot.exported/1"},
                  {"document", xdg_.folder().Write("reply.json", text)}};
    });
    daemon_.On("strategies_export", [this](const Json&) {
      const std::string text = R"({"schema": "cupilot.strategies/1", "entries": []})";
      return Json{{"schema", "cupilot.strategies_exported/1"},
                  {"document", xdg_.folder().Write("reply.json", text)},
                  {"entries", 0}};
    });
    environment_["CUPILOT_LIBEXEC"] = xdg_.folder() / "none";
  }

  static Json MadeUpWorkload() {
    return {{"schema", "cupilot.workload/1"},
            {"kernel", "k"},
            {"cases",
             {{{"name", "one"},
               {"grid", {1, 1, 1}},
               {"block", {1, 1, 1}},
               {"arguments",
                {{{"name", "x"}, {"type", "float*"}, {"count", 4}, {"access", "out"}}}}}}}};
  }
  static workloads::Captured MadeUpCapture() {
    workloads::Captured captured;
    captured.kernel = "k";
    captured.cases = records::ParseWorkload(MadeUpWorkload()).value().cases;
    return captured;
  }

  void WriteFiles() {
    const test::TemporaryFolder& folder = xdg_.folder();
    folder.Write("k.cu", "__global__ void k(float* x) { x[0] = 1; }\n");
    folder.Write("w.json", MadeUpWorkload().dump());
    folder.Write("v.json", R"({"schema": "cupilot.variant/1", "kernel": "k", "entry": "v",
                               "source": "__global__ void v(float* x) { x[0] = 1; }"})");
    folder.Write("empty.lock", records::LockText({}));
    folder.Write("state/cupilot/daemon.log", "a line\n");
    std::string cache =
        R"({"device_name": "d", "kernel_name": "k", "tune_params_keys": ["a"], "tune_params":
        {"a": [0, 1, 2, 3, 4, 5, 6, 7]}, "cache": {)";
    for (int a = 0; a < 8; ++a) {
      const std::string text = std::to_string(a);
      cache += (a == 0 ? "\"" : ",\"") + text + "\": {\"a\": " + text +
               ", \"time\": " + std::to_string(20 + (a - 3) * (a - 3)) +
               ", \"compile_time\": 400, \"benchmark_time\": 100}";
    }
    folder.Write("cache.json", cache + "}}");
    // In place of `cupilotd --once`.
    const std::string script = folder.Write("child", R"sh(#!/bin/sh
read -r line
case "$line" in
  *'"verb":"tune"'*) echo '{"result":{"schema":"cupilot.tune/1","variant":null}}' ;;
  *) echo '{"result":{"schema":"cupilot.evaluation/1","verdict":"accepted"}}' ;;
esac
)sh");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    environment_["CUPILOT_DAEMON"] = script;
  }

  // An option stands before what may be another program's words.
  static std::vector<std::string> WordsOf(const JsonCase& one, const std::string& option) {
    std::vector<std::string> words;
    std::istringstream parts(one.command);
    for (std::string word; parts >> word;) words.push_back(word);
    if (!option.empty()) words.push_back(option);
    words.insert(words.end(), one.words.begin(), one.words.end());
    return words;
  }
  test::ProgramRun RunCase(const JsonCase& one) { return Run(WordsOf(one, "--json")); }
};

std::string DescribedSchemas() {
  return base::ReadFile(CUPILOT_TEST_SOURCE_DIR "/client/SCHEMAS.md").value_or("");
}

void ExpectDescribed(const JsonCase& one, const Json& document, test::SchemaPages& pages) {
  EXPECT_THAT(pages.Undescribed(one.schema, document), ::testing::IsEmpty())
      << "client/SCHEMAS.md says nothing of these keys of " << one.schema;
  if (one.schema == "cupilot.error/1") return;
  std::istringstream lines(DescribedSchemas());
  bool named = false;
  for (std::string line; std::getline(lines, line);) {
    named = named ||
            (line.rfind("|", 0) == 0 && line.find("`" + one.command + "`") != std::string::npos &&
             line.find("`" + one.schema + "`") != std::string::npos);
  }
  EXPECT_TRUE(named) << "client/SCHEMAS.md: " << one.command << " prints " << one.schema;
}

TEST_F(JsonDocumentsTest, EveryCommandPrintsOneDocumentThatIsDescribed) {
  ASSERT_TRUE(daemon_.Start());
  test::SchemaPages pages(DescribedSchemas());
  const std::regex versioned("^cupilot\\.[a-z_]+/[1-9][0-9]*$");
  for (const JsonCase& one : Cases()) {
    SCOPED_TRACE(one.command);
    const test::ProgramRun run = RunCase(one);
    EXPECT_EQ(run.exit_code, one.exit_code) << run.output << run.errors;
    const auto document = records::ParseJson(run.output);
    ASSERT_TRUE(document) << run.output;
    ASSERT_TRUE(document->is_object());
    const std::string schema = document->value("schema", "");
    EXPECT_TRUE(std::regex_match(schema, versioned)) << schema;
    EXPECT_EQ(schema, one.schema);
    ExpectDescribed(one, *document, pages);
  }
  // Those that the client makes of what stands here; of the daemon's schema_keys_test tells.
  EXPECT_THAT(pages.Unseen({"cupilot.doctor/1", "cupilot.config/1", "cupilot.logs/1",
                            "cupilot.inspect/1", "cupilot.import/1", "cupilot.replay/1",
                            "cupilot.lock_changes/1", "cupilot.lock_verified/1"}),
              ::testing::IsEmpty())
      << "client/SCHEMAS.md says what no document has";
}

TEST_F(JsonDocumentsTest, SoDoesStoppingWhatDoesNotRun) {
  const JsonCase stop = {"daemon stop", {}, "cupilot.daemon/1"};
  const auto document = records::ParseJson(RunCase(stop).output);
  ASSERT_TRUE(document);
  EXPECT_EQ((*document)["schema"], stop.schema);
  test::SchemaPages pages(DescribedSchemas());
  ExpectDescribed(stop, *document, pages);
}

TEST_F(JsonDocumentsTest, NoCommandIsMissingAbove) {
  std::set<std::string> known = {"daemon stop"};
  for (const JsonCase& one : Cases()) known.insert(one.command);
  std::istringstream lines(Run({"generate", "commands"}).output);
  std::set<std::string> commands;
  for (std::string line; std::getline(lines, line);) commands.insert(line);
  EXPECT_EQ(known, commands) << "a command needs its line in Cases() and in client/SCHEMAS.md";
}

// Colours and progress in place are for terminals, and not for all of them. (`watch` goes on until
// somebody ends it: watch_terminal_test.)
TEST_F(JsonDocumentsTest, NoCommandSendsSequencesToAPipe) {
  ASSERT_TRUE(daemon_.Start());
  environment_["TERM"] = "xterm-256color";
  for (const JsonCase& one : Cases()) {
    if (one.command == "watch") continue;
    const test::ProgramRun run = Run(WordsOf(one, ""));
    EXPECT_EQ(run.exit_code, one.exit_code) << one.command << run.errors;
    EXPECT_EQ((run.output + run.errors).find_first_of("\033\r\b"), std::string::npos)
        << one.command;
  }
}

TEST_F(JsonDocumentsTest, NoCommandColoursWhereNobodyWantsIt) {
  ASSERT_TRUE(daemon_.Start());
  for (const std::string term : {"xterm-256color", "dumb", ""}) {
    environment_["TERM"] = term;
    environment_["NO_COLOR"] = "1";
    for (const JsonCase& one : Cases()) {
      // The one goes on for ever there, the other asks (storage_commands_test).
      if (one.command == "watch" || one.command == "purge") continue;
      std::vector<std::string> words = WordsOf(one, "");
      words.insert(words.begin(), CUPILOT_PROGRAM);
      test::TerminalProgram program(words, {environment_, xdg_.folder().path()}, 120, 50);
      EXPECT_EQ(program.End(), one.exit_code) << one.command;
      EXPECT_FALSE(program.screen().coloured()) << one.command;
      if (term != "xterm-256color") {
        EXPECT_TRUE(program.screen().plain()) << one.command;
      }
    }
  }
}

TEST_F(JsonDocumentsTest, ProgressIsRewrittenOnATerminalAndGoesAway) {
  const std::string script = xdg_.folder().Write("child", R"sh(#!/bin/sh
read -r line
echo '{"event":"stage","data":{"stage":"verify"}}'
echo '{"result":{"schema":"cupilot.evaluation/1","verdict":"accepted","speedup":1.5}}'
)sh");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const std::vector<std::string> words = {CUPILOT_PROGRAM, "evaluate",  "k.cu",  "--workload",
                                          "w.json",        "--variant", "v.json"};
  environment_["TERM"] = "xterm";
  test::TerminalProgram program(words, {environment_, xdg_.folder().path()});
  EXPECT_EQ(program.End(), 0);
  EXPECT_FALSE(program.screen().plain());
  EXPECT_EQ(program.screen().text().find("verify"), std::string::npos);
  environment_["TERM"] = "dumb";
  test::TerminalProgram simple(words, {environment_, xdg_.folder().path()});
  EXPECT_EQ(simple.End(), 0);
  EXPECT_EQ(simple.screen().Line(0), "verify");
}

// Wrong usage, too.
TEST_F(JsonDocumentsTest, WhatFailsPrintsAnError) {
  test::SchemaPages pages(DescribedSchemas());
  std::istringstream lines(Run({"generate", "commands"}).output);
  for (std::string command; std::getline(lines, command);) {
    const JsonCase wrong = {command, {"--no-such-option"}, "cupilot.error/1", 2};
    const test::ProgramRun run = RunCase(wrong);
    EXPECT_EQ(run.exit_code, 2) << command;
    const auto document = records::ParseJson(run.output);
    ASSERT_TRUE(document) << command << run.output;
    EXPECT_EQ((*document)["schema"], wrong.schema);
    ExpectDescribed(wrong, *document, pages);
  }
}

}  // namespace
}  // namespace cupilot::client
