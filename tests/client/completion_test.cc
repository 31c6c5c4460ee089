// Completions and manual pages: what the shells and man make of them, and that no command is
// missing.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/file.h"
#include "client/completion/description.h"
#include "tests/client/client_fixture.h"
#include "tests/support/terminal_program.h"

namespace cupilot::client {
namespace {

using records::Json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CompletionTest : public ClientTest {
 protected:
  CompletionTest() {
    environment_["PATH"] =
        std::filesystem::path(CUPILOT_PROGRAM).parent_path().string() + ":" + std::getenv("PATH");
    environment_["LC_ALL"] = "C.UTF-8";
  }

  std::string Generated(const std::string& what) {
    const auto run = Run({"generate", what});
    EXPECT_EQ(run.exit_code, 0) << run.errors;
    return run.output;
  }
  // Written as a package has it; its path.
  std::string File(const std::string& what, const std::string& name) {
    const auto run = Run({"generate", what, "-o", name});
    EXPECT_EQ(run.exit_code, 0) << run.errors;
    return xdg_.folder() / name;
  }
  std::vector<std::string> Commands() {
    std::vector<std::string> commands;
    std::istringstream lines(Generated("commands"));
    for (std::string line; std::getline(lines, line);) commands.push_back(line);
    EXPECT_GE(commands.size(), 33u);
    return commands;
  }
  test::ProgramRun Shell(const std::vector<std::string>& words) {
    return test::RunProgram(words, {environment_, xdg_.folder().path()});
  }
  static std::string DaemonPage() { return CUPILOT_TEST_BINARY_DIR "/daemon/cupilotd.8"; }
  static bool Installed(const std::string& program) {
    return test::RunProgram({"sh", "-c", "command -v " + program}).exit_code == 0;
  }

  // What bash offers for the last of these words.
  std::set<std::string> Bash(const std::string& words, const std::string& file) {
    const auto run = Shell({"bash", "-c",
                            "source " + file + "; COMP_WORDS=(" + words +
                                "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); compopt() { :; }; "
                                "_cupilot; printf '%s\\n' \"${COMPREPLY[@]}\""});
    EXPECT_EQ(run.errors, "") << words;
    return Lines(run.output);
  }
  static std::set<std::string> Lines(const std::string& text) {
    std::set<std::string> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) all.insert(line.substr(0, line.find('\t')));
    }
    return all;
  }
};

// "daemon start": the words before the last one, with a blank behind each.
std::string WordsBefore(const std::string& command) {
  return command.substr(0, command.size() - LastWord(command).size());
}

TEST_F(CompletionTest, BashCompletesEveryCommand) {
  const std::string file = File("bash", "cupilot.bash");
  const auto checked = Shell({"bash", "-n", file});
  EXPECT_EQ(checked.exit_code, 0) << checked.errors;
  for (const std::string& command : Commands()) {
    const std::string last = LastWord(command);
    EXPECT_THAT(Bash("cupilot " + WordsBefore(command) + last.substr(0, 2), file), Contains(last))
        << command;
    EXPECT_THAT(Bash("cupilot " + command + " --js", file), Contains("--json")) << command;
  }
}

TEST_F(CompletionTest, BashCompletesOptionsAndValues) {
  const std::string file = File("bash", "cupilot.bash");
  EXPECT_THAT(Bash("cupilot tune a.cu --work", file), Contains("--workload"));
  EXPECT_THAT(Bash("cupilot --json tune --device h", file), Contains("host"));
  ASSERT_TRUE(base::WriteFileAtomically(xdg_.folder() / "with blank.json", "{}"));
  EXPECT_THAT(Bash("cupilot tune --workload wi", file), Contains("with blank.json"));
  EXPECT_THAT(Bash("cupilot bench --seconds 3 -- bas", file), Contains("bash"));
  EXPECT_THAT(Bash("cupilot snooze --work", file), IsEmpty());
  // A value is no command.
  EXPECT_THAT(Bash("cupilot explain k --", file), Not(Contains("--workload")));
}

TEST_F(CompletionTest, KernelsAreCompletedAndNothingIsStartedForThem) {
  const std::string file = File("bash", "cupilot.bash");
  EXPECT_THAT(Bash("cupilot explain ''", file), Not(Contains("blur")));
  Serve("list", {{"schema", "cupilot.list/1"},
                 {"kernels", {{{"kernel", "image::blur"}}, {{"kernel", "scan<float, 4>"}}}}});
  EXPECT_THAT(Bash("cupilot explain bl", file), Contains("blur"));
  EXPECT_THAT(Bash("cupilot reject bl", file), Contains("blur"));
  EXPECT_THAT(Generated("kernels"), "blur\n");
}

