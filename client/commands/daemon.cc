#include <algorithm>
#include <string>

#include "base/file.h"
#include "client/commands/commands.h"
#include "client/connection.h"
#include "client/spawn.h"

namespace cupilot::client {
namespace {

constexpr int kStopLimitMs = 10000;

base::Result<> Stop(Connection& connection) {
  const int pid = connection.pid();
  TRY(connection.Request("stop"));
  if (pid > 0 && !WaitForEnd(pid, kStopLimitMs)) {
    return base::Fail(base::Timeout("the daemon (process " + std::to_string(pid) +
                                    ") was asked to stop and is still there"));
  }
  return {};
}

// The last lines of a file, without its last line end.
std::string Tail(const std::string& text, std::int64_t lines) {
  std::size_t end = text.size();
  while (end > 0 && text[end - 1] == '\n') --end;
  std::size_t begin = end;
  for (std::int64_t i = 0; i < lines && begin != std::string::npos && begin > 0; ++i) {
    begin = text.rfind('\n', begin - 1);
  }
  if (begin == std::string::npos) return text.substr(0, end);
  if (begin < end && text[begin] == '\n') ++begin;
  return text.substr(begin, end - begin);
}

}  // namespace

int RunDaemonStart(const Arguments&, Output& output) {
  const auto folders = base::FindUserFolders();
  if (!folders) return output.Fail(folders.error());
  const bool running = DaemonRuns(*folders);
  // Where systemd holds the socket a connection is what starts it.
  if (!running && !DaemonServes(*folders)) {
    if (auto started = StartDaemon(*folders); !started) return output.Fail(started.error());
  }
  const auto connection = Connection::Open(Connection::Start::kOnDemand);
  if (!connection) return output.Fail(connection.error());
  if (const std::string warning = connection->VersionWarning(); !warning.empty()) {
    output.Warning(warning);
  }
  output.Document({{"schema", "cupilot.daemon/1"},
                   {"running", true},
                   {"started", !running},
                   {"pid", connection->pid()},
                   {"version", connection->version()}});
  output.Line((running ? "already running, process " : "started, process ") +
              std::to_string(connection->pid()));
  return kDone;
}

int RunDaemonStop(const Arguments&, Output& output) {
  const auto folders = base::FindUserFolders();
  if (!folders) return output.Fail(folders.error());
  const bool running = DaemonRuns(*folders);
  if (running) {
    auto connection = Connection::Open(Connection::Start::kNever);
    if (!connection) return output.Fail(connection.error());
    if (auto stopped = Stop(*connection); !stopped) return output.Fail(stopped.error());
  }
  output.Document({{"schema", "cupilot.daemon/1"}, {"running", false}, {"stopped", running}});
  output.Line(running ? "stopped" : "no daemon was running");
  // Our own daemon takes its socket away; systemd's stays.
  if (base::FileExists(SocketPath(*folders))) {
    output.Line(
        "systemd starts it when it is asked for; to end that: systemctl --user disable "
        "--now cupilot.socket");
  }
  return kDone;
}

int RunDaemonLogs(const Arguments& arguments, Output& output) {
  const auto folders = base::FindUserFolders();
  if (!folders) return output.Fail(folders.error());
  std::string file = DaemonLog(*folders);
  auto text = base::ReadFile(file);
  if (!text || text->empty()) {
    // A daemon that could not start has only said why there.
    file = StartLog(*folders);
    text = base::ReadFile(file);
  }
  if (!text) {
    return output.Fail(base::NotFound("there is no log yet: " + DaemonLog(*folders)));
  }
  const std::string tail = Tail(*text, arguments.lines);
  output.Document({{"schema", "cupilot.logs/1"}, {"file", file}, {"text", tail}});
  output.Line(tail.empty() ? "the log is empty: " + file : tail);
  return kDone;
}

}  // namespace cupilot::client
