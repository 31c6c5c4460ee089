#include <unistd.h>

#include <iostream>
#include <string>

#include "base/file.h"
#include "base/paths.h"
#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/connection.h"
#include "client/spawn.h"

namespace cupilot::client {
namespace {

using records::Json;

constexpr int kEndLimitMs = 10000;

std::string WhatGoes(const base::UserFolders& folders) {
  return "what was measured, proven variants, captured data, marks, logs (" + folders.state +
         ") and built candidates (" + folders.cache + ")";
}

base::Result<bool> UserSaysYes(const base::UserFolders& folders) {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1) {
    return base::Fail(
        base::InvalidArgument("purge deletes " + WhatGoes(folders) +
                              "; there is no terminal to ask on: say --yes if that is meant"));
  }
  std::cerr << "This deletes " << WhatGoes(folders)
            << ". Builds compile the originals again. Settings stay.\nType yes to go on: "
            << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "yes";
}

// The daemon puts builds back and ends. Without one nobody writes there, and builds keep their
// variants until they are configured again.
base::Result<Json> EndDaemon(const base::UserFolders& folders, Output& output) {
  auto connection = Connection::Open(Connection::Start::kOnDemand);
  if (!connection) {
    // One that is there and does not answer would write into what is deleted.
    if (DaemonServes(folders)) return base::Fail(connection.error());
    output.Warning(connection.error().message +
                   "; without a daemon, builds keep the variants that they have now");
    return Json();
  }
  TRY_ASSIGN(Json forgotten, connection->Request("forget", {{"all", true}}));
  const int pid = connection->pid();
  TRY(connection->Request("stop"));
  if (pid > 0 && !WaitForEnd(pid, kEndLimitMs)) {
    return base::Fail(base::Timeout("the daemon (process " + std::to_string(pid) +
                                    ") was asked to stop and is still there"));
  }
  return forgotten;
}

base::Result<Json> Purge(const base::UserFolders& folders, Output& output) {
  TRY_ASSIGN(const Json forgotten, EndDaemon(folders, output));
  for (const std::string& folder : {folders.state, folders.cache}) {
    TRY(base::RemoveTree(folder));
  }
  return Json{{"schema", "cupilot.purged/1"},
              {"folders", {folders.state, folders.cache}},
              {"projects", ListOf(forgotten, "projects")},
              {"objects", NumberOf(forgotten, "objects")}};
}

}  // namespace

int RunPurge(const Arguments& arguments, Output& output) {
  const auto folders = base::FindUserFolders();
  if (!folders) return output.Fail(folders.error());
  if (!arguments.yes) {
    const auto yes = UserSaysYes(*folders);
    if (!yes) return output.Fail(yes.error());
    if (!*yes) {
      output.Document({{"schema", "cupilot.purged/1"}, {"folders", Json::array()}});
      output.Line("nothing was deleted");
      return kNo;
    }
  }
  const auto document = Purge(*folders, output);
  if (!document) return output.Fail(document.error());
  output.Document(*document);
  output.Line("deleted " + folders->state + " and " + folders->cache + "; settings in " +
              folders->config + " are yours and stay");
  for (const Json& project : ListOf(*document, "projects")) {
    if (project.is_string()) {
      output.Line("the next build in " + project.get<std::string>() +
                  " compiles the originals; configure it to be tuned again");
    }
  }
  return kDone;
}

}  // namespace cupilot::client