TEST_F(CompletionTest, FishCompletesEveryCommand) {
  if (!Installed("fish")) GTEST_SKIP() << "fish is not installed";
  const std::string file = File("fish", "cupilot.fish");
  const auto checked = Shell({"fish", "-n", file});
  EXPECT_EQ(checked.exit_code, 0) << checked.errors;
  std::string script = "source " + file;
  const std::vector<std::string> commands = Commands();
  for (const std::string& command : commands) {
    script += "; complete -C 'cupilot --json " + WordsBefore(command) +
              LastWord(command).substr(0, 2) + "' | string replace -r '^' '" + command + " <- '";
  }
  const auto run = Shell({"fish", "--no-config", "-c", script});
  EXPECT_EQ(run.errors, "");
  for (const std::string& command : commands) {
    EXPECT_THAT(Lines(run.output), Contains(command + " <- " + LastWord(command)));
  }
}

TEST_F(CompletionTest, FishCompletesOptionsAndValues) {
  if (!Installed("fish")) GTEST_SKIP() << "fish is not installed";
  const std::string file = File("fish", "cupilot.fish");
  const auto run = Shell({"fish", "--no-config", "-c",
                          "source " + file +
                              "; complete -C 'cupilot tune a.cu --work'; complete -C 'cupilot tune "
                              "--device '; complete -C 'cupilot snooze --unt'"});
  EXPECT_EQ(run.errors, "");
  EXPECT_THAT(Lines(run.output),
              AllOf(Contains("--workload"), Contains("cuda:0"), Not(Contains("--until-gain"))));
}

TEST_F(CompletionTest, ZshHasEveryCommand) {
  if (!Installed("zsh")) GTEST_SKIP() << "zsh is not installed";
  const std::string file = File("zsh", "_cupilot");
  const auto checked = Shell({"zsh", "-f", "-n", file});
  EXPECT_EQ(checked.exit_code, 0) << checked.errors;
  const std::string text = Generated("zsh");
  for (const std::string& command : Commands()) {
    std::string group = WordsBefore(command);
    if (!group.empty()) group = "_of_" + group.substr(0, group.size() - 1);
    const std::size_t function = text.find("\n_cupilot" + group + "() {");
    ASSERT_NE(function, std::string::npos) << command;
    const std::string body = text.substr(function, text.find("\n}\n", function) - function);
    EXPECT_THAT(body, HasSubstr("\n    '" + LastWord(command) + ":"));
    EXPECT_THAT(body, HasSubstr("\n    (" + LastWord(command) + ") "));
  }
}

TEST_F(CompletionTest, ZshCompletesInItsLine) {
  if (!Installed("zsh")) GTEST_SKIP() << "zsh is not installed";
  File("zsh", "_cupilot");
  environment_["TERM"] = "dumb";
  environment_["PS1"] = "> ";
  test::TerminalProgram zsh({"zsh", "-f", "-i"}, {environment_, xdg_.folder().path()}, 120, 50);
  zsh.Type("fpath=($PWD $fpath); autoload -U compinit; compinit -u -D; echo re''ady\r");
  ASSERT_TRUE(zsh.Shows("\nready")) << zsh.screen().text();
  zsh.Type("cupilot daemon sto\t# one\r");
  EXPECT_TRUE(zsh.Shows("cupilot daemon stop ")) << zsh.screen().text();
  zsh.Type(
      "\x15"
      "cupilot tune --worklo\t");
  EXPECT_TRUE(zsh.Shows("cupilot tune --workload")) << zsh.screen().text();
  zsh.Type(
      "\x15"
      "exit\r");
  zsh.End();
}

TEST_F(CompletionTest, TheManualHasEveryCommandAndNoOther) {
  std::set<std::string> described;
  std::istringstream lines(Generated("man"));
  const std::string begin = ".SS \\fBcupilot ";
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(begin, 0) != 0) continue;
    described.insert(line.substr(begin.size(), line.find("\\fR") - begin.size()));
  }
  const auto commands = Commands();
  EXPECT_EQ(described, std::set<std::string>(commands.begin(), commands.end()));
}

