// cupilot: the command line. Reads the arguments, runs the command, gives its exit code.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "client/arguments.h"
#include "client/commands/commands.h"

namespace cupilot::client {
namespace {

struct Row {
  const char* command;
  int (*run)(const Arguments& arguments, Output& output);
};

constexpr Row kRows[] = {
    {"status", &RunStatus},
    {"list", &RunList},
    {"watch", &RunWatch},
    {"explain", &RunExplain},
    {"best", &RunBest},
    {"history", &RunHistory},
    {"report", &RunReport},
    {"diff", &RunDiff},
    {"pin", &RunPin},
    {"reject", &RunReject},
    {"prune", &RunPrune},
    {"forget", &RunForget},
    {"purge", &RunPurge},
    {"export", &RunExport},
    {"apply", &RunApply},
    {"lock", &RunLock},
    {"tune", &RunTune},
    {"evaluate", &RunEvaluate},
    {"inspect", &RunInspect},
    {"capture", &RunCapture},
    {"workload list", &RunWorkloadList},
    {"workload show", &RunWorkloadShow},
    {"workload export", &RunWorkloadExport},
    {"workload drop", &RunWorkloadDrop},
    {"bench", &RunBench},
    {"import", &RunImport},
    {"search replay", &RunSearchReplay},
    {"models status", &RunModelsStatus},
    {"models last", &RunModelsLast},
    {"models allow", &RunModelsAllow},
    {"models forbid", &RunModelsForbid},
    {"strategies list", &RunStrategiesList},
    {"strategies show", &RunStrategiesShow},
    {"strategies export", &RunStrategiesExport},
    {"strategies import", &RunStrategiesImport},
    {"doctor", &RunDoctor},
    {"config", &RunConfig},
    {"daemon start", &RunDaemonStart},
    {"daemon stop", &RunDaemonStop},
    {"daemon logs", &RunDaemonLogs},
    {"snooze", &RunSnooze},
    {"resume", &RunResume},
};

// For packages and shells; `cupilot --help` does not name it.
int RunGenerate(const Arguments& arguments, Output& output) {
  std::vector<std::string> commands;
  for (const Row& row : kRows) commands.emplace_back(row.command);
  return Generate(arguments, commands, output);
}

// Wrong usage, too, is answered with a document where one was asked for.
bool AsksForJson(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(words[i], "--") == 0) return false;  // what follows is another program's
    if (std::strcmp(words[i], "--json") == 0) return true;
  }
  return false;
}

int Main(int count, char** words) {
  ::signal(SIGPIPE, SIG_IGN);
  Output output(AsksForJson(count, words));
  const auto parsed = ParseArguments(count, words);
  if (!parsed) return output.Fail(parsed.error());
  if (parsed->text) {
    std::fputs(parsed->text->c_str(), stdout);
    return kDone;
  }
  for (const Row& row : kRows) {
    if (parsed->arguments.command == row.command) return row.run(parsed->arguments, output);
  }
  if (parsed->arguments.command == "generate") return RunGenerate(parsed->arguments, output);
  return output.Fail(base::InvalidArgument("unknown command '" + parsed->arguments.command + "'"));
}

}  // namespace
}  // namespace cupilot::client

int main(int argc, char** argv) { return cupilot::client::Main(argc, argv); }
