#include <utility>

#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/connection.h"
#include "client/watch/session.h"
#include "client/watch/terminal.h"

namespace cupilot::client {
namespace {

// One picture as a document: whoever wants a stream of them asks again.
int PrintWatched(Output& output) {
  const auto list = AskWhenRead(output, "list", {{"folder", CurrentFolder()}});
  if (!list) return output.Fail(list.error());
  const auto status = AskDaemon(output, "status", records::Json::object());
  if (!status) return output.Fail(status.error());
  output.Document(
      {{"schema", "cupilot.watch/1"}, {"status", *status}, {"kernels", ListOf(*list, "kernels")}});
  return kDone;
}

}  // namespace

int RunWatch(const Arguments&, Output& output) {
  if (output.json()) return PrintWatched(output);
  auto connection = Connection::Open(Connection::Start::kOnDemand);
  if (!connection) return output.Fail(connection.error());
  const std::string warning = connection->VersionWarning();
  if (!CanDraw()) {
    if (!warning.empty()) output.Warning(warning);
    const auto watched = WatchPlainly(std::move(*connection), CurrentFolder());
    return watched ? kDone : output.Fail(watched.error());
  }
  const auto watched = WatchOnTerminal(std::move(*connection), CurrentFolder(), warning);
  return watched ? kDone : output.Fail(watched.error());
}

}  // namespace cupilot::client