TEST_F(CompletionTest, ManAndGroffFindNothingWrong) {
  if (!Installed("groff")) GTEST_SKIP() << "groff is not installed";
  const std::string page = File("man", "cupilot.1");
  for (const std::string& file : {page, DaemonPage()}) {
    const auto checked = Shell({"groff", "-ww", "-man", "-z", file});
    EXPECT_EQ(checked.exit_code, 0);
    EXPECT_EQ(checked.errors, "") << file;
    if (!Installed("man")) continue;
    const auto shown = Shell({"man", "--warnings", "-l", file});
    EXPECT_EQ(shown.exit_code, 0);
    EXPECT_EQ(shown.errors, "") << file;
    EXPECT_THAT(shown.output, HasSubstr("SEE ALSO"));
  }
}

TEST_F(CompletionTest, MandocFindsNothingWrong) {
  if (!Installed("mandoc")) GTEST_SKIP() << "mandoc is not installed";
  for (const std::string& file : {File("man", "cupilot.1"), DaemonPage()}) {
    // Pages have no date: the same sources give the same bytes.
    const auto checked = Shell({"mandoc", "-T", "lint", "-W", "warning", file});
    EXPECT_THAT(Lines(checked.output), Each(HasSubstr("missing date"))) << file;
  }
}

TEST_F(CompletionTest, TheDaemonsPageSaysWhatItsHelpSays) {
  const auto help = Shell({CUPILOT_DAEMON_PROGRAM, "--help"});
  EXPECT_EQ(help.exit_code, 0) << help.errors;
  EXPECT_EQ(Shell({CUPILOT_DAEMON_PROGRAM, "--no-such-option"}).errors, help.output);
  std::string page = base::ReadFile(DaemonPage()).value();
  for (const char* sign : {"\\fB", "\\fR", "\\", "(1)"}) {
    for (std::size_t at = page.find(sign); at != std::string::npos; at = page.find(sign, at)) {
      page.erase(at, std::string(sign).size());
    }
  }
  std::set<std::string> options;
  std::istringstream lines(help.output);
  std::string line;
  std::getline(lines, line);  // how it is called
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string option, about;
    words >> option;
    std::getline(words >> std::ws, about);
    EXPECT_THAT(page, HasSubstr("\n.TP\n.B " + option + "\n" + about + "."));
    EXPECT_THAT(page.substr(page.find("SYNOPSIS"), 200), HasSubstr(" " + option + " "));
    options.insert(option);
  }
  EXPECT_GE(options.size(), 5u);
  const std::string begin = "\n.B --";
  for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at + 1)) {
    const std::size_t name = at + begin.size() - 2;
    EXPECT_THAT(options, Contains(page.substr(name, page.find('\n', name) - name)));
  }
}

TEST_F(CompletionTest, WhatIsOddInTextsIsWrittenAsItIs) {
  DescribedProgram program{"It's [odd]: \\a `b`", "1", {{{"--all"}, "", "[it's]: \\x", ""}}, {}};
  program.commands.push_back(
      {"run", ".begins with 'a dot", {{{}, "FILE", "the 'file'", "", true}}});
  ASSERT_TRUE(base::WriteFileAtomically(xdg_.folder() / "odd.bash", BashCompletion(program)));
  ASSERT_TRUE(base::WriteFileAtomically(xdg_.folder() / "odd.zsh", ZshCompletion(program)));
  ASSERT_TRUE(base::WriteFileAtomically(xdg_.folder() / "odd.fish", FishCompletion(program)));
  ASSERT_TRUE(base::WriteFileAtomically(xdg_.folder() / "odd.1", ManualPage(program)));
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"bash", "-n", "odd.bash"},
                                             {"zsh", "-f", "-n", "odd.zsh"},
                                             {"fish", "-n", "odd.fish"},
                                             {"groff", "-ww", "-man", "-z", "odd.1"}}) {
    if (!Installed(words[0])) continue;
    const auto run = Shell(words);
    EXPECT_EQ(run.exit_code, 0) << words[0];
    EXPECT_EQ(run.errors, "") << words[0];
  }
  EXPECT_THAT(ManualPage(program), HasSubstr("\n\\&.begins"));
}

TEST_F(CompletionTest, WhatCannotBeGeneratedIsWrongUsage) {
  EXPECT_EQ(Run({"generate", "tcsh"}).exit_code, 2);
  EXPECT_EQ(Run({"generate", "bash", "-o", "/dev/null/file"}).exit_code, 3);
  EXPECT_THAT(Run({"--help"}).output, Not(HasSubstr("generate")));
}

}  // namespace
}  // namespace cupilot::client
